// Package looptest is the other side of an agent loop, for the tests of the
// examples: a model that plays one conversation, and a real MCP server. Both
// are what .ci/servers installs; without them the tests skip.
package looptest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
)

// The conversation: after the prompt the model calls two tools at once, then
// one with arguments that the server refuses, and then gives its answer.
const (
	Prompt = "Say hi and show me the picture."
	Answer = "Here it is."

	Echo   = "mcp__everything__echo"
	Image  = "mcp__everything__get-tiny-image"
	Script = `{"fixtures": [
		{"match": {"sequenceIndex": 0}, "response": {"toolCalls": [
			{"id": "call_1", "name": "` + Echo + `", "arguments": {"message": "hi <there>"}},
			{"id": "call_2", "name": "` + Image + `", "arguments": {}}]}},
		{"match": {"sequenceIndex": 1}, "response": {"toolCalls": [
			{"id": "call_3", "name": "` + Echo + `", "arguments": {}}]}},
		{"match": {"sequenceIndex": 2}, "response": {"content": "` + Answer + `"}}]}`

	EchoResult = "Echo: hi <there>"

	// What Image brings: a text, the image, and another text.
	BeforeImage = "Here's the image you requested:"
	BehindImage = "The image above is the MCP logo."
	ImageResult = BeforeImage + "\n[image 1]\n" + BehindImage
)

// installed returns the path of a program that .ci/servers installed from npm.
func installed(t *testing.T, name string) string {
	t.Helper()
	cache := os.Getenv("MCP_TEST_CACHE")
	if cache == "" {
		dir, _ := os.UserCacheDir()
		cache = filepath.Join(dir, "mcp-test")
	}
	file := filepath.Join(cache, "npm", "node_modules", ".bin", name)
	if _, err := os.Stat(file); err != nil {
		t.Skipf("%s is not installed: run .ci/servers", name)
	}
	return file
}

// Tools returns the tools of a real server that the conversation needs.
func Tools(t *testing.T) []mcp.Tool {
	t.Helper()
	connection, err := mcp.Connect(t.Context(), mcp.Server{
		Name:    "everything",
		Command: installed(t, "mcp-server-everything"),
		Env:     mcp.BaseEnv(),
		Tools:   []string{"echo", "get-structured-content", "get-tiny-image"},
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, connection.Close()) })
	return connection.Tools()
}

// Result calls a tool as the model does, to know what must have been sent.
func Result(t *testing.T, tools []mcp.Tool, name, arguments string) mcp.ToolResult {
	t.Helper()
	for _, tool := range tools {
		if tool.Name == name {
			result, err := tool.Handler(t.Context(), json.RawMessage(arguments))
			require.NoError(t, err)
			return result
		}
	}
	t.Fatalf("there is no tool %q", name)
	return mcp.ToolResult{}
}

// A Provider is aimock, which speaks the APIs of many providers.
type Provider struct {
	URL string // of the server, without the path of an API

	mock string // the URL of aimock itself
	mu   sync.Mutex
	sent [][]byte
}

// Start starts a provider that plays the conversation once.
func Start(t *testing.T) *Provider {
	t.Helper()
	script := filepath.Join(t.TempDir(), "script.json")
	require.NoError(t, os.WriteFile(script, []byte(Script), 0o600))
	command := exec.Command(installed(t, "llmock"), "--port", "0", "--strict", "--fixtures", script)
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	command.Stderr = os.Stderr
	require.NoError(t, command.Start())
	p := &Provider{}
	t.Cleanup(func() {
		command.Process.Kill()
		command.Wait()
	})
	lines := bufio.NewScanner(output)
	for p.mock == "" && lines.Scan() {
		if _, address, ok := strings.Cut(lines.Text(), "listening on "); ok {
			p.mock = address
		}
	}
	require.NotEmpty(t, p.mock, "aimock did not start")
	go io.Copy(io.Discard, output) // ends with the process

	// The journal has requests in the form of one API. What only another API
	// has, such as a flag of an error, is in the request as it was sent.
	target, err := url.Parse(p.mock)
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		p.mu.Lock()
		p.sent = append(p.sent, body)
		p.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p.URL = server.URL
	return p
}

// entry is a request in the journal.
type entry struct {
	Path string
	Body struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
			Call    string `json:"tool_call_id"`
		}
		Tools []struct {
			Function struct{ Name, Description string }
		}
	}
	Response struct{ Status int }
}

// Check checks the journal of a conversation that is over: three requests to
// the path, all of them answered, each with the names of the tools in their
// order, and the last with the results, each one the text that want has. It
// decodes the last request as it was sent into last, if that is not nil.
func (p *Provider) Check(t *testing.T, path string, tools []mcp.Tool, want []string, last any) {
	t.Helper()
	response, err := http.Get(p.mock + "/__aimock/journal")
	require.NoError(t, err)
	defer response.Body.Close()
	var journal []entry
	require.NoError(t, json.NewDecoder(response.Body).Decode(&journal))
	require.Len(t, journal, 3)
	for _, e := range journal {
		assert.Equal(t, path, e.Path)
		assert.Equal(t, http.StatusOK, e.Response.Status)
		require.Len(t, e.Body.Tools, len(tools))
		for i, tool := range tools {
			assert.Equal(t, tool.Name, e.Body.Tools[i].Function.Name)
		}
	}
	var calls, results []string
	for _, m := range journal[2].Body.Messages {
		if m.Role == "tool" {
			calls = append(calls, m.Call)
			results = append(results, text(m.Content))
		}
	}
	assert.Equal(t, []string{"call_1", "call_2", "call_3"}, calls)
	assert.Equal(t, want, results)
	if last != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		require.Len(t, p.sent, 3)
		require.NoError(t, json.Unmarshal(p.sent[2], last))
	}
}

// JSON encodes as aimock does, without escapes for HTML.
func JSON(t *testing.T, v any) string {
	t.Helper()
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	require.NoError(t, encoder.Encode(v))
	return strings.TrimSuffix(b.String(), "\n")
}

// text returns the text of a message: a string, or parts with texts.
func text(content json.RawMessage) string {
	var s string
	if json.Unmarshal(content, &s) == nil {
		return s
	}
	var parts []struct{ Text string }
	json.Unmarshal(content, &parts)
	for _, part := range parts {
		s += part.Text
	}
	return s
}

// SideBySide returns the tools such that the first calls of Echo and of Image
// begin only when both have been made: those of the conversation's first turn.
func SideBySide(t *testing.T, tools []mcp.Tool) []mcp.Tool {
	var both sync.WaitGroup
	both.Add(2)
	met := make(chan struct{})
	go func() { // ends with the second call, which every loop makes
		both.Wait()
		close(met)
	}()
	tools = slices.Clone(tools)
	for i := range tools {
		if name := tools[i].Name; name != Echo && name != Image {
			continue
		}
		handler := tools[i].Handler
		var first sync.Once
		tools[i].Handler = func(ctx context.Context, arguments json.RawMessage) (mcp.ToolResult, error) {
			first.Do(func() {
				both.Done()
				select {
				case <-met:
				case <-time.After(20 * time.Second):
					t.Error("the calls of one turn do not run side by side")
				}
			})
			return handler(ctx, arguments)
		}
	}
	return tools
}

// Dot is an image for tests of converters.
var Dot = mcp.Image{MIMEType: "image/png", Data: []byte("\x89PNG")}

// DotBase64 is the base64 of its data.
const DotBase64 = "iVBORw=="
