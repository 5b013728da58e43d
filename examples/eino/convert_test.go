package main

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/examples/internal/looptest"
)

// The order of its properties, the schema {} and a number beyond float64 must
// survive.
var files = mcp.Tool{
	Name:        "mcp__files__read",
	Description: "Tool read from the MCP server files. Reads.",
	InputSchema: json.RawMessage(`{"properties":{"z":{"maximum":9007199254740993,"type":"integer"},"a":{},"l":{"items":{},"type":"array"},"u":{"anyOf":[{},{"type":["string","null"]}]}},"required":["z"],"type":"object"}`),
}

func TestDefinition(t *testing.T) {
	info, err := definition(files)
	require.NoError(t, err)
	assert.Equal(t, files.Name, info.Name)
	assert.Equal(t, files.Description, info.Desc)
	parameters, err := info.ToJSONSchema()
	require.NoError(t, err)
	encoded, err := json.Marshal(parameters)
	require.NoError(t, err)
	assert.Equal(t, string(files.InputSchema), string(encoded))

	nothing := files
	nothing.InputSchema = json.RawMessage(`{"properties":{},"type":"object"}`)
	info, err = definition(nothing)
	require.NoError(t, err)
	parameters, err = info.ToJSONSchema()
	require.NoError(t, err)
	encoded, err = json.Marshal(parameters)
	require.NoError(t, err)
	assert.Equal(t, string(nothing.InputSchema), string(encoded))
}

func TestAnswers(t *testing.T) {
	turn := make([]schema.ToolCall, 3)
	for i, id := range []string{"1", "2", "3"} {
		turn[i] = schema.ToolCall{ID: id, Function: schema.FunctionCall{Name: "tool" + id}}
	}
	results := []mcp.ToolResult{
		{Content: "a file"},
		{Content: "no such file", IsError: true},
		{Images: []mcp.Image{looptest.Dot, looptest.Dot}},
	}
	data := looptest.DotBase64
	image := schema.MessageInputPart{Type: schema.ChatMessagePartTypeImageURL, Image: &schema.MessageInputImage{
		MessagePartCommon: schema.MessagePartCommon{Base64Data: &data, MIMEType: "image/png"},
	}}
	assert.Equal(t, []*schema.Message{
		{Role: schema.Tool, ToolCallID: "1", ToolName: "tool1", Content: "a file"},
		{Role: schema.Tool, ToolCallID: "2", ToolName: "tool2", Content: "The tool failed: no such file"},
		{Role: schema.Tool, ToolCallID: "3", ToolName: "tool3", Content: "\n[images: 2, in the message of the user below]"},
		{Role: schema.User, UserInputMultiContent: []schema.MessageInputPart{
			{Type: schema.ChatMessagePartTypeText, Text: "Images of the tool call 3:"}, image, image,
		}},
	}, answers(turn, results))
	assert.Len(t, answers(turn, results[:1]), 1, "no images, no message of the user")
}

func TestEinoTool(t *testing.T) {
	var got string
	result, err := mcp.ToolResult{Content: "no such file", Images: []mcp.Image{looptest.Dot}, IsError: true}, error(nil)
	handled := files
	handled.Handler = func(_ context.Context, arguments json.RawMessage) (mcp.ToolResult, error) {
		got = string(arguments)
		return result, err
	}
	info, infoErr := einoTool{handled}.Info(t.Context())
	require.NoError(t, infoErr)
	assert.Equal(t, files.Name, info.Name)

	output, runErr := einoTool{handled}.InvokableRun(t.Context(), &schema.ToolArgument{Text: `{"n":1.0}`})
	require.NoError(t, runErr)
	assert.Equal(t, `{"n":1.0}`, got)
	data := looptest.DotBase64
	assert.Equal(t, &schema.ToolResult{Parts: []schema.ToolOutputPart{
		{Type: schema.ToolPartTypeText, Text: "The tool failed: no such file"},
		{Type: schema.ToolPartTypeImage, Image: &schema.ToolOutputImage{MessagePartCommon: schema.MessagePartCommon{Base64Data: &data, MIMEType: "image/png"}}},
	}}, output)

	err = mcp.ErrServerStopped
	_, runErr = einoTool{handled}.InvokableRun(t.Context(), &schema.ToolArgument{})
	assert.ErrorIs(t, runErr, mcp.ErrServerStopped)
}
