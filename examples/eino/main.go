// Eino runs an agent loop on a model of eino, with the tools of an MCP server.
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

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

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
	client, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{BaseURL: *baseURL, Model: *model, APIKey: os.Getenv("OPENAI_API_KEY")})
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

func converse(ctx context.Context, client model.ToolCallingChatModel, tools []mcp.Tool, prompt string) (string, error) {
	byName := map[string]mcp.Tool{}
	var definitions []*schema.ToolInfo
	for _, tool := range tools {
		byName[tool.Name] = tool
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
	for range maxTurns {
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
			calls.Go(func() { results[i] = call(ctx, byName, c.Function.Name, c.Function.Arguments) })
		}
		calls.Wait()
		messages = append(messages, answers(turn, results)...)
	}
	return "", fmt.Errorf("no answer after %d turns", maxTurns)
}
