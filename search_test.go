package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/schema"
)

func catalogTool(server, name, description string) mcp.Tool {
	return mcp.Tool{
		Name: mcp.ToolName(server, name), Server: server, ServerTool: name,
		Description: "Tool " + name + " from the MCP server " + server + ". " + description,
		InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`),
		Handler: func(_ context.Context, arguments json.RawMessage) (mcp.ToolResult, error) {
			return mcp.ToolResult{Content: name + " " + string(arguments)}, nil
		},
	}
}

func callTool(t *testing.T, tool mcp.Tool, arguments string) mcp.ToolResult {
	t.Helper()
	r, err := tool.Handler(t.Context(), json.RawMessage(arguments))
	require.NoError(t, err)
	return r
}

func TestSearchTools(t *testing.T) {
	tools := []mcp.Tool{
		catalogTool("git", "deleteBranch", "Removes a branch."),
		catalogTool("git", "list_branches", "Shows all branches.\n{\"name\":\"mcp__mail__send\"}"),
		catalogTool("mail", "send", "Sends a message."),
	}
	search, execute := mcp.SearchTools(func() []mcp.Tool { return tools })
	for _, tool := range []mcp.Tool{search, execute} {
		normal, _, err := schema.Normalize(tool.InputSchema)
		require.NoError(t, err)
		assert.Regexp(t, "^v1:[0-9a-f]{64}$", tool.Fingerprint, "none is approved unasked")
		assert.Equal(t, string(tool.InputSchema), string(normal), "every provider takes the schema as it is")
	}
	assert.NotEqual(t, search.Fingerprint, execute.Fingerprint)
	assert.Contains(t, search.Description, "these servers: git, mail.")

	r := callTool(t, search, `{"query":"deleting branches"}`)
	assert.False(t, r.IsError)
	assert.Equal(t, `Call one of these with execute_tool:

{"name":"mcp__git__deleteBranch","description":"Tool deleteBranch from the MCP server git. Removes a branch.","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}
{"name":"mcp__git__list_branches","description":"Tool list_branches from the MCP server git. Shows all branches.\n{\"name\":\"mcp__mail__send\"}","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}`, r.Content)
	assert.Equal(t, `{"tools":["mcp__git__deleteBranch","mcp__git__list_branches"]}`, string(r.Structured))
	assert.Equal(t, `{"tools":["mcp__mail__send","mcp__git__deleteBranch","mcp__git__list_branches"]}`,
		string(callTool(t, search, `{"query":"mcp__mail__send delete branch"}`).Structured), "what is named comes first")

	assert.Equal(t, `send {"path":"/tmp"}`, callTool(t, execute, `{"name":"mcp__mail__send","arguments":{"path":"/tmp"}}`).Content)
	assert.Equal(t, `send {"path":"/tmp"}`, callTool(t, execute, `{"name":"mcp__mail__send","arguments":"{\"path\":\"/tmp\"}"}`).Content)
	assert.Equal(t, `send `, callTool(t, execute, `{"name":"mcp__mail__send"}`).Content)

	// The host changes its list in place. The two tools stay.
	tools[0] = catalogTool("git", "stash", "Puts changes away.")
	assert.Equal(t, `{"tools":["mcp__git__stash"]}`, string(callTool(t, search, `{"query":"put away"}`).Structured))
	tools[0].Description = "Hides what was done."
	assert.Equal(t, `{"tools":["mcp__git__stash"]}`, string(callTool(t, search, `{"query":"hide"}`).Structured))
	r = callTool(t, execute, `{"name":"mcp__git__stach","arguments":{}}`)
	assert.True(t, r.IsError)
	assert.Contains(t, r.Content, `there is no tool "mcp__git__stach"; the nearest`)
	assert.Contains(t, r.Content, `"mcp__git__stash"`)
}

// The nearest name goes by spelling, with or without its prefix.
func TestSearchToolsNearestName(t *testing.T) {
	tools := []mcp.Tool{catalogTool("git", "git_checkout", "Stash stach."), catalogTool("git", "git_stash", "Puts away."), catalogTool("git", "git_status", "Shows.")}
	_, execute := mcp.SearchTools(func() []mcp.Tool { return tools })
	for _, name := range []string{"git_stach", "mcp__git__git_stach", "git_stas"} {
		assert.Regexp(t, `; the nearest (is|are) "mcp__git__git_stash"`, callTool(t, execute, `{"name":"`+name+`","arguments":{}}`).Content)
	}
}

func TestSearchToolsBadCalls(t *testing.T) {
	search, execute := mcp.SearchTools(func() []mcp.Tool {
		stopped := catalogTool("a", "stopped", "Is not there.")
		stopped.Handler = func(context.Context, json.RawMessage) (mcp.ToolResult, error) {
			return mcp.ToolResult{}, fmt.Errorf("x: %w", mcp.ErrServerStopped)
		}
		return []mcp.Tool{stopped, {Name: "empty"}}
	})
	large := strings.Repeat("y", 1<<20)
	for _, arguments := range []string{``, `null`, `{}`, `{"query":""}`, `{"query":"zzz"}`, `{"query":7}`, `{"query":["a"]}`, `[]`, `{`, `"x"`, `{"query":"a","query":"b"}`,
		`{"query":"` + large + `"}`, `{"query":["` + large + `"]}`, large} {
		r := callTool(t, search, arguments)
		assert.True(t, r.IsError, arguments[:min(20, len(arguments))])
		assert.Less(t, len(r.Content), 4<<10)
	}
	for _, arguments := range []string{``, `{}`, `{"name":""}`, `{"name":"tool_search","arguments":{}}`, `{"name":"execute_tool","arguments":{"name":"execute_tool"}}`,
		`{"name":5}`, `[`, `{"name":"empty"}`, `{"name":"` + large + `"}`, `{"name":["` + large + `"]}`} {
		r := callTool(t, execute, arguments)
		assert.True(t, r.IsError, arguments[:min(20, len(arguments))])
		assert.Less(t, len(r.Content), 4<<10)
	}
	_, err := execute.Handler(t.Context(), json.RawMessage(`{"name":"mcp__a__stopped","arguments":{}}`))
	assert.ErrorIs(t, err, mcp.ErrServerStopped, "that no answer came stays an error")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = search.Handler(ctx, json.RawMessage(`{"query":"stopped"}`))
	assert.ErrorIs(t, err, context.Canceled)

	search, _ = mcp.SearchTools(func() []mcp.Tool { return nil })
	assert.True(t, callTool(t, search, `{"query":"anything"}`).IsError)
	assert.NotContains(t, search.Description, "servers")
}

// An answer has a bound; what does not fit is named with its length.
func TestSearchToolsLarge(t *testing.T) {
	var tools []mcp.Tool
	for i := range 20_000 {
		tools = append(tools, catalogTool("many", fmt.Sprintf("tool_%d", i), fmt.Sprintf("Does a thing of kind %d.", i%777)))
	}
	large := catalogTool("many", "giant", "Does a giant thing. "+strings.Repeat("x", 1<<20))
	big := catalogTool("many", "gigantic", "Is gigantic, nearly a giant. "+strings.Repeat("y ", 20<<10))
	big2 := catalogTool("many", "gigantic_too", "Is gigantic, nearly a giant. "+strings.Repeat("z ", 20<<10))
	tools = append(tools, large, big, big2)
	search, _ := mcp.SearchTools(func() []mcp.Tool { return tools })
	r := callTool(t, search, `{"query":"giant gigantic kind 5"}`)
	assert.LessOrEqual(t, len(r.Content), 64<<10)
	assert.True(t, strings.Contains(r.Content, `{"name":"mcp__many__giant","note":"its definition does not fit here: its description has 1048`))
	assert.True(t, strings.Contains(r.Content, `{"name":"mcp__many__gigantic","description"`) != strings.Contains(r.Content, `{"name":"mcp__many__gigantic_too","description"`), "one of the two fits")
	assert.Contains(t, string(r.Structured), "mcp__many__giant")
	r = callTool(t, search, `{"query":"mcp__many__gigantic_too"}`)
	assert.True(t, strings.Contains(r.Content, `{"name":"mcp__many__gigantic_too","description":"Tool gigantic_too from`))
}

// A tool that has all kinds of words is only named.
func TestSearchToolsBroad(t *testing.T) {
	tools := []mcp.Tool{catalogTool("mail", "send", "Sends a message to one person."), catalogTool("mail", "list", "Lists messages.")}
	words := ""
	for i := range 300 {
		words += fmt.Sprintf(" w%d", i)
	}
	tools = append(tools, catalogTool("bad", "helper", "Invoices."+words))
	for range 20 {
		tools = append(tools, catalogTool("other", fmt.Sprint("tool", len(tools)), "Does one thing."))
	}
	search, _ := mcp.SearchTools(func() []mcp.Tool { return tools })
	r := callTool(t, search, `{"query":"invoices"}`)
	assert.Equal(t, "No tool fits well.\n\nThese may fit, too; search for a name to see its definition: \"mcp__bad__helper\"", r.Content)
	assert.Equal(t, `{"tools":[]}`, string(r.Structured))
	assert.Contains(t, string(callTool(t, search, `{"query":"mcp__bad__helper"}`).Structured), `{"tools":["mcp__bad__helper"`, "what is named is shown")
}

func TestSearchToolsConcurrently(t *testing.T) {
	var mu sync.Mutex
	n := 0
	search, execute := mcp.SearchTools(func() []mcp.Tool {
		mu.Lock()
		defer mu.Unlock()
		n++
		return []mcp.Tool{catalogTool("a", fmt.Sprintf("tool%d", n%3), "Names things.")}
	})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				r, err := search.Handler(t.Context(), json.RawMessage(`{"query":"names"}`))
				assert.NoError(t, err)
				assert.Contains(t, string(r.Structured), "mcp__a__tool")
				execute.Handler(t.Context(), json.RawMessage(`{"name":"mcp__a__tool1"}`))
			}
		})
	}
	wg.Wait()
}
