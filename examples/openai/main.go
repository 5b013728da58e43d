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
	"sync"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/examples/internal/program"
)

func main() {
	useResponses := flag.Bool("responses", false, "use the Responses API")
	program.Main("https://api.openai.com/v1", "gpt-5-mini", func(ctx context.Context, task program.Task, tools []mcp.Tool) (string, error) {
		loop := chat
		if *useResponses {
			loop = respond
		}
		return loop(ctx, openai.NewClient(option.WithBaseURL(task.BaseURL)), task.Model, tools, task.Prompt)
	})
}

func chat(ctx context.Context, client openai.Client, model string, tools []mcp.Tool, prompt string) (string, error) {
	var definitions []openai.ChatCompletionToolUnionParam
	for _, tool := range tools {
		definitions = append(definitions, chatTool(tool))
	}
	messages := []openai.ChatCompletionMessageParamUnion{openai.UserMessage(prompt)}
	for range program.MaxTurns {
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
			calls.Go(func() { results[i] = mcp.Call(ctx, tools, c.Function.Name, json.RawMessage(c.Function.Arguments)) })
		}
		calls.Wait()
		messages = append(messages, chatResults(ids, results)...)
	}
	return "", program.ErrTurns
}

func respond(ctx context.Context, client openai.Client, model string, tools []mcp.Tool, prompt string) (string, error) {
	var definitions []responses.ToolUnionParam
	for _, tool := range tools {
		definitions = append(definitions, responsesTool(tool))
	}
	items := responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage(prompt, responses.EasyInputMessageRoleUser)}
	for range program.MaxTurns {
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
			calls.Go(func() { results[i] = mcp.Call(ctx, tools, c.Name, json.RawMessage(c.Arguments)) })
		}
		calls.Wait()
		for i, result := range results {
			items = append(items, responsesResult(turn[i].CallID, result))
		}
	}
	return "", program.ErrTurns
}
