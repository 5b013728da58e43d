package main

// This file is the loop: the model, the calls it makes, and their results.

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"github.com/seed94b59a13/mcp"
)

type object = map[string]any

type toolCall struct {
	ID       string
	Function struct{ Name, Arguments string }
}

// answer runs the loop until the model says something without calling a tool.
func (a *agent) answer(ctx context.Context, connections *mcp.Connections) error {
	for {
		var message json.RawMessage
		var err error
		tools := map[string]mcp.Tool{}
		a.interruptible(ctx, func(ctx context.Context) {
			if err := connections.RefreshTools(ctx); err != nil {
				a.printf("%v\n", err) // the tools stay as they were
			}
			var definitions []any
			for _, tool := range connections.Tools() {
				tools[tool.Name] = tool
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
}

// callAll asks for each call, runs those that are allowed side by side, and
// puts the results into the history. A tool message has text only, and nothing
// may stand between those of a turn: a user message behind them has the images.
func (a *agent) callAll(ctx context.Context, tools map[string]mcp.Tool, calls []toolCall) {
	results := make([]mcp.ToolResult, len(calls))
	a.interruptible(ctx, func(ctx context.Context) {
		for i, c := range calls {
			if tool, ok := tools[c.Function.Name]; !ok { // it was there in an earlier turn
				results[i] = mcp.ToolResult{Content: "there is no such tool", IsError: true}
			} else if !a.allowed(ctx, tool, c.Function.Arguments) {
				results[i] = mcp.ToolResult{Content: "the user did not allow the call", IsError: true}
			}
		}
		var running sync.WaitGroup
		for i, c := range calls {
			if !results[i].IsError {
				running.Go(func() { results[i] = a.call(ctx, tools[c.Function.Name], c.Function.Arguments) })
			}
		}
		running.Wait()
	})
	var images []any
	for i, result := range results {
		content := result.Content
		if result.IsError {
			content = "The tool failed: " + content
		}
		for _, image := range result.Images {
			url := "data:" + image.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(image.Data)
			images = append(images, object{"type": "image_url", "image_url": object{"url": url}})
			content += fmt.Sprintf("\n[image %d of the user's message below]", len(images))
		}
		a.history = append(a.history, object{"role": "tool", "tool_call_id": calls[i].ID, "content": content})
	}
	if images != nil {
		a.history = append(a.history, object{"role": "user", "content": images})
	}
}

// call calls a tool and shows its progress. That there is not an answer is for the
// model to read, too.
func (a *agent) call(ctx context.Context, tool mcp.Tool, arguments string) mcp.ToolResult {
	a.printf("%s: started\n", tool.Name)
	result, err := tool.Handler(mcp.WithProgress(ctx, func(p mcp.Progress) {
		a.printf("%s: %g/%g %s\n", tool.Name, p.Done, p.Total, p.Message)
	}), json.RawMessage(arguments))
	if err != nil {
		result = mcp.ToolResult{Content: err.Error(), IsError: true}
	}
	a.printf("%s: ended, error=%t, %d bytes, %d images\n", tool.Name, result.IsError, len(result.Content), len(result.Images))
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
