package mcp_test

// This file has what happens to a request on its way: errors of the network,
// redirects, the caller's own transport, secrets.

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
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

// A tripper is a caller's transport that a test can change. It closes its idle
// connections when the test ends.
type tripper struct {
	base *http.Transport
	trip atomic.Pointer[func(*http.Request) (*http.Response, error)] // nil means base
}

func newTripper(t testing.TB) *tripper {
	rt := &tripper{base: http.DefaultTransport.(*http.Transport).Clone()}
	t.Cleanup(rt.base.CloseIdleConnections)
	return rt
}

func (rt *tripper) set(trip func(*http.Request) (*http.Response, error)) {
	if trip == nil {
		rt.trip.Store(nil)
		return
	}
	rt.trip.Store(&trip)
}

func (rt *tripper) RoundTrip(r *http.Request) (*http.Response, error) {
	if trip := rt.trip.Load(); trip != nil {
		return (*trip)(r)
	}
	return rt.base.RoundTrip(r)
}

// connectOwn connects through a caller's transport. What that leaves behind is
// the test's.
func connectOwn(t testing.TB, server mcp.Server, rt *tripper) *mcp.Connection {
	t.Helper()
	mcptest.NoLeaks(t)
	t.Cleanup(rt.base.CloseIdleConnections)
	server.HTTPTransport = rt
	c, err := mcp.Connect(t.Context(), server)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.Close()) })
	return c
}

func TestHTTPNotDelivered(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	closedAddress := closed.Listener.Addr().String()
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "<html>no</html>", http.StatusForbidden)
	}))
	defer refusing.Close()
	untrusted := httptest.NewUnstartedServer(nil)
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0)
	untrusted.StartTLS()
	defer untrusted.Close()
	to := func(transport *http.Transport, target string) func(*http.Request) (*http.Response, error) {
		return func(r *http.Request) (*http.Response, error) {
			defer transport.CloseIdleConnections()
			r = r.Clone(r.Context())
			r.URL, _ = url.Parse(target)
			return transport.RoundTrip(r)
		}
	}
	for _, test := range []struct {
		name string
		trip func(*http.Request) (*http.Response, error)
		want string
		as   any
	}{
		{"refused", to(&http.Transport{}, "http://"+closedAddress), "connection refused", new(*net.OpError)},
		{"DNS", to(&http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.DNSError{Err: "no such host", Name: "nowhere.test", IsNotFound: true}
		}}, "http://nowhere.test"), "no such host", new(*net.DNSError)},
		{"TLS", to(&http.Transport{}, untrusted.URL), "certificate", new(*tls.CertificateVerificationError)},
		{"no TLS", to(&http.Transport{}, strings.Replace(refusing.URL, "http:", "https:", 1)), "first record does not look like a TLS handshake", new(tls.RecordHeaderError)},
		{"proxy that is down", to(&http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: closedAddress})}, "https://host.test"), "connection refused", new(*net.OpError)},
		{"proxy that answers with a page", to(&http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: refusing.Listener.Addr().String()})}, "https://host.test"), "Forbidden", nil},
		{"error of the caller's transport", func(*http.Request) (*http.Response, error) {
			return nil, errors.New("no token")
		}, "no token", nil},
		{"nothing at all", func(*http.Request) (*http.Response, error) { return nil, nil }, "the HTTP transport returned neither an answer nor an error", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			h, rt := newWeb(t), newTripper(t)
			c := connectOwn(t, h.server(), rt)
			rt.set(test.trip)
			_, err := call(t, c, `{}`)
			assert.ErrorContains(t, err, test.want)
			assert.ErrorIs(t, err, mcp.ErrNotSent)
			assert.NotContains(t, err.Error(), "may have run")
			if test.as != nil {
				assert.ErrorAs(t, err, test.as)
			}
			assert.ErrorIs(t, c.RefreshTools(t.Context()), mcp.ErrNotSent)
			assert.NoError(t, c.Err())
			rt.set(nil)
			works(t, c)
			assert.Equal(t, 1, h.seen("tools/call"))
		})
	}
	t.Run("a server that is down", func(t *testing.T) {
		h := newWeb(t)
		c := connect(t, h.server())
		h.Close()
		_, err := call(t, c, `{}`)
		assert.ErrorIs(t, err, mcp.ErrNotSent)
		assert.NoError(t, c.Err())
	})
	t.Run("a start", func(t *testing.T) {
		err := refuses(t, mcp.Server{Name: "test", URL: "http://" + closedAddress + "/mcp?key=q-secret"})
		assert.ErrorContains(t, err, `mcp server "test": initializing: `)
		assert.ErrorContains(t, err, "connection refused")
		assert.NotContains(t, err.Error(), "q-secret")
	})
}

