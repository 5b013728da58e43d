package mcp_test

// This file lists tools, good and bad.

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
)

func init() {
	// The first argument has the pages by cursor: each is a result of
	// tools/list. A cursor without a page is answered by an error.
	servers["pages"] = func(p *mcptest.Peer) {
		var pages map[string]json.RawMessage
		if err := json.Unmarshal([]byte(os.Args[1]), &pages); err != nil {
			panic(err)
		}
		p.On["tools/list"] = func(r mcptest.Request) {
			page, ok := pages[r.Params.Cursor]
			if !ok {
				p.Fail(r, -32602, "unknown cursor "+r.Params.Cursor)
				return
			}
			p.Reply(r, string(page))
		}
		p.Serve()
	}
	servers["endless"] = func(p *mcptest.Peer) {
		n := 0
		p.On["tools/list"] = func(r mcptest.Request) {
			n++
			p.Reply(r, fmt.Sprintf(`{"tools":[{"name":"t%d"}],"nextCursor":"%d"}`, n, n))
		}
		p.Serve()
	}
	servers["many"] = func(p *mcptest.Peer) {
		var list strings.Builder
		for i := range 20_001 {
			fmt.Fprintf(&list, `,{"name":"t%d"}`, i)
		}
		p.Tools = "[" + list.String()[1:] + "]"
		p.Serve()
	}
	servers["changes"] = func(p *mcptest.Peer) {
		n := 0
		p.On["tools/list"] = func(r mcptest.Request) {
			switch n++; n {
			case 1:
				p.Reply(r, `{"tools":[{"name":"a"},{"name":7}]}`)
			case 2:
				p.Fail(r, -32603, "not now")
			case 3:
				p.Reply(r, `{"tools":[{"name":"a"},{"name":"b"}]}`)
			default:
				p.Fail(r, -32601, "Method not found")
			}
		}
		p.Serve()
	}
	servers["no tools"] = func(p *mcptest.Peer) {
		p.Initialize = os.Args[1]
		p.On["tools/list"] = func(r mcptest.Request) {
			if len(os.Args) > 2 {
				p.Fail(r, -32601, "Method not found")
				return
			}
			p.Reply(r, `{"tools":[{"name":"asked"}]}`)
		}
		p.Serve()
	}
}

// listTools connects to a server with one page of tools.
func listTools(t testing.TB, page string, keep ...string) ([]mcp.Tool, []string) {
	t.Helper()
	server := stdioServer(t, "pages")
	server.Args = []string{`{"":` + page + `}`}
	server.Tools = keep
	c := connect(t, server)
	return c.Tools(), c.Warnings()
}

// serverNames are the servers' own names of the tools.
func serverNames(tools []mcp.Tool) []string {
	names := []string{}
	for _, tool := range tools {
		names = append(names, tool.ServerTool)
	}
	return names
}

func TestToolFields(t *testing.T) {
	tools, warnings := listTools(t, `{"tools":[{
		"name": "read.file", "title": "Read a file", "description": "Reads.",
		"inputSchema": {"type": "object", "properties": {"z": {"maximum": 9007199254740993}, "a": {"const": 1.10}}, "required": ["z"]},
		"outputSchema": {"$id": "v1"},
		"annotations": {"title": "other", "readOnlyHint": true, "destructiveHint": false, "openWorldHint": "yes"}
	}, {"name": "bare"}, {"name": "titled", "annotations": {"title": "From the annotations"}}]}`)
	require.Len(t, tools, 3)
	assert.Empty(t, warnings)
	tool := tools[0]
	assert.Equal(t, mcp.ToolName("test", "read.file"), tool.Name)
	assert.Equal(t, "Tool read.file from the MCP server test. Reads.", tool.Description)
	assert.Equal(t, `{"type":"object","properties":{"z":{"maximum":9007199254740993},"a":{"const":1.10}},"required":["z"]}`, string(tool.InputSchema))
	assert.Same(t, &tool.ServerSchema[0], &tool.InputSchema[0], "equal bytes are shared")
	assert.Equal(t, `{"$id":"v1"}`, string(tool.OutputSchema))
	assert.Equal(t, "Read a file", tool.Title)
	assert.Equal(t, "test", tool.Server)
	assert.Equal(t, "read.file", tool.ServerTool)
	yes, no := true, false
	assert.Equal(t, &mcp.Annotations{ReadOnly: &yes, Destructive: &no}, tool.Annotations)

	assert.Equal(t, "Tool bare from the MCP server test.", tools[1].Description)
	assert.Equal(t, `{"type":"object","properties":{}}`, string(tools[1].InputSchema))
	assert.Nil(t, tools[1].ServerSchema)
	assert.Nil(t, tools[1].OutputSchema)
	assert.Nil(t, tools[1].Annotations)
	assert.Equal(t, "From the annotations", tools[2].Title)
}

