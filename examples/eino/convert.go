package main

// This file is the converter, free to paste: tools and results of MCP servers
// in the form of eino.

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"

	"github.com/seed94b59a13/mcp"
)

func definition(tool mcp.Tool) (*schema.ToolInfo, error) {
	parameters := &jsonschema.Schema{}
	if err := json.Unmarshal(tool.InputSchema, parameters); err != nil {
		return nil, fmt.Errorf("schema of %s: %w", tool.Name, err)
	}
	keepEmpty(parameters)
	return &schema.ToolInfo{Name: tool.Name, Desc: tool.Description, ParamsOneOf: schema.NewParamsOneOfByJSONSchema(parameters)}, nil
}

// keepEmpty makes eino write the schema {} as it is, and not as true, which
// some providers refuse.
func keepEmpty(schemas ...*jsonschema.Schema) {
	for _, s := range schemas {
		if s == nil {
			continue
		}
		if reflect.DeepEqual(s, &jsonschema.Schema{}) {
			s.Extras = map[string]any{}
		}
		keepEmpty(s.Items, s.AdditionalProperties, s.Not, s.If, s.Then, s.Else)
		keepEmpty(slices.Concat(s.AllOf, s.AnyOf, s.OneOf, s.PrefixItems)...)
		for _, definition := range s.Definitions {
			keepEmpty(definition)
		}
		if s.Properties != nil {
			for property := s.Properties.Oldest(); property != nil; property = property.Next() {
				keepEmpty(property.Value)
			}
		}
	}
}

// answers returns the messages that answer the calls of one turn. Models take
// images in messages of the user only, and nothing may stand between the tool
// messages of a turn: such a message stands behind them.
func answers(turn []schema.ToolCall, results []mcp.ToolResult) []*schema.Message {
	var messages []*schema.Message
	var images []schema.MessageInputPart
	for i, result := range results {
		content := result.Text()
		if n := len(result.Images); n > 0 {
			content += fmt.Sprintf("\n[images: %d, in the message of the user below]", n)
			images = append(images, schema.MessageInputPart{
				Type: schema.ChatMessagePartTypeText, Text: "Images of the tool call " + turn[i].ID + ":",
			})
		}
		messages = append(messages, schema.ToolMessage(content, turn[i].ID, schema.WithToolName(turn[i].Function.Name)))
		for _, image := range result.Images {
			images = append(images, schema.MessageInputPart{
				Type: schema.ChatMessagePartTypeImageURL, Image: &schema.MessageInputImage{MessagePartCommon: picture(image)},
			})
		}
	}
	if images != nil {
		messages = append(messages, &schema.Message{Role: schema.User, UserInputMultiContent: images})
	}
	return messages
}

func picture(image mcp.Image) schema.MessagePartCommon {
	data := base64.StdEncoding.EncodeToString(image.Data)
	return schema.MessagePartCommon{Base64Data: &data, MIMEType: image.MIMEType}
}

// einoTool is the tool for the agents of eino, which call it themselves.
type einoTool struct{ tool mcp.Tool }

var _ tool.EnhancedInvokableTool = einoTool{}

func (t einoTool) Info(context.Context) (*schema.ToolInfo, error) { return definition(t.tool) }

// InvokableRun returns an error, which ends the agent, only when no answer
// came.
func (t einoTool) InvokableRun(ctx context.Context, argument *schema.ToolArgument, _ ...tool.Option) (*schema.ToolResult, error) {
	result, err := t.tool.Handler(ctx, json.RawMessage(argument.Text))
	if err != nil {
		return nil, err
	}
	var parts []schema.ToolOutputPart
	if content := result.Text(); content != "" {
		parts = append(parts, schema.ToolOutputPart{Type: schema.ToolPartTypeText, Text: content})
	}
	for _, image := range result.Images {
		parts = append(parts, schema.ToolOutputPart{Type: schema.ToolPartTypeImage, Image: &schema.ToolOutputImage{MessagePartCommon: picture(image)}})
	}
	return &schema.ToolResult{Parts: parts}, nil
}
