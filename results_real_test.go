package mcp_test

// This file reads results of real servers, which .ci/servers installs.

import (
	"bytes"
	"image"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
)

func TestRealResults(t *testing.T) {
	c := connect(t, realServer(t, "mcp-server-everything"))
	for _, call := range []struct {
		tool      string
		arguments m
		want      string // a part of it
		isError   bool
	}{
		{"get-annotated-message", m{"messageType": "success"}, "Operation completed successfully", false},
		{"get-annotated-message", m{"messageType": "error", "includeImage": true}, "Error: Operation failed\n[left out 1 part meant only for the user]", false},
		{"get-resource-reference", m{"resourceType": "Text", "resourceId": 1}, "\n[resource: demo://resource/dynamic/text/1]\nResource 1: This is a plaintext resource", false},
		{"get-resource-reference", m{"resourceType": "Blob", "resourceId": 1}, "\n[resource: demo://resource/dynamic/blob/1]\nResource 1: This is a base64 blob", false},
		{"get-resource-links", m{"count": 3}, "\n[resource link: demo://resource/dynamic/text/2, Text Resource 2, text/plain, Resource 2: plaintext resource]\n", false},
		{"echo", m{}, "Input validation error", true},
	} {
		r := realCall(t, c, call.tool, call.arguments)
		assert.Contains(t, r.Content, call.want)
		assert.Equal(t, call.isError, r.IsError)
	}
	r := realCall(t, c, "get-structured-content", m{"location": "New York"})
	assert.Equal(t, string(r.Structured), r.Content)
	r = realCall(t, c, "get-tiny-image", m{})
	assert.Equal(t, "Here's the image you requested:\n[image 1]\nThe image above is the MCP logo.", r.Content)
	require.Len(t, r.Images, 1)
	assert.Equal(t, "image/png", r.Images[0].MIMEType)
	_, _, err := image.DecodeConfig(bytes.NewReader(r.Images[0].Data))
	assert.NoError(t, err)

	updates := make(chan mcp.Progress, 10)
	for _, tool := range c.Tools() {
		if tool.ServerTool == "trigger-long-running-operation" {
			ctx := mcp.WithProgress(t.Context(), func(p mcp.Progress) { updates <- p })
			r, err := tool.Handler(ctx, []byte(`{"duration":1,"steps":4}`))
			require.NoError(t, err)
			assert.Contains(t, r.Content, "Long running operation completed")
		}
	}
	require.NotEmpty(t, updates)
	assert.Equal(t, mcp.Progress{Done: 1, Total: 4}, <-updates)
}

// TestRealErrors has servers that answer with a JSON-RPC error where others
// give a result.
func TestRealErrors(t *testing.T) {
	t.Run("github", func(t *testing.T) {
		c := connect(t, realServer(t, "mcp-server-github"))
		r := realCall(t, c, "search_repositories", m{})
		assert.Equal(t, failure(`[error] Invalid input: [{"code":"invalid_type","expected":"string","received":"undefined","path":["query"],"message":"Required"}] (code -32603)`), said(r))
	})
	t.Run("notion", func(t *testing.T) {
		server := realServer(t, "notion-mcp-server")
		// Nobody listens there.
		server.Env = append(server.Env, "NOTION_TOKEN=none", "HTTPS_PROXY=http://127.0.0.1:9", "HTTP_PROXY=http://127.0.0.1:9")
		r := realCall(t, connect(t, server), "API-get-self", m{})
		assert.True(t, r.IsError)
		assert.Regexp(t, `^\[error\] .+ \(code -32603\)`, r.Content)
	})
}
