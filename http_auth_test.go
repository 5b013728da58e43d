package mcp_test

// This file has what an Authorizer is asked, and what that does to a call.

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
)

// An authorizer is one of functions. Nil ones do nothing.
type authorizer struct {
	authorize func(*http.Request) error
	refused   func(*http.Response) (bool, error)
}

func (a authorizer) Authorize(req *http.Request) error {
	if a.authorize == nil {
		return nil
	}
	return a.authorize(req)
}

func (a authorizer) Refused(resp *http.Response) (bool, error) {
	if a.refused == nil {
		return false, nil
	}
	return a.refused(resp)
}

// refuse answers with a status and a challenge.
func refuse(status int, challenge string) func(*asking) {
	return func(a *asking) {
		a.w.Header().Set("WWW-Authenticate", challenge)
		a.status(status, "text/plain", "no: "+a.r.Header.Get("Authorization")+a.r.Header.Get("X-Key"))
	}
}

// A call is sent again after a refusal that came before the tool could run, as
// often as three times, and after no other.
func TestAuthRefusals(t *testing.T) {
	for _, test := range []struct {
		name, challenge string
		status          int
		asked, posts    int
		notSent         bool
	}{
		{"401", "Bearer", 401, 4, 4, true},
		{"403 that wants more", `Bearer error="insufficient_scope"`, 403, 4, 4, true},
		{"plain 403", "", 403, 0, 1, false},
		{"403 with another error", `Bearer error="invalid_token"`, 403, 0, 1, false},
		{"400", "Bearer", 400, 0, 1, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newWeb(t)
			asked := 0
			server := h.server()
			server.Auth = authorizer{refused: func(resp *http.Response) (bool, error) {
				chain := 0
				for before := resp.Request.Response; before != nil; before = before.Request.Response {
					chain++
				}
				assert.Equal(t, asked, chain, "refusals before this one")
				asked++
				body, err := io.ReadAll(resp.Body)
				assert.NoError(t, err)
				assert.Contains(t, string(body), "no: ")
				return true, nil
			}}
			c := connect(t, server)
			h.now("tools/call", refuse(test.status, test.challenge))
			_, err := call(t, c, `{}`)
			var failure *mcp.HTTPError
			require.ErrorAs(t, err, &failure)
			assert.Equal(t, test.status, failure.StatusCode)
			assert.Equal(t, test.asked, asked, "times asked")
			assert.Equal(t, test.posts, h.seen("tools/call"), "posts")
			assert.Equal(t, test.notSent, errors.Is(err, mcp.ErrNotSent))
			h.now("tools/call", nil)
			works(t, c)
		})
	}
}

// A request is signed anew for each attempt, and the error of an Authorizer is
// that of the call, which was not sent.
func TestAuthSigns(t *testing.T) {
	h := newWeb(t)
	token, failing := atomic.Pointer[string]{}, atomic.Bool{}
	set := func(s string) { token.Store(&s) }
	set("token-1")
	server := h.server()
	errAuth := errors.New("no token today")
	server.Auth = authorizer{
		authorize: func(req *http.Request) error {
			assert.Nil(t, req.Body)
			req.Header.Set("Authorization", "Bearer "+*token.Load())
			if failing.Load() {
				return errAuth
			}
			return nil
		},
		refused: func(resp *http.Response) (bool, error) {
			assert.Equal(t, "Bearer token-1", resp.Request.Header.Get("Authorization"))
			set("token-2")
			return true, nil
		},
	}
	c := connect(t, server)
	h.now("tools/call", func(a *asking) {
		if a.r.Header.Get("Authorization") != "Bearer token-2" {
			refuse(401, "Bearer")(a)
			return
		}
		a.pass()
	})
	works(t, c)
	assert.Equal(t, 2, h.seen("tools/call"))
	failing.Store(true)
	_, err := call(t, c, `{}`)
	assert.ErrorIs(t, err, errAuth)
	assert.ErrorIs(t, err, mcp.ErrNotSent)
	assert.Equal(t, 2, h.seen("tools/call"))
}