func TestBadEntriesCostThemselves(t *testing.T) {
	tools, warnings := listTools(t, `{"tools":[
		{"inputSchema":{"type":"object"}}, {"name":null}, {"name":""}, {"name":7},
		{"name":"titled","title":5}, {"name":"annotated","annotations":"read-only"},
		{"name":"described","description":{"a":1}},
		null, "text", [],
		{"name":"run","description":"first"}, {"name":"run","description":"second"},
		{"name":"text schema","inputSchema":"object"}, {"name":"list schema","inputSchema":["a"]}, {"name":"false schema","inputSchema":false}, {"name":"number schema","inputSchema":1},
		{"name":"true schema","inputSchema":true}, {"name":"null schema","inputSchema":null}, {"name":"PHP schema","inputSchema":[]}, {"name":"no properties","inputSchema":{"type":"object"}}, {"name":"no type","inputSchema":{"properties":{}}},
		{"name":"odd output","outputSchema":7,"icons":1,"_meta":[],"execution":true},
		{"name":"app","_meta":{"ui":{"visibility":["app"]}}}, {"name":"both","_meta":{"ui":{"visibility":["model","app"]}}},
		{"name":"task","execution":{"taskSupport":"required"}}, {"name":"maybe task","execution":{"taskSupport":"optional"}},
		{"name":"healthy"}],"nextCursor":7,"ttlMs":"x"}`)
	assert.Equal(t, []string{"titled", "annotated", "described", "run", "true schema", "null schema", "PHP schema", "no properties", "no type", "odd output", "both", "maybe task", "healthy"}, serverNames(tools))
	assert.Equal(t, "Tool run from the MCP server test. first", tools[3].Description)
	for _, tool := range tools {
		assert.JSONEq(t, `{"type":"object","properties":{}}`, string(tool.InputSchema), tool.ServerTool)
	}
	for _, want := range []string{
		`dropped entry 0 of the list of tools: it has no name`,
		`dropped entry 1 of the list of tools: it has no name`,
		`dropped entry 2 of the list of tools: it has no name`,
		`dropped entry 3 of the list of tools: it has no name`,
		`dropped entry 7 of the list of tools: it is not an object`,
		`dropped entry 8 of the list of tools: it is not an object`,
		`dropped entry 9 of the list of tools: it is not an object`,
		`dropped tool "run": the list has "run" before it, under the same name`,
		`left out tool "app": the server means it for its user interface, not for a model`,
		`left out the output schema of tool "odd output": it is not an object`,
		`the list of tools goes on after a cursor that is not a text: the rest is left out`,
		`left out tool "task": it can only be called as a task, which is not supported`,
	} {
		assert.Contains(t, warnings, want)
	}
	for _, name := range []string{"text schema", "list schema", "false schema", "number schema"} {
		assert.Contains(t, strings.Join(warnings, "\n"), `dropped tool "`+name+`": its input schema`)
	}
	assert.Len(t, warnings, 16)
}

func TestWarningsAreBounded(t *testing.T) {
	_, warnings := listTools(t, `{"tools":[`+strings.Repeat(`null,`, 149)+`null]}`)
	require.Len(t, warnings, 101)
	assert.Equal(t, "dropped entry 99 of the list of tools: it is not an object", warnings[99])
	assert.Equal(t, "and 50 more warnings about the list of tools", warnings[100])
}

func TestOddPages(t *testing.T) {
	for page, want := range map[string][]string{
		`{"tools":null}`:         nil,
		`{}`:                     {"a page of the list of tools has no list in it"},
		`null`:                   {"a page of the list of tools has no list in it"},
		`{"tools":{"name":"x"}}`: {"a page of the list of tools has no list in it"},
		`"tools"`:                {"a page of the list of tools has no list in it"},
		`[{"name":"a"}]`:         nil,
		`{"tools":[{"name":"a"}],"nextCursor":{}}`:   nil,
		`{"tools":[{"name":"a"}],"nextCursor":2}`:    {"the list of tools goes on after a cursor that is not a text: the rest is left out"},
		`{"tools":[{"name":"a"}],"nextCursor":""}`:   nil,
		`{"tools":[{"name":"a"}],"nextCursor":null}`: nil,
	} {
		t.Run(page, func(t *testing.T) {
			tools, warnings := listTools(t, page)
			assert.ElementsMatch(t, want, warnings)
			if strings.Contains(page, `"a"`) {
				assert.Equal(t, []string{"a"}, serverNames(tools))
			}
		})
	}
}

