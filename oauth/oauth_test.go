package oauth_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/oauth"
)

// Many calls whose token is refused at once share one refresh, and each call is
// sent again once.
func TestOneRefreshForAll(t *testing.T) {
	w := newWorld(t)
	c := connect(t, w, &oauth.Client{Open: browse})
	w.expire()
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() { assert.NoError(t, run(t.Context(), c)) })
	}
	all.Wait()
	assert.EqualValues(t, 1, w.refreshes.Load(), "refreshes")
	assert.EqualValues(t, 1, w.logins.Load(), "logins")
	assert.EqualValues(t, 1, w.registrations.Load(), "registrations")
	assert.EqualValues(t, 16, w.runs.Load(), "runs of the tool")
	assert.LessOrEqual(t, w.posts.Load(), int64(32), "posts")
	assert.Equal(t, w.url(), w.lastForm().Get("resource"))
}

// Two processes with one store never use a refresh token twice.
func TestStoreShared(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(t.TempDir(), "tokens")
	var connections []*mcp.Connection
	for range 4 {
		connections = append(connections, connect(t, w, &oauth.Client{Open: browse, Store: oauth.FileStore(dir)}))
	}
	assert.EqualValues(t, 1, w.logins.Load(), "logins")
	for range 3 {
		w.expire()
		var all sync.WaitGroup
		for _, c := range connections {
			for range 4 {
				all.Go(func() { assert.NoError(t, run(t.Context(), c)) })
			}
		}
		all.Wait()
	}
	assert.EqualValues(t, 3, w.refreshes.Load(), "refreshes")
	assert.EqualValues(t, 0, w.thefts.Load(), "uses of an old refresh token")
	assert.EqualValues(t, 1, w.logins.Load(), "logins")
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, file := range files {
		info, err := file.Info()
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), file.Name())
	}
}

// A token that expires is renewed before the call.
func TestExpiry(t *testing.T) {
	w := newWorld(t)
	w.lifetime = 11 * time.Second
	c := connect(t, w, &oauth.Client{Open: browse})
	time.Sleep(1200 * time.Millisecond)
	// A start that took a second has renewed it as well.
	posts, refreshes := w.posts.Load(), w.refreshes.Load()
	require.NoError(t, run(t.Context(), c))
	assert.EqualValues(t, 1, w.posts.Load()-posts, "posts of the call")
	assert.EqualValues(t, 1, w.refreshes.Load()-refreshes)
}

// A web application sends its user away, who comes back to another process. The
// connection that was there goes on with the new token.
func TestWebLogin(t *testing.T) {
	w := newWorld(t)
	store := oauth.FileStore(t.TempDir())
	client := func() *oauth.Client {
		return &oauth.Client{RedirectURL: "https://app.example.com/callback", Store: store}
	}
	server := mcp.Server{Name: "guarded", URL: w.url(), Auth: client()}
	_, err := mcp.Connect(t.Context(), server)
	var login *oauth.LoginRequired
	require.ErrorAs(t, err, &login)
	_, err = mcp.Connect(t.Context(), server)
	var second *oauth.LoginRequired
	require.ErrorAs(t, err, &second)
	assert.Equal(t, login.URL, second.URL, "a login that has begun is given out again")
	back := comeBack(t, login.URL)
	require.True(t, strings.HasPrefix(back, "https://app.example.com/callback?"), back)
	require.NoError(t, client().FinishLogin(t.Context(), w.url(), back))
	assert.Error(t, client().FinishLogin(t.Context(), w.url(), back), "finished twice")
	c := connect(t, w, server.Auth)
	require.NoError(t, run(t.Context(), c))

	// The grant dies; the user logs in again elsewhere.
	w.expire()
	w.mu.Lock()
	clear(w.refresh)
	w.mu.Unlock()
	err = run(t.Context(), c)
	require.ErrorAs(t, err, &login)
	assert.ErrorContains(t, err, "again: the last login failed: it could not be renewed: the authorization server answered invalid_grant")
	assert.ErrorIs(t, err, mcp.ErrNotSent)
	require.NoError(t, client().FinishLogin(t.Context(), w.url(), comeBack(t, login.URL)))
	assert.NoError(t, run(t.Context(), c), "the connection that was there")
}

