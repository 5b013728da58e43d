package ollama

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/ollama/ollama/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
)

func TestTool(t *testing.T) {
	var got string
	tool := mcp.Tool{
		Name: "mcp__s__read", Description: "Reads.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"z":{"type":"integer"},"a":{"type":"string"}},"required":["z"]}`),
		Handler: func(_ context.Context, arguments json.RawMessage) (mcp.ToolResult, error) {
			got = string(arguments)
			return mcp.ToolResult{Content: "no", IsError: true, Images: []mcp.Image{{Data: []byte("png")}}}, nil
		},
	}
	definition, err := Tool(tool)
	require.NoError(t, err)
	encoded, err := json.Marshal(definition)
	require.NoError(t, err)
	assert.JSONEq(t, `{"type":"function","function":{"name":"mcp__s__read","description":"Reads.","parameters":`+string(tool.InputSchema)+`}}`, string(encoded))

	var call api.ToolCall
	require.NoError(t, json.Unmarshal([]byte(`{"id":"1","function":{"name":"mcp__s__read","arguments":{"z":1}}}`), &call))
	assert.Equal(t, api.Message{Role: "tool", Content: "The tool failed: no", ToolName: "mcp__s__read", ToolCallID: "1", Images: []api.ImageData{[]byte("png")}},
		Answer(t.Context(), []mcp.Tool{tool}, call))
	assert.Equal(t, `{"z":1}`, got)
}
