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
	InputSchema: json.RawMessage(`{"type":"object","properties":{"z":{"type":"integer","maximum":9007199254740993},"a":{"type":"string"}},"required":["z"]}`),
}

func encode(t *testing.T, v any) string {
	t.Helper()
	encoded, err := json.Marshal(v)
	require.NoError(t, err)
	return string(encoded)
}

func TestDefinitions(t *testing.T) {
	assert.Equal(t, `{"function":{"name":"mcp__files__read","strict":false,"description":"Tool read from the MCP server files. Reads.",`+
		`"parameters":`+string(tool.InputSchema)+`},"type":"function"}`, encode(t, chatTool(tool)))
	assert.Equal(t, `{"strict":false,"name":"mcp__files__read","description":"Tool read from the MCP server files. Reads.",`+
		`"type":"function","parameters":`+string(tool.InputSchema)+`}`, encode(t, responsesTool(tool)))
}

func TestResults(t *testing.T) {
	results := []mcp.ToolResult{
		{Content: "a file"},
		{Content: "no such file", IsError: true},
		{Images: []mcp.Image{looptest.Dot, looptest.Dot}},
	}
	assert.JSONEq(t, `[
		{"role": "tool", "tool_call_id": "1", "content": "a file"},
		{"role": "tool", "tool_call_id": "2", "content": "The tool failed: no such file"},
		{"role": "tool", "tool_call_id": "3", "content": "\n[images: 2, in the message of the user below]"},
		{"role": "user", "content": [
			{"type": "text", "text": "Images of the tool call 3:"},
			{"type": "image_url", "image_url": {"url": "data:image/png;base64,`+looptest.DotBase64+`"}},
			{"type": "image_url", "image_url": {"url": "data:image/png;base64,`+looptest.DotBase64+`"}}]}
	]`, encode(t, chatResults([]string{"1", "2", "3"}, results)))
	assert.Len(t, chatResults([]string{"1"}, results[:1]), 1, "no images, no message of the user")

	for i, want := range []string{
		`{"type": "function_call_output", "call_id": "id", "output": [{"type": "input_text", "text": "a file"}]}`,
		`{"type": "function_call_output", "call_id": "id", "output": [{"type": "input_text", "text": "The tool failed: no such file"}]}`,
		`{"type": "function_call_output", "call_id": "id", "output": [
			{"type": "input_image", "image_url": "data:image/png;base64,` + looptest.DotBase64 + `"},
			{"type": "input_image", "image_url": "data:image/png;base64,` + looptest.DotBase64 + `"}]}`,
	} {
		assert.JSONEq(t, want, encode(t, responsesResult("id", results[i])))
	}
}
