// Package fantasy has a tool of an MCP server in the form of fantasy.
package fantasy

import (
	"context"
	"encoding/json"

	"charm.land/fantasy"

	"github.com/seed94b59a13/mcp"
)

// Tool is the tool for the agents of fantasy, which call it themselves.
type Tool struct {
	Tool    mcp.Tool
	options fantasy.ProviderOptions
}

var _ fantasy.AgentTool = (*Tool)(nil)

// Info has the properties of the schema and what is required; the rest of its
// root has no place there. The maps are new for each call, as fantasy changes
// them.
func (t *Tool) Info() fantasy.ToolInfo {
	var schema struct {
		Properties map[string]any
		Required   []string
	}
	json.Unmarshal(t.Tool.InputSchema, &schema) // it always is such an object
	return fantasy.ToolInfo{Name: t.Tool.Name, Description: t.Tool.Description, Parameters: schema.Properties, Required: schema.Required, Parallel: true}
}

// Run returns no error: that would end the agent. There is place for one image:
// set Server.MaxImages to 1, and a note stands for the others.
func (t *Tool) Run(ctx context.Context, call fantasy.ToolCall) (fantasy.ToolResponse, error) {
	result := mcp.Call(ctx, []mcp.Tool{t.Tool}, t.Tool.Name, json.RawMessage(call.Input))
	response := fantasy.NewTextResponse(result.Content)
	response.IsError = result.IsError
	if len(result.Images) > 0 && !result.IsError {
		response.Type, response.Data, response.MediaType = "image", result.Images[0].Data, result.Images[0].MIMEType
	}
	return response, ctx.Err()
}

func (t *Tool) ProviderOptions() fantasy.ProviderOptions           { return t.options }
func (t *Tool) SetProviderOptions(options fantasy.ProviderOptions) { t.options = options }