func TestServerTools(t *testing.T) {
	tools, warnings := listTools(t, `{"tools":[{"name":"a"},{"name":"b"},{"name":"c.d"}]}`, "c.d", "a", "ghost")
	assert.Equal(t, []string{"a", "c.d"}, serverNames(tools))
	require.Len(t, warnings, 1)
	assert.Contains(t, warnings[0], `"ghost"`)
}

func TestPages(t *testing.T) {
	const again = "the list of tools comes back to a page that was there before: it is taken to end here"
	for name, c := range map[string]struct {
		pages    string
		tools    []string
		warnings []string
		err      string
	}{
		"all": {`{"":{"tools":[{"name":"a"},{"name":"b"}],"nextCursor":"p2"},"p2":{"tools":[],"nextCursor":"p3=="},"p3==":{"tools":[{"name":"d"}]}}`,
			[]string{"a", "b", "d"}, nil, ""},
		"a cursor in snake case": {`{"":{"tools":[{"name":"a"}],"next_cursor":"x"},"x":{"tools":[{"name":"b"}]}}`,
			[]string{"a", "b"}, nil, ""},
		"a cursor that repeats": {`{"":{"tools":[{"name":"a"}],"nextCursor":"x"},"x":{"tools":[{"name":"b"}],"nextCursor":"x"}}`,
			[]string{"a", "b"}, []string{again}, ""},
		"a cycle": {`{"":{"tools":[{"name":"a"}],"nextCursor":"x"},"x":{"tools":[{"name":"b"}],"nextCursor":"y"},"y":{"tools":[{"name":"c"}],"nextCursor":"x"}}`,
			[]string{"a", "b", "c"}, []string{again}, ""},
		"a tool on two pages": {`{"":{"tools":[{"name":"a"}],"nextCursor":"x"},"x":{"tools":[{"name":"a"},{"name":"b"}]}}`,
			[]string{"a", "b"}, []string{`dropped tool "a": the list has "a" before it, under the same name`}, ""},
		"a page that fails": {`{"":{"tools":[{"name":"a"}],"nextCursor":"lost"}}`,
			nil, nil, `mcp server "test": listing tools: unknown cursor lost (code -32602)`},
	} {
		t.Run(name, func(t *testing.T) {
			server := stdioServer(t, "pages")
			server.Args = []string{c.pages}
			if c.err != "" {
				mcptest.NoLeaks(t)
				_, err := mcp.Connect(t.Context(), server)
				assert.EqualError(t, err, c.err)
				return
			}
			connection := connect(t, server)
			assert.Equal(t, c.tools, serverNames(connection.Tools()))
			assert.ElementsMatch(t, c.warnings, connection.Warnings())
		})
	}
}

func TestEndlessPages(t *testing.T) {
	c := connect(t, stdioServer(t, "endless"))
	assert.Len(t, c.Tools(), 1000)
	assert.Equal(t, []string{"the list of tools has more than 1000 pages: the rest is left out"}, c.Warnings())
}

func TestTooManyTools(t *testing.T) {
	c := connect(t, stdioServer(t, "many"))
	assert.Len(t, c.Tools(), 20_000)
	assert.Equal(t, []string{"the list has more than 20000 tools: the rest is left out"}, c.Warnings())
}

func TestRefresh(t *testing.T) {
	c := connect(t, stdioServer(t, "changes"))
	first := c.Tools()
	assert.Equal(t, []string{"a"}, serverNames(first))
	assert.Equal(t, []string{"dropped entry 1 of the list of tools: it has no name"}, c.Warnings())

	err := c.RefreshTools(t.Context())
	assert.EqualError(t, err, `mcp server "test": listing tools: not now (code -32603)`)
	assert.Equal(t, []string{"a"}, serverNames(c.Tools()), "the previous list stays")
	assert.Len(t, c.Warnings(), 1)

	require.NoError(t, c.RefreshTools(t.Context()))
	assert.Equal(t, []string{"a", "b"}, serverNames(c.Tools()))
	assert.Empty(t, c.Warnings(), "warnings about the list are replaced")
	held := c.Tools()
	first[0].ServerTool = "mine"
	assert.Equal(t, []string{"a", "b"}, serverNames(c.Tools()), "the slice is the caller's")

	require.NoError(t, c.RefreshTools(t.Context()))
	assert.Empty(t, c.Tools())
	result, err := held[0].Handler(t.Context(), nil)
	require.NoError(t, err, "a tool that is gone stays callable")
	assert.Equal(t, "{}", result.Content)
}

