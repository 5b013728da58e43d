package streamable

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParams(t *testing.T) {
	p, err := ReadParams([]byte(`{"properties":{"lost":{"type":"string","x-mcp-header":"Lost"}},"type":"object","properties":{
		"a":{"x-mcp-header":"A","type":"string"},
		"o":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"},"x":{"type":"string"}},"description":"later"},
		"l":{"type":"array","items":{"properties":{"z":{"x-mcp-header":"no"}}}}}}`))
	require.NoError(t, err)
	for arguments, want := range map[string]http.Header{
		`{"a":"x","o":{"x":"1","n":1e1},"l":[{"z":"1"}]}`: {"Mcp-Param-A": {"x"}, "Mcp-Param-N": {"10"}},
		`{"a":["x"],"o":[]}`:                              {},
		`{"a":"x","a":null,"lost":"1"}`:                   {},
		`{}`:                                              {},
	} {
		assert.Equal(t, want, p.Header([]byte(arguments)), arguments)
	}
	for schema, want := range map[string]string{
		`{"properties":{"a":{"properties":{"b":{"x-mcp-header":"B","type":"number"}}}}}`:                                `its property "a.b" has an x-mcp-header but is not a string, integer or boolean`,
		`{"properties":{"a":{"properties":{"b":{"x-mcp-header":"` + strings.Repeat("b", 257) + `","type":"string"}}}}}`: `the x-mcp-header of its property "a.b" is not a header name`,
	} {
		_, err := ReadParams([]byte(schema))
		assert.EqualError(t, err, want)
	}
	for _, none := range []string{`{"properties":{"a":{"type":"string"}}}`, `{"description":"x-mcp-header"}`, `[]`, ``} {
		p, err := ReadParams([]byte(none))
		assert.NoError(t, err)
		assert.Nil(t, p)
		assert.Nil(t, p.Header([]byte(`{"a":1}`)))
	}
	var many []string
	for i := range maxParams + 1 {
		many = append(many, fmt.Sprintf(`"p%d":{"type":"string","x-mcp-header":"H%d"}`, i, i))
	}
	_, err = ReadParams([]byte(`{"properties":{` + strings.Join(many, ",") + `}}`))
	assert.EqualError(t, err, "more than 1000 of its properties have an x-mcp-header")
}

// However deep it is, a schema is gone over once, and arguments are.
func TestParamsOfADeepSchema(t *testing.T) {
	nested := func(depth int) (schema, arguments string) {
		schema, arguments = `{"type":"object"}`, `{}`
		for i := range depth {
			schema = fmt.Sprintf(`{"type":"object","properties":{"h":{"type":"string","x-mcp-header":"H%d"},"a":%s}}`, i, schema)
			arguments = fmt.Sprintf(`{"a":%s,"h":"%d"}`, arguments, i)
		}
		return schema, arguments
	}
	work := func(depth int) float64 {
		schema, arguments := nested(depth)
		p, err := ReadParams([]byte(schema))
		require.NoError(t, err)
		header := p.Header([]byte(arguments))
		require.Len(t, header, depth)
		require.Equal(t, "0", header.Get("Mcp-Param-H0"))
		return testing.AllocsPerRun(3, func() {
			p, _ := ReadParams([]byte(schema))
			p.Header([]byte(arguments))
		})
	}
	assert.Less(t, work(480), 2.5*work(240))
}

func BenchmarkReadParams(b *testing.B) {
	for _, kib := range []int{1, 16, 256, 1024} {
		padding := strings.Repeat("x", kib<<10/480)
		schema := `{}`
		for range 480 {
			schema = `{"description":"` + padding + `","properties":{"a":` + schema + `}}`
		}
		schema = `{"properties":{"a":` + schema + `,"b":{"type":"string","x-mcp-header":"B"}}}`
		b.Run(fmt.Sprintf("%dKiB", kib), func(b *testing.B) {
			b.SetBytes(int64(len(schema)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ReadParams([]byte(schema)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
