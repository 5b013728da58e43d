package oauth_test

// This file has many callers that wait, and callers that give up.

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/oauth"
)

// proofNonce returns the nonce in the proof of a request.
func proofNonce(r *http.Request) string {
	parts := strings.Split(r.Header.Get("DPoP"), ".")
	if len(parts) != 3 {
		return ""
	}
	text, _ := base64.RawURLEncoding.DecodeString(parts[1])
	var claims struct{ Nonce string }
	json.Unmarshal(text, &claims)
	return claims.Nonce
}

// A new nonce is a new nonce for all: none of those that used the old one gets
// or needs another token.
func TestNewNonceForAll(t *testing.T) {
	w := newWorld(t)
	w.kind = "DPoP"
	w.resource = func(m map[string]any) { m["dpop_bound_access_tokens_required"] = true }
	var mu sync.Mutex
	nonce, arrived := "nonce-1", make(chan struct{}, 32)
	var release chan struct{}
	w.refuse = func(rw http.ResponseWriter, r *http.Request, body string) bool {
		mu.Lock()
		want, hold := nonce, release
		mu.Unlock()
		if r.Header.Get("Authorization") == "" || proofNonce(r) == want {
			return false
		}
		if hold != nil {
			arrived <- struct{}{}
			<-hold // until all have been sent with the old one
		}
		rw.Header().Set("WWW-Authenticate", `DPoP error="use_dpop_nonce"`)
		rw.Header().Set("DPoP-Nonce", want)
		rw.WriteHeader(401)
		return true
	}
	c := connect(t, w, &oauth.Client{Open: browse})
	mu.Lock()
	nonce, release = "nonce-2", make(chan struct{})
	mu.Unlock()
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() { assert.NoError(t, run(t.Context(), c)) })
	}
	for range 16 {
		<-arrived
	}
	close(release)
	all.Wait()
	assert.EqualValues(t, 0, w.refreshes.Load(), "refreshes")
	assert.EqualValues(t, 1, w.logins.Load(), "logins")
	assert.EqualValues(t, 16, w.runs.Load())
	assert.EqualValues(t, 32, w.posts.Load())
}

// A door is an Open that tells when it was called, and waits.
type door struct {
	called chan struct{}
	ended  chan error // why the context of a call ended
	let    chan struct{}
}

func newDoor() *door {
	return &door{make(chan struct{}, 10), make(chan error, 10), make(chan struct{})}
}

func (d *door) open(ctx context.Context, target string) (string, error) {
	d.called <- struct{}{}
	select {
	case <-d.let:
		return browse(ctx, target)
	case <-ctx.Done():
		d.ended <- ctx.Err()
		return "", ctx.Err()
	}
}

// The login goes on for the others when the caller who began it gives up.
func TestFirstCallerGivesUp(t *testing.T) {
	w, d := newWorld(t), newDoor()
	client := &oauth.Client{Open: browse}
	c := connect(t, w, client)
	client2 := &oauth.Client{Open: d.open}
	c2 := connectWith(t, w, client2, d)
	_ = c
	w.endGrant()
	ctx, cancel := context.WithCancel(t.Context())
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { first <- run(ctx, c2) }()
	<-d.called
	refusals := w.posts.Load()
	go func() { second <- run(t.Context(), c2) }()
	assert.Eventually(t, func() bool { return w.posts.Load() > refusals }, 10*time.Second, time.Millisecond)
	time.Sleep(20 * time.Millisecond) // not needed to pass: for the second to wait, too
	cancel()
	assert.ErrorIs(t, <-first, context.Canceled)
	close(d.let)
	assert.NoError(t, <-second)
	assert.Empty(t, d.ended)
}

// connectWith lets the first login through.
func connectWith(t *testing.T, w *world, client *oauth.Client, d *door) *mcp.Connection {
	t.Helper()
	open := client.Open
	var once sync.Once
	client.Open = func(ctx context.Context, target string) (callback string, err error) {
		first := false
		once.Do(func() { first = true })
		if first {
			return browse(ctx, target)
		}
		return open(ctx, target)
	}
	return connect(t, w, client)
}

// A login that its only caller gave up ends, and has not failed: the next call
// begins another.
func TestGivenUpLoginHasNotFailed(t *testing.T) {
	w, d := newWorld(t), newDoor()
	c := connectWith(t, w, &oauth.Client{Open: d.open}, d)
	w.endGrant()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, c) }()
	<-d.called
	cancel()
	err := <-ended
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorIs(t, err, mcp.ErrNotSent)
	assert.ErrorIs(t, <-d.ended, context.Canceled)
	close(d.let)
	assert.NoError(t, run(t.Context(), c))
	assert.EqualValues(t, 2, w.logins.Load())
}

