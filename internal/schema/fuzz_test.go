package schema

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/schema/schematest"
)

func FuzzNormalize(f *testing.F) {
	for _, seed := range []string{
		string(cleanSchema), string(rewritingSchema), `null`, `true`, `[]`, `{"type":["object",5]}`,
		`{"properties":{"$ref":{"$ref":"#/properties/%24ref"},"a":{"$ref":"#"},"":{"nullable":true,"enum":[1,1.0,"\u0031"]}},"required":["","z",null]}`,
		`{"oneOf":[{"properties":{"k":{"const":1}},"required":["k"]},{"allOf":[{"properties":{"k":false}}],"unevaluatedProperties":false}],"not":{},"if":{"not":{"pattern":"[[]"}}}`,
		`{"properties":{"p":{"items":[{},true],"additionalItems":false,"contains":{"pattern":"("},"dependencies":{"a":["b"],"c":false},"exclusiveMinimum":true,"minimum":1}}}`,
		`{"$defs":{"a":{"$ref":"#/$defs/b","minLength":1},"b":{"anyOf":[{"$ref":"#/$defs/a"},{"type":"null"}]}},"properties":{"x":{"$ref":"#/$defs/a","unevaluatedItems":{"$ref":"#/$defs/b"}}}}`,
		`{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"a":{"type":"any","required":true,"patternProperties":{"(":{},"^x":true},"propertyNames":false}}}`,
		"{\"properties\":{\"a\":{\"description\":\"\u200b\",\"title\":\"\\ud83d\",\"default\":{\"a b\":1}},\"a b\":{}}}",
	} {
		f.Add([]byte(seed))
	}
	clean := Normalizer{Clean: func(s string) string { return string(bytes.ReplaceAll([]byte(s), []byte("\u200b"), nil)) }}
	f.Fuzz(func(t *testing.T, data []byte) {
		normalizer := clean
		end, err := raw.Scan(data)
		if err != nil || end > 4<<10 { // the checker is slow, and more text is not another kind of text
			return
		}
		schema := raw.Repair(data[:end])
		original := bytes.Clone(schema)
		given, read, _, n := normalizer.Read(append(bytes.Clone(data[:end]), `,"more":{}`...))
		costly := false
		normalizer.Warn = func(reason string) { costly = costly || strings.Contains(reason, "too much") }
		out, plan, err := normalizer.Normalize(schema)
		require.Equal(t, string(original), string(schema))
		if n > 0 {
			require.Equal(t, end, n)
			require.Equal(t, string(schema), string(given))
			require.Equal(t, string(out), string(read))
		}
		if err != nil {
			require.Nil(t, out)
			return
		}
		require.LessOrEqual(t, len(out), maxGrowth*len(schema)+maxExtra)
		require.Equal(t, costly, string(out) == giveUp)
		if !looksLikeKeyword(out) {
			require.Empty(t, schematest.Problems(out), "%s\n%s", schema, out)
		}
		again, _, err := normalizer.Normalize(out)
		require.NoError(t, err)
		require.Equal(t, string(out), string(again))
		_, err = plan.Repair(t.Context(), []byte(`{"a":"1","p":["x"],"_ref":{"a":null},"k":null}`))
		require.NoError(t, err)
	})
}

// looksLikeKeyword reports whether a schema has a name that differs from a
// keyword in case alone, which encoding/json, and so the checker's reader, takes
// for that keyword.
func looksLikeKeyword(schema []byte) bool {
	p := begin(context.Background(), nil, len(schema))
	defer p.release()
	var walk func(*node) bool
	walk = func(n *node) bool {
		for _, m := range n.members {
			if folded[strings.ToLower(m.name)] != "" && m.k == kwUnknown || walk(m.value) {
				return true
			}
		}
		return false
	}
	return walk(p.read(schema))
}

// folded has the keywords by their names in lower case.
var folded = func() map[string]string {
	names := map[string]string{}
	for _, rule := range rules[1:] {
		names[strings.ToLower(rule.name)] = rule.name
	}
	return names
}()

func FuzzRepair(f *testing.F) {
	for _, seed := range []string{
		string(cleanArguments), `"{\"a\":\"\\ud83d\"}"`, `{"n":"1","i":3.0,"b":"true","o":"{\"$x\":\"[1]\"}","l":["1",null,"x"],"_x":null,"t":["1",2.0]}`,
		`{"o":{"_x":{"_x":"2"}},"i":null ,"b":null}`, `{"i" : "1\n", "i":1}`, "\"\xff\"", `{"l":"[\"1\", {}]"} `,
	} {
		f.Add([]byte(seed))
	}
	_, plan, err := Normalize([]byte(`{"properties":{"n":{"type":"number"},"i":{"type":"integer"},"b":{"type":"boolean"},"o":{"$ref":"#/$defs/o"},"l":{"type":"array","items":{"type":["integer","null"]}},"t":{"prefixItems":[{"type":"integer"},{"type":"integer"}]},"$x":{"type":"string"}},"$defs":{"o":{"type":"object","properties":{"$x":{"anyOf":[{"$ref":"#/$defs/o"},{"type":"array"},{"type":"integer"}]}}}}}`))
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, data []byte) {
		original := bytes.Clone(data)
		for _, plan := range []*Plan{nil, plan} {
			out, err := plan.Repair(t.Context(), data)
			require.Equal(t, string(original), string(data))
			if err != nil {
				require.Nil(t, out)
				require.Less(t, len(err.Error()), 2048)
				continue
			}
			require.True(t, json.Valid(out), "%q", out)
			require.Equal(t, byte('{'), out[0])
			again, err := plan.Repair(t.Context(), out)
			require.NoError(t, err)
			require.Equal(t, string(out), string(again), "%q", data)
		}
	})
}
