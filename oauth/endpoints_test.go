package oauth_test

// This file has endpoints that fail, move, redirect and answer oddly.

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/oauth"
)

// age makes the tokens in a store end in some time.
func age(t *testing.T, store oauth.FileStore, left time.Duration) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(string(store), "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	var m map[string]any
	require.NoError(t, json.Unmarshal(text, &m))
	m["issued"], m["expiry"] = time.Now().Add(-time.Hour), time.Now().Add(left)
	text, err = json.Marshal(m)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(files[0], text, 0o600))
}

// What a token endpoint writes for a time costs neither the token nor the
// refresh token.
func TestOddExpiry(t *testing.T) {
	for _, expires := range []string{`3600.0`, `"3600"`, `"3600.5"`, `""`, `"soon"`, `null`, `-1`, `0`, `99999999999`, `{}`, `[1]`, `true`, `1e3`} {
		t.Run(expires, func(t *testing.T) {
			w := newWorld(t)
			w.token = func(rw http.ResponseWriter, r *http.Request) bool {
				r.ParseForm()
				recorder := httptest.NewRecorder()
				w.serveToken(recorder, r.PostForm)
				var m map[string]any
				json.Unmarshal(recorder.Body.Bytes(), &m)
				m["expires_in"], m["scope"], m["id_token"] = json.RawMessage(expires), []int{1}, nil
				rw.Header().Set("Content-Type", "text/plain") // as some do
				rw.WriteHeader(recorder.Code)
				json.NewEncoder(rw).Encode(m)
				return true
			}
			c := connect(t, w, &oauth.Client{Open: browse})
			require.NoError(t, run(t.Context(), c))
			w.expire()
			require.NoError(t, run(t.Context(), c))
			assert.EqualValues(t, 1, w.refreshes.Load())
			assert.EqualValues(t, 1, w.logins.Load())
		})
	}
}

// A token that is about to end does its work while the token endpoint is down,
// or hangs.
func TestStillValid(t *testing.T) {
	stop := make(chan struct{})
	for name, token := range map[string]func(rw http.ResponseWriter, r *http.Request) bool{
		"down":  func(rw http.ResponseWriter, _ *http.Request) bool { rw.WriteHeader(503); return true },
		"hangs": func(http.ResponseWriter, *http.Request) bool { <-stop; return false },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			store := oauth.FileStore(t.TempDir())
			connect(t, w, &oauth.Client{Open: browse, Store: store}).Close()
			age(t, store, 9*time.Second)
			w.token = token
			c, err := mcp.Connect(t.Context(), mcp.Server{Name: "guarded", URL: w.url(), Auth: &oauth.Client{Store: store}})
			if name == "hangs" {
				close(stop)
			}
			require.NoError(t, err)
			c.Close()
		})
	}
}

// One that has ended fails its call, and costs nothing.
func TestEndpointDown(t *testing.T) {
	w := newWorld(t)
	store := oauth.FileStore(t.TempDir())
	connect(t, w, &oauth.Client{Open: browse, Store: store}).Close()
	age(t, store, -time.Second)
	w.token = func(rw http.ResponseWriter, _ *http.Request) bool { rw.WriteHeader(503); return true }
	server := mcp.Server{Name: "guarded", URL: w.url(), Auth: &oauth.Client{Open: browse, Store: store}}
	_, err := mcp.Connect(t.Context(), server)
	assert.ErrorContains(t, err, "renewing the token: the authorization server answered 503")
	w.token = nil
	c, err := mcp.Connect(t.Context(), server)
	require.NoError(t, err)
	c.Close()
	assert.EqualValues(t, 1, w.logins.Load())
	assert.EqualValues(t, 1, w.refreshes.Load())
}

// An endpoint that has moved is looked up again, at the same issuer.
func TestEndpointMoved(t *testing.T) {
	for name, gone := range map[string]http.HandlerFunc{
		"404": http.NotFound,
		"308": func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, "/elsewhere", http.StatusPermanentRedirect)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c := connect(t, w, &oauth.Client{Open: browse})
			w.expire()
			w.meta = func(m map[string]any) { m["token_endpoint"] = w.as.URL + "/v2/token" }
			w.token = func(rw http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/token" {
					gone(rw, r)
					return true
				}
				return false
			}
			require.NoError(t, run(t.Context(), c))
			assert.EqualValues(t, 1, w.refreshes.Load())
			assert.EqualValues(t, 1, w.logins.Load())
		})
	}
}

