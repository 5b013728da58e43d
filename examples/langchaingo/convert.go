package main

// This file is the converter, free to paste: tools and results of MCP servers
// in the form of langchaingo.

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/tmc/langchaingo/llms"

	"github.com/seed94b59a13/mcp"
)

// call calls the tool that the model names. Earlier turns may name tools that
// are gone: that, and a call without an answer, is for the model to read.
func call(ctx context.Context, tools map[string]mcp.Tool, name, arguments string) mcp.ToolResult {
	tool, ok := tools[name]
	if !ok {
		return mcp.ToolResult{Content: fmt.Sprintf("there is no tool %q", name), IsError: true}
	}
	result, err := tool.Handler(ctx, json.RawMessage(arguments))
	if err != nil {
		return mcp.ToolResult{Content: err.Error(), IsError: true}
	}
	return result
}

// text is what a model reads where the API has no flag for a failure.
func text(result mcp.ToolResult) string {
	if result.IsError {
		return "The tool failed: " + result.Content
	}
	return result.Content
}

func definition(tool mcp.Tool) llms.Tool {
	return llms.Tool{Type: "function", Function: &llms.FunctionDefinition{
		Name: tool.Name, Description: tool.Description, Parameters: tool.InputSchema,
	}}
}

// answers returns the messages that answer the calls of one turn. A tool
// message has one part, a text, and nothing may stand between those of a turn:
// a human message behind them has the images. They are URLs, as OpenAI wants
// them; with Anthropic, Google or Ollama use llms.BinaryPart.
func answers(turn []llms.ToolCall, results []mcp.ToolResult) []llms.MessageContent {
	var messages []llms.MessageContent
	var images []llms.ContentPart
	for i, result := range results {
		content := text(result)
		if n := len(result.Images); n > 0 {
			content += fmt.Sprintf("\n[images: %d, in the message of the user below]", n)
			images = append(images, llms.TextPart("Images of the tool call "+turn[i].ID+":"))
		}
		messages = append(messages, llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{
			llms.ToolCallResponse{ToolCallID: turn[i].ID, Name: turn[i].FunctionCall.Name, Content: content},
		}})
		for _, image := range result.Images {
			images = append(images, llms.ImageURLPart("data:"+image.MIMEType+";base64,"+base64.StdEncoding.EncodeToString(image.Data)))
		}
	}
	if images != nil {
		messages = append(messages, llms.MessageContent{Role: llms.ChatMessageTypeHuman, Parts: images})
	}
	return messages
}
