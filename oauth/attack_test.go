package oauth_test

// This file has servers that mean harm, and what must not come of it.

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/oauth"
)

// assertHidden makes sure that neither an error nor one in its tree shows a
// secret, whoever unwraps it.
func assertHidden(t *testing.T, err error, secrets ...string) {
	t.Helper()
	require.Error(t, err)
	for left := []error{err}; len(left) > 0; left = left[1:] {
		for _, secret := range secrets {
			assert.NotContains(t, left[0].Error(), secret)
			assert.NotContains(t, fmt.Sprintf("%+v", left[0]), secret)
		}
		switch e := left[0].(type) {
		case interface{ Unwrap() error }:
			if inner := e.Unwrap(); inner != nil {
				left = append(left, inner)
			}
		case interface{ Unwrap() []error }:
			left = append(left, e.Unwrap()...)
		}
	}
}

// raw answers with what is not HTTP, in which net/http quotes the first line.
func raw(t *testing.T, w http.ResponseWriter, line string) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if assert.NoError(t, err) {
		fmt.Fprint(conn, line+"\r\n\r\n")
		conn.Close()
	}
}

// An answer that is not HTTP shows nothing of what was sent: not in the error of
// a login, of a call, or of a logout.
func TestSecretsInStatusLines(t *testing.T) {
	w := newWorld(t)
	client := &oauth.Client{ID: "pre", Secret: "s3cr3t-s3cr3t", Open: browse}
	echo := func(rw http.ResponseWriter, r *http.Request) bool {
		r.ParseForm()
		_, password, _ := r.BasicAuth()
		raw(t, rw, "HTTP/1.1 "+password+r.PostForm.Get("code")+r.PostForm.Get("code_verifier")+r.PostForm.Get("refresh_token")+strings.Repeat(" at all", 1000))
		return true
	}
	w.token = echo
	err := client.Login(t.Context(), w.url())
	assertHidden(t, err, "s3cr3t", w.lastForm().Get("code"), w.lastForm().Get("code_verifier"))
	assert.Less(t, len(err.Error()), 1000)
	w.token = nil
	require.NoError(t, client.Login(t.Context(), w.url()))
	c := connect(t, w, client)
	w.expire()
	w.token = echo
	assertHidden(t, run(t.Context(), c), "s3cr3t", "refresh-token", "access-token")
	w.revoke = echo
	assertHidden(t, client.Logout(t.Context(), w.url()), "s3cr3t", "refresh-token", "access-token")
}

// A Store may say what it could not keep, as databases do: the error shows none
// of it, and is still found.
func TestSecretsInStoreErrors(t *testing.T) {
	w := newWorld(t)
	err := (&oauth.Client{Open: browse, Store: frankStore{}}).Login(t.Context(), w.url())
	assertHidden(t, err, "access-token", "refresh-token")
	assert.ErrorContains(t, err, "keeping tokens: cannot insert")
	assert.ErrorIs(t, err, errDisk)
}

// A frankStore keeps nothing once there is a token, and says what.
type frankStore struct{}

func (frankStore) Update(_ context.Context, _ string, f func([]byte) ([]byte, error)) error {
	now, err := f(nil)
	if i := strings.Index(string(now), `"access_token"`); err == nil && i >= 0 {
		return fmt.Errorf("cannot insert %s: %w", now[i:], errDisk)
	}
	return err
}

// What an authorization server says when a refresh token is dead differs. A
// person is asked then, and is not when it is only busy.
func TestDeadRefreshToken(t *testing.T) {
	for _, answer := range []struct {
		status int
		code   string
		dead   bool
	}{
		{400, "invalid_grant", true}, {200, "bad_refresh_token", true}, {400, "invalid_request", true}, {401, "token_expired", true},
		{400, "unauthorized_client", true}, {400, "invalid_client", true},
		{400, "temporarily_unavailable", false}, {503, "server_error", false}, {429, "too_many_token_requests", false}, {500, "invalid_request", false},
		{400, "", false}, {502, "", false},
	} {
		t.Run(fmt.Sprint(answer.status, answer.code), func(t *testing.T) {
			w := newWorld(t)
			c := connect(t, w, &oauth.Client{Open: browse})
			w.expire()
			w.token = func(rw http.ResponseWriter, r *http.Request) bool {
				r.ParseForm()
				if r.PostForm.Get("grant_type") != "refresh_token" {
					return false
				}
				writeJSON(rw, answer.status, map[string]any{"error": answer.code})
				return true
			}
			err := run(t.Context(), c)
			assert.Equal(t, answer.dead, err == nil, "%v", err)
			w.token = nil
			assert.NoError(t, run(t.Context(), c), "nothing is lost")
			logins := int64(1)
			if answer.dead {
				logins = 2
			}
			assert.Equal(t, logins, w.logins.Load())
		})
	}
}

