package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"

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

func TestDefinition(t *testing.T) {
	assert.Equal(t, `{"type":"function","function":{"name":"mcp__files__read","description":"Tool read from the MCP server files. Reads.",`+
		`"parameters":`+string(tool.InputSchema)+`}}`, encode(t, definition(tool)))
}

func TestAnswers(t *testing.T) {
	turn := make([]llms.ToolCall, 3)
	for i, id := range []string{"1", "2", "3"} {
		turn[i] = llms.ToolCall{ID: id, FunctionCall: &llms.FunctionCall{Name: "tool" + id}}
	}
	results := []mcp.ToolResult{
		{Content: "a file"},
		{Content: "no such file", IsError: true},
		{Images: []mcp.Image{looptest.Dot, looptest.Dot}},
	}
	image := llms.ImageURLPart("data:image/png;base64," + looptest.DotBase64)
	response := func(id, content string) llms.MessageContent {
		return llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{
			llms.ToolCallResponse{ToolCallID: id, Name: "tool" + id, Content: content},
		}}
	}
	assert.Equal(t, []llms.MessageContent{
		response("1", "a file"),
		response("2", "The tool failed: no such file"),
		response("3", "\n[images: 2, in the message of the user below]"),
		{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{llms.TextPart("Images of the tool call 3:"), image, image}},
	}, answers(turn, results))
	assert.Len(t, answers(turn, results[:1]), 1, "no images, no human message")
}