// A refresh that takes over what has not changed gives what a new connection
// gets.
func TestRefreshTakesOver(t *testing.T) {
	h := newWeb(t)
	random := rand.New(rand.NewPCG(1, 2))
	made := 0
	tool := func() string {
		made++
		return strings.ReplaceAll([]string{
			`{"name":"t%d","description":"Does %d.","inputSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`,
			`{"name":"t%d", "title":"%d", "inputSchema":{"properties":{"a":{"items":[]}}}, "annotations":{"readOnlyHint":true}}`,
			`{"name":"t%d","description":"hid\u2060den %d"}`,
			`{"name":"t%d","inputSchema":[%d]}`,
			`{"nam":%d}`,
			`%d`,
		}[random.IntN(6)], "%d", strconv.Itoa(made))
	}
	var list []string
	for range 20 {
		list = append(list, tool())
	}
	publish := func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.tools = "[" + strings.Join(list, ",") + "]"
	}
	told := func(c *mcp.Connection) (tools []mcp.Tool, warnings []string) {
		tools = c.Tools()
		for i := range tools {
			require.NotNil(t, tools[i].Handler)
			tools[i].Handler = nil
		}
		return tools, c.Warnings()
	}
	publish()
	c := connect(t, h.server())
	for range 40 {
		before := c.Tools()
		at, other := random.IntN(len(list)), random.IntN(len(list))
		switch random.IntN(5) {
		case 0:
			list[at] = tool()
		case 1:
			list = slices.Insert(list, at, tool())
		case 2:
			list = slices.Delete(list, at, at+1)
		case 3:
			list[at], list[other] = list[other], list[at]
		case 4:
			list = slices.Insert(list, at, list[other]) // twice
		}
		publish()
		require.NoError(t, c.RefreshTools(t.Context()))
		fresh, err := mcp.Connect(t.Context(), h.server())
		require.NoError(t, err)
		tools, warnings := told(c)
		wantTools, wantWarnings := told(fresh)
		require.NoError(t, fresh.Close())
		require.Equal(t, wantTools, tools)
		require.Equal(t, wantWarnings, warnings)
		for _, tool := range c.Tools() {
			result, err := tool.Handler(t.Context(), []byte(`{"a":"b"}`))
			require.NoError(t, err)
			require.Equal(t, `{"a":"b"}`, result.Content)
			i := slices.IndexFunc(before, func(b mcp.Tool) bool { return b.Fingerprint == tool.Fingerprint })
			if i >= 0 && tool.Description == "Tool "+tool.ServerTool+" from the MCP server test. Does "+tool.ServerTool[1:]+"." {
				assert.Same(t, &before[i].InputSchema[0], &tool.InputSchema[0], "it is not read again")
			}
		}
	}
}

func TestServersWithoutTools(t *testing.T) {
	const info = `,"serverInfo":{"name":"x","version":"1"}`
	for name, c := range map[string]struct {
		initialize string
		args       []string
		want       []string
	}{
		"no tools capability":    {`{"protocolVersion":"2025-06-18","capabilities":{"prompts":{}}` + info + `}`, nil, []string{}},
		"resources alone":        {`{"protocolVersion":"2025-06-18","capabilities":{"tools":null,"resources":{}}` + info + `}`, nil, []string{}},
		"empty capabilities":     {`{"protocolVersion":"2025-06-18","capabilities":{}` + info + `}`, nil, []string{"asked"}},
		"null tools":             {`{"protocolVersion":"2025-06-18","capabilities":{"tools":null}` + info + `}`, nil, []string{"asked"}},
		"other capabilities":     {`{"protocolVersion":"2025-06-18","capabilities":{"logging":{},"prompts":null}` + info + `}`, nil, []string{"asked"}},
		"another case":           {`{"protocol_version":"2025-06-18","Capabilities":{"Tools":{},"Prompts":{}},"server_info":{"name":"x"}}`, nil, []string{"asked"}},
		"none, and none to list": {`{"protocolVersion":"2025-06-18","capabilities":{}` + info + `}`, []string{"refuse"}, []string{}},
		"no capabilities":        {`{"protocolVersion":"2025-06-18"` + info + `}`, nil, []string{"asked"}},
		"null capabilities":      {`{"protocolVersion":"2025-06-18","capabilities":null` + info + `}`, nil, []string{"asked"}},
		"odd capabilities":       {`{"protocolVersion":"2025-06-18","capabilities":{"tools":true,"logging":7}` + info + `}`, nil, []string{"asked"}},
		"method not found":       {`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}` + info + `}`, []string{"refuse"}, []string{}},
		"no server information":  {`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}`, nil, []string{"asked"}},
		"odd server information": {`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":1,"version":1.5},"instructions":{}}`, nil, []string{"asked"}},
		"the oldest version":     {`{"protocolVersion":"2024-11-05","capabilities":{"tools":{}}` + info + `}`, nil, []string{"asked"}},
		"another version":        {`{"protocolVersion":"2025-03-26","capabilities":{"tools":{}}` + info + `}`, nil, []string{"asked"}},
	} {
		t.Run(name, func(t *testing.T) {
			server := stdioServer(t, "no tools")
			server.Args = append([]string{c.initialize}, c.args...)
			connection := connect(t, server)
			assert.Equal(t, c.want, serverNames(connection.Tools()))
			assert.NoError(t, connection.RefreshTools(t.Context()))
		})
	}
}