// Of the processes that share a FileStore and need a login at the same time, one
// asks the person.
func TestOneProcessAsks(t *testing.T) {
	w, d := newWorld(t), newDoor()
	store := oauth.FileStore(t.TempDir())
	ended := make(chan error, 3)
	for range 3 {
		go func() {
			c, err := mcp.Connect(t.Context(), mcp.Server{Name: "guarded", URL: w.url(), Auth: &oauth.Client{Open: d.open, Store: store}})
			if err == nil {
				err = errors.Join(run(t.Context(), c), c.Close())
			}
			ended <- err
		}()
	}
	<-d.called
	locks := func() int {
		files, _ := filepath.Glob(filepath.Join(string(store), "*.lock"))
		return len(files)
	}
	assert.Equal(t, 2, locks(), "of the tokens and of the login")
	time.Sleep(50 * time.Millisecond) // not needed to pass: for the others to come to the login, too
	close(d.let)
	for range 3 {
		assert.NoError(t, <-ended)
	}
	assert.EqualValues(t, 1, w.logins.Load())
	assert.EqualValues(t, 1, w.registrations.Load())
	assert.Empty(t, d.called)
}

// Where the one that asked gets nothing, the next one asks.
func TestNextProcessAsks(t *testing.T) {
	w, d := newWorld(t), newDoor()
	store := oauth.FileStore(t.TempDir())
	first, second := &oauth.Client{Open: d.open, Store: store}, &oauth.Client{Open: browse, Store: store}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	go func() { ended <- first.Login(ctx, w.url()) }()
	<-d.called
	go func() { ended <- second.Login(t.Context(), w.url()) }()
	cancel()
	assert.ErrorIs(t, <-ended, context.Canceled)
	assert.NoError(t, <-ended)
	assert.EqualValues(t, 1, w.logins.Load())
}

// A page whose name leads to this machine ends no login, whatever it knows.
func TestListenerHost(t *testing.T) {
	w := newWorld(t)
	open := func(ctx context.Context, target string) (string, error) {
		u, _ := url.Parse(target)
		back, _ := url.Parse(u.Query().Get("redirect_uri"))
		back.RawQuery = url.Values{"state": {u.Query().Get("state")}, "code": {"evil"}}.Encode()
		for _, host := range []string{"evil.example.com", "evil.example.com:" + back.Port(), "127.0.0.1.evil.example.com"} {
			req, _ := http.NewRequestWithContext(ctx, http.MethodGet, back.String(), nil)
			req.Host = host
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				return "", err
			}
			resp.Body.Close()
			assert.Equal(t, 404, resp.StatusCode, host)
		}
		return browse(ctx, target)
	}
	connect(t, w, &oauth.Client{Open: open})
}

// What a server says is bounded where it is used: a URL has to fit into a
// browser, a client's ID into a request.
func TestHugeWords(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for name, c := range map[string]struct {
		bend func(w *world)
		want string
	}{
		"authorization endpoint": {func(w *world) {
			w.meta = func(m map[string]any) { m["authorization_endpoint"] = w.as.URL + "/authorize?" + long }
		}, "too long"},
		"resource": {func(w *world) {
			w.resource = func(m map[string]any) { m["resource"] = w.url() + "?" + long }
		}, "not for this server"},
		"place of metadata": {func(w *world) {
			w.refuse = func(rw http.ResponseWriter, r *http.Request, _ string) bool {
				rw.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+w.rs.URL+"/"+long+`"`)
				rw.WriteHeader(401)
				w.refuse = nil
				return true
			}
		}, ""},
		"client": {func(w *world) {
			w.meta = func(m map[string]any) { m["registration_endpoint"] = w.as.URL + "/token" }
			w.token = func(rw http.ResponseWriter, _ *http.Request) bool {
				writeJSON(rw, 201, map[string]any{"client_id": long})
				return true
			}
		}, "not a registration"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c.bend(w)
			err := (&oauth.Client{Open: browse}).Login(t.Context(), w.url())
			if c.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, c.want)
			assert.Less(t, len(err.Error()), 1000)
			assert.EqualValues(t, 0, w.logins.Load())
		})
	}
	w := newWorld(t)
	var scopes []string
	for i := range 1000 {
		scopes = append(scopes, fmt.Sprint(i, strings.Repeat("s", 1000)))
	}
	w.resource = func(m map[string]any) { m["scopes_supported"] = scopes }
	var asked string
	require.NoError(t, (&oauth.Client{Open: func(ctx context.Context, target string) (string, error) {
		asked = target
		return browse(ctx, target)
	}}).Login(t.Context(), w.url()))
	assert.Less(t, len(asked), 64<<10)
	assert.Contains(t, asked, scopes[0])
}

