package mcp_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
)

func TestMain(m *testing.M) {
	mcptest.Main(servers)
	os.Exit(m.Run())
}

// servers are the scripted servers, by name.
var servers = map[string]func(*mcptest.Peer){
	"plain": func(p *mcptest.Peer) { p.Serve() },
}

func stdioServer(t testing.TB, name string, env ...string) mcp.Server {
	command, environment := mcptest.Command(t, name, env...)
	return mcp.Server{Name: "test", Command: command, Env: environment, StopTimeout: time.Second}
}

func connect(t testing.TB, server mcp.Server) *mcp.Connection {
	t.Helper()
	mcptest.NoLeaks(t)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c, err := mcp.Connect(ctx, server)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.Close()) })
	return c
}

func TestPlain(t *testing.T) {
	c := connect(t, stdioServer(t, "plain"))
	tools := c.Tools()
	require.Len(t, tools, 1)
	result, err := tools[0].Handler(t.Context(), []byte(`{"a":"<b>"}`))
	require.NoError(t, err)
	assert.Equal(t, mcp.ToolResult{Content: `{"a":"<b>"}`}, result)
	assert.Empty(t, c.Warnings())
}