// Login and FinishLogin return with their context, though the token request goes
// on: its answer may be the only token.
func TestLoginMindsItsContext(t *testing.T) {
	for name, login := range map[string]func(ctx context.Context, w *world, c *oauth.Client) error{
		"Login": func(ctx context.Context, w *world, c *oauth.Client) error {
			c.Open = browse
			return c.Login(ctx, w.url())
		},
		"FinishLogin": func(ctx context.Context, w *world, c *oauth.Client) error {
			c.RedirectURL = "https://app.example.com/callback"
			var required *oauth.LoginRequired
			require.ErrorAs(t, c.Login(t.Context(), w.url()), &required)
			return c.FinishLogin(ctx, w.url(), comeBack(t, required.URL))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			at, answer := make(chan struct{}), make(chan struct{})
			w.token = func(http.ResponseWriter, *http.Request) bool {
				close(at)
				<-answer
				return false
			}
			client := &oauth.Client{Store: oauth.FileStore(t.TempDir())}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- login(ctx, w, client) }()
			<-at
			cancel()
			assert.ErrorIs(t, <-ended, context.Canceled)
			close(answer)
			assert.Eventually(t, func() bool {
				c, err := mcp.Connect(t.Context(), mcp.Server{Name: "guarded", URL: w.url(), Auth: &oauth.Client{Store: client.Store}})
				if err == nil {
					c.Close()
				}
				return err == nil
			}, 20*time.Second, 10*time.Millisecond, "the token is kept")
			assert.EqualValues(t, 1, w.logins.Load())
		})
	}
}

// A call that waits for a login which the host began is not cut by CallTimeout,
// not even one that is still to be signed, with a token that has ended.
func TestCallWaitsForHostsLogin(t *testing.T) {
	w, d := newWorld(t), newDoor()
	client := &oauth.Client{Open: d.open}
	const limit = 200 * time.Millisecond
	login := make(chan error, 1)
	begin := func() {
		d.let = make(chan struct{})
		go func() { login <- client.Login(t.Context(), w.url()) }()
		<-d.called
		time.AfterFunc(3*limit, func() { close(d.let) }) // the person's time
	}
	begin()
	c, err := mcp.Connect(t.Context(), mcp.Server{Name: "guarded", URL: w.url(), Auth: client, CallTimeout: limit})
	require.NoError(t, err)
	defer c.Close()
	assert.NoError(t, <-login)

	begin()
	w.expire()
	assert.NoError(t, run(t.Context(), c), "a call that is refused")
	w.lifetime = time.Second
	assert.NoError(t, <-login)
	assert.EqualValues(t, 2, w.logins.Load())

	begin()
	assert.NoError(t, <-login)
	time.Sleep(600 * time.Millisecond) // the better half of the token's life
	begin()
	assert.NoError(t, run(t.Context(), c), "a call whose token has ended")
	assert.NoError(t, <-login)
	assert.EqualValues(t, 4, w.logins.Load())
	assert.EqualValues(t, 0, w.refreshes.Load())
}

// Two who want a person to log in are served by one login.
func TestLoginsShared(t *testing.T) {
	w, d := newWorld(t), newDoor()
	client := &oauth.Client{Open: d.open}
	ended := make(chan error, 2)
	for range 2 {
		go func() { ended <- client.Login(t.Context(), w.url()) }()
	}
	<-d.called
	time.Sleep(20 * time.Millisecond) // not needed to pass: for the second to begin one, too
	close(d.let)
	assert.NoError(t, errors.Join(<-ended, <-ended))
	assert.LessOrEqual(t, w.logins.Load(), int64(2))
	assert.Empty(t, d.called)
}

// A panic of Open ends the login, not the program.
func TestOpenPanics(t *testing.T) {
	w := newWorld(t)
	client := &oauth.Client{Open: func(context.Context, string) (string, error) { panic("no display") }}
	_, err := mcp.Connect(t.Context(), mcp.Server{Name: "guarded", URL: w.url(), Auth: client})
	assert.ErrorContains(t, err, "calling Open: panic: no display")
	client = &oauth.Client{Assertion: func(context.Context, string, string) (string, error) { panic("no file") }}
	_, err = mcp.Connect(t.Context(), mcp.Server{Name: "guarded", URL: w.url(), Auth: client})
	assert.ErrorContains(t, err, "panic: no file")
}

// A server that refuses the tokens of a login has one login in all of a start,
// and none after it.
func TestFreshTokenRefused(t *testing.T) {
	w := newWorld(t)
	w.refuse = func(rw http.ResponseWriter, r *http.Request, _ string) bool {
		rw.Header().Set("WWW-Authenticate", `Bearer error="invalid_token", error_description="wrong audience"`)
		rw.WriteHeader(401)
		return true
	}
	client := &oauth.Client{Open: browse}
	server := mcp.Server{Name: "guarded", URL: w.url(), Auth: client}
	for range 3 {
		_, err := mcp.Connect(t.Context(), server)
		require.Error(t, err)
		assert.EqualValues(t, 1, w.logins.Load())
		t.Log(err)
	}
	_, err := mcp.Connect(t.Context(), server)
	var required *oauth.LoginRequired
	require.ErrorAs(t, err, &required)
	assert.ErrorContains(t, err, "the server refused the token of the last login")
	w.refuse = nil
	require.NoError(t, client.Login(t.Context(), w.url()))
	assert.NoError(t, run(t.Context(), connect(t, w, client)))
}

