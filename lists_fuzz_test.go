package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
)

// definition is what a model, and a store of transcripts, get of a tool.
type definition struct {
	Name, Description, Title, InputSchema, OutputSchema, ServerTool, Fingerprint string
}

func definitions(c *mcp.Connection) (list []definition) {
	for _, t := range c.Tools() {
		list = append(list, definition{t.Name, t.Description, t.Title, string(t.InputSchema), string(t.OutputSchema), t.ServerTool, t.Fingerprint})
	}
	return list
}

// FuzzLists gives any list to two connections and to a refresh. All three have the
// same bytes and warnings, and definitions that hold what is promised of them; the
// connections live on.
func FuzzLists(f *testing.F) {
	for _, seed := range []string{
		`[{"name":"a","inputSchema":{"type":"object","properties":{"x":{"type":"string"}}}}]`,
		`[{"name":"a.b/c"},{"name":"a.b/c"},{"name":""},7,null,{"name":"x","inputSchema":"string"}]`,
		`[{"name":"r","inputSchema":{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"b":{"$ref":"#/$defs/a"}},"required":["b"]}}}}]`,
		`[{"name":"u","inputSchema":{"anyOf":[{"type":"object","properties":{"a":{"const":1}}},{"allOf":[{"not":{}}]}]},"outputSchema":[]}]`,
		`[{"name":"h","description":"\u202ex\ud800","annotations":{"readOnlyHint":"yes"},"inputSchema":{"properties":{"p q":{"x-mcp-header":"H"}}}}]`,
		`{"a":{}}`, `"list"`, `[`,
	} {
		f.Add(seed)
	}
	h := newWeb(f)
	server := h.server()
	var connections [2]*mcp.Connection
	for i := range connections {
		c, err := mcp.Connect(f.Context(), server)
		require.NoError(f, err)
		f.Cleanup(func() { assert.NoError(f, c.Close()) })
		connections[i] = c
	}
	f.Fuzz(func(t *testing.T, list string) {
		h.now("tools/list", func(a *asking) { a.json(a.answer(`{"tools":` + list + `}`)) })
		defer h.now("tools/list", nil)
		first, second := connections[0], connections[1]
		err := first.RefreshTools(t.Context())
		require.Equal(t, err == nil, second.RefreshTools(t.Context()) == nil)
		if err == nil {
			want, warnings := definitions(first), first.Warnings()
			require.Equal(t, want, definitions(second))
			require.Equal(t, warnings, second.Warnings())
			require.NoError(t, first.RefreshTools(t.Context()))
			require.Equal(t, want, definitions(first))
			require.Equal(t, warnings, first.Warnings())
			names := map[string]bool{}
			for _, d := range want {
				require.True(t, mcp.IsToolName(d.Name), d.Name)
				require.False(t, names[d.Name], d.Name)
				names[d.Name] = true
				var schema struct {
					Type       string
					Properties map[string]json.RawMessage
				}
				require.NoError(t, json.Unmarshal([]byte(d.InputSchema), &schema), d.InputSchema)
				require.Equal(t, "object", schema.Type)
				require.NotNil(t, schema.Properties)
			}
			for _, warning := range warnings {
				require.LessOrEqual(t, len(warning), 4<<10)
				require.False(t, strings.ContainsAny(warning, "\x00\x1b\n"), "%q", warning)
			}
		}
		for _, c := range connections {
			h.now("tools/list", nil)
			require.NoError(t, c.RefreshTools(t.Context()))
			_, err := call(t, c, `{}`)
			require.NoError(t, err)
		}
	})
}
