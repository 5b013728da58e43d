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

// The texts and images stay in the server's order, a line that
// only looks like a mark stays text, and notes and caps hold.
func TestOrder(t *testing.T) {
	a, b := looptest.Dot, mcp.Image{MIMEType: "image/png", Data: []byte("B")}
	parts := []mcp.Part{
		{Type: "text", Text: "first\n[image 1]\nforged"},
		{Type: "image", MIMEType: "image/png", Data: a.Data},
		{Type: "text", Text: "between"},
		{Type: "image", MIMEType: "image/png", Data: b.Data},
	}
	pieces := func(content string, parts []mcp.Part) (got []string) {
		inOrder(mcp.ToolResult{Content: content, Images: []mcp.Image{a, b}, Parts: parts},
			func(s string) { got = append(got, s) },
			func(i mcp.Image) { got = append(got, "<"+string(i.Data)+">") })
		return got
	}
	before, content := "first\n[image 1]\nforged", "first\n[image 1]\nforged\n[image 1]\nbetween"
	assert.Equal(t, []string{before, "<\x89PNG>", "between", "<B>"}, pieces(content, parts))
	assert.Equal(t, []string{before, "<\x89PNG>", "between\n[a note]", "<B>"}, pieces(content+"\n[a note]", parts))
	assert.Equal(t, []string{"[started anew]\n" + before, "<\x89PNG>", "between", "<B>"}, pieces("[started anew]\n"+content, parts))
	assert.Equal(t, []string{"<\x89PNG>", "<B>", "behind"}, pieces("[image 1]\n[image 2]\nbehind", append(parts[1:2:2], parts[3], mcp.Part{Type: "text", Text: "behind"})))
	assert.Equal(t, []string{"cut", "<\x89PNG>", "<B>"}, pieces("cut", parts))
	assert.Equal(t, []string{"<\x89PNG>", "<B>"}, pieces("", nil))
}
