package oauth_test

// This file measures what a call costs with a Client over one with a token that
// is configured.

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/oauth"
)

// measured returns servers with the same small tool, by how a call is
// authorized.
func measured(t testing.TB) map[string]mcp.Server {
	var url string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/.well-known/oauth-protected-resource/mcp":
			fmt.Fprintf(w, `{"resource":%q,"authorization_servers":[%q]}`, url+"/mcp", url)
			return
		case "/.well-known/oauth-authorization-server":
			fmt.Fprintf(w, `{"issuer":%q,"token_endpoint":%q}`, url, url+"/token")
			return
		case "/token":
			fmt.Fprint(w, `{"access_token":"token","token_type":"Bearer","expires_in":3600}`)
			return
		}
		if r.Header.Get("Authorization") != "Bearer token" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		body, _ := io.ReadAll(r.Body)
		var m struct {
			ID     json.RawMessage
			Method string
		}
		json.Unmarshal(body, &m)
		switch m.Method {
		case "server/discover":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID)
		case "initialize":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}`, m.ID)
		case "tools/list":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"run","inputSchema":{"type":"object"}}]}}`, m.ID)
		case "tools/call":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"ok"}]}}`, m.ID)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	t.Cleanup(server.Close)
	url = server.URL
	return map[string]mcp.Server{
		"bearer": {Name: "x", URL: url + "/mcp", BearerToken: "token"},
		"oauth":  {Name: "x", URL: url + "/mcp", Auth: &oauth.Client{ID: "x", Secret: "yyyyyyyy"}},
	}
}

func BenchmarkCall(b *testing.B) {
	for name, server := range measured(b) {
		c, err := mcp.Connect(b.Context(), server)
		require.NoError(b, err)
		defer c.Close()
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := run(b.Context(), c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A call with a Client makes at most 15 allocations and 2 KB more than one with
// a token that is configured.
func TestCosts(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes pools forget")
	}
	const calls = 500
	allocations, bytes := map[string]float64{}, map[string]float64{}
	for name, server := range measured(t) {
		c, err := mcp.Connect(t.Context(), server)
		require.NoError(t, err)
		defer c.Close()
		for range 10 {
			require.NoError(t, run(t.Context(), c)) // the connections, once
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range calls {
			require.NoError(t, run(t.Context(), c))
		}
		runtime.ReadMemStats(&after)
		allocations[name] = float64(after.Mallocs-before.Mallocs) / calls
		bytes[name] = float64(after.TotalAlloc-before.TotalAlloc) / calls
	}
	t.Log(allocations, bytes)
	assert.LessOrEqual(t, allocations["oauth"]-allocations["bearer"], 15.0)
	assert.LessOrEqual(t, bytes["oauth"]-bytes["bearer"], 2048.0)
}
