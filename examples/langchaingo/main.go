// Langchaingo runs an agent loop on a model of langchaingo, with the tools of
// an MCP server.
//
//	go run . -prompt 'What is in /tmp?' npx -y @modelcontextprotocol/server-filesystem /tmp
//
// The key is in OPENAI_API_KEY.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"sync"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/seed94b59a13/mcp"
)

func main() {
	log.SetFlags(0)
	baseURL := flag.String("base-url", "https://api.openai.com/v1", "the `URL` of the API")
	model := flag.String("model", "gpt-5-mini", "the model")
	prompt := flag.String("prompt", "Try one of your tools and tell what it did.", "the task")
	flag.Parse()
	if flag.NArg() == 0 {
		log.Fatal("the arguments must be the command of an MCP server")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	client, err := openai.New(openai.WithBaseURL(*baseURL), openai.WithModel(*model))
	if err != nil {
		log.Fatal(err)
	}
	answer, err := run(ctx, flag.Args(), func(tools []mcp.Tool) (string, error) {
		return converse(ctx, client, tools, *prompt)
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

func converse(ctx context.Context, client llms.Model, tools []mcp.Tool, prompt string) (string, error) {
	byName := map[string]mcp.Tool{}
	var definitions []llms.Tool
	for _, tool := range tools {
		byName[tool.Name] = tool
		definitions = append(definitions, definition(tool))
	}
	messages := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, prompt)}
	for range maxTurns {
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
			calls.Go(func() { results[i] = call(ctx, byName, c.FunctionCall.Name, c.FunctionCall.Arguments) })
		}
		calls.Wait()
		messages = append(messages, answers(turn, results)...)
	}
	return "", fmt.Errorf("no answer after %d turns", maxTurns)
}