// After Logout no call logs in by itself, not even one of another process that
// had a token, until Login.
func TestNoLoginAfterLogout(t *testing.T) {
	w := newWorld(t)
	store := oauth.FileStore(t.TempDir())
	here, there := &oauth.Client{Open: browse, Store: store}, &oauth.Client{Open: browse, Store: store}
	c, other := connect(t, w, here), connect(t, w, there)
	require.NoError(t, here.Logout(t.Context(), w.url()))
	w.expire()
	for _, c := range []*mcp.Connection{c, other} {
		err := run(t.Context(), c)
		var required *oauth.LoginRequired
		require.ErrorAs(t, err, &required)
		assert.ErrorContains(t, err, "logged out")
		assert.ErrorIs(t, err, mcp.ErrNotSent)
	}
	assert.EqualValues(t, 1, w.logins.Load())
	require.NoError(t, here.Login(t.Context(), w.url()))
	assert.NoError(t, run(t.Context(), c))
	assert.NoError(t, run(t.Context(), other), "the token of the login elsewhere")
	assert.EqualValues(t, 2, w.logins.Load())
}

// Logout ends a login that runs.
func TestLogoutEndsLogin(t *testing.T) {
	w, d := newWorld(t), newDoor()
	client := &oauth.Client{Open: d.open}
	ended := make(chan error, 1)
	go func() { ended <- client.Login(t.Context(), w.url()) }()
	<-d.called
	require.NoError(t, client.Logout(t.Context(), w.url()))
	assert.ErrorContains(t, <-ended, "logged out")
	assert.ErrorIs(t, <-d.ended, context.Canceled)
}

// An error that a person reads says which server wants a login, where, for what,
// and what became of the last one.
func TestLoginRequiredSays(t *testing.T) {
	w := newWorld(t)
	w.resource = func(m map[string]any) { m["scopes_supported"] = []string{"read", "write"} }
	store := oauth.FileStore(t.TempDir())
	client := &oauth.Client{RedirectURL: "https://app.example.com/callback", Store: store}
	server := mcp.Server{Name: "guarded", URL: w.url(), Auth: client}
	_, err := mcp.Connect(t.Context(), server)
	var required *oauth.LoginRequired
	require.ErrorAs(t, err, &required)
	assert.ErrorContains(t, err, fmt.Sprintf(`a person must log in to %q at %q for the scopes "read write"`, w.url(), w.as.URL))
	assert.Equal(t, []any{w.url(), w.as.URL, []string{"read", "write"}}, []any{required.Server, required.Issuer, required.Scopes})

	w.authorize = func(url.Values) url.Values {
		return url.Values{"error": {"access_denied"}, "error_description": {"not today"}, "iss": {w.as.URL}, "state": {stateOf(required.URL)}}
	}
	err = client.FinishLogin(t.Context(), w.url(), comeBack(t, required.URL))
	var refused *oauth.Error
	require.ErrorAs(t, err, &refused)
	server.Auth = &oauth.Client{RedirectURL: client.RedirectURL, Store: store} // another process
	_, err = mcp.Connect(t.Context(), server)
	require.ErrorAs(t, err, &required)
	assert.ErrorContains(t, err, "again: the last login failed: the authorization server answered access_denied: not today")
	assert.NotEmpty(t, required.URL)

	server.Auth = &oauth.Client{}
	_, err = mcp.Connect(t.Context(), server)
	assert.ErrorContains(t, err, "set Open or RedirectURL")
}

func stateOf(target string) string {
	u, _ := url.Parse(target)
	return u.Query().Get("state")
}

// A LoginRequired is found however long the texts are that it tells of: what is
// longer than an error may be would be left with its text alone.
func TestLoginRequiredIsFound(t *testing.T) {
	w := newWorld(t)
	scopes := []string{strings.Repeat("s", 300), strings.Repeat("\u00e9", 10), "a"}
	for i := range 100 {
		scopes = append(scopes, fmt.Sprint("a-scope-with-a-long-name-", i))
	}
	w.resource = func(m map[string]any) { m["scopes_supported"] = scopes }
	client := &oauth.Client{Open: func(context.Context, string) (string, error) {
		return "", errors.New("no\nbrowser \x1b[31m" + strings.Repeat("at all ", 500))
	}}
	for range 2 {
		_, err := mcp.Connect(t.Context(), mcp.Server{Name: "guarded", URL: w.url(), Auth: client})
		var required *oauth.LoginRequired
		require.ErrorAs(t, err, &required)
		assert.ErrorContains(t, err, "no browser at all")
		assert.Len(t, required.Scopes, 102)
	}
	w.authorize = func(q url.Values) url.Values {
		q.Set("error", strings.Repeat("denied ", 500))
		q.Set("error_description", "no\r\nway "+strings.Repeat("never ", 500))
		return q
	}
	client = &oauth.Client{Open: browse}
	_, err := mcp.Connect(t.Context(), mcp.Server{Name: "guarded", URL: w.url(), Auth: client})
	var required *oauth.LoginRequired
	require.ErrorAs(t, err, &required)
	var refused *oauth.Error
	require.ErrorAs(t, err, &refused)
	assert.Contains(t, refused.Description, "no way never")
}
