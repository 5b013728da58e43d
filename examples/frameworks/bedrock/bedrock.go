// Package bedrock has the tools of MCP servers in the form of Bedrock's Converse.
package bedrock

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/seed94b59a13/mcp"
)

// Tool is what the model sees.
func Tool(tool mcp.Tool) (types.Tool, error) {
	var schema any
	decoder := json.NewDecoder(bytes.NewReader(tool.InputSchema))
	decoder.UseNumber()
	if err := decoder.Decode(&schema); err != nil {
		return nil, err
	}
	return &types.ToolMemberToolSpec{Value: types.ToolSpecification{
		Name: &tool.Name, Description: &tool.Description,
		InputSchema: &types.ToolInputSchemaMemberJson{Value: document.NewLazyDocument(plain(schema))},
	}}, nil
}

// plain puts plain Go numbers into what was decoded: the SDK sends a json.Number
// as a string. Whole numbers stay exact.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = plain(v[key])
		}
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		n, _ := v.Float64()
		return n
	}
	return v
}

// Answer calls what the model names, and returns the block that answers it.
func Answer(ctx context.Context, tools []mcp.Tool, use types.ToolUseBlock) types.ContentBlock {
	// Decoded into any, numbers would be a type of the SDK that is a string in
	// JSON.
	var arguments json.RawMessage
	if use.Input != nil {
		arguments, _ = use.Input.MarshalSmithyDocument() // it came as JSON
	}
	result := mcp.Call(ctx, tools, *use.Name, arguments)
	block := types.ToolResultBlock{ToolUseId: use.ToolUseId, Status: types.ToolResultStatusSuccess}
	if result.IsError {
		block.Status = types.ToolResultStatusError
	}
	if result.Content != "" { // a text may not be empty
		block.Content = append(block.Content, &types.ToolResultContentBlockMemberText{Value: result.Content})
	}
	for _, image := range result.Images {
		block.Content = append(block.Content, &types.ToolResultContentBlockMemberImage{Value: types.ImageBlock{
			Format: types.ImageFormat(strings.TrimPrefix(image.MIMEType, "image/")),
			Source: &types.ImageSourceMemberBytes{Value: image.Data},
		}})
	}
	return &types.ContentBlockMemberToolResult{Value: block}
}