// A server that wants another scope after each login has one, and one more if it
// began with a 401 that named none: a 401 is no step-up.
func TestNeverWideEnough(t *testing.T) {
	for first, status := range map[int]int{401: 401, 403: 403, 400: 403} {
		w := newWorld(t)
		serial := 0
		w.refuse = func(rw http.ResponseWriter, r *http.Request, _ string) bool {
			if first == 400 && r.Header.Get("Authorization") == "" {
				return false // which makes it a plain 401
			}
			serial++
			rw.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer error="insufficient_scope", scope="s%d"`, serial))
			rw.WriteHeader(status)
			return true
		}
		client := &oauth.Client{Open: browse}
		logins := int64(1)
		if first == 400 {
			logins = 2
		}
		for range 2 {
			_, err := mcp.Connect(t.Context(), mcp.Server{Name: "guarded", URL: w.url(), Auth: client})
			require.Error(t, err)
			assert.Equal(t, logins, w.logins.Load(), "%d", first)
		}
	}
}

// A file that others may read is for its user alone once it was used.
func TestFileStoreRestricts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no such modes")
	}
	dir := t.TempDir()
	store := oauth.FileStore(dir)
	keep := func(old []byte) ([]byte, error) { return []byte("one"), nil }
	require.NoError(t, store.Update(t.Context(), anyKey, keep))
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	require.NoError(t, os.Chmod(files[0], 0o644))
	require.NoError(t, store.Update(t.Context(), anyKey, func(old []byte) ([]byte, error) {
		info, err := os.Stat(files[0])
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "before anything else")
		return old, nil
	}))
	info, err := os.Stat(files[0])
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// An RSA key signs by what the authorization server takes.
func TestSigningAlgorithm(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	for want, supported := range map[string][]string{"RS256": nil, "PS256": {"ES256", "PS256"}, "RS512": {"RS512"}} {
		w := newWorld(t)
		w.meta = func(m map[string]any) { m["token_endpoint_auth_signing_alg_values_supported"] = supported }
		c := connect(t, w, &oauth.Client{ID: "pre", Key: key})
		for range 2 {
			header, _, _ := strings.Cut(w.lastForm().Get("client_assertion"), ".")
			text, err := base64.RawURLEncoding.DecodeString(header)
			require.NoError(t, err)
			assert.Contains(t, string(text), `"alg":"`+want+`"`)
			w.expire()
			require.NoError(t, run(t.Context(), c), "which renews the token")
		}
	}
}

// However many calls are refused at once, and again and again, each storm is
// worth one refresh.
func TestRefreshStorm(t *testing.T) {
	w := newWorld(t)
	c := connect(t, w, &oauth.Client{Open: browse, Store: oauth.FileStore(t.TempDir())})
	for storm := range 2 {
		w.expire()
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() { assert.NoError(t, run(t.Context(), c)) })
		}
		all.Wait()
		assert.EqualValues(t, storm+1, w.refreshes.Load())
	}
	assert.EqualValues(t, 200, w.runs.Load())
	assert.EqualValues(t, 1, w.logins.Load())
	assert.EqualValues(t, 0, w.thefts.Load())
	grants := func() (n int) {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, form := range w.forms {
			if slices.Contains([]string{"refresh_token", "authorization_code"}, form.Get("grant_type")) {
				n++
			}
		}
		return n
	}
	assert.Equal(t, 3, grants())
}

// A server that takes tokens of either kind gets bound ones if there are any.
func TestBoundOrNot(t *testing.T) {
	for kind, algorithms := range map[string][]string{"DPoP": {"ES256"}, "bearer": nil} {
		w := newWorld(t)
		w.kind = kind
		w.meta = func(m map[string]any) { m["dpop_signing_alg_values_supported"] = algorithms }
		var got string
		w.refuse = func(rw http.ResponseWriter, r *http.Request, _ string) bool {
			if got = r.Header.Get("Authorization"); got != "" {
				return false
			}
			rw.Header().Add("WWW-Authenticate", `DPoP algs="ES256"`)
			rw.Header().Add("WWW-Authenticate", "Bearer")
			rw.WriteHeader(401)
			return true
		}
		require.NoError(t, (&oauth.Client{Open: browse}).Login(t.Context(), w.url()))
		client := &oauth.Client{Open: browse}
		require.NoError(t, run(t.Context(), connect(t, w, client)))
		assert.Equal(t, strings.ToLower(kind+" access-token-2"), strings.ToLower(got))
	}
}