// A registration that the authorization server has forgotten is replaced once
// a login with it was not finished.
func TestForgottenRegistration(t *testing.T) {
	w := newWorld(t)
	store := oauth.FileStore(t.TempDir())
	connect(t, w, &oauth.Client{Open: browse, Store: store}).Close()
	w.mu.Lock()
	clear(w.clients)
	clear(w.refresh)
	w.mu.Unlock()
	w.expire()
	c := &oauth.Client{Store: store}
	c.Open = func(ctx context.Context, target string) (string, error) {
		resp, err := http.Get(target)
		require.NoError(t, err)
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return "", errors.New("there is only an error page")
		}
		return "", nil
	}
	assert.ErrorContains(t, c.Login(t.Context(), w.url()), "error page")
	assert.NoError(t, c.Login(t.Context(), w.url()), "the next login registers anew")
	assert.EqualValues(t, 2, w.registrations.Load())
}

// After a login that failed nobody is asked again until they want to.
func TestDeclined(t *testing.T) {
	w := newWorld(t)
	w.authorize = func(answer url.Values) url.Values {
		answer.Del("code")
		answer.Set("error", "access_denied")
		return answer
	}
	client := &oauth.Client{Open: browse}
	_, err := mcp.Connect(t.Context(), mcp.Server{Name: "guarded", URL: w.url(), Auth: client})
	var refused *oauth.Error
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "access_denied", refused.Code)
	assert.EqualValues(t, 1, w.logins.Load(), "though the SDK asks with discover and initialize")
	_, err = mcp.Connect(t.Context(), mcp.Server{Name: "guarded", URL: w.url(), Auth: client})
	require.ErrorAs(t, err, &refused)
	assert.EqualValues(t, 1, w.logins.Load())
	w.authorize = nil
	require.NoError(t, client.Login(t.Context(), w.url()))
	connect(t, w, client)
}

// The time of a person counts neither for CallTimeout nor for the start.
func TestPatience(t *testing.T) {
	w := newWorld(t)
	slow := func(ctx context.Context, target string) (string, error) {
		time.Sleep(3500 * time.Millisecond) // longer than server/discover may take
		return browse(ctx, target)
	}
	c, err := mcp.Connect(t.Context(), mcp.Server{Name: "guarded", URL: w.url(), Auth: &oauth.Client{Open: slow}, CallTimeout: time.Second})
	require.NoError(t, err)
	defer c.Close()
	w.expire()
	w.mu.Lock()
	clear(w.refresh)
	w.mu.Unlock()
	assert.NoError(t, run(t.Context(), c))
	assert.EqualValues(t, 2, w.logins.Load())
}

// What else comes to the listener ends no login.
func TestListenerIgnoresOthers(t *testing.T) {
	w := newWorld(t)
	open := func(ctx context.Context, target string) (string, error) {
		u, _ := url.Parse(target)
		back := u.Query().Get("redirect_uri")
		for _, query := range []string{"?code=evil&state=guess", "?error=access_denied", "?state=&code=x", "?code=a&code=b&state=" + u.Query().Get("state")} {
			resp, err := http.Get(back + query)
			if err != nil {
				return "", err
			}
			resp.Body.Close()
			assert.Equal(t, 400, resp.StatusCode, query)
		}
		return browse(ctx, target)
	}
	connect(t, w, &oauth.Client{Open: open})
}

// Who has no browser at hand pastes the URL.
func TestPastedCallback(t *testing.T) {
	w := newWorld(t)
	connect(t, w, &oauth.Client{Open: func(_ context.Context, target string) (string, error) { return " " + comeBack(t, target) + "\n", nil }})
}

