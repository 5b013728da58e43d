package mcp_test

// This file lists tools whose schemas cost more than they are worth.

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
)

// cannotBeDescribed is the schema of a tool whose own is not read.
const cannotBeDescribed = `{"type":"object","properties":{},"description":"The parameters cannot be described."}`

func numbered(n int, format string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = strings.ReplaceAll(format, "%", fmt.Sprint(i))
	}
	return strings.Join(items, ",")
}

// hostileSchemas are, by the tool's name, schemas and what is said about them.
var hostileSchemas = map[string][2]string{
	"deep":       {strings.Repeat(`{"properties":{"a":`, 600) + `{}` + strings.Repeat(`}}`, 600), "nests too deeply to be read"},
	"deep_value": {`{"properties":{"a":{"default":` + strings.Repeat(`[`, 1200) + strings.Repeat(`]`, 1200) + `}}}`, "nests too deeply to be read"},
	"large":      {`{"properties":{"a":{"enum":[` + numbered(150_000, `"%"`) + `]}}}`, "has 1238921 bytes, more than 1048576"},
	"patterns":   {`{"properties":{"$":{}},"patternProperties":{` + numbered(3000, `"^%(?i)[B-\ud83a\udd42]":{}`) + `}}`, "takes too much"},
}

func init() {
	servers["hostile schemas"] = func(p *mcptest.Peer) {
		var list strings.Builder
		list.WriteString(`[{"name":"first","inputSchema":{"properties":{"n":{"type":"integer"}}}}`)
		for name, schema := range hostileSchemas {
			fmt.Fprintf(&list, `,{"name":%q,"inputSchema":%s}`, name, schema[0])
		}
		list.WriteString(`,{"name":"nan","inputSchema":{"properties":{"n":{"type":"number","default":NaN,"maximum":-Infinity}}}}`)
		list.WriteString(`,{"name":"last","inputSchema":{"properties":{"n":{"type":"integer"}}}}]`)
		p.Tools = list.String()
		p.Serve()
	}
	servers["growing schemas"] = func(p *mcptest.Peer) {
		schema := `{"properties":{` + numbered(24, `"p%":{"$ref":"#/$defs/d"}`) + `},"$defs":{"d":{"enum":[` + numbered(60, `"v%"`) + `]}}}`
		p.Tools = `[` + numbered(6_000, `{"name":"t%","inputSchema":`+strings.ReplaceAll(schema, "%", "")+`}`) + `]`
		p.Serve()
	}
}

// A schema that nests too deeply, is too large or takes too much work costs only
// itself, and says so.
func TestHostileSchemas(t *testing.T) {
	c := connect(t, stdioServer(t, "hostile schemas"))
	tools := map[string]mcp.Tool{}
	for _, tool := range c.Tools() {
		tools[tool.ServerTool] = tool
	}
	require.Len(t, tools, len(hostileSchemas)+3)
	for _, name := range []string{"first", "last"} {
		assert.Equal(t, `{"type":"object","properties":{"n":{"type":"integer"}}}`, string(tools[name].InputSchema))
	}
	assert.Equal(t, `{"type":"object","properties":{"n":{"type":"number"}}}`, string(tools["nan"].InputSchema))
	warnings := strings.Join(c.Warnings(), "\n")
	assert.Contains(t, warnings, `the input schema of tool "nan" has NaN or Infinity, which are not JSON: they are read as null`)
	for name, schema := range hostileSchemas {
		assert.Equal(t, cannotBeDescribed, string(tools[name].InputSchema), name)
		assert.Contains(t, warnings, fmt.Sprintf("the input schema of tool %q %s", name, schema[1]))
		result, err := tools[name].Handler(t.Context(), []byte(`{"a":"1"}`))
		require.NoError(t, err)
		assert.NotEmpty(t, result)
	}
}

// Many small schemas that each grow stay within a bound together.
func TestSchemasThatGrowTogether(t *testing.T) {
	c := connect(t, stdioServer(t, "growing schemas"))
	given, normal, generic := 0, 0, 0
	for _, tool := range c.Tools() {
		given, normal = given+len(tool.ServerSchema), normal+len(tool.InputSchema)
		if string(tool.InputSchema) == cannotBeDescribed {
			generic++
		}
	}
	require.Len(t, c.Tools(), 6_000)
	assert.LessOrEqual(t, normal, given+given/2+256*6_000+32<<20, "each has a share of its own")
	assert.Greater(t, generic, 500)
	assert.Less(t, generic, 5_000, "the first of them are read")
	warnings := c.Warnings()
	assert.Contains(t, warnings[0], "is one of too many that take much work to read: it accepts any object instead")
	assert.Contains(t, warnings[len(warnings)-1], "more warnings about the list of tools")
}