func TestHTTPTransportSeesTheCall(t *testing.T) {
	type key struct{}
	h, rt := newWeb(t), newTripper(t)
	var seen sync.Map
	rt.set(func(r *http.Request) (*http.Response, error) {
		value, _ := r.Context().Value(key{}).(string)
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+value)
		return rt.base.RoundTrip(r)
	})
	for _, method := range []string{"initialize", "tools/call", "tools/list", "DELETE"} {
		h.on[method] = func(a *asking) {
			seen.Store(method, a.r.Header.Get("Authorization"))
			a.pass()
		}
	}
	server := h.server()
	server.HTTPTransport = rt
	mcptest.NoLeaks(t)
	t.Cleanup(rt.base.CloseIdleConnections)
	c, err := mcp.Connect(context.WithValue(t.Context(), key{}, "connect"), server)
	require.NoError(t, err)
	defer c.Close()
	_, err = c.Tools()[0].Handler(context.WithValue(t.Context(), key{}, "call"), nil)
	require.NoError(t, err)
	require.NoError(t, c.RefreshTools(context.WithValue(t.Context(), key{}, "refresh")))
	h.forgetAll()
	_, err = c.Tools()[0].Handler(context.WithValue(t.Context(), key{}, "renewal"), nil)
	require.NoError(t, err)
	value, _ := seen.Load("initialize")
	assert.Equal(t, "Bearer renewal", value)
	require.NoError(t, c.Close())
	for method, want := range map[string]string{"tools/call": "renewal", "tools/list": "refresh", "DELETE": "connect"} {
		value, _ := seen.Load(method)
		assert.Equal(t, "Bearer "+want, value, method)
	}
}

// What stands in for http.DefaultTransport is used as it is.
func TestHTTPDefaultTransportReplaced(t *testing.T) {
	h, rt := newWeb(t), newTripper(t)
	old := http.DefaultTransport
	http.DefaultTransport = rt
	defer func() { http.DefaultTransport = old }()
	var trips atomic.Int32
	rt.set(func(r *http.Request) (*http.Response, error) {
		trips.Add(1)
		return rt.base.RoundTrip(r)
	})
	mcptest.NoLeaks(t)
	t.Cleanup(rt.base.CloseIdleConnections)
	c, err := mcp.Connect(t.Context(), h.server())
	require.NoError(t, err)
	works(t, c)
	require.NoError(t, c.Close())
	assert.EqualValues(t, 6, trips.Load())
}

func TestHTTPOverTLSAndHTTP2(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		t.Run(fmt.Sprint(http2), func(t *testing.T) {
			h := unstarted()
			h.EnableHTTP2 = http2
			h.StartTLS()
			t.Cleanup(h.Close)
			var major atomic.Int32
			h.on["tools/call"] = func(a *asking) {
				major.Store(int32(a.r.ProtoMajor))
				a.pass()
			}
			rt := newTripper(t)
			rt.base = h.Client().Transport.(*http.Transport)
			c := connectOwn(t, h.server(), rt)
			works(t, c)
			want := int32(1)
			if http2 {
				want = 2
			}
			assert.Equal(t, want, major.Load())
			var calls sync.WaitGroup
			for range 20 {
				calls.Go(func() { works(t, c) })
			}
			calls.Wait()
			h.forgetAll()
			works(t, c)
			h.now("tools/call", func(a *asking) { a.status(401, "text/plain", "no") })
			_, err := call(t, c, `{}`)
			assert.ErrorContains(t, err, "401 Unauthorized (sent without a credential): no")
		})
	}
}

