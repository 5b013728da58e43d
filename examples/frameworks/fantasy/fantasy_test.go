package fantasy

import (
	"context"
	"encoding/json"
	"testing"

	"charm.land/fantasy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
)

func TestTool(t *testing.T) {
	var got string
	result := mcp.ToolResult{Content: "a picture", Images: []mcp.Image{{MIMEType: "image/png", Data: []byte("png")}}}
	tool := &Tool{Tool: mcp.Tool{
		Name: "mcp__s__read", Description: "Reads.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"z":{"type":"integer"}},"required":["z"]}`),
		Handler: func(_ context.Context, arguments json.RawMessage) (mcp.ToolResult, error) {
			got = string(arguments)
			return result, nil
		},
	}}
	assert.Equal(t, fantasy.ToolInfo{
		Name: "mcp__s__read", Description: "Reads.", Parallel: true,
		Parameters: map[string]any{"z": map[string]any{"type": "integer"}}, Required: []string{"z"},
	}, tool.Info())
	response, err := tool.Run(t.Context(), fantasy.ToolCall{Input: `{"z":1}`})
	require.NoError(t, err)
	assert.Equal(t, `{"z":1}`, got)
	assert.Equal(t, fantasy.ToolResponse{Type: "image", Content: "a picture", Data: []byte("png"), MediaType: "image/png"}, response)

	result = mcp.ToolResult{Content: "no", IsError: true}
	response, err = tool.Run(t.Context(), fantasy.ToolCall{})
	require.NoError(t, err)
	assert.Equal(t, fantasy.ToolResponse{Type: "text", Content: "no", IsError: true}, response)
}
