package main

import (
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp/examples/internal/looptest"
)

func TestLoop(t *testing.T) {
	tools := looptest.Tools(t)
	picture := looptest.Result(t, tools, looptest.Image, `{}`)
	require.Len(t, picture.Images, 1)
	image := "data:image/png;base64," + base64.StdEncoding.EncodeToString(picture.Images[0].Data)
	refused := looptest.Result(t, tools, looptest.Echo, `{}`)
	require.True(t, refused.IsError)

	provider := looptest.Start(t)
	client, err := openai.NewChatModel(t.Context(), &openai.ChatModelConfig{BaseURL: provider.URL + "/v1", Model: "gpt-test", APIKey: "test"})
	require.NoError(t, err)
	answer, err := converse(t.Context(), client, looptest.SideBySide(t, tools), looptest.Prompt)
	require.NoError(t, err)
	assert.Equal(t, looptest.Answer, answer)
	var last struct {
		Messages []json.RawMessage
		Tools    []struct {
			Function struct{ Parameters json.RawMessage }
		}
	}
	provider.Check(t, "/v1/chat/completions", tools, []string{
		looptest.EchoResult,
		looptest.ImageResult + "\n[images: 1, in the message of the user below]",
		"The tool failed: " + refused.Content,
	}, &last)
	// eino has an order of its own for keywords; TestDefinition has that of
	// properties. Whether the server describes them depends on the version of its
	// schema library, and so on what else is installed.
	for i, tool := range tools {
		assert.JSONEq(t, string(tool.InputSchema), string(last.Tools[i].Function.Parameters))
	}
	require.Len(t, last.Messages, 7, "prompt, calls, two results, images, call, result")
	assert.JSONEq(t, `{"role": "user", "content": [
		{"type": "text", "text": "Images of the tool call call_2:"},
		{"type": "image_url", "image_url": {"url": "`+image+`"}}]}`, string(last.Messages[4]))
}
