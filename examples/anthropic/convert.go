package main

// This file is the converter, free to paste with package order: tools and
// results of MCP servers in the form of Anthropic's Messages.

import (
	"cmp"
	"encoding/base64"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/param"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/examples/internal/order"
)

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
	var blocks, behind []anthropic.ContentBlockParamUnion
	for i, result := range results {
		block := &anthropic.ToolResultBlockParam{ToolUseID: ids[i], IsError: anthropic.Bool(result.IsError)}
		text := func(text string) {
			block.Content = append(block.Content, anthropic.ToolResultBlockParamContentUnion{OfText: &anthropic.TextBlockParam{Text: text}})
		}
		image := func(file mcp.Image) {
			image := anthropic.NewImageBlockBase64(file.MIMEType, base64.StdEncoding.EncodeToString(file.Data))
			if result.IsError {
				behind = append(behind, image)
			} else {
				block.Content = append(block.Content, anthropic.ToolResultBlockParamContentUnion{OfImage: image.OfImage})
			}
		}
		if result.IsError {
			text(cmp.Or(result.Content, "The tool failed.")) // a text may not be empty
			result.Content = ""
		}
		order.Each(result, text, image)
		blocks = append(blocks, anthropic.ContentBlockParamUnion{OfToolResult: block})
	}
	return anthropic.NewUserMessage(append(blocks, behind...)...)
}
