// Openai runs an agent loop on OpenAI's Chat Completions, or with -responses
// on its Responses, with the tools of an MCP server.
//
//	go run . -prompt 'What is in /tmp?' npx -y @modelcontextprotocol/server-filesystem /tmp
//
// The key is in OPENAI_API_KEY.
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

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"github.com/seed94b59a13/mcp"
)

func main() {
	log.SetFlags(0)
	baseURL := flag.String("base-url", "https://api.openai.com/v1", "the `URL` of the API")
	model := flag.String("model", "gpt-5-mini", "the model")
	prompt := flag.String("prompt", "Try one of your tools and tell what it did.", "the task")
	useResponses := flag.Bool("responses", false, "use the Responses API")
	flag.Parse()
	if flag.NArg() == 0 {
		log.Fatal("the arguments must be the command of an MCP server")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	loop := chat
	if *useResponses {
		loop = respond
	}
	answer, err := run(ctx, flag.Args(), func(tools []mcp.Tool) (string, error) {
		return loop(ctx, openai.NewClient(option.WithBaseURL(*baseURL)), *model, tools, *prompt)
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

func chat(ctx context.Context, client openai.Client, model string, tools []mcp.Tool, prompt string) (string, error) {
	byName := map[string]mcp.Tool{}
	var definitions []openai.ChatCompletionToolUnionParam
	for _, tool := range tools {
		byName[tool.Name] = tool
		definitions = append(definitions, chatTool(tool))
	}
	messages := []openai.ChatCompletionMessageParamUnion{openai.UserMessage(prompt)}
	for range maxTurns {
		completion, err := client.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{
			Model: model, Messages: messages, Tools: definitions,
		})
		if err != nil {
			return "", err
		}
		if len(completion.Choices) == 0 {
			return "", errors.New("the model gave no answer")
		}
		message := completion.Choices[0].Message
		if len(message.ToolCalls) == 0 {
			return message.Content, nil
		}
		messages = append(messages, message.ToParam())

		ids := make([]string, len(message.ToolCalls))
		results := make([]mcp.ToolResult, len(message.ToolCalls))
		var calls sync.WaitGroup
		for i, c := range message.ToolCalls {
			ids[i] = c.ID
			calls.Go(func() { results[i] = call(ctx, byName, c.Function.Name, c.Function.Arguments) })
		}
		calls.Wait()
		messages = append(messages, chatResults(ids, results)...)
	}
	return "", fmt.Errorf("no answer after %d turns", maxTurns)
}

func respond(ctx context.Context, client openai.Client, model string, tools []mcp.Tool, prompt string) (string, error) {
	byName := map[string]mcp.Tool{}
	var definitions []responses.ToolUnionParam
	for _, tool := range tools {
		byName[tool.Name] = tool
		definitions = append(definitions, responsesTool(tool))
	}
	items := responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage(prompt, responses.EasyInputMessageRoleUser)}
	for range maxTurns {
		response, err := client.Responses.New(ctx, responses.ResponseNewParams{
			Model: model, Input: responses.ResponseNewParamsInputUnion{OfInputItemList: items}, Tools: definitions,
		})
		if err != nil {
			return "", err
		}
		var turn []responses.ResponseFunctionToolCall
		for _, item := range response.Output {
			if item.Type == "function_call" {
				turn = append(turn, item.AsFunctionCall())
			}
			// As it came: reasoning belongs to the calls that follow it.
			items = append(items, param.Override[responses.ResponseInputItemUnionParam](json.RawMessage(item.RawJSON())))
		}
		if len(turn) == 0 {
			return response.OutputText(), nil
		}

		results := make([]mcp.ToolResult, len(turn))
		var calls sync.WaitGroup
		for i, c := range turn {
			calls.Go(func() { results[i] = call(ctx, byName, c.Name, c.Arguments) })
		}
		calls.Wait()
		for i, result := range results {
			items = append(items, responsesResult(turn[i].CallID, result))
		}
	}
	return "", fmt.Errorf("no answer after %d turns", maxTurns)
}
