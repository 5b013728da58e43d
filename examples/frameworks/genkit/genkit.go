// Package genkit has a tool of an MCP server in the form of genkit.
package genkit

import (
	"encoding/json"
	"fmt"

	"github.com/firebase/genkit/go/ai"

	"github.com/seed94b59a13/mcp"
)

// Tool is the tool for genkit, which calls it itself.
//
// Genkit checks the arguments before the tool sees them, and ends the whole
// generation where they do not fit. So that mcp can repair them first, and the
// server can tell the model what is wrong, the schema is loose: what a property
// must be is in its description.
func Tool(tool mcp.Tool) (ai.Tool, error) {
	var schema struct {
		Properties map[string]json.RawMessage
		Required   []string
		Defs       json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
		return nil, err
	}
	properties := map[string]any{}
	for name, property := range schema.Properties {
		properties[name] = map[string]any{"description": "JSON Schema: " + string(property)}
	}
	description := tool.Description
	if len(schema.Required) > 0 {
		description += fmt.Sprintf("\nRequired: %q", schema.Required)
	}
	if schema.Defs != nil {
		description += "\n$defs of the schemas: " + string(schema.Defs)
	}
	loose := map[string]any{"properties": properties} // "type" would refuse null for no arguments
	return ai.NewMultipartTool(tool.Name, description, func(ctx *ai.ToolContext, input any) (*ai.MultipartToolResponse, error) {
		arguments, err := json.Marshal(input)
		if err != nil {
			return nil, err
		}
		// An error would end the generation, too: a failure is text.
		result := mcp.Call(ctx, []mcp.Tool{tool}, tool.Name, arguments)
		response := &ai.MultipartToolResponse{Output: result.Text()}
		for _, image := range result.Images {
			response.Content = append(response.Content, ai.NewMediaPart(image.MIMEType, image.DataURL()))
		}
		return response, ctx.Err()
	}, ai.WithInputSchema(loose)), nil
}
