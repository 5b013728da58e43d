package main

// This file is the converter, free to paste: tools and results of MCP servers
// in the form of langchaingo.

import (
	"fmt"

	"github.com/tmc/langchaingo/llms"

	"github.com/seed94b59a13/mcp"
)

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
		content := result.Text()
		if n := len(result.Images); n > 0 {
			content += fmt.Sprintf("\n[images: %d, in the message of the user below]", n)
			images = append(images, llms.TextPart("Images of the tool call "+turn[i].ID+":"))
		}
		messages = append(messages, llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{
			llms.ToolCallResponse{ToolCallID: turn[i].ID, Name: turn[i].FunctionCall.Name, Content: content},
		}})
		for _, image := range result.Images {
			images = append(images, llms.ImageURLPart(image.DataURL()))
		}
	}
	if images != nil {
		messages = append(messages, llms.MessageContent{Role: llms.ChatMessageTypeHuman, Parts: images})
	}
	return messages
}
