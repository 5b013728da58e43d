package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/examples/internal/looptest"
)

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
	assert.Equal(t, `{"description":"Tool read from the MCP server files. Reads.","name":"mcp__files__read",`+
		`"parametersJsonSchema":`+string(tool.InputSchema)+`}`, encode(t, definition(tool)))
}

func TestAnswers(t *testing.T) {
	gif := mcp.Image{MIMEType: "image/gif", Data: []byte("GIF89a")}
	dot := `{"inlineData": {"mimeType": "image/png", "data": "` + looptest.DotBase64 + `"}}`
	for _, c := range []struct {
		result mcp.ToolResult
		want   string
	}{
		{mcp.ToolResult{Content: "a file", Images: []mcp.Image{looptest.Dot, gif}}, `"response": {"output": "a file\n[a GIF image was left out]"}, "parts": [` + dot + `]`},
		{mcp.ToolResult{Content: `{"$ref":"#/a"}`, Structured: json.RawMessage(`{"$ref":"#/a"}`)}, `"response": {"output": "{\"$ref\":\"#/a\"}"}`},
		{mcp.ToolResult{Content: "no such file", IsError: true}, `"response": {"error": "no such file"}`},
		{mcp.ToolResult{Images: []mcp.Image{looptest.Dot, looptest.Dot}}, `"response": {"output": ""}, "parts": [` + dot + `,` + dot + `]`},
		{mcp.ToolResult{Images: []mcp.Image{looptest.Dot}, IsError: true}, `"response": {"error": "The tool failed."}, "parts": [` + dot + `]`},
	} {
		assert.JSONEq(t, `[{"functionResponse": {"id": "id", "name": "mcp__files__read", `+c.want+`}}]`,
			encode(t, answers([]*genai.FunctionCall{{ID: "id", Name: "mcp__files__read"}}, []mcp.ToolResult{c.result})))
	}
}

// A PDF goes into its answer, audio behind all answers. What is for the user
// alone, or too large, does not go to the model.
func TestFiles(t *testing.T) {
	turn := []*genai.FunctionCall{{ID: "1", Name: "speak"}, {ID: "2", Name: "read"}}
	assert.JSONEq(t, `[
		{"functionResponse": {"id": "1", "name": "speak", "response": {"output": "[audio: audio/wav, 4 bytes]"}}},
		{"functionResponse": {"id": "2", "name": "read", "response": {"output": "two files"},
			"parts": [{"inlineData": {"mimeType": "application/pdf", "data": "JVBERg=="}}]}},
		{"text": "Audio of the tool call \"speak\":"},
		{"inlineData": {"mimeType": "audio/wav", "data": "UklGRg=="}}
	]`, encode(t, answers(turn, []mcp.ToolResult{
		{Content: "[audio: audio/wav, 4 bytes]", Parts: []mcp.Part{
			{Type: "audio", Text: "[audio: audio/wav, 4 bytes]", MIMEType: "audio/wav", Data: []byte("RIFF")},
			{Type: "audio", Text: "[audio: audio/wav, 4 bytes]", MIMEType: "audio/wav", Data: []byte("RIFF"), Audience: []string{"user"}},
		}},
		{Content: "two files", Parts: []mcp.Part{
			{Type: "text", Text: "two files"},
			{Type: "resource", MIMEType: "application/pdf", Data: []byte("%PDF")},
			{Type: "resource", MIMEType: "application/pdf", Data: make([]byte, maxFile+1)},
			{Type: "resource", MIMEType: "application/zip", Data: []byte("PK")},
		}},
	})))
}
