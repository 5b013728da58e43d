package main

import (
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp/examples/internal/looptest"
)

func TestLoop(t *testing.T) {
	tools := looptest.Tools(t)
	picture := looptest.Result(t, tools, looptest.Image, `{}`)
	require.Len(t, picture.Images, 1)
	image := base64.StdEncoding.EncodeToString(picture.Images[0].Data)
	refused := looptest.Result(t, tools, looptest.Echo, `{}`)
	require.True(t, refused.IsError)

	provider := looptest.Start(t)
	client := anthropic.NewClient(option.WithBaseURL(provider.URL), option.WithAPIKey("test"), option.WithMaxRetries(0))
	answer, err := converse(t.Context(), client, "claude-test", looptest.SideBySide(t, tools), looptest.Prompt)
	require.NoError(t, err)
	assert.Equal(t, looptest.Answer, answer)
	var last struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		Tools []struct {
			Schema json.RawMessage `json:"input_schema"`
		}
	}
	provider.Check(t, "/v1/messages", tools, []string{looptest.EchoResult, looptest.BeforeImage + looptest.BehindImage, refused.Content}, &last)
	for i, tool := range tools {
		assert.Equal(t, string(tool.InputSchema), string(last.Tools[i].Schema))
	}
	require.Len(t, last.Messages, 5, "prompt, calls, results, call, result")
	assert.JSONEq(t, `[
		{"type": "tool_result", "tool_use_id": "call_1", "is_error": false, "content": [{"type": "text", "text": `+encode(t, looptest.EchoResult)+`}]},
		{"type": "tool_result", "tool_use_id": "call_2", "is_error": false, "content": [
			{"type": "text", "text": `+encode(t, looptest.BeforeImage)+`},
			{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "`+image+`"}},
			{"type": "text", "text": `+encode(t, looptest.BehindImage)+`}]}
	]`, string(last.Messages[2].Content))
	assert.JSONEq(t, `[
		{"type": "tool_result", "tool_use_id": "call_3", "is_error": true, "content": [{"type": "text", "text": `+encode(t, refused.Content)+`}]}
	]`, string(last.Messages[4].Content))
}
