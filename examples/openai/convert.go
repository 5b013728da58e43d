package main

// This file is the converter, free to paste with package order: tools and
// results of MCP servers in the form of OpenAI's Chat Completions and of its Responses.

import (
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/examples/internal/order"
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
	order.Each(result, func(text string) {
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
