package mcp_test

// This file has faults of HTTP that take a certain kind of transport or server:
// connections that calls share, transports that wait, answers that are cut.

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
)

// replaceDefault makes the transport that of whoever has none, until the test
// ends.
func replaceDefault(t testing.TB, transport http.RoundTripper) {
	old := http.DefaultTransport
	http.DefaultTransport = transport
	t.Cleanup(func() { http.DefaultTransport = old })
}

// HTTP/2 without TLS is not told by the connection.
func TestHTTP2WithoutTLS(t *testing.T) {
	h := unstarted()
	h.Config.Protocols = new(http.Protocols)
	h.Config.Protocols.SetUnencryptedHTTP2(true)
	h.Start()
	t.Cleanup(h.Close)
	var others atomic.Int32
	h.on["tools/call"] = func(a *asking) {
		if a.r.ProtoMajor != 2 {
			others.Add(1)
		}
		a.pass()
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Protocols = new(http.Protocols)
	transport.Protocols.SetUnencryptedHTTP2(true)
	replaceDefault(t, transport)
	c := connect(t, h.server())
	var calls sync.WaitGroup
	for range 16 {
		calls.Go(func() {
			for range 20 {
				works(t, c)
			}
		})
	}
	calls.Wait()
	assert.Zero(t, others.Load())
	assert.Equal(t, 16*20, h.seen("tools/call"))
}

// net/http does not close a connection of HTTP/2 whose request has just been
// given up.
func TestHTTP2Close(t *testing.T) {
	for _, stateful := range []bool{true, false} {
		t.Run(fmt.Sprint(stateful), func(t *testing.T) {
			h := unstarted()
			h.EnableHTTP2 = true
			var open atomic.Int32
			h.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				switch state {
				case http.StateNew:
					open.Add(1)
				case http.StateClosed, http.StateHijacked:
					open.Add(-1)
				}
			}
			h.StartTLS()
			t.Cleanup(h.Close)
			wait := func(a *asking) { <-a.r.Context().Done() }
			if h.stateful = stateful; stateful {
				h.on["DELETE"] = wait
			} else {
				h.on["tools/call"] = wait
			}
			replaceDefault(t, h.Client().Transport)
			for i := range 5 {
				c, err := mcp.Connect(t.Context(), h.server())
				require.NoError(t, err)
				var calls sync.WaitGroup
				if !stateful {
					calls.Go(func() { call(t, c, `{}`) })
					require.Eventually(t, func() bool { return h.seen("tools/call") == i+1 }, slack, time.Millisecond)
				}
				require.NoError(t, c.Close())
				calls.Wait()
			}
			assert.Eventually(t, func() bool { return open.Load() == 0 }, slack, time.Millisecond, "the server sees them closed")
		})
	}
}

// A zero http.Transport speaks HTTP/2, a clone of one that was used only offers it.
func TestHTTPClonedTransport(t *testing.T) {
	h := unstarted()
	h.EnableHTTP2 = true
	h.StartTLS()
	t.Cleanup(h.Close)
	transport := &http.Transport{TLSClientConfig: h.Client().Transport.(*http.Transport).TLSClientConfig.Clone()}
	transport.TLSClientConfig.NextProtos = []string{"h2", "http/1.1"}
	replaceDefault(t, transport)
	works(t, connect(t, h.server()))
}

// A caller's transport may fetch a token first, as oauth2.Transport does, without
// the request's context.
func TestHTTPTransportThatWaits(t *testing.T) {
	h, rt := newWeb(t), newTripper(t)
	c := connectOwn(t, h.server(), rt)
	release := make(chan struct{})
	rt.set(func(*http.Request) (*http.Response, error) {
		<-release
		return nil, errors.New("no token")
	})
	short := func() context.Context {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		t.Cleanup(cancel)
		return ctx
	}
	_, err := c.Tools()[0].Handler(short(), nil)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.ErrorIs(t, err, mcp.ErrNotSent)
	assert.ErrorIs(t, c.RefreshTools(short()), context.DeadlineExceeded)
	server := h.server()
	server.HTTPTransport = rt
	_, err = mcp.Connect(short(), server)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		c.Close()
	}()
	select {
	case <-closed:
	case <-time.After(slack):
		t.Error("Close waits for the transport")
	}
	close(release)
	<-closed
}

