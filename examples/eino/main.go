// Eino runs an agent loop on a model of eino, with the tools of an MCP server.
//
//	go run . -prompt 'What is in /tmp?' npx -y @modelcontextprotocol/server-filesystem /tmp
//
// The key is in OPENAI_API_KEY.
package main

import (
	"context"
	"encoding/json"
	"os"
	"sync"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/examples/internal/program"
)

func main() {
	program.Main("https://api.openai.com/v1", "gpt-5-mini", func(ctx context.Context, task program.Task, tools []mcp.Tool) (string, error) {
		client, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{BaseURL: task.BaseURL, Model: task.Model, APIKey: os.Getenv("OPENAI_API_KEY")})
		if err != nil {
			return "", err
		}
		return converse(ctx, client, tools, task.Prompt)
	})
}

func converse(ctx context.Context, client model.ToolCallingChatModel, tools []mcp.Tool, prompt string) (string, error) {
	var definitions []*schema.ToolInfo
	for _, tool := range tools {
		info, err := definition(tool)
		if err != nil {
			return "", err
		}
		definitions = append(definitions, info)
	}
	client, err := client.WithTools(definitions)
	if err != nil {
		return "", err
	}
	messages := []*schema.Message{schema.UserMessage(prompt)}
	for range program.MaxTurns {
		message, err := client.Generate(ctx, messages)
		if err != nil {
			return "", err
		}
		turn := message.ToolCalls
		if len(turn) == 0 {
			return message.Content, nil
		}
		messages = append(messages, message)

		results := make([]mcp.ToolResult, len(turn))
		var calls sync.WaitGroup
		for i, c := range turn {
			calls.Go(func() { results[i] = mcp.Call(ctx, tools, c.Function.Name, json.RawMessage(c.Function.Arguments)) })
		}
		calls.Wait()
		messages = append(messages, answers(turn, results)...)
	}
	return "", program.ErrTurns
}
