package main

// This file is the converter, free to paste: tools and results of MCP servers
// in the form of Anthropic's Messages.

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/param"

	"github.com/seed94b59a13/mcp"
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
		inOrder(result, text, image)
		blocks = append(blocks, anthropic.ContentBlockParamUnion{OfToolResult: block})
	}
	return anthropic.NewUserMessage(append(blocks, behind...)...)
}

// inOrder gives the texts and the images of a result in the server's order. An
// image that stood before a text has a mark in Content, which is cut there.
// Parts tell the mark from a text of the server that looks like one. Content is
// what is given, since it alone has the notes and keeps to Server.MaxOutput:
// where it lacks a mark, the images stand behind it.
func inOrder(result mcp.ToolResult, text func(string), image func(mcp.Image)) {
	content, images := result.Content, result.Images
	read := 0 // bytes of content in which no mark is looked for
	for _, part := range result.Parts {
		if part.Text != "" {
			if at := strings.Index(content[read:], part.Text); at >= 0 {
				read += at + len(part.Text)
			}
			continue
		}
		mark := fmt.Sprintf("[image %d]\n", len(result.Images)-len(images)+1)
		at := strings.Index(content[read:], mark)
		if part.Data == nil || len(images) == 0 || at < 0 {
			continue
		}
		if before := strings.TrimSuffix(content[:read+at], "\n"); strings.TrimSpace(before) != "" {
			text(before)
		}
		image(images[0])
		content, images, read = content[read+at+len(mark):], images[1:], 0
	}
	if strings.TrimSpace(content) != "" { // providers refuse white space alone
		text(content)
	}
	for _, file := range images {
		image(file)
	}
}