// net/http sends a request again by itself when a connection that was used
// before breaks, if it may.
func TestHTTPCallsAreNotReplayed(t *testing.T) {
	for _, name := range []string{"Idempotency-Key", "x-idempotency-key"} {
		err := refuses(t, mcp.Server{Name: "test", URL: "http://127.0.0.1:1", Headers: map[string]string{name: "1"}})
		assert.ErrorIs(t, err, mcp.ErrInvalidServer)
	}
	h := unstarted()
	h.EnableHTTP2 = true
	h.StartTLS()
	defer h.Close()
	h1 := newWeb(t)
	for _, h := range []*web{h, h1} {
		h.on["tools/call"] = func(a *asking) {
			if h.seen("tools/call") > 1 {
				a.cut()
			}
			a.pass()
		}
		rt := newTripper(t)
		if h.TLS != nil {
			rt.base = h.Client().Transport.(*http.Transport)
		}
		c := connectOwn(t, h.server(), rt)
		works(t, c)
		_, err := call(t, c, `{}`)
		assert.ErrorContains(t, err, "; the tool may have run")
		assert.Equal(t, 2, h.seen("tools/call"))
	}
}

func TestHTTPRedirects(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			var strangers atomic.Int32
			stranger := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strangers.Add(1) }))
			defer stranger.Close()
			var target, home string
			h := newWeb(t)
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/mcp/" {
					h.ServeHTTP(w, r)
					return
				}
				if target == "" {
					w.WriteHeader(status)
					return
				}
				http.Redirect(w, r, target, status)
			}))
			defer front.Close()
			home = front.URL
			server := h.server()
			server.URL = home + "/mcp"
			server.BearerToken = "sk-secret-1"
			for _, target = range []string{"/mcp/?key=q-secret-2", home + "/mcp/"} {
				if status < 307 {
					err := refuses(t, server)
					assert.ErrorContains(t, err, fmt.Sprintf("the server answered %d %s to %s/mcp/, which is not followed: set the URL to that", status, http.StatusText(status), home))
					assert.NotContains(t, err.Error(), "q-secret")
					assert.Equal(t, 0, h.seen("initialize"))
					continue
				}
				h.on["tools/call"] = func(a *asking) {
					assert.Equal(t, "Bearer sk-secret-1", a.r.Header.Get("Authorization"))
					a.pass()
				}
				c := connect(t, server)
				works(t, c)
				require.NoError(t, c.Close())
				assert.Equal(t, "DELETE", h.methods()[len(h.methods())-1])
			}
			// Another port, scheme or host is another origin.
			for _, target = range []string{stranger.URL + "/x?key=q-secret-2", strings.Replace(home, "http:", "https:", 1) + "/x", "http://user:pass-word-1@localhost.test/x", "//" + stranger.Listener.Addr().String() + "/x"} {
				err := refuses(t, server)
				to, _ := url.Parse(target)
				assert.ErrorContains(t, err, fmt.Sprintf("the server answered %d %s to another origin, http", status, http.StatusText(status)))
				assert.ErrorContains(t, err, "://"+to.Host+"/x, which is not followed")
				assert.NotContains(t, err.Error(), "q-secret")
				assert.NotContains(t, err.Error(), "pass-word")
				var answer *mcp.HTTPError
				assert.ErrorAs(t, err, &answer)
				assert.Equal(t, status, answer.StatusCode)
			}
			target = ""
			assert.ErrorContains(t, refuses(t, server), "without a usable target")
			assert.Zero(t, strangers.Load())
		})
	}
	t.Run("in a circle", func(t *testing.T) {
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
		}))
		defer h.Close()
		assert.ErrorContains(t, refuses(t, mcp.Server{Name: "test", URL: h.URL}), "more than 5 redirects")
	})
	t.Run("during a session", func(t *testing.T) {
		var bodies atomic.Int32
		stranger := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { bodies.Add(1) }))
		defer stranger.Close()
		h := newWeb(t)
		h.on["tools/call"] = func(a *asking) {
			if h.seen("tools/call") > 1 {
				a.pass()
				return
			}
			http.Redirect(a.w, a.r, stranger.URL, http.StatusTemporaryRedirect)
		}
		c := connect(t, h.server())
		_, err := call(t, c, `{"secret":"argument"}`)
		assert.ErrorContains(t, err, "another origin")
		works(t, c)
		assert.Zero(t, bodies.Load())
	})
}