// Other libraries write members in another case, or by the names of the APIs of
// models. Nothing of a tool vanishes for that, and what is written as the
// specification wants it counts before it.
func TestMembersInOtherCase(t *testing.T) {
	const schema = `{"type":"object","properties":{"a":{"type":"string"}}}`
	for entry, want := range map[string]string{
		`{"name":"x","input_schema":` + schema + `}`:                                 schema,
		`{"Name":"x","InputSchema":` + schema + `}`:                                  schema,
		`{"name":"x","inputschema":` + schema + `}`:                                  schema,
		`{"name":"x","args_schema":` + schema + `}`:                                  schema,
		`{"name":"x","schema":` + schema + `}`:                                       schema,
		`{"name":"x","parameters":` + schema + `}`:                                   schema,
		`{"name":"x","inputSchema":` + schema + `,"parameters":{"type":"object"}}`:   schema,
		`{"name":"x","input_schema":{"type":"object"},"inputSchema":` + schema + `}`: schema,
		`{"name":"x","inputSchema":{"type":"object"},"input_schema":` + schema + `}`: `{"type":"object","properties":{}}`,
		`{"name":"x","INPUT__SCHEMAS":` + schema + `,"inputSchem":` + schema + `}`:   `{"type":"object","properties":{}}`,
	} {
		tools, _ := listTools(t, `{"tools":[`+entry+`]}`)
		require.Len(t, tools, 1, entry)
		assert.Equal(t, want, string(tools[0].InputSchema), entry)
	}
	tools, _ := listTools(t, `{"Tools":[{"name":"x","Title":"A","Description":"B","output_schema":{"type":"object"}}]}`)
	require.Len(t, tools, 1)
	assert.Equal(t, "A", tools[0].Title)
	assert.Equal(t, "Tool x from the MCP server test. B", tools[0].Description)
	assert.Equal(t, `{"type":"object"}`, string(tools[0].OutputSchema))
}

// What the server says of a tool is there without what is put before it, and
// clean; and tools are JSON, but for what calls them.
func TestServerDescription(t *testing.T) {
	server := stdioServer(t, "pages")
	server.Args = []string{`{"": {"tools": [
		{"name": "plain", "description": "Adds.\n  Twice. "},
		{"name": "hidden", "description": "A\u001b[1mdds\udb40\udc41."},
		{"name": "escape \u001b[1m", "description": "Adds."},
		{"name": "said", "description": "Tool said from the MCP server test. "},
		{"name": "empty", "description": ""},
		{"name": "none"},
		{"name": "number", "description": 7},
		{"name": "\udb40\udc41", "description": ""}
	]}}`}
	c := connect(t, server)
	var own []string
	for _, tool := range c.Tools() {
		own = append(own, tool.ServerDescription)
		assert.True(t, strings.HasPrefix(tool.Description, "Tool "), tool.Description)
		assert.True(t, strings.HasSuffix(tool.Description, tool.ServerDescription), tool.Description)
		assert.NotContains(t, tool.Description, "\x1b")
	}
	assert.Equal(t, []string{"Adds.\n  Twice. ", "Adds.", "Adds.", "Tool said from the MCP server test. ", "", "", "", ""}, own)

	encoded, err := json.Marshal(c.Tools())
	require.NoError(t, err)
	assert.NotContains(t, string(encoded), "Handler")
	var decoded []mcp.Tool
	require.NoError(t, json.Unmarshal(encoded, &decoded))
	require.Len(t, decoded, len(own))
	want := c.Tools()[0]
	want.Handler, want.ServerSchema, want.OutputSchema = nil, json.RawMessage("null"), json.RawMessage("null")
	assert.Equal(t, want, decoded[0])
	require.NoError(t, c.RefreshTools(t.Context()))
	assert.Equal(t, "Adds.\n  Twice. ", c.Tools()[0].ServerDescription)
}