// A stream without a length ends like one that is cut: the last event may not be
// whole, and comes again after the one before.
func TestHTTPResumeBeforeACutEvent(t *testing.T) {
	h := newWeb(t)
	var answer atomic.Value
	h.on["tools/call"] = func(a *asking) {
		whole := a.answer(mcptest.Text(string(a.Params.Arguments)))
		answer.Store(whole)
		conn, w, err := a.w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		w.WriteString("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" +
			"id: e1\nretry: 10\ndata: \n\nid: e2\ndata: " + whole[:20])
		w.Flush()
		conn.Close()
	}
	h.on["GET"] = func(a *asking) {
		if !assert.Equal(t, "e1", a.r.Header.Get("Last-Event-ID")) {
			a.status(404, "", "")
			return
		}
		a.stream("id: e2\ndata: " + answer.Load().(string) + "\n\n")
	}
	works(t, connect(t, h.server()))
}

// The answers of two calls on the stream of one.
func TestHTTPAnswerOnAnotherStream(t *testing.T) {
	h := newWeb(t)
	first := make(chan string, 1)
	h.on["tools/call"] = func(a *asking) {
		answer := a.answer(mcptest.Text(string(a.Params.Arguments)))
		if string(a.Params.Arguments) == `{"n":1}` {
			a.stream(": open\n\n")
			first <- answer
			<-a.r.Context().Done()
			return
		}
		a.stream("data: " + <-first + "\n\ndata: " + answer + "\n\n")
	}
	c := connect(t, h.server())
	var calls sync.WaitGroup
	for _, arguments := range []string{`{"n":1}`, `{"n":2}`} {
		calls.Go(func() {
			result, err := call(t, c, arguments)
			if assert.NoError(t, err) {
				assert.Equal(t, arguments, result.Content)
			}
		})
	}
	calls.Wait()
}

// A session that could not be renewed, and is there after all, gets its DELETE.
func TestHTTPSessionThatIsFoundAgain(t *testing.T) {
	h := newWeb(t)
	c := connect(t, h.server())
	h.now("tools/call", func(a *asking) { a.status(404, "text/plain", "session not found") })
	h.now("initialize", func(a *asking) { a.status(503, "text/plain", "busy") })
	_, err := call(t, c, `{}`)
	assert.ErrorContains(t, err, "503")
	h.now("tools/call", nil)
	works(t, c)
	require.NoError(t, c.Close())
	assert.Equal(t, 1, h.seen("DELETE"))
}

// Several errors with URLs in one, and secrets where a text is cut.
func TestHTTPSecretsAtTheEdge(t *testing.T) {
	const token = "sk-0123456789abcdef0123456789abcdef"
	h, rt := newWeb(t), newTripper(t)
	server := h.server()
	server.BearerToken = token
	c := connectOwn(t, server, rt)
	a := &url.Error{Op: "Get", URL: "https://a.test/?key=first-secret", Err: os.ErrPermission}
	b := &url.Error{Op: "Post", URL: "https://b.test/token?key=other-secret", Err: fmt.Errorf("y: %w", a)}
	for _, cause := range []error{errors.Join(a, b), fmt.Errorf("%w; then %w", a, b), b} {
		rt.set(func(*http.Request) (*http.Response, error) { return nil, cause })
		_, err := call(t, c, `{}`)
		assert.NotContains(t, err.Error(), "key=")
		assert.ErrorContains(t, err, "https://b.test/token")
		assert.ErrorIs(t, err, os.ErrPermission)
		assert.False(t, errors.As(err, new(*url.Error)), "it would show its URL")
	}
	rt.set(nil)
	for _, size := range []int{4 << 10, 20 << 10, 64 << 10, 80 << 10} {
		for _, filler := range []string{" ", "x"} {
			for _, shift := range []int{1, len(token) / 2} {
				h.now("tools/call", func(a *asking) {
					a.status(500, "text/plain", strings.Repeat(filler, size-len(token)+shift)+token+" end")
				})
				_, err := call(t, c, `{}`)
				var answer *mcp.HTTPError
				require.ErrorAs(t, err, &answer)
				assert.NotContains(t, err.Error()+answer.Body, token[:10])
				assert.LessOrEqual(t, len(answer.Body), 64<<10)
			}
		}
	}
}
