package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
)

func TestDeferred(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{}}`)
	tools := []mcp.Tool{{Name: "draw_chart", Description: "Draws.", InputSchema: schema}, {Name: "send_mail", Description: "Sends.", InputSchema: schema}}
	search, _ := mcp.SearchTools(func() []mcp.Tool { return tools })
	assert.JSONEq(t, `[{"name":"draw_chart","description":"Draws.","input_schema":`+string(schema)+`,"defer_loading":true},
		{"name":"tool_search","description":`+encode(t, search.Description)+`,"input_schema":`+string(search.InputSchema)+`}]`,
		encode(t, deferred([]mcp.Tool{tools[0], search}, search.Name)))
	assert.JSONEq(t, `{"name":"tool_search_tool_bm25","type":"tool_search_tool_bm25_20251119"}`, encode(t, claudeSearch()))

	found, err := search.Handler(t.Context(), json.RawMessage(`{"query":"a chart"}`))
	require.NoError(t, err)
	block, ok := references("1", found)
	assert.True(t, ok)
	assert.JSONEq(t, `{"type":"tool_result","tool_use_id":"1","content":[{"type":"tool_reference","tool_name":"draw_chart"}]}`, encode(t, block))

	found, err = search.Handler(t.Context(), json.RawMessage(`{"query":"zzz"}`))
	require.NoError(t, err)
	_, ok = references("1", found)
	assert.False(t, ok, "nothing was found")
}