// Nothing that is sent to an endpoint follows a redirect; documents may, within
// https or on the machine of the server.
func TestRedirects(t *testing.T) {
	var got atomic.Int64
	evil := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { got.Add(1) }))
	defer evil.Close()
	for _, name := range []string{"token", "registration", "revocation"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			away := httptest.NewServer(http.RedirectHandler(evil.URL, http.StatusTemporaryRedirect))
			defer away.Close()
			w.meta = func(m map[string]any) { m[name+"_endpoint"] = away.URL }
			client := &oauth.Client{Open: browse}
			err := client.Login(t.Context(), w.url())
			if name == "revocation" {
				require.NoError(t, err)
				err = client.Logout(t.Context(), w.url())
			}
			assert.ErrorContains(t, err, "307")
			assert.Zero(t, got.Load())
		})
	}
	t.Run("metadata", func(t *testing.T) {
		w := newWorld(t)
		moved := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, w.as.URL+r.URL.Path, http.StatusFound)
		}))
		defer moved.Close()
		w.resource = func(m map[string]any) { m["authorization_servers"] = []string{moved.URL} }
		w.meta = func(m map[string]any) { m["issuer"] = moved.URL }
		w.authorize = func(q url.Values) url.Values { q.Set("iss", moved.URL); return q }
		connect(t, w, &oauth.Client{Open: browse})
		w.resource = nil
		w.meta = func(map[string]any) {}
		plain := http.RedirectHandler("http://as.example.com/", http.StatusFound)
		w.refuse = nil
		away := httptest.NewServer(plain)
		defer away.Close()
		w.resource = func(m map[string]any) { m["authorization_servers"] = []string{away.URL} }
		_, err := mcp.Connect(t.Context(), mcp.Server{Name: "guarded", URL: w.url(), Auth: &oauth.Client{Open: browse}})
		assert.ErrorContains(t, err, "it is not https")
	})
}

// No text shows a secret, in whatever spelling a server repeats it.
func TestSecretSpellings(t *testing.T) {
	const secret = `top "secret" value/1`
	w := newWorld(t)
	store := oauth.FileStore(t.TempDir())
	client := &oauth.Client{ID: "pre-registered", Secret: secret, Open: browse, Store: store}
	connect(t, w, client).Close()
	w.expire()
	quoted, _ := json.Marshal(secret)
	escaped := url.QueryEscape(secret)
	basic := base64.StdEncoding.EncodeToString([]byte("pre-registered:" + escaped))
	plain := base64.StdEncoding.EncodeToString([]byte("pre-registered:" + secret))
	spellings := []string{secret, string(quoted[1 : len(quoted)-1]), escaped, basic, plain, "refresh-token-1", "access-token-1"}
	for _, spelling := range spellings {
		w.token = func(rw http.ResponseWriter, r *http.Request) bool {
			writeJSON(rw, 400, map[string]any{"error": "server_error", "error_description": "got " + spelling})
			return true
		}
		_, err := mcp.Connect(t.Context(), mcp.Server{Name: "guarded", URL: w.url(), Auth: client})
		require.ErrorContains(t, err, "got ")
		assert.NotContains(t, err.Error(), spelling)
		w.token = func(rw http.ResponseWriter, r *http.Request) bool {
			rw.WriteHeader(500)
			fmt.Fprint(rw, spelling)
			return true
		}
		_, err = mcp.Connect(t.Context(), mcp.Server{Name: "guarded", URL: w.url(), Auth: client})
		require.ErrorContains(t, err, "500")
		assert.NotContains(t, err.Error(), spelling)
	}
	var required *oauth.LoginRequired
	require.ErrorAs(t, (&oauth.Client{ID: client.ID, Secret: secret, RedirectURL: "https://app.example.com/", Store: store}).Login(t.Context(), w.url()), &required)
	files, err := filepath.Glob(filepath.Join(string(store), "*"))
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.NotContains(t, string(text), `value/1`, "a configured secret is not stored")
	}
}

