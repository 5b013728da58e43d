package genkit

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
)

func TestTool(t *testing.T) {
	var got string
	var failure error
	source := mcp.Tool{
		Name: "mcp__s__read", Description: "Reads.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"z":{"type":"integer"}},"required":["z"]}`),
		Handler: func(_ context.Context, arguments json.RawMessage) (mcp.ToolResult, error) {
			got = string(arguments)
			return mcp.ToolResult{Content: "a picture", Images: []mcp.Image{{MIMEType: "image/png", Data: []byte("\x89PNG")}}}, failure
		},
	}
	tool, err := Tool(source)
	require.NoError(t, err)
	definition := tool.Definition()
	assert.Equal(t, "mcp__s__read", definition.Name)
	assert.Equal(t, "Reads.\nRequired: [\"z\"]", definition.Description)
	assert.Equal(t, map[string]any{"properties": map[string]any{"z": map[string]any{"description": `JSON Schema: {"type":"integer"}`}}}, definition.InputSchema)

	// What mcp repairs, and what only the server can refuse, gets through.
	for input, want := range map[string]string{`{"z":"1"}`: `{"z":"1"}`, `{}`: `{}`, `null`: `null`, `{"z":1}`: `{"z":1}`} {
		var decoded any
		require.NoError(t, json.Unmarshal([]byte(input), &decoded))
		response, err := tool.RunRawMultipart(t.Context(), decoded)
		require.NoError(t, err)
		assert.Equal(t, want, got)
		assert.Equal(t, "a picture", response.Output)
		require.Len(t, response.Content, 1)
		assert.Equal(t, "data:image/png;base64,iVBORw==", response.Content[0].Text)
	}
	failure = errors.New("server stopped")
	response, err := tool.RunRawMultipart(t.Context(), map[string]any{})
	require.NoError(t, err)
	assert.Equal(t, "The tool failed: server stopped", response.Output)
}

// What Tool is loose for.
func TestGenkitChecksFirst(t *testing.T) {
	strict := ai.NewMultipartTool("strict", "", func(*ai.ToolContext, any) (*ai.MultipartToolResponse, error) {
		return &ai.MultipartToolResponse{}, nil
	}, ai.WithInputSchema(map[string]any{"type": "object", "properties": map[string]any{"z": map[string]any{"type": "integer"}}}))
	_, err := strict.RunRawMultipart(t.Context(), map[string]any{"z": "1"})
	assert.Error(t, err)
}
