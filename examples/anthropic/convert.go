package main

// This file is the converter, free to paste: tools and results of MCP servers
// in the form of Anthropic's Messages.

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/param"

	"github.com/seed94b59a13/mcp"
)

// call calls the tool that the model names. Earlier turns may name tools that
// are gone: that, and a call without an answer, is for the model to read.
func call(ctx context.Context, tools map[string]mcp.Tool, name string, arguments json.RawMessage) mcp.ToolResult {
	tool, ok := tools[name]
	if !ok {
		return mcp.ToolResult{Content: fmt.Sprintf("there is no tool %q", name), IsError: true}
	}
	result, err := tool.Handler(ctx, arguments)
	if err != nil {
		return mcp.ToolResult{Content: err.Error(), IsError: true}
	}
	return result
}

func definition(tool mcp.Tool) anthropic.ToolUnionParam {
	return anthropic.ToolUnionParam{OfTool: &anthropic.ToolParam{
		Name:        tool.Name,
		Description: anthropic.String(tool.Description),
		// The fields of the type hold a part of JSON Schema only.
		InputSchema: param.Override[anthropic.ToolInputSchemaParam](tool.InputSchema),
	}}
}

// answer returns the message that answers the calls of one turn. A result that
// is an error may have text only: its images stand behind all results. An image
// may have 5 MB in base64: set Server.MaxImageBytes to 3_750_000.
func answer(ids []string, results []mcp.ToolResult) anthropic.MessageParam {
	var blocks, images []anthropic.ContentBlockParamUnion
	for i, result := range results {
		block := &anthropic.ToolResultBlockParam{ToolUseID: ids[i], IsError: anthropic.Bool(result.IsError)}
		content := result.Content
		if result.IsError {
			content = cmp.Or(content, "The tool failed.") // a text may not be empty
		}
		if content != "" {
			block.Content = append(block.Content, anthropic.ToolResultBlockParamContentUnion{OfText: &anthropic.TextBlockParam{Text: content}})
		}
		for _, file := range result.Images {
			image := anthropic.NewImageBlockBase64(file.MIMEType, base64.StdEncoding.EncodeToString(file.Data))
			if result.IsError {
				images = append(images, image)
			} else {
				block.Content = append(block.Content, anthropic.ToolResultBlockParamContentUnion{OfImage: image.OfImage})
			}
		}
		blocks = append(blocks, anthropic.ContentBlockParamUnion{OfToolResult: block})
	}
	return anthropic.NewUserMessage(append(blocks, images...)...)
}