// Requests that an Authorizer makes with the context that it is given do not
// count as the call's own: the call was not sent.
func TestAuthRequests(t *testing.T) {
	errTokens := errors.New("the token endpoint is down")
	failing := atomic.Bool{}
	tokens := newWeb(t)
	post := func(ctx context.Context) error {
		if !failing.Load() {
			return nil
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, tokens.URL, strings.NewReader(`{"jsonrpc":"2.0","method":"x"}`))
		assert.NoError(t, err)
		req.Close = true
		resp, err := http.DefaultTransport.RoundTrip(req)
		if assert.NoError(t, err) {
			resp.Body.Close()
		}
		return errTokens
	}
	for name, auth := range map[string]authorizer{
		"Authorize": {authorize: func(req *http.Request) error { return post(req.Context()) }},
		"Refused":   {refused: func(resp *http.Response) (bool, error) { return false, post(resp.Request.Context()) }},
	} {
		t.Run(name, func(t *testing.T) {
			failing.Store(false)
			h := newWeb(t)
			server := h.server()
			server.Auth = auth
			c := connect(t, server)
			failing.Store(true)
			h.now("tools/call", refuse(401, "Bearer"))
			_, err := call(t, c, `{}`)
			assert.ErrorIs(t, err, errTokens)
			assert.ErrorIs(t, err, mcp.ErrNotSent)
		})
	}
}

// An Authorizer that hangs holds up no call beyond its context; one that panics
// costs the call.
func TestAuthHangsAndPanics(t *testing.T) {
	h := newWeb(t)
	var act atomic.Pointer[func()]
	server := h.server()
	server.Auth = authorizer{authorize: func(*http.Request) error {
		if f := act.Load(); f != nil {
			(*f)()
		}
		return nil
	}}
	c := connect(t, server)
	hang, at := make(chan struct{}), make(chan struct{}, 1)
	hangs := func() { at <- struct{}{}; <-hang }
	act.Store(&hangs)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := c.Tools()[0].Handler(ctx, nil)
		ended <- err
	}()
	<-at
	cancel()
	err := <-ended
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorIs(t, err, mcp.ErrNotSent)
	close(hang)
	panics := func() { panic("what") }
	act.Store(&panics)
	_, err = call(t, c, `{}`)
	assert.ErrorContains(t, err, "the Authorizer panicked: what")
	assert.ErrorIs(t, err, mcp.ErrNotSent)
	assert.Zero(t, h.seen("tools/call"))
}

// While an Authorizer is asked about a refusal, CallTimeout and the time for
// the first question of a start stand still.
func TestAuthPatience(t *testing.T) {
	h := newWeb(t)
	const limit = 300 * time.Millisecond
	asked := make(chan struct{})
	h.now("tools/call", refuse(401, "Bearer"))
	server := h.server()
	server.CallTimeout = limit
	server.Auth = authorizer{refused: func(*http.Response) (bool, error) {
		time.Sleep(3 * limit) // the person's time, which is what passes here
		h.now("tools/call", nil)
		close(asked)
		return true, nil
	}}
	c := connect(t, server)
	works(t, c)
	<-asked
}

// What an Authorizer sets is masked like a configured secret, wherever the
// server repeats it.
func TestAuthSecrets(t *testing.T) {
	const token, key = "token-token-1", "key-key-key-1"
	h := newWeb(t)
	h.tools = `[{"name":"ok"},{"name":"` + token + `"},{"name":"` + token + `"},{"name":"` + key + `","inputSchema":5}]`
	server := h.server()
	server.Auth = authorizer{authorize: func(req *http.Request) error {
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("X-Key", key)
		return nil
	}}
	c := connect(t, server)
	warnings := strings.Join(c.Warnings(), "\n")
	assert.Contains(t, warnings, "[masked]")
	h.now("tools/call", refuse(403, `Bearer error_description="`+key+`"`))
	_, err := call(t, c, `{}`)
	var failure *mcp.HTTPError
	require.ErrorAs(t, err, &failure)
	assert.Contains(t, err.Error(), "sent with an access token")
	h.now("tools/list", func(a *asking) {
		a.json(`{"jsonrpc":"2.0","id":` + string(a.ID) + `,"error":{"code":-32000,"message":"not with ` + token + `"}}`)
	})
	refreshed := c.RefreshTools(t.Context())
	require.ErrorContains(t, refreshed, "not with [masked]")
	for _, text := range []string{warnings, err.Error(), failure.Body, refreshed.Error()} {
		assert.NotContains(t, text, token)
		assert.NotContains(t, text, key)
	}
}

// What authorizes is linked only by who uses it.
func TestAuthIsNotLinked(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").CombinedOutput()
	require.NoError(t, err, string(out))
	for line := range strings.Lines(string(out)) {
		assert.NotContains(t, line, "seed94b59a13/mcp/oauth")
		assert.NotContains(t, line, "go-jose")
	}
}
