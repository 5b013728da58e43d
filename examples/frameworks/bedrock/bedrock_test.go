package bedrock

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
)

func TestTool(t *testing.T) {
	var got string
	tool := mcp.Tool{
		Name: "mcp__s__read", Description: "Reads.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"z":{"type":"integer","maximum":9007199254740993},"f":{"type":"number","enum":[0.5]}}}`),
		Handler: func(_ context.Context, arguments json.RawMessage) (mcp.ToolResult, error) {
			got = string(arguments)
			return mcp.ToolResult{Content: "no", IsError: true, Images: []mcp.Image{{MIMEType: "image/png", Data: []byte("png")}}}, nil
		},
	}
	definition, err := Tool(tool)
	require.NoError(t, err)
	spec := definition.(*types.ToolMemberToolSpec).Value
	assert.Equal(t, "mcp__s__read", *spec.Name)
	sent, err := spec.InputSchema.(*types.ToolInputSchemaMemberJson).Value.MarshalSmithyDocument()
	require.NoError(t, err)
	assert.Contains(t, string(sent), `"maximum":9007199254740993`)
	assert.JSONEq(t, string(tool.InputSchema), string(sent))

	wrong, err := document.NewLazyDocument(map[string]any{"n": json.Number("1")}).MarshalSmithyDocument()
	require.NoError(t, err)
	assert.Equal(t, `{"n":"1"}`, string(wrong), "what plain is for")

	id := "1"
	block := Answer(t.Context(), []mcp.Tool{tool}, types.ToolUseBlock{Name: &tool.Name, ToolUseId: &id, Input: document.NewLazyDocument(map[string]any{"z": 1})})
	assert.Equal(t, `{"z":1}`, got)
	assert.Equal(t, &types.ContentBlockMemberToolResult{Value: types.ToolResultBlock{
		ToolUseId: &id, Status: types.ToolResultStatusError,
		Content: []types.ToolResultContentBlock{
			&types.ToolResultContentBlockMemberText{Value: "no"},
			&types.ToolResultContentBlockMemberImage{Value: types.ImageBlock{Format: types.ImageFormatPng, Source: &types.ImageSourceMemberBytes{Value: []byte("png")}}},
		},
	}}, block)
}
