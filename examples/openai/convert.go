package main

// This file is the converter, free to paste: tools and results of MCP servers
// in the form of OpenAI's Chat Completions and of its Responses.

import (
	"fmt"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"

	"github.com/seed94b59a13/mcp"
)

func chatTool(tool mcp.Tool) openai.ChatCompletionToolUnionParam {
	function := openai.FunctionDefinitionParam{
		Name:        tool.Name,
		Description: openai.String(tool.Description),
		Strict:      openai.Bool(false), // the strict mode takes a part of JSON Schema only
	}
	// The field Parameters is a map, which would lose the order of properties.
	function.SetExtraFields(map[string]any{"parameters": tool.InputSchema})
	return openai.ChatCompletionFunctionTool(function)
}

// chatResults returns the messages that answer the calls of one turn. A tool
// message has text only, and nothing may stand between those of a turn: a user
// message behind them has the images.
func chatResults(ids []string, results []mcp.ToolResult) []openai.ChatCompletionMessageParamUnion {
	var messages []openai.ChatCompletionMessageParamUnion
	var images []openai.ChatCompletionContentPartUnionParam
	for i, result := range results {
		content := result.Text()
		if n := len(result.Images); n > 0 {
			content += fmt.Sprintf("\n[images: %d, in the message of the user below]", n)
			images = append(images, openai.TextContentPart("Images of the tool call "+ids[i]+":"))
		}
		messages = append(messages, openai.ToolMessage(content, ids[i]))
		for _, image := range result.Images {
			images = append(images, openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: image.DataURL()}))
		}
	}
	if images != nil {
		messages = append(messages, openai.UserMessage(images))
	}
	return messages
}

func responsesTool(tool mcp.Tool) responses.ToolUnionParam {
	function := responses.FunctionToolParam{
		Name:        tool.Name,
		Description: openai.String(tool.Description),
		Strict:      openai.Bool(false), // left out, it means to try the strict mode
	}
	function.SetExtraFields(map[string]any{"parameters": tool.InputSchema})
	return responses.ToolUnionParam{OfFunction: &function}
}

// responsesResult returns the item that answers a call.
func responsesResult(id string, result mcp.ToolResult) responses.ResponseInputItemUnionParam {
	var output responses.ResponseFunctionCallOutputItemListParam
	result.Content = result.Text() // there is no flag for a failure
	inOrder(result, func(text string) {
		output = append(output, responses.ResponseFunctionCallOutputItemUnionParam{
			OfInputText: &responses.ResponseInputTextContentParam{Text: text},
		})
	}, func(image mcp.Image) {
		output = append(output, responses.ResponseFunctionCallOutputItemUnionParam{
			OfInputImage: &responses.ResponseInputImageContentParam{ImageURL: openai.String(image.DataURL())},
		})
	})
	item := responses.ResponseInputItemParamOfFunctionCallOutput(output)
	item.OfFunctionCallOutput.CallID = openai.String(id)
	return item
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