// The error of a caller's transport may show the URL of a token endpoint.
func TestHTTPErrorsShowNoSecrets(t *testing.T) {
	h, rt := newWeb(t), newTripper(t)
	server := h.server()
	server.URL += "?key=q-secret-2"
	server.BearerToken = "sk-secret-1"
	c := connectOwn(t, server, rt)
	cause := errors.New("refused sk-secret-1")
	for _, err := range []error{
		&url.Error{Op: "Post", URL: server.URL, Err: cause},
		fmt.Errorf("oauth2: cannot fetch token: %w", &url.Error{Op: "Post", URL: "https://user:pass-word-1@auth.test/token?secret=other-secret", Err: cause}),
		fmt.Errorf("%v", &url.Error{Op: "Post", URL: server.URL, Err: cause}),
		fmt.Errorf("twice: %w", &url.Error{Op: "Post", URL: server.URL, Err: &url.Error{Op: "Get", URL: "https://x.test/?secret=other-secret", Err: cause}}),
	} {
		rt.set(func(*http.Request) (*http.Response, error) { return nil, err })
		_, err := call(t, c, `{}`)
		for _, secret := range []string{"q-secret", "other-secret", "pass-word", "sk-secret"} {
			assert.NotContains(t, err.Error(), secret)
		}
		var inner *url.Error
		assert.False(t, errors.As(err, &inner))
		assert.ErrorContains(t, err, "refused [masked]")
	}
	rt.set(nil)
}

func TestHTTPCredentials(t *testing.T) {
	for _, test := range []struct {
		name   string
		server mcp.Server
		want   string
	}{
		{"none", mcp.Server{}, "sent without a credential"},
		{"token", mcp.Server{BearerToken: "sk-secret-1"}, "sent with the bearer token"},
		{"header", mcp.Server{Headers: map[string]string{"X-API-Key": "sk-secret-1"}}, `sent with the headers "X-API-Key"`},
		{"transport", mcp.Server{HTTPTransport: addsAuthorization{}}, "sent with the Authorization header of HTTPTransport"},
	} {
		for _, status := range []int{401, 403} {
			t.Run(fmt.Sprint(test.name, status), func(t *testing.T) {
				h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("WWW-Authenticate", `Bearer error=invalid_token`)
					w.WriteHeader(status)
				}))
				defer h.Close()
				server := test.server
				server.Name, server.URL = "test", h.URL
				err := refuses(t, server)
				assert.EqualError(t, err, fmt.Sprintf(`mcp server "test": initializing: calling "initialize": the server answered %d %s (%s): invalid_token`, status, http.StatusText(status), test.want))
				var answer *mcp.HTTPError
				require.ErrorAs(t, err, &answer)
				assert.Equal(t, status, answer.StatusCode)
				if test.server.HTTPTransport != nil {
					http.DefaultTransport.(*http.Transport).CloseIdleConnections()
				}
			})
		}
	}
}

type addsAuthorization struct{}

func (addsAuthorization) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer sk-secret-1")
	r.Close = true
	return http.DefaultTransport.RoundTrip(r)
}

// rawServer is a server that a test plays on the bare connection.
func rawServer(t testing.TB, play func(net.Conn, *bufio.Reader)) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			served.Go(func() {
				defer conn.Close()
				in := bufio.NewReader(conn)
				in.Peek(1)
				play(conn, in)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		served.Wait()
	})
	return "http://" + l.Addr().String()
}

