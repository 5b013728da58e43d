package oauth_test

// This file has an MCP server with an authorization server, for tests.

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/oauth"
)

// A world is an MCP server and its authorization server, which rotates refresh
// tokens and takes the use of an old one for theft.
type world struct {
	t      *testing.T
	as, rs *httptest.Server

	lifetime  time.Duration // of access tokens; 0 means an hour
	kind      string        // of access tokens; empty means bearer
	meta      func(map[string]any)
	first     http.HandlerFunc // at the first well-known place, in place of the metadata
	resource  func(map[string]any)
	token     func(w http.ResponseWriter, r *http.Request) bool // before the default
	revoke    func(w http.ResponseWriter, r *http.Request) bool // after it was counted
	refuse    func(w http.ResponseWriter, r *http.Request, body string) bool
	authorize func(q url.Values) url.Values // what to come back with; nil for a code

	logins, registrations, refreshes, revocations, runs, posts, thefts atomic.Int64

	mu      sync.Mutex
	serial  int
	access  map[string][]string // scopes, by token
	refresh map[string]bool     // whether it is current
	codes   map[string]url.Values
	clients map[string]bool
	forms   []url.Values
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, access: map[string][]string{}, refresh: map[string]bool{}, codes: map[string]url.Values{}, clients: map[string]bool{}}
	w.as = httptest.NewServer(http.HandlerFunc(w.serveAS))
	t.Cleanup(w.as.Close)
	server := sdk.NewServer(&sdk.Implementation{Name: "guarded", Version: "1"}, nil)
	server.AddTool(&sdk.Tool{Name: "run", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		w.runs.Add(1)
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "done"}}}, nil
	})
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	w.rs = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/.well-known/oauth-protected-resource/mcp" {
			m := map[string]any{"resource": w.rs.URL + "/mcp", "authorization_servers": []string{w.as.URL}}
			if w.resource != nil {
				w.resource(m)
			}
			writeJSON(rw, 200, m)
			return
		}
		if r.URL.Path != "/mcp" {
			http.NotFound(rw, r)
			return
		}
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if strings.Contains(string(body), `"tools/call"`) {
			w.posts.Add(1)
		}
		if w.refuse != nil && w.refuse(rw, r, string(body)) {
			return
		}
		_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		w.mu.Lock()
		_, ok := w.access[token]
		w.mu.Unlock()
		if !ok {
			rw.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+w.rs.URL+`/.well-known/oauth-protected-resource/mcp"`)
			rw.WriteHeader(401)
			return
		}
		handler.ServeHTTP(rw, r)
	}))
	t.Cleanup(w.rs.Close)
	return w
}

func (w *world) url() string { return w.rs.URL + "/mcp" }

// expire makes the server refuse all tokens so far.
func (w *world) expire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.access)
}

