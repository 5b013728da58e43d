package mcp_test

// This file makes the comparison of bench_test.go over HTTP. The server is a
// process of its own, with net/http and prebuilt bytes.

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
)

func init() { servers["bench HTTP"] = benchHTTPServer }

// benchHTTPServer prints its address, and serves until its input ends.
func benchHTTPServer(p *mcptest.Peer) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	results := benchResults()
	lists := map[string]string{
		"":        `{"tools":[{"name":"small","inputSchema":{"type":"object","properties":{}}},{"name":"text"},{"name":"image"}]}`,
		"clean":   benchList(benchTools, false),
		"rewrite": benchList(benchTools, true),
	}
	hundred := benchList(100, false)
	var list atomic.Pointer[string]
	list.Store(new(string))
	var flip atomic.Int64
	go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m mcptest.Request
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		answer := func(parts ...string) {
			n := 0
			parts = append([]string{`{"jsonrpc":"2.0","id":`, string(m.ID)}, parts...)
			for _, part := range parts {
				n += len(part)
			}
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", strconv.Itoa(n))
			for _, part := range parts {
				w.Write([]byte(part)) // strings go out in pieces of the size of a buffer
			}
		}
		switch m.Method {
		case "initialize":
			w.Header().Set("Mcp-Session-Id", "bench")
			answer(`,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}}`)
		case "tools/list":
			if r.URL.Path == "/hundred" {
				answer(`,"result":`, hundred, `}`)
				return
			}
			kind, name, _ := strings.Cut(*list.Load(), " ")
			answer(`,"result":`, changeList(lists[name], kind, int(flip.Add(1))), `}`)
		case "tools/call":
			var choice struct{ List *string }
			if json.Unmarshal(m.Params.Arguments, &choice) == nil && choice.List != nil {
				list.Store(choice.List)
			}
			answer(`,"result":`, results[m.Params.Name], `}`)
		case "server/discover":
			answer(`,"error":{"code":-32601,"message":"Method not found"}}`)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	p.Print("http://" + l.Addr().String() + "\n")
	p.Read()
}

// startHTTP starts a scripted HTTP server and returns its URL.
func startHTTP(t testing.TB, name string) string {
	command, environment := mcptest.Command(t, name)
	process := exec.Command(command)
	process.Env = environment
	stdin, err := process.StdinPipe()
	require.NoError(t, err)
	stdout, err := process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	t.Cleanup(func() {
		stdin.Close()
		process.Wait()
	})
	url, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(url)
}

// plainHTTP returns a plain session with network connections of its own, and
// how to close both.
func plainHTTP(b *testing.B, url string) (*sdk.ClientSession, func()) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "plain", Version: "1"}, nil).
		Connect(context.Background(), &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: transport}}, nil)
	require.NoError(b, err)
	return session, func() {
		session.Close()
		transport.CloseIdleConnections()
	}
}

func BenchmarkHTTP(b *testing.B) {
	url := startHTTP(b, "bench HTTP")
	server := mcp.Server{Name: "test", URL: url}
	ours, err := mcp.Connect(b.Context(), server)
	require.NoError(b, err)
	b.Cleanup(func() { ours.Close() })
	plain, closePlain := plainHTTP(b, url)
	b.Cleanup(closePlain)
	b.Run("connect", func(b *testing.B) {
		server, url := server, url+"/hundred"
		server.URL = url
		compare(b, 0, func() {
			c, err := mcp.Connect(b.Context(), server)
			if err != nil {
				b.Fatal(err)
			}
			c.Close()
		}, func() {
			c, done := plainHTTP(b, url)
			if _, err := c.ListTools(b.Context(), nil); err != nil {
				b.Fatal(err)
			}
			done()
		})
	})
	benchCompare(b, ours, plain)
}
