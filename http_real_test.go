package mcp_test

// This file reaches real servers by HTTP, which .ci/servers installs.

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
)

// A nodeServer is a Node program that listens on a port of the loopback
// interface.
type nodeServer struct {
	port    string
	args    []string
	process *exec.Cmd
}

// newNode starts a program of a package that .ci/servers installed, or skips
// the test.
func newNode(t testing.TB, script string, args ...string) *nodeServer {
	t.Helper()
	if testing.Short() {
		t.Skip("real servers take their time")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not there")
	}
	file := nodeScript(t, script)
	s := &nodeServer{port: mcptest.FreePort(t), args: append([]string{file}, args...)}
	t.Cleanup(s.stop) // also if it does not start to listen
	s.start(t)
	return s
}

func nodeScript(t testing.TB, script string) string {
	file := filepath.Join(cacheDir(), "npm", "node_modules", filepath.FromSlash(script))
	if _, err := os.Stat(file); err != nil {
		t.Skipf("%s is not installed: run .ci/servers", script)
	}
	return file
}

func (s *nodeServer) start(t testing.TB) {
	t.Helper()
	patch, err := filepath.Abs(filepath.Join("testdata", "loopback.cjs"))
	require.NoError(t, err)
	s.process = exec.Command("node", s.args...)
	s.process.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "NODE_OPTIONS=--require " + patch, "LISTEN=" + s.port, "PORT=" + s.port}
	require.NoError(t, s.process.Start())
	// Not a bound: on a busy machine node takes its time.
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", "127.0.0.1:"+s.port)
		if err == nil {
			conn.Close()
		}
		return err == nil
	}, 2*time.Minute, 10*time.Millisecond)
}

func (s *nodeServer) stop() {
	s.process.Process.Kill()
	s.process.Wait()
}

func (s *nodeServer) server() mcp.Server {
	return mcp.Server{Name: "real", URL: "http://127.0.0.1:" + s.port + "/mcp"}
}

const (
	everythingScript = "@modelcontextprotocol/server-everything/dist/index.js"
	exampleScripts   = "@modelcontextprotocol/sdk/dist/esm/examples/server/"
)

func TestRealHTTPServers(t *testing.T) {
	everything := func(t *testing.T, c *mcp.Connection) {
		assert.Equal(t, "Echo: a<b>ü", realCall(t, c, "echo", m{"message": "a<b>ü"}).Content)
		assert.Len(t, realCall(t, c, "get-tiny-image", m{}).Images, 1)
	}
	greet := func(t *testing.T, c *mcp.Connection) {
		assert.Equal(t, "Hello, Ann!", realCall(t, c, "greet", m{"name": "Ann"}).Content)
		assert.Contains(t, realCall(t, c, "multi-greet", m{"name": "Ann"}).Content, "Good morning, Ann!")
	}
	for _, test := range []struct {
		name   string
		script string
		args   func(t *testing.T) []string
		check  func(t *testing.T, c *mcp.Connection)
	}{
		{"everything", everythingScript, func(*testing.T) []string { return []string{"streamableHttp"} }, everything},
		{"simpleStreamableHttp", exampleScripts + "simpleStreamableHttp.js", nil, greet},
		{"simpleStateless", exampleScripts + "simpleStatelessStreamableHttp.js", nil, func(t *testing.T, c *mcp.Connection) {
			result := realCall(t, c, "start-notification-stream", m{"interval": 1, "count": 3})
			assert.Equal(t, "Started sending periodic notifications every 1ms", result.Content)
		}},
		{"jsonResponse", exampleScripts + "jsonResponseStreamableHttp.js", nil, greet},
		{"ssePolling", exampleScripts + "ssePollingExample.js", nil, func(t *testing.T, c *mcp.Connection) {
			// It closes the stream in the middle of the call.
			assert.Equal(t, "Long task completed successfully!", realCall(t, c, "long-task", m{}).Content)
		}},
		{"mcp-proxy", "mcp-proxy/dist/bin/mcp-proxy.mjs", func(t *testing.T) []string {
			return []string{"--", "node", nodeScript(t, everythingScript)}
		}, everything},
		{"supergateway", "supergateway/dist/index.js", func(t *testing.T) []string {
			return []string{"--outputTransport", "streamableHttp", "--logLevel", "none", "--stdio", "node " + nodeScript(t, everythingScript)}
		}, everything},
		{"supergateway with sessions", "supergateway/dist/index.js", func(t *testing.T) []string {
			return []string{"--outputTransport", "streamableHttp", "--stateful", "--logLevel", "none", "--stdio", "node " + nodeScript(t, everythingScript)}
		}, everything},
	} {
		t.Run(test.name, func(t *testing.T) {
			var args []string
			if test.args != nil {
				args = test.args(t)
			}
			c := connect(t, newNode(t, test.script, args...).server())
			t.Logf("%d tools", len(c.Tools()))
			test.check(t, c)
			require.NoError(t, c.RefreshTools(t.Context()))
			test.check(t, c)
			assert.Empty(t, httpWarnings(c))
		})
	}
}

// httpWarnings are the warnings that are not about tools.
func httpWarnings(c *mcp.Connection) (warnings []string) {
	for _, warning := range c.Warnings() {
		if strings.Contains(warning, "stream") {
			warnings = append(warnings, warning)
		}
	}
	return warnings
}

// A bridge the other way round: a server on stdio that speaks HTTP to another.
func TestRealHTTPBridge(t *testing.T) {
	everything := newNode(t, everythingScript, "streamableHttp")
	s := realServer(t, "supergateway", "--streamableHttp", everything.server().URL)
	c := connect(t, s)
	assert.Equal(t, "Echo: hi", realCall(t, c, "echo", m{"message": "hi"}).Content)
}

// A real server that is stopped and started again on its port.
func TestRealHTTPRestart(t *testing.T) {
	for _, test := range []struct{ script, arg, tool, argument, want string }{
		{everythingScript, "streamableHttp", "echo", "message", "Echo: Ann"},
		{exampleScripts + "simpleStreamableHttp.js", "", "greet", "name", "Hello, Ann!"},
		{exampleScripts + "jsonResponseStreamableHttp.js", "", "greet", "name", "Hello, Ann!"},
	} {
		t.Run(test.script, func(t *testing.T) {
			s := newNode(t, test.script, test.arg)
			c := connect(t, s.server())
			for range 2 {
				assert.Equal(t, test.want, realCall(t, c, test.tool, m{test.argument: "Ann"}).Content)
				s.stop()
				_, err := c.Tools()[0].Handler(t.Context(), nil)
				assert.ErrorIs(t, err, mcp.ErrNotSent)
				s.start(t)
			}
			assert.Equal(t, test.want, realCall(t, c, test.tool, m{test.argument: "Ann"}).Content)
		})
	}
}
