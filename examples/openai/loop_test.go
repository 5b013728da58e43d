package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/examples/internal/looptest"
)

type loop = func(ctx context.Context, client openai.Client, model string, tools []mcp.Tool, prompt string) (string, error)

// converse runs the conversation, and returns what its second call brought and
// how its third failed.
func converse(t *testing.T, run loop, path string, last any, imageText string) (tools []mcp.Tool, image string, failure string) {
	tools = looptest.Tools(t)
	picture := looptest.Result(t, tools, looptest.Image, `{}`)
	require.Len(t, picture.Images, 1)
	image = "data:image/png;base64," + base64.StdEncoding.EncodeToString(picture.Images[0].Data)
	refused := looptest.Result(t, tools, looptest.Echo, `{}`)
	require.True(t, refused.IsError)
	failure = "The tool failed: " + refused.Content

	provider := looptest.Start(t)
	client := openai.NewClient(option.WithBaseURL(provider.URL+"/v1"), option.WithAPIKey("test"), option.WithMaxRetries(0))
	answer, err := run(t.Context(), client, "gpt-test", looptest.SideBySide(t, tools), looptest.Prompt)
	require.NoError(t, err)
	assert.Equal(t, looptest.Answer, answer)
	provider.Check(t, path, tools, []string{looptest.EchoResult, imageText, failure}, last)
	return tools, image, failure
}

func TestChat(t *testing.T) {
	var last struct {
		Messages []json.RawMessage
		Tools    []struct {
			Function struct {
				Strict     *bool
				Parameters json.RawMessage
			}
		}
	}
	tools, image, _ := converse(t, chat, "/v1/chat/completions", &last, looptest.ImageResult+"\n[images: 1, in the message of the user below]")
	for i, tool := range tools {
		assert.Equal(t, string(tool.InputSchema), string(last.Tools[i].Function.Parameters))
		assert.False(t, *last.Tools[i].Function.Strict)
	}
	require.Len(t, last.Messages, 7, "prompt, calls, two results, images, call, result")
	assert.JSONEq(t, `{"role": "user", "content": [
		{"type": "text", "text": "Images of the tool call call_2:"},
		{"type": "image_url", "image_url": {"url": "`+image+`"}}]}`, string(last.Messages[4]))
}

func TestRespond(t *testing.T) {
	var last struct {
		Input []json.RawMessage
		Tools []struct {
			Strict     *bool
			Parameters json.RawMessage
		}
	}
	tools, image, failure := converse(t, respond, "/v1/responses", &last, looptest.BeforeImage+looptest.BehindImage)
	for i, tool := range tools {
		assert.Equal(t, string(tool.InputSchema), string(last.Tools[i].Parameters))
		assert.False(t, *last.Tools[i].Strict)
	}
	require.Len(t, last.Input, 7, "prompt, two calls, two results, call, result")
	assert.JSONEq(t, `{"type": "function_call_output", "call_id": "call_2", "output": [
		{"type": "input_text", "text": `+encode(t, looptest.BeforeImage)+`},
		{"type": "input_image", "image_url": "`+image+`"},
		{"type": "input_text", "text": `+encode(t, looptest.BehindImage)+`}]}`, string(last.Input[4]))
	assert.JSONEq(t, `{"type": "function_call_output", "call_id": "call_3", "output": [
		{"type": "input_text", "text": `+encode(t, failure)+`}]}`, string(last.Input[6]))
}