// A plain 403 is not resent; one that asks for more scope is, once.
func TestForbidden(t *testing.T) {
	w := newWorld(t)
	c := connect(t, w, &oauth.Client{Open: browse})
	w.refuse = func(rw http.ResponseWriter, r *http.Request, body string) bool {
		if !strings.Contains(body, "tools/call") {
			return false
		}
		rw.WriteHeader(403)
		fmt.Fprint(rw, "no: "+r.Header.Get("Authorization"))
		return true
	}
	err := run(t.Context(), c)
	var status *mcp.HTTPError
	require.ErrorAs(t, err, &status)
	assert.EqualValues(t, 1, w.posts.Load())
	assert.NotContains(t, err.Error()+status.Body, "access-token")

	w.refuse = func(rw http.ResponseWriter, r *http.Request, body string) bool {
		_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		w.mu.Lock()
		scopes := strings.Join(w.access[token], " ")
		w.mu.Unlock()
		if !strings.Contains(body, "tools/call") || strings.Contains(scopes, "write") {
			return false
		}
		rw.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="write"`)
		rw.WriteHeader(403)
		return true
	}
	require.NoError(t, run(t.Context(), c))
	assert.EqualValues(t, 2, w.logins.Load())
	assert.EqualValues(t, 1, w.runs.Load())
	assert.EqualValues(t, 1, w.registrations.Load(), "the registration is used again")
}

// A login after a step-up asks for all that was there, also where the first was
// configured; one after a logout begins anew.
func TestScopesStay(t *testing.T) {
	w := newWorld(t)
	var asked []string
	client := &oauth.Client{Scopes: []string{"read"}, Open: func(ctx context.Context, target string) (string, error) {
		u, _ := url.Parse(target)
		asked = append(asked, u.Query().Get("scope"))
		return browse(ctx, target)
	}}
	c := connect(t, w, client)
	var refused atomic.Bool
	w.refuse = func(rw http.ResponseWriter, r *http.Request, body string) bool {
		if refused.Swap(true) {
			return false
		}
		rw.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="write read"`)
		rw.WriteHeader(403)
		return true
	}
	require.NoError(t, run(t.Context(), c))
	require.NoError(t, client.Login(t.Context(), w.url()))
	require.NoError(t, client.Logout(t.Context(), w.url()))
	require.NoError(t, client.Login(t.Context(), w.url()))
	assert.Equal(t, []string{"read", "read write", "read write", "read"}, asked)
}

// No error shows a secret, whatever the servers repeat.
func TestSecretsStay(t *testing.T) {
	w := newWorld(t)
	c := connect(t, w, &oauth.Client{ID: "pre-registered", Secret: "top-secret-value", Open: browse})
	w.expire()
	w.token = func(rw http.ResponseWriter, r *http.Request) bool {
		r.ParseForm()
		user, password, _ := r.BasicAuth()
		writeJSON(rw, 500, map[string]any{"error": "server_error", "error_description": r.PostForm.Encode() + user + password + r.Header.Get("Authorization")})
		return true
	}
	err := run(t.Context(), c)
	require.Error(t, err)
	assert.ErrorIs(t, err, mcp.ErrNotSent)
	for _, secret := range []string{"refresh-token-1", "access-token-1", "top-secret-value"} {
		assert.NotContains(t, err.Error(), secret)
	}
	assert.EqualValues(t, 1, w.logins.Load(), "a failing token endpoint is no reason to ask a person")
	w.token = nil
	assert.NoError(t, run(t.Context(), c), "and costs no token")
}

// A token endpoint that redirects gets nothing sent elsewhere.
func TestTokenRedirect(t *testing.T) {
	w := newWorld(t)
	var got atomic.Int64
	evil := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { got.Add(1) }))
	defer evil.Close()
	w.token = func(rw http.ResponseWriter, r *http.Request) bool {
		http.Redirect(rw, r, evil.URL, http.StatusTemporaryRedirect)
		return true
	}
	_, err := mcp.Connect(t.Context(), mcp.Server{Name: "guarded", URL: w.url(), Auth: &oauth.Client{ID: "pre", Secret: "s3cr3t-s3cr3t"}})
	require.Error(t, err)
	assert.EqualValues(t, 0, got.Load())
}

