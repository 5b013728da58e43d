package oauth_test

import (
	"context"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/oauth"
)

// What real servers write, and what still has to work.
func TestOddMetadata(t *testing.T) {
	for name, bend := range map[string]func(w *world){
		"issuer with a slash": func(w *world) {
			w.resource = func(m map[string]any) { m["authorization_servers"] = []string{w.as.URL + "/"} }
		},
		"resource is the origin": func(w *world) { w.resource = func(m map[string]any) { m["resource"] = w.url() } },
		"no list of methods":     func(w *world) {},
		"odd types elsewhere":    func(w *world) { w.meta = func(m map[string]any) { m["ui_locales_supported"], m["jwks_uri"] = "en", 5 } },
		"a list in one text": func(w *world) {
			w.meta = func(m map[string]any) { m["code_challenge_methods_supported"] = "plain S256" }
		},
		"numbers for endpoints": func(w *world) {
			w.meta = func(m map[string]any) { m["revocation_endpoint"], m["scopes_supported"] = 5, []any{1, "a"} }
		},
		"a page at the first place": func(w *world) {
			w.first = func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set("Content-Type", "text/html")
				rw.Write([]byte("<html>"))
			}
		},
		"an error at the first place": func(w *world) {
			w.first = func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(500) }
		},
		"first server is nothing": func(w *world) {
			w.resource = func(m map[string]any) { m["authorization_servers"] = []string{"http://127.0.0.1:1", w.as.URL} }
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			bend(w)
			require.NoError(t, run(t.Context(), connect(t, w, &oauth.Client{Open: browse})))
		})
	}
}

// What must not be taken.
func TestBadMetadata(t *testing.T) {
	for name, c := range map[string]struct {
		bend func(w *world)
		want string
	}{
		"resource elsewhere": {func(w *world) { w.resource = func(m map[string]any) { m["resource"] = "https://evil.example.com/mcp" } }, "not for this server"},
		"issuer elsewhere":   {func(w *world) { w.meta = func(m map[string]any) { m["issuer"] = "https://evil.example.com" } }, "is that of"},
		"no PKCE":            {func(w *world) { w.meta = func(m map[string]any) { delete(m, "code_challenge_methods_supported") } }, "PKCE"},
		"plain PKCE": {func(w *world) {
			w.meta = func(m map[string]any) { m["code_challenge_methods_supported"] = []string{"plain"} }
		}, "PKCE"},
		"token endpoint not https": {func(w *world) {
			w.meta = func(m map[string]any) { m["token_endpoint"] = "http://as.example.com/token" }
		}, "not https"},
		"script for a login": {func(w *world) {
			w.meta = func(m map[string]any) { m["authorization_endpoint"] = "javascript:alert(1)" }
		}, "cannot be used"},
		"no registration": {func(w *world) { w.meta = func(m map[string]any) { delete(m, "registration_endpoint") } }, "set the ID"},
		"endless metadata": {func(w *world) {
			w.meta = func(m map[string]any) { m["x"] = strings.Repeat("x", 2<<20) }
		}, "not JSON"},
		"wrong iss":   {func(w *world) { w.authorize = func(q url.Values) url.Values { q.Set("iss", w.as.URL+"/"); return q } }, "from another"},
		"missing iss": {func(w *world) { w.authorize = func(q url.Values) url.Values { q.Del("iss"); return q } }, "does not say"},
		"error of another": {func(w *world) {
			w.authorize = func(q url.Values) url.Values {
				q.Set("iss", "https://evil")
				q.Set("error", "visit https://evil")
				return q
			}
		}, "from another"},
		"token with a line end": {func(w *world) {
			w.token = func(rw http.ResponseWriter, _ *http.Request) bool {
				writeJSON(rw, 200, map[string]any{"access_token": "a\r\nX-Evil: 1", "token_type": "Bearer"})
				return true
			}
		}, "cannot be a token"},
		"another type of token": {func(w *world) {
			w.token = func(rw http.ResponseWriter, _ *http.Request) bool {
				writeJSON(rw, 200, map[string]any{"access_token": "a", "token_type": "mac"})
				return true
			}
		}, "not supported"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c.bend(w)
			_, err := mcp.Connect(t.Context(), mcp.Server{Name: "guarded", URL: w.url(), Auth: &oauth.Client{Open: browse}})
			require.ErrorContains(t, err, c.want)
			t.Log(err)
			assert.LessOrEqual(t, w.logins.Load(), int64(1))
		})
	}
}

// A call returns when its context ends, whatever the authorization server does.
func TestHungTokenEndpoint(t *testing.T) {
	w := newWorld(t)
	c := connect(t, w, &oauth.Client{Open: browse})
	w.expire()
	stop := make(chan struct{})
	w.token = func(http.ResponseWriter, *http.Request) bool { <-stop; return false }
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	begun := time.Now()
	err := run(ctx, c)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.ErrorIs(t, err, mcp.ErrNotSent)
	assert.Less(t, time.Since(begun), 20*time.Second) // the endpoint would take for ever
	close(stop)
}

// Nothing is left after Close.
func TestNothingLeft(t *testing.T) {
	w := newWorld(t)
	before := runtime.NumGoroutine()
	for range 5 {
		c, err := mcp.Connect(t.Context(), mcp.Server{Name: "guarded", URL: w.url(), Auth: &oauth.Client{Open: browse}})
		require.NoError(t, err)
		w.expire()
		require.NoError(t, run(t.Context(), c))
		c.Close()
	}
	http.DefaultClient.CloseIdleConnections()
	w.as.CloseClientConnections()
	w.rs.CloseClientConnections()
	assert.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+1 }, 20*time.Second, 20*time.Millisecond, "goroutines")
}
