package listing

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp/internal/rpc"
	"github.com/seed94b59a13/mcp/internal/secret"
)

// What is read of a list that came ends with its context, between two tools and
// within one.
func TestReadEnds(t *testing.T) {
	closed := errors.New("closed")
	large := `{"properties":{"a":{"enum":[` + strings.Repeat(`"a",`, 100_000) + `1]}}}`
	for _, text := range []string{
		`{"tools":[` + strings.Repeat(`{"name":"t"},`, 1000) + `{"name":"last"}]}`,
		`{"tools":[{"name":"t","inputSchema":` + large + `}]}`,
	} {
		work, stop := context.WithCancelCause(t.Context())
		list, err := Read(t.Context(), Config{
			Name:  func(tool string) string { return tool },
			Seed:  maphash.MakeSeed(),
			Work:  work,
			Begin: func(int) {},
			Take:  func(*Tool) {},
			Ask: func(context.Context, string) (rpc.Response, int, error) {
				stop(closed)
				return rpc.Response{Result: []byte(text)}, 0, nil
			},
		}, &List{})
		assert.ErrorIs(t, err, closed)
		assert.Nil(t, list)
	}
}

// A title and a description are no longer than a bound, whatever they hold: they
// are cleaned in one go.
func TestReadShortens(t *testing.T) {
	long := `"` + strings.Repeat(`\u001bé`, 1<<18) + `\\"`
	var tools []Tool
	list, err := Read(t.Context(), Config{
		Name:   func(tool string) string { return tool },
		Quoter: secret.New(),
		Seed:   maphash.MakeSeed(),
		Begin:  func(int) {},
		Take:   func(tool *Tool) { tools = append(tools, *tool) },
		Ask: func(context.Context, string) (rpc.Response, int, error) {
			return rpc.Response{Result: []byte(`{"tools":[{"name":"t","title":` + long + `,"description":` + long + `},{"name":"u","description":"Does."}]}`)}, 0, nil
		},
	}, &List{})
	require.NoError(t, err)
	require.Len(t, tools, 2)
	assert.LessOrEqual(t, len(tools[0].Title), maxText)
	assert.True(t, strings.HasPrefix(tools[0].ServerDescription, strings.Repeat("é", 1<<10)))
	assert.LessOrEqual(t, len(tools[0].ServerDescription), maxText)
	assert.Equal(t, "Does.", tools[1].ServerDescription)
	assert.Equal(t, []string{
		`the title of tool "t" has 2097156 bytes, more than 1048576: the rest is left out`,
		`the description of tool "t" has 2097156 bytes, more than 1048576: the rest is left out`,
	}, list.Warnings)
}

// A tool is taken over from the last list where its entry is the same, wherever
// it stands now, and read where it is not.
func TestReuse(t *testing.T) {
	seed := maphash.MakeSeed()
	read := func(last *List, names []string, text string) (list *List, got []string) {
		list, err := Read(t.Context(), Config{
			Name:  func(tool string) string { return tool },
			Seed:  seed,
			Leave: []string{"left out"},
			Last:  func(i int) (name, serverTool string) { return names[i], names[i] },
			Begin: func(int) { got = nil },
			Take: func(tool *Tool) {
				if tool.Reused >= 0 {
					got = append(got, fmt.Sprint(tool.Reused))
				} else {
					got = append(got, tool.Name)
				}
			},
			Ask: func(context.Context, string) (rpc.Response, int, error) {
				return rpc.Response{Result: []byte(`{"tools":[` + text + `]}`)}, 0, nil
			},
		}, last)
		require.NoError(t, err)
		return list, got
	}
	const a, b, c, bad = `{"name":"a"}`, ` {"name":"b","description":"B"} `, `{"name":"c"}`, `{"name":"bad","outputSchema":7}`
	for now, want := range map[string]string{
		a + "," + b + "," + c + "," + bad: "0 1 2 bad",
		b + "," + c + "," + a:             "1 2 0",
		c:                                 "2",
		`{"name":"new"},` + a + "," + b + "," + c:                                "new 0 1 2",
		a + `,{"name":"b","description":"A"},` + c:                               "0 b 2",
		a + "," + a + `,7,"a",` + c:                                              "0 2",
		a + `,{"name":"left out"},` + c:                                          "0 2",
		`{"name":"a" },` + b:                                                     "a 1",
		a + `,{"name":"b","description":"B","x":{"name":"b","description":"B"}}`: "0 b",
	} {
		last, names := read(&List{}, nil, a+","+b+","+c+","+bad)
		assert.Equal(t, []string{"a", "b", "c", "bad"}, names)
		list, got := read(last, names, now+" ")
		assert.Equal(t, want, strings.Join(got, " "), now)
		same, got := read(list, nil, now+" ")
		assert.Same(t, list, same, "nothing is new")
		assert.Empty(t, got)
	}
}
