// Package ollama has the tools of MCP servers in the form of Ollama.
package ollama

import (
	"context"
	"encoding/json"

	"github.com/ollama/ollama/api"

	"github.com/seed94b59a13/mcp"
)

// Tool is what the model sees. Ollama keeps a part of a schema only: what it
// leaves out, the server still checks.
func Tool(tool mcp.Tool) (api.Tool, error) {
	function := api.ToolFunction{Name: tool.Name, Description: tool.Description}
	err := json.Unmarshal(tool.InputSchema, &function.Parameters)
	return api.Tool{Type: "function", Function: function}, err
}

// Answer calls what the model names, and returns the message that answers it.
func Answer(ctx context.Context, tools []mcp.Tool, call api.ToolCall) api.Message {
	arguments, _ := json.Marshal(call.Function.Arguments) // they came as JSON
	result := mcp.Call(ctx, tools, call.Function.Name, arguments)
	message := api.Message{Role: "tool", Content: result.Text(), ToolName: call.Function.Name, ToolCallID: call.ID}
	for _, image := range result.Images {
		message.Images = append(message.Images, image.Data)
	}
	return message
}
