package mcp_test

// This file is asked by a real server, which .ci/servers installs.

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
)

func TestRealElicit(t *testing.T) {
	server := realServer(t, "mcp-server-everything")
	alone := connect(t, server)
	var asked []mcp.Question
	var decline bool
	server.Elicit = func(_ context.Context, q mcp.Question) (json.RawMessage, error) {
		asked = append(asked, q)
		if decline {
			return nil, mcp.ErrDeclined
		}
		return json.RawMessage(`{"name":"Ada","check":true}`), nil
	}
	c := connect(t, server)
	assert.NotContains(t, serverNames(alone.Tools()), "trigger-elicitation-request")
	require.Contains(t, serverNames(c.Tools()), "trigger-elicitation-request")
	assert.Greater(t, len(c.Tools()), len(alone.Tools()), "a client that can be asked is offered more")

	r := realCall(t, c, "trigger-elicitation-request", m{})
	require.Len(t, asked, 1)
	assert.Equal(t, "trigger-elicitation-request", asked[0].Tool)
	assert.NotEmpty(t, asked[0].Message)
	assert.True(t, json.Valid(asked[0].Schema))
	assert.False(t, r.IsError, r.Content)
	assert.Contains(t, r.Content, "Ada")

	decline = true
	r = realCall(t, c, "trigger-elicitation-request", m{})
	assert.False(t, r.IsError)
	assert.Contains(t, r.Content, "declined")
}