func TestHTTPServersThatDoNotAnswer(t *testing.T) {
	gone := make(chan struct{})
	defer close(gone)
	for _, test := range []struct {
		name string
		play func(net.Conn, *bufio.Reader)
	}{
		{"silence", func(conn net.Conn, in *bufio.Reader) { io.Copy(io.Discard, in) }},
		{"a header that never ends", func(conn net.Conn, in *bufio.Reader) {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
			for {
				if _, err := io.WriteString(conn, "X-More: "+strings.Repeat("x", 1000)+"\r\n"); err != nil {
					return
				}
			}
		}},
		{"a header that trickles", func(conn net.Conn, in *bufio.Reader) {
			for _, b := range []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n") {
				select {
				case <-gone:
				case <-time.After(time.Second):
				}
				if _, err := conn.Write([]byte{b}); err != nil {
					return
				}
			}
		}},
		{"a body that never ends", func(conn net.Conn, in *bufio.Reader) {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
			io.Copy(io.Discard, in)
		}},
		{"a stream that says nothing", func(conn net.Conn, in *bufio.Reader) {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hi\n\n")
			io.Copy(io.Discard, in)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := mcp.Server{Name: "test", URL: rawServer(t, test.play)}
			mcptest.NoLeaks(t)
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			_, err := mcp.Connect(ctx, server) // which would wait for ever
			assert.Error(t, err)
			if test.name == "a header that never ends" {
				return // net/http gives up before the context does
			}
			assert.ErrorIs(t, err, context.DeadlineExceeded)
		})
	}
	t.Run("a reset", func(t *testing.T) {
		url := rawServer(t, func(conn net.Conn, in *bufio.Reader) {
			conn.(*net.TCPConn).SetLinger(0)
		})
		err := refuses(t, mcp.Server{Name: "test", URL: url})
		assert.ErrorContains(t, err, "initializing")
	})
	t.Run("HTTP/1.0", func(t *testing.T) {
		h := newWeb(t)
		url := rawServer(t, func(conn net.Conn, in *bufio.Reader) {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			fmt.Fprintf(conn, "HTTP/1.0 %d x\r\n", w.Code)
			w.Header().Write(conn)
			io.WriteString(conn, "\r\n")
			conn.Write(w.Body.Bytes())
		})
		c := connect(t, mcp.Server{Name: "test", URL: url})
		works(t, c)
		works(t, c)
	})
}

// Nil for HTTPTransport means a clone of http.DefaultTransport, with its proxy
// and HTTP/2, that Close empties.
func TestHTTPOwnTransport(t *testing.T) {
	t.Run("HTTP/2", func(t *testing.T) {
		h := unstarted()
		h.EnableHTTP2 = true
		h.StartTLS()
		t.Cleanup(h.Close)
		replaceDefault(t, h.Client().Transport)
		var major atomic.Int32
		h.on["tools/call"] = func(a *asking) {
			major.Store(int32(a.r.ProtoMajor))
			a.pass()
		}
		works(t, connect(t, h.server()))
		assert.EqualValues(t, 2, major.Load())
	})
	t.Run("proxy", func(t *testing.T) {
		h := newWeb(t)
		var hosts sync.Map
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			hosts.Store(r.URL.Host, true)
			h.ServeHTTP(w, r)
		}))
		t.Cleanup(proxy.Close)
		transport := http.DefaultTransport.(*http.Transport).Clone()
		target, err := url.Parse(proxy.URL)
		require.NoError(t, err)
		transport.Proxy = http.ProxyURL(target)
		replaceDefault(t, transport)
		works(t, connect(t, mcp.Server{Name: "test", URL: "http://host.test/mcp"}))
		_, ok := hosts.Load("host.test")
		assert.True(t, ok)
	})
	t.Run("one write for a call", func(t *testing.T) {
		if runtime.GOOS == "windows" {
			t.Skip("a network connection cannot be looked into there")
		}
		var writes atomic.Int64
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := new(net.Dialer).DialContext(ctx, network, address)
			return writeCounter{c, &writes}, err
		}
		replaceDefault(t, transport)
		c := connect(t, newWeb(t).server())
		works(t, c)
		before := writes.Load()
		for range 10 {
			works(t, c)
		}
		assert.EqualValues(t, before+10, writes.Load())
	})
	// What the server has closed in between is noticed before anything is
	// written, so each call is there once.
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprintf("connections that the server closes, TLS %t", secure), func(t *testing.T) {
			h := unstarted()
			if secure {
				h.StartTLS()
				replaceDefault(t, h.Client().Transport)
			} else {
				h.Start()
			}
			t.Cleanup(h.Close)
			c := connect(t, h.server())
			for i := range 100 {
				h.CloseClientConnections()
				works(t, c)
				require.Equal(t, i+1, h.seen("tools/call"))
			}
		})
	}
}

