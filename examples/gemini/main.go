// Gemini runs an agent loop on the Gemini API, with the tools of an MCP server.
//
//	go run . -prompt 'What is in /tmp?' npx -y @modelcontextprotocol/server-filesystem /tmp
//
// The key is in GEMINI_API_KEY.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"sync"

	"google.golang.org/genai"

	"github.com/seed94b59a13/mcp"
)

func main() {
	log.SetFlags(0)
	baseURL := flag.String("base-url", "https://generativelanguage.googleapis.com", "the `URL` of the API")
	model := flag.String("model", "gemini-3-flash", "the model")
	prompt := flag.String("prompt", "Try one of your tools and tell what it did.", "the task")
	flag.Parse()
	if flag.NArg() == 0 {
		log.Fatal("the arguments must be the command of an MCP server")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	client, err := genai.NewClient(ctx, &genai.ClientConfig{
		Backend:     genai.BackendGeminiAPI,
		HTTPOptions: genai.HTTPOptions{BaseURL: *baseURL},
	})
	if err != nil {
		log.Fatal(err)
	}
	answer, err := run(ctx, flag.Args(), func(tools []mcp.Tool) (string, error) {
		return converse(ctx, client, *model, tools, *prompt)
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

func converse(ctx context.Context, client *genai.Client, model string, tools []mcp.Tool, prompt string) (string, error) {
	var definitions []*genai.FunctionDeclaration
	for _, tool := range tools {
		definitions = append(definitions, definition(tool))
	}
	config := &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: definitions}}}
	contents := []*genai.Content{genai.NewContentFromText(prompt, genai.RoleUser)}
	for range maxTurns {
		response, err := client.Models.GenerateContent(ctx, model, contents, config)
		if err != nil {
			return "", err
		}
		if len(response.Candidates) == 0 || response.Candidates[0].Content == nil {
			return "", errors.New("the model gave no answer")
		}
		turn := response.FunctionCalls()
		if len(turn) == 0 {
			return response.Text(), nil
		}
		contents = append(contents, response.Candidates[0].Content)

		parts := make([]*genai.Part, len(turn))
		var calls sync.WaitGroup
		for i, c := range turn {
			arguments, err := json.Marshal(c.Args) // no arguments are null, which a Handler takes
			if err != nil {
				return "", err
			}
			calls.Go(func() { parts[i] = answer(c, mcp.Call(ctx, tools, c.Name, arguments)) })
		}
		calls.Wait()
		contents = append(contents, genai.NewContentFromParts(parts, genai.RoleUser))
	}
	return "", fmt.Errorf("no answer after %d turns", maxTurns)
}
