package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/examples/internal/looptest"
)

// The order of its properties and a number beyond float64 must survive.
var tool = mcp.Tool{
	Name:        "mcp__files__read",
	Description: "Tool read from the MCP server files. Reads.",
	InputSchema: json.RawMessage(`{"type":"object","properties":{"z":{"type":"integer","maximum":9007199254740993},"a":{"$ref":"#/$defs/a"}},"required":["z"],"$defs":{"a":{"type":"string"}}}`),
}

func encode(t *testing.T, v any) string {
	t.Helper()
	encoded, err := json.Marshal(v)
	require.NoError(t, err)
	return string(encoded)
}

func TestDefinition(t *testing.T) {
	assert.Equal(t, `{"input_schema":`+string(tool.InputSchema)+`,"name":"mcp__files__read",`+
		`"description":"Tool read from the MCP server files. Reads."}`, encode(t, definition(tool)))
}

func TestAnswer(t *testing.T) {
	dot := `{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "` + looptest.DotBase64 + `"}}`
	assert.JSONEq(t, `{"role": "user", "content": [
		{"type": "tool_result", "tool_use_id": "1", "is_error": false, "content": [{"type": "text", "text": "a file"}, `+dot+`]},
		{"type": "tool_result", "tool_use_id": "2", "is_error": true, "content": [{"type": "text", "text": "no such file"}]},
		{"type": "tool_result", "tool_use_id": "3", "is_error": false, "content": [`+dot+`, `+dot+`]},
		{"type": "tool_result", "tool_use_id": "4", "is_error": true, "content": [{"type": "text", "text": "The tool failed."}]},
		`+dot+`
	]}`, encode(t, answer([]string{"1", "2", "3", "4"}, []mcp.ToolResult{
		{Content: "a file", Images: []mcp.Image{looptest.Dot}},
		{Content: "no such file", IsError: true},
		{Images: []mcp.Image{looptest.Dot, looptest.Dot}},
		{Images: []mcp.Image{looptest.Dot}, IsError: true},
	})))
}