// A secret goes to the first authorization server that was named, to no other.
func TestIssuerPinned(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	client := &oauth.Client{ID: "pre-service", Secret: "s3cr3t-s3cr3t"}
	c := connect(t, w, client)
	w.expire()
	w.token = func(rw http.ResponseWriter, r *http.Request) bool {
		writeJSON(rw, 400, map[string]any{"error": "invalid_grant"})
		return true
	}
	w.resource = func(m map[string]any) { m["authorization_servers"] = []string{other.as.URL} }
	require.Error(t, run(t.Context(), c))
	assert.Empty(t, other.forms)
	_, err := mcp.Connect(t.Context(), mcp.Server{Name: "other", URL: other.url(), Auth: client})
	assert.ErrorContains(t, err, "needs an Issuer")
}

// The program acts for itself.
func TestOwnGrant(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	require.NoError(t, err)
	for name, client := range map[string]*oauth.Client{
		"secret":    {ID: "pre", Secret: "s3cr3t-s3cr3t"},
		"key":       {ID: "pre", Key: key},
		"assertion": {Assertion: func(context.Context, string, string) (string, error) { return "jwt", nil }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c := connect(t, w, client)
			require.NoError(t, run(t.Context(), c))
			w.expire()
			require.NoError(t, run(t.Context(), c))
			assert.Equal(t, w.url(), w.lastForm().Get("resource"))
			assert.Len(t, w.forms, 2)
		})
	}
}

// Close lets a refresh end, whose answer is the only token that is left.
func TestCloseDuringRefresh(t *testing.T) {
	w := newWorld(t)
	store := oauth.FileStore(t.TempDir())
	c := connect(t, w, &oauth.Client{Open: browse, Store: store})
	w.expire()
	at, gone := make(chan struct{}), make(chan struct{})
	w.token = func(rw http.ResponseWriter, r *http.Request) bool {
		close(at)
		<-gone
		w.token = nil
		return false
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, c) }()
	<-at
	cancel()
	assert.ErrorIs(t, <-ended, context.Canceled)
	time.AfterFunc(300*time.Millisecond, func() { close(gone) })
	c.Close()
	connect(t, w, &oauth.Client{Open: browse, Store: store})
	assert.EqualValues(t, 1, w.logins.Load())
	assert.EqualValues(t, 1, w.refreshes.Load())
}

// Logout revokes and forgets.
func TestLogout(t *testing.T) {
	w := newWorld(t)
	store := oauth.FileStore(t.TempDir())
	client := &oauth.Client{Open: browse, Store: store}
	connect(t, w, client)
	require.NoError(t, client.Logout(t.Context(), w.url()))
	assert.EqualValues(t, 1, w.revocations.Load())
	var login *oauth.LoginRequired
	_, err := mcp.Connect(t.Context(), mcp.Server{Name: "guarded", URL: w.url(), Auth: &oauth.Client{Store: store}})
	require.ErrorAs(t, err, &login)
	assert.Empty(t, login.URL)
}

// A store that cannot keep tokens is told of, and costs no login more.
func TestBrokenStore(t *testing.T) {
	w := newWorld(t)
	broken := &brokenStore{}
	client := &oauth.Client{Open: browse, Store: broken}
	_, err := mcp.Connect(t.Context(), mcp.Server{Name: "guarded", URL: w.url(), Auth: client})
	assert.ErrorIs(t, err, errDisk)
	assert.LessOrEqual(t, w.logins.Load(), int64(1))
}

var errDisk = errors.New("no space left")

type brokenStore struct{}

func (*brokenStore) Update(_ context.Context, _ string, f func([]byte) ([]byte, error)) error {
	now, err := f(nil)
	if err == nil && len(now) > 0 {
		err = errDisk
	}
	return err
}
