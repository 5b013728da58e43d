// Anthropic runs an agent loop on Anthropic's Messages, with the tools of an
// MCP server.
//
//	go run . -prompt 'What is in /tmp?' npx -y @modelcontextprotocol/server-filesystem /tmp
//
// The key is in ANTHROPIC_API_KEY.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"sync"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/seed94b59a13/mcp"
)

func main() {
	log.SetFlags(0)
	baseURL := flag.String("base-url", "https://api.anthropic.com", "the `URL` of the API")
	model := flag.String("model", "claude-haiku-4-5", "the model")
	prompt := flag.String("prompt", "Try one of your tools and tell what it did.", "the task")
	flag.Parse()
	if flag.NArg() == 0 {
		log.Fatal("the arguments must be the command of an MCP server")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	answer, err := run(ctx, flag.Args(), func(tools []mcp.Tool) (string, error) {
		return converse(ctx, anthropic.NewClient(option.WithBaseURL(*baseURL)), *model, tools, *prompt)
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer)
}

// run runs a loop with the tools of the server that the command starts.
func run(ctx context.Context, command []string, loop func([]mcp.Tool) (string, error)) (string, error) {
	connection, err := mcp.Connect(ctx, mcp.Server{Name: "example", Command: command[0], Args: command[1:], Env: mcp.BaseEnv()})
	if err != nil {
		return "", err
	}
	defer connection.Close()
	return loop(connection.Tools())
}

const maxTurns = 20

func converse(ctx context.Context, client anthropic.Client, model string, tools []mcp.Tool, prompt string) (string, error) {
	byName := map[string]mcp.Tool{}
	var definitions []anthropic.ToolUnionParam
	for _, tool := range tools {
		byName[tool.Name] = tool
		definitions = append(definitions, definition(tool))
	}
	messages := []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(prompt))}
	for range maxTurns {
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
			calls.Go(func() { results[i] = call(ctx, byName, c.Name, c.Input) })
		}
		calls.Wait()
		messages = append(messages, answer(ids, results))
	}
	return "", fmt.Errorf("no answer after %d turns", maxTurns)
}
