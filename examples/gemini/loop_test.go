package main

import (
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

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
	client, err := genai.NewClient(t.Context(), &genai.ClientConfig{
		Backend:     genai.BackendGeminiAPI,
		APIKey:      "test",
		HTTPOptions: genai.HTTPOptions{BaseURL: provider.URL},
	})
	require.NoError(t, err)
	answer, err := converse(t.Context(), client, "gemini-test", looptest.SideBySide(t, tools), looptest.Prompt)
	require.NoError(t, err)
	assert.Equal(t, looptest.Answer, answer)
	var last struct {
		Contents []struct {
			Role  string
			Parts json.RawMessage
		}
		Tools []struct {
			FunctionDeclarations []struct {
				Parameters           json.RawMessage
				ParametersJSONSchema json.RawMessage
			}
		}
	}
	provider.Check(t, "/v1beta/models/gemini-test:generateContent", tools, []string{
		looptest.JSON(t, map[string]any{"output": looptest.EchoResult}),
		looptest.JSON(t, map[string]any{"output": looptest.ImageResult}),
		looptest.JSON(t, map[string]any{"error": refused.Content}),
	}, &last)
	for i, tool := range tools {
		// The SDK decodes and encodes what it sends: members get sorted.
		var schema any
		require.NoError(t, json.Unmarshal(tool.InputSchema, &schema))
		assert.Equal(t, encode(t, schema), string(last.Tools[0].FunctionDeclarations[i].ParametersJSONSchema))
		assert.Empty(t, last.Tools[0].FunctionDeclarations[i].Parameters)
	}
	require.Len(t, last.Contents, 5, "prompt, calls, results, call, result")
	assert.JSONEq(t, `[
		{"functionResponse": {"id": "call_1", "name": "`+looptest.Echo+`", "response": {"output": `+encode(t, looptest.EchoResult)+`}}},
		{"functionResponse": {"id": "call_2", "name": "`+looptest.Image+`", "response": {"output": `+encode(t, looptest.ImageResult)+`},
			"parts": [{"inlineData": {"mimeType": "image/png", "data": "`+image+`"}}]}}
	]`, string(last.Contents[2].Parts))
	assert.JSONEq(t, `[
		{"functionResponse": {"id": "call_3", "name": "`+looptest.Echo+`", "response": {"error": `+encode(t, refused.Content)+`}}}
	]`, string(last.Contents[4].Parts))
}
