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
	"sync"

	"google.golang.org/genai"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/examples/internal/program"
)

func main() {
	program.Main("https://generativelanguage.googleapis.com", "gemini-3-flash", func(ctx context.Context, task program.Task, tools []mcp.Tool) (string, error) {
		client, err := genai.NewClient(ctx, &genai.ClientConfig{
			Backend:     genai.BackendGeminiAPI,
			HTTPOptions: genai.HTTPOptions{BaseURL: task.BaseURL},
		})
		if err != nil {
			return "", err
		}
		return converse(ctx, client, task.Model, tools, task.Prompt)
	})
}

func converse(ctx context.Context, client *genai.Client, model string, tools []mcp.Tool, prompt string) (string, error) {
	var definitions []*genai.FunctionDeclaration
	for _, tool := range tools {
		definitions = append(definitions, definition(tool))
	}
	config := &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: definitions}}}
	contents := []*genai.Content{genai.NewContentFromText(prompt, genai.RoleUser)}
	for range program.MaxTurns {
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

		results := make([]mcp.ToolResult, len(turn))
		var calls sync.WaitGroup
		for i, c := range turn {
			calls.Go(func() {
				arguments, _ := json.Marshal(c.Args) // which came as JSON; none are null
				results[i] = mcp.Call(ctx, tools, c.Name, arguments)
			})
		}
		calls.Wait()
		contents = append(contents, genai.NewContentFromParts(answers(turn, results), genai.RoleUser))
	}
	return "", program.ErrTurns
}
