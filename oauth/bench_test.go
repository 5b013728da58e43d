package oauth_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/oauth"
)

type static string

func (s static) Authorize(req *http.Request) error {
	req.Header.Set("Authorization", "Bearer "+string(s))
	return nil
}
func (static) Refused(*http.Response) (bool, error) { return false, nil }

func BenchmarkCall(b *testing.B) {
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
		body, _ := io.ReadAll(r.Body)
		if r.Header.Get("Authorization") == "" {
			w.WriteHeader(401)
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
		}
		json.Unmarshal(body, &m)
		result := `{"content":[{"type":"text","text":"ok"}]}`
		switch m.Method {
		case "server/discover":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID)
			return
		case "initialize":
			result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`
		case "tools/list":
			result = `{"tools":[{"name":"run","inputSchema":{"type":"object"}}]}`
		case "tools/call":
		default:
			w.WriteHeader(202)
			return
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}))
	defer server.Close()
	url = server.URL
	for name, s := range map[string]mcp.Server{
		"bearer": {BearerToken: "token"},
		"static": {Auth: static("token")},
		"oauth":  {Auth: &oauth.Client{ID: "x", Secret: "yyyyyyyy"}},
	} {
		s.Name, s.URL = "x", url+"/mcp"
		c, err := mcp.Connect(b.Context(), s)
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Tools()[0].Handler(b.Context(), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
