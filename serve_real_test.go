package mcp_test

// This file compares what a gateway serves with what the server behind it sends.

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
)

var everythingCalls = []struct {
	Tool      string `json:"tool"`
	Arguments m      `json:"arguments"`
}{
	{"echo", m{"message": "hello"}},
	{"echo", m{}},
	{"get-annotated-message", m{"messageType": "success"}},
	{"get-annotated-message", m{"messageType": "error", "includeImage": true}},
	{"get-resource-reference", m{"resourceType": "Text", "resourceId": 1}},
	{"get-resource-reference", m{"resourceType": "Blob", "resourceId": 1}},
	{"get-resource-links", m{"count": 3}},
	{"get-structured-content", m{"location": "New York"}},
	{"get-tiny-image", m{}},
	{"get-sum", m{"a": 1, "b": 2}},
}

// seen is a result without what differs between two calls.
func seen(t *testing.T, result *sdk.CallToolResult) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"content": result.Content, "structured": result.StructuredContent, "error": result.IsError})
	require.NoError(t, err)
	return string(text)
}

func TestRealServe(t *testing.T) {
	server := realServer(t, "mcp-server-everything")
	c := connect(t, server)
	gateway := sdk.NewServer(&sdk.Implementation{Name: "gateway", Version: "1"}, nil)
	require.NoError(t, mcp.AddTools(gateway, c.Tools()...))
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return gateway }, nil))
	t.Cleanup(web.Close) // once the sessions are closed

	command := exec.Command(server.Command, server.Args...)
	command.Env = server.Env
	direct := sdkClient(t, &sdk.CommandTransport{Command: command})
	through := sdkClient(t, &sdk.StreamableClientTransport{Endpoint: web.URL})
	var want []string
	for _, call := range everythingCalls {
		expected, err := direct.CallTool(t.Context(), &sdk.CallToolParams{Name: call.Tool, Arguments: call.Arguments})
		require.NoError(t, err)
		result, err := through.CallTool(t.Context(), &sdk.CallToolParams{Name: mcp.ToolName("real", call.Tool), Arguments: call.Arguments})
		require.NoError(t, err)
		want = append(want, steady(seen(t, expected)))
		assert.JSONEq(t, want[len(want)-1], steady(seen(t, result)), "%s %v", call.Tool, call.Arguments)
	}

	t.Run("TypeScript", func(t *testing.T) {
		npm := filepath.Join(cacheDir(), "npm")
		if _, err := os.Stat(filepath.Join(npm, "node_modules/@modelcontextprotocol/sdk")); err != nil {
			t.Skip("@modelcontextprotocol/sdk is not installed: run .ci/servers")
		}
		calls, err := json.Marshal(everythingCalls)
		require.NoError(t, err)
		node := exec.CommandContext(t.Context(), "node", "--input-type=module", "-e", `
import {Client} from '@modelcontextprotocol/sdk/client/index.js'
import {StreamableHTTPClientTransport} from '@modelcontextprotocol/sdk/client/streamableHttp.js'
const [url, calls] = process.argv.slice(1)
const client = new Client({name: 'ts', version: '1'})
const transport = new StreamableHTTPClientTransport(new URL(url))
await client.connect(transport)
const names = (await client.listTools()).tools.map(t => t.name)
for (const {tool, arguments: args} of JSON.parse(calls)) {
  const r = await client.callTool({name: names.find(n => n.endsWith('__' + tool)), arguments: args})
  console.log(JSON.stringify({content: r.content, structured: r.structuredContent ?? null, error: r.isError ?? false}))
}
await transport.terminateSession()
await client.close()`, web.URL, string(calls))
		node.Dir = npm
		var stderr bytes.Buffer
		node.Stderr = &stderr
		output, err := node.Output()
		require.NoError(t, err, stderr.String())
		lines := bytes.Split(bytes.TrimSpace(output), []byte("\n"))
		require.Len(t, lines, len(want))
		for i, line := range lines {
			assert.JSONEq(t, want[i], steady(string(line)), everythingCalls[i].Tool)
		}
	})
}

// The gateway of the examples, as a program, serves what the server sends through
// mcp-remote, the proxy that clients without HTTP use.
func TestRealGateway(t *testing.T) {
	server := realServer(t, "mcp-server-everything")
	remote := realServer(t, "mcp-remote")
	dir := t.TempDir()
	program := filepath.Join(dir, "gateway.exe")
	output, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./examples/gateway").CombinedOutput()
	require.NoError(t, err, string(output))
	env := m{}
	for _, variable := range server.Env {
		name, value, _ := strings.Cut(variable, "=")
		env[name] = value
	}
	config, err := json.Marshal(m{"mcpServers": m{"real": m{"command": server.Command, "env": env}, "none": m{"command": "there-is-no-such-program"}}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mcp.json"), config, 0o600))

	gateway := exec.Command(program, "-config", filepath.Join(dir, "mcp.json"), "-http", "127.0.0.1:0")
	stderr, err := gateway.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, gateway.Start())
	t.Cleanup(func() {
		_ = gateway.Process.Signal(os.Interrupt) // it closes its connections
		assert.NoError(t, gateway.Wait())
	})
	var address string
	lines := bufio.NewScanner(stderr)
	for address == "" && lines.Scan() {
		_, address, _ = strings.Cut(lines.Text(), "serving at ")
	}
	require.NotEmpty(t, address)
	go io.Copy(io.Discard, stderr) // ends with the gateway

	command := exec.Command(server.Command, server.Args...)
	command.Env = server.Env
	direct := sdkClient(t, &sdk.CommandTransport{Command: command})
	proxy := exec.Command(remote.Command, address, "--transport", "http-only")
	proxy.Env = remote.Env
	through := sdkClient(t, &sdk.CommandTransport{Command: proxy})
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		list, err := through.ListTools(t.Context(), nil)
		assert.NoError(c, err)
		assert.NotEmpty(c, list.Tools, "the gateway serves before its server has started")
	}, time.Minute, 50*time.Millisecond)
	for _, call := range everythingCalls {
		expected, err := direct.CallTool(t.Context(), &sdk.CallToolParams{Name: call.Tool, Arguments: call.Arguments})
		require.NoError(t, err)
		result, err := through.CallTool(t.Context(), &sdk.CallToolParams{Name: mcp.ToolName("real", call.Tool), Arguments: call.Arguments})
		require.NoError(t, err)
		assert.JSONEq(t, steady(seen(t, expected)), steady(seen(t, result)), "%s %v", call.Tool, call.Arguments)
	}
}

func sdkClient(t *testing.T, transport sdk.Transport) *sdk.ClientSession {
	t.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "client", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	require.NoError(t, err)
	t.Cleanup(func() { session.Close() })
	return session
}

// times are in what the server writes into its resources.
var times = regexp.MustCompile(`\d+:\d\d:\d\d [AP]M|[A-Za-z0-9+/]{60,}=*`)

func steady(text string) string {
	return times.ReplaceAllStringFunc(text, func(s string) string {
		if len(s) > 300 { // a picture
			return s
		}
		return "time"
	})
}
