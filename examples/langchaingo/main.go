// Langchaingo runs an agent loop on a model of langchaingo, with the tools of
// an MCP server.
//
//	go run . -prompt 'What is in /tmp?' npx -y @modelcontextprotocol/server-filesystem /tmp
//
// The key is in OPENAI_API_KEY.
package main

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/examples/internal/program"
)

func main() {
	program.Main("https://api.openai.com/v1", "gpt-5-mini", func(ctx context.Context, task program.Task, tools []mcp.Tool) (string, error) {
		client, err := openai.New(openai.WithBaseURL(task.BaseURL), openai.WithModel(task.Model))
		if err != nil {
			return "", err
		}
		return converse(ctx, client, tools, task.Prompt)
	})
}

func converse(ctx context.Context, client llms.Model, tools []mcp.Tool, prompt string) (string, error) {
	var definitions []llms.Tool
	for _, tool := range tools {
		definitions = append(definitions, definition(tool))
	}
	messages := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, prompt)}
	for range program.MaxTurns {
		response, err := client.GenerateContent(ctx, messages, llms.WithTools(definitions))
		if err != nil {
			return "", err
		}
		choice := response.Choices[0] // there is one, or it is an error
		turn := choice.ToolCalls
		if len(turn) == 0 {
			return choice.Content, nil
		}
		message := llms.MessageContent{Role: llms.ChatMessageTypeAI}
		if choice.Content != "" {
			message.Parts = append(message.Parts, llms.TextPart(choice.Content))
		}
		for _, c := range turn {
			message.Parts = append(message.Parts, c)
		}
		messages = append(messages, message)

		results := make([]mcp.ToolResult, len(turn))
		var calls sync.WaitGroup
		for i, c := range turn {
			calls.Go(func() {
				results[i] = mcp.Call(ctx, tools, c.FunctionCall.Name, json.RawMessage(c.FunctionCall.Arguments))
			})
		}
		calls.Wait()
		messages = append(messages, answers(turn, results)...)
	}
	return "", program.ErrTurns
}