type writeCounter struct {
	net.Conn
	writes *atomic.Int64
}

func (c writeCounter) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

// A server may answer before it has read the request, and close.
func TestHTTPEarlyAnswers(t *testing.T) {
	arguments := `{"x":"` + strings.Repeat("x", 4<<20) + `"}`
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprintf("TLS %t", secure), func(t *testing.T) {
			h := unstarted()
			h.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.ContentLength < 1<<20 {
					h.ServeHTTP(w, r)
					return
				}
				conn, out, err := w.(http.Hijacker).Hijack()
				if err != nil {
					panic(err)
				}
				defer conn.Close() // with most of the request unread, which resets the connection
				out.WriteString("HTTP/1.1 413 Request Entity Too Large\r\nContent-Type: text/plain\r\nContent-Length: 9\r\nConnection: close\r\n\r\ntoo large")
				out.Flush()
			})
			if secure {
				h.StartTLS()
				replaceDefault(t, h.Client().Transport)
			} else {
				h.Start()
			}
			t.Cleanup(h.Close)
			c := connect(t, h.server())
			for range 50 {
				_, err := call(t, c, arguments)
				require.ErrorContains(t, err, "the server answered 413 Request Entity Too Large: too large")
			}
			works(t, c)
		})
	}
}

// A body is no more bound to the context than the transport is.
func TestHTTPBodiesThatWait(t *testing.T) {
	for _, contentType := range []string{"application/json", "text/event-stream", "text/html"} {
		for _, status := range []int{200, 404, 500} {
			t.Run(fmt.Sprint(contentType, status), func(t *testing.T) {
				release := make(chan struct{})
				h, rt := newWeb(t), newTripper(t)
				h.stateful = false
				server := h.server()
				server.HTTPTransport = rt
				c, err := mcp.Connect(t.Context(), server)
				require.NoError(t, err)
				rt.set(func(*http.Request) (*http.Response, error) {
					return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {contentType}}, ContentLength: -1, Body: stubbornBody{release}}, nil
				})
				short := func() context.Context {
					ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
					t.Cleanup(cancel)
					return ctx
				}
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					_, err := c.Tools()[0].Handler(short(), nil)
					assert.ErrorIs(t, err, context.DeadlineExceeded)
					assert.ErrorIs(t, c.RefreshTools(short()), context.DeadlineExceeded)
					_, err = mcp.Connect(short(), server)
					assert.ErrorIs(t, err, context.DeadlineExceeded)
					assert.NoError(t, c.Close())
				}()
				select {
				case <-ended:
				case <-time.After(30 * time.Second): // it takes about one
					t.Error("the body holds something up")
				}
				close(release)
				<-ended
			})
		}
	}
}

// A stubbornBody waits in Read and in Close, whatever happens.
type stubbornBody struct{ release chan struct{} }

func (b stubbornBody) Read([]byte) (int, error) {
	<-b.release
	return 0, io.EOF
}

func (b stubbornBody) Close() error {
	<-b.release
	return nil
}