// A token that the server repeats is masked in errors and warnings.
func TestTokenRepeated(t *testing.T) {
	w := newWorld(t)
	c := connect(t, w, &oauth.Client{Open: browse})
	w.refuse = func(rw http.ResponseWriter, r *http.Request, body string) bool {
		if !strings.Contains(body, "tools/list") {
			return false
		}
		var m struct{ ID json.RawMessage }
		json.Unmarshal([]byte(body), &m)
		token := r.Header.Get("Authorization")
		rw.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":%q,"inputSchema":5}]}}`, m.ID, token)
		return true
	}
	require.NoError(t, c.RefreshTools(t.Context()))
	warnings := strings.Join(c.Warnings(), "\n")
	assert.Contains(t, warnings, "dropped tool")
	assert.NotContains(t, warnings, "access-token")
}

// No way of printing shows a secret.
func TestPrinting(t *testing.T) {
	const secret = "s3cr3t-value"
	c := &oauth.Client{ID: "x", Secret: secret, Params: map[string]string{"a": secret}}
	e := &oauth.Enterprise{Issuer: "https://idp", ID: "x", Secret: secret}
	type holder struct {
		Client     oauth.Client
		Enterprise oauth.Enterprise
		Pointer    *oauth.Client
	}
	h := holder{Enterprise: *e, Pointer: c}
	h.Client.ID, h.Client.Secret, h.Client.Params = c.ID, c.Secret, c.Params
	var log strings.Builder
	for _, v := range []any{c, e, *e, &h, h, mcp.Server{Name: "x", URL: "https://h/mcp", Auth: c}, []any{c, e}} { //nolint:govet
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
			log.WriteString(fmt.Sprintf(verb, v))
		}
		slog.New(slog.NewTextHandler(&log, nil)).Info("x", "v", v)
		slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "v", v)
		text, _ := json.Marshal(v)
		log.Write(text)
	}
	for _, spelling := range []string{secret, fmt.Sprintf("%x", secret)} {
		assert.NotContains(t, log.String(), spelling)
	}
	assert.Contains(t, log.String(), `oauth.Client{ID: "x", Issuer: "", Secret: [masked]}`)
}

// What registration endpoints answer beside the registration costs nothing.
func TestOddRegistration(t *testing.T) {
	for name, m := range map[string]map[string]any{
		"lists and objects": {"client_id": "pre-1", "jwks": map[string]any{}, "redirect_uris": "x", "scope": []string{"a"}, "grant_types": 5},
		"text as a time":    {"client_id": "pre-1", "client_secret": "secret-secret", "client_secret_expires_at": "0"},
		"a fraction":        {"client_id": "pre-1", "client_secret": "secret-secret", "client_secret_expires_at": 1.5e9 + 0.25, "client_id_issued_at": 1.5},
		"odd method":        {"client_id": "pre-1", "client_secret": "secret-secret", "token_endpoint_auth_method": []string{"x"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			register := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { writeJSON(rw, 201, m) }))
			defer register.Close()
			w.meta = func(m map[string]any) { m["registration_endpoint"] = register.URL }
			require.NoError(t, run(t.Context(), connect(t, w, &oauth.Client{Open: browse})))
			assert.EqualValues(t, 1, w.logins.Load())
		})
	}
}

// A renewal with a configured secret that the authorization server does not take
// asks nobody: a login would end in the same way.
func TestWrongSecret(t *testing.T) {
	w := newWorld(t)
	c := connect(t, w, &oauth.Client{ID: "pre", Secret: "secret-secret", Open: browse})
	w.expire()
	w.token = func(rw http.ResponseWriter, _ *http.Request) bool {
		writeJSON(rw, 401, map[string]any{"error": "invalid_client"})
		return true
	}
	var refused *oauth.Error
	require.ErrorAs(t, run(t.Context(), c), &refused)
	assert.Equal(t, "invalid_client", refused.Code)
	w.token = nil
	assert.NoError(t, run(t.Context(), c))
	assert.EqualValues(t, 1, w.logins.Load())
}
