package main

// This file is the loop: the model, the calls it makes, and their results.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/seed94b59a13/mcp"
)

type object = map[string]any

type toolCall struct {
	ID       string
	Function struct{ Name, Arguments string }
}

// maxTurns bounds the requests for one prompt: a model may call tools for ever.
const maxTurns = 50

// answer runs the loop until the model says something without calling a tool.
func (a *agent) answer(ctx context.Context, connections *mcp.Connections) error {
	for range maxTurns {
		var message json.RawMessage
		var err error
		var tools []mcp.Tool
		a.interruptible(ctx, func(ctx context.Context) {
			if err := connections.RefreshTools(ctx); err != nil {
				a.printf("%v\n", err) // the tools stay as they were
			}
			var definitions []any
			tools = connections.Tools()
			for _, tool := range tools {
				definitions = append(definitions, object{"type": "function", "function": object{
					"name": tool.Name, "description": tool.Description, "parameters": tool.InputSchema,
				}})
			}
			message, err = a.complete(ctx, definitions)
		})
		if err != nil {
			return err
		}
		var reply struct {
			Content   string
			ToolCalls []toolCall `json:"tool_calls"`
		}
		if err := json.Unmarshal(message, &reply); err != nil {
			return err
		}
		a.history = append(a.history, message) // as it came: some have more members
		if reply.Content != "" {
			a.printf("%s\n", reply.Content)
		}
		if len(reply.ToolCalls) == 0 {
			return nil
		}
		a.callAll(ctx, tools, reply.ToolCalls)
	}
	return fmt.Errorf("stopped after %d turns without an answer: say how to go on", maxTurns)
}

// callAll asks for each call, runs those that are allowed side by side, and
// puts the results into the history. A tool message has text only, and nothing
// may stand between those of a turn: a user message behind them has the images.
func (a *agent) callAll(ctx context.Context, tools []mcp.Tool, calls []toolCall) {
	results := make([]mcp.ToolResult, len(calls))
	a.interruptible(ctx, func(ctx context.Context) {
		for i, c := range calls {
			// A tool of an earlier turn may be gone: mcp.Call tells the model.
			t := slices.IndexFunc(tools, func(t mcp.Tool) bool { return t.Name == c.Function.Name })
			if t >= 0 && !a.allowed(ctx, tools[t], c.Function.Arguments) {
				results[i] = mcp.ToolResult{Content: "the user did not allow the call", IsError: true}
			}
		}
		var running sync.WaitGroup
		for i, c := range calls {
			if !results[i].IsError {
				running.Go(func() { results[i] = a.call(ctx, tools, c.Function.Name, c.Function.Arguments) })
			}
		}
		running.Wait()
	})
	var images []any
	for i, result := range results {
		content := result.Text()
		for _, image := range result.Images {
			images = append(images, object{"type": "image_url", "image_url": object{"url": image.DataURL()}})
			content += fmt.Sprintf("\n[image %d of the user's message below]", len(images))
		}
		a.history = append(a.history, object{"role": "tool", "tool_call_id": calls[i].ID, "content": content})
	}
	if images != nil {
		a.history = append(a.history, object{"role": "user", "content": images})
	}
}

// call calls a tool and shows its progress.
func (a *agent) call(ctx context.Context, tools []mcp.Tool, name, arguments string) mcp.ToolResult {
	a.printf("%s: started\n", name)
	result := mcp.Call(mcp.WithProgress(ctx, func(p mcp.Progress) {
		a.printf("%s: %g/%g %s\n", name, p.Done, p.Total, p.Message)
	}), tools, name, json.RawMessage(arguments))
	a.printf("%s: ended, error=%t, %d bytes, %d images\n", name, result.IsError, len(result.Content), len(result.Images))
	return result
}

// complete asks the model for the next message.
func (a *agent) complete(ctx context.Context, tools []any) (json.RawMessage, error) {
	body, _ := json.Marshal(struct { // all of it is text or JSON already
		Model    string `json:"model"`
		Messages []any  `json:"messages"`
		Tools    []any  `json:"tools,omitempty"`
	}{a.model, a.history, tools})
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.baseURL+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	if a.key != "" {
		request.Header.Set("Authorization", "Bearer "+a.key)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var completion struct {
		Choices []struct{ Message json.RawMessage }
		Error   json.RawMessage
	}
	if err := json.NewDecoder(response.Body).Decode(&completion); err != nil || len(completion.Choices) == 0 {
		return nil, fmt.Errorf("the model's endpoint: %s %s", response.Status, completion.Error)
	}
	return completion.Choices[0].Message, nil
}