func (w *world) issue(scope string) map[string]any {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.serial++
	access, refresh := fmt.Sprintf("access-token-%d", w.serial), fmt.Sprintf("refresh-token-%d", w.serial)
	w.access[access] = strings.Fields(scope)
	w.refresh[refresh] = true
	lifetime := w.lifetime
	if lifetime == 0 {
		lifetime = time.Hour
	}
	return map[string]any{"access_token": access, "refresh_token": refresh, "token_type": cmp.Or(w.kind, "bearer"), "expires_in": int(lifetime.Seconds())}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

func (w *world) serveAS(rw http.ResponseWriter, r *http.Request) {
	r.ParseForm()
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration":
		if w.first != nil && strings.HasSuffix(r.URL.Path, "server") {
			w.first(rw, r)
			return
		}
		m := map[string]any{
			"issuer": w.as.URL, "authorization_endpoint": w.as.URL + "/authorize", "token_endpoint": w.as.URL + "/token",
			"registration_endpoint": w.as.URL + "/register", "revocation_endpoint": w.as.URL + "/revoke",
			"code_challenge_methods_supported": []string{"S256"}, "authorization_response_iss_parameter_supported": true,
		}
		if w.meta != nil {
			w.meta(m)
		}
		writeJSON(rw, 200, m)
	case "/register":
		id := fmt.Sprintf("client-%d", w.registrations.Add(1))
		w.mu.Lock()
		w.clients[id] = true
		w.mu.Unlock()
		writeJSON(rw, 201, map[string]any{"client_id": id, "client_secret_expires_at": "0", "scope": []string{"odd"}})
	case "/authorize":
		w.logins.Add(1)
		q := r.URL.Query()
		back, _ := url.Parse(q.Get("redirect_uri"))
		answer := url.Values{"state": {q.Get("state")}, "iss": {w.as.URL}, "code": {fmt.Sprint("code-", q.Get("state"))}}
		w.mu.Lock()
		w.codes[answer.Get("code")] = q
		known := w.clients[q.Get("client_id")] || strings.HasPrefix(q.Get("client_id"), "pre")
		w.mu.Unlock()
		if !known {
			http.Error(rw, "unrecognized client_id", http.StatusUnprocessableEntity)
			return
		}
		if w.authorize != nil {
			answer = w.authorize(answer)
		}
		back.RawQuery = answer.Encode()
		http.Redirect(rw, r, back.String(), http.StatusFound)
	case "/revoke":
		w.revocations.Add(1)
		if w.revoke != nil {
			w.revoke(rw, r)
		}
	case "/token", "/v2/token":
		w.mu.Lock()
		w.forms = append(w.forms, r.PostForm)
		w.mu.Unlock()
		if w.token != nil && w.token(rw, r) {
			return
		}
		if user, _, ok := r.BasicAuth(); ok {
			r.PostForm.Set("client_id", user)
		}
		w.serveToken(rw, r.PostForm)
	default:
		http.NotFound(rw, r)
	}
}

func (w *world) serveToken(rw http.ResponseWriter, form url.Values) {
	fail := func(code string) {
		writeJSON(rw, 400, map[string]any{"error": code, "error_description": "sent " + form.Encode()})
	}
	if form.Get("resource") != w.url() {
		fail("invalid_target")
		return
	}
	switch form.Get("grant_type") {
	case "authorization_code":
		w.mu.Lock()
		q, ok := w.codes[form.Get("code")]
		delete(w.codes, form.Get("code"))
		w.mu.Unlock()
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		if !ok || q.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) || q.Get("redirect_uri") != form.Get("redirect_uri") || q.Get("client_id") != form.Get("client_id") {
			fail("invalid_grant")
			return
		}
		writeJSON(rw, 200, w.issue(q.Get("scope")))
	case "refresh_token":
		w.refreshes.Add(1)
		w.mu.Lock()
		current, known := w.refresh[form.Get("refresh_token")]
		if known && !current { // reuse: the whole family is revoked
			w.thefts.Add(1)
			clear(w.refresh)
			clear(w.access)
		}
		w.refresh[form.Get("refresh_token")] = false
		w.mu.Unlock()
		if !current {
			fail("invalid_grant")
			return
		}
		writeJSON(rw, 200, w.issue(""))
	case "client_credentials", "urn:ietf:params:oauth:grant-type:jwt-bearer":
		m := w.issue(form.Get("scope"))
		delete(m, "refresh_token")
		writeJSON(rw, 200, m)
	default:
		fail("unsupported_grant_type")
	}
}

func (w *world) lastForm() url.Values {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.forms[len(w.forms)-1]
}

// browse does what a person with a browser does.
func browse(ctx context.Context, target string) (string, error) {
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if resp, err := http.DefaultClient.Do(req); err == nil {
		resp.Body.Close()
	}
	return "", nil
}

// endGrant makes the refresh tokens so far useless, too.
func (w *world) endGrant() {
	w.expire()
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.refresh)
}

// comeBack returns the URL at which a person would come back.
func comeBack(t *testing.T, target string) string {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Get(target)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.Header.Get("Location")
}

func connect(t *testing.T, w *world, auth mcp.Authorizer) *mcp.Connection {
	t.Helper()
	c, err := mcp.Connect(t.Context(), mcp.Server{Name: "guarded", URL: w.url(), Auth: auth})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func run(ctx context.Context, c *mcp.Connection) error {
	i := slices.IndexFunc(c.Tools(), func(tool mcp.Tool) bool { return tool.ServerTool == "run" })
	_, err := c.Tools()[i].Handler(ctx, nil)
	return err
}

var _ mcp.Authorizer = (*oauth.Client)(nil)
