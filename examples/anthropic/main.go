// Anthropic runs an agent loop on Anthropic's Messages, with the tools of an
// MCP server.
//
//	go run . -prompt 'What is in /tmp?' npx -y @modelcontextprotocol/server-filesystem /tmp
//
// The key is in ANTHROPIC_API_KEY.
package main

import (
	"context"
	"sync"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/examples/internal/program"
)

func main() {
	program.Main("https://api.anthropic.com", "claude-haiku-4-5", func(ctx context.Context, task program.Task, tools []mcp.Tool) (string, error) {
		return converse(ctx, anthropic.NewClient(option.WithBaseURL(task.BaseURL)), task.Model, tools, task.Prompt)
	})
}

func converse(ctx context.Context, client anthropic.Client, model string, tools []mcp.Tool, prompt string) (string, error) {
	var definitions []anthropic.ToolUnionParam
	for _, tool := range tools {
		definitions = append(definitions, definition(tool))
	}
	messages := []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(prompt))}
	for range program.MaxTurns {
		message, err := client.Messages.New(ctx, anthropic.MessageNewParams{
			Model: anthropic.Model(model), MaxTokens: 4096, Messages: messages, Tools: definitions,
		})
		if err != nil {
			return "", err
		}
		var text string
		var turn []anthropic.ToolUseBlock
		for _, block := range message.Content {
			switch block := block.AsAny().(type) {
			case anthropic.TextBlock:
				text += block.Text
			case anthropic.ToolUseBlock:
				turn = append(turn, block)
			}
		}
		if len(turn) == 0 {
			return text, nil
		}
		messages = append(messages, message.ToParam())

		ids := make([]string, len(turn))
		results := make([]mcp.ToolResult, len(turn))
		var calls sync.WaitGroup
		for i, c := range turn {
			ids[i] = c.ID
			calls.Go(func() { results[i] = mcp.Call(ctx, tools, c.Name, c.Input) })
		}
		calls.Wait()
		messages = append(messages, answer(ids, results))
	}
	return "", program.ErrTurns
}
