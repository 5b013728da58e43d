package streamable

// This file tests what is known of a request that was sent, or was not.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp/internal/rpc"
)

// A call that was given up before it was written is not sent any more, in
// whatever way the transport takes the body.
func TestGivenUp(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		for _, own := range []bool{true, false} {
			t.Run(fmt.Sprintf("HTTP/2 %t, own transport %t", http2, own), func(t *testing.T) {
				var read atomic.Int64
				h := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body)
					read.Add(int64(len(body)))
				}))
				h.EnableHTTP2 = http2
				h.StartTLS()
				transport := h.Client().Transport.(*http.Transport)
				target, err := url.Parse(h.URL)
				require.NoError(t, err)
				config := Config{URL: target, Transport: transport}
				if own {
					config.Own = transport
				}
				c := New(config)
				assert.Equal(t, own && peeks, c.counted)

				call := rpc.NewCall("x", nil)
				require.True(t, call.Abandon())
				resp, err := c.send(t.Context(), http.MethodPost, session{}, &request{body: []byte("{}"), call: call})
				if err == nil { // HTTP/2 may end the stream early
					resp.Body.Close()
				}
				assert.False(t, call.Begun())

				call = rpc.NewCall("x", nil)
				resp, err = c.send(t.Context(), http.MethodPost, session{}, &request{body: []byte("{ }"), call: call})
				require.NoError(t, err)
				resp.Body.Close()
				assert.True(t, call.Begun())
				transport.CloseIdleConnections()
				h.Close()
				assert.EqualValues(t, 3, read.Load(), "the server has the other request alone")
			})
		}
	}
}

type failingConn struct {
	net.Conn
	n   int
	err error
}

func (c *failingConn) Write([]byte) (int, error)       { return c.n, c.err }
func (c *failingConn) SetReadDeadline(time.Time) error { return nil }

func TestUnwritten(t *testing.T) {
	broken := errors.New("broken")
	for _, test := range []struct {
		name   string
		conn   *conn
		reused bool
		want   bool
	}{
		{"all was written", &conn{Conn: &failingConn{n: 1}}, false, false},
		{"a part was written", &conn{Conn: &failingConn{n: 1, err: broken}}, false, true},
		{"nothing was written", &conn{Conn: &failingConn{err: broken}}, false, true},
		{"used before", &conn{Conn: &failingConn{n: 1}, readable: func() bool { return false }}, true, false},
		{"closed by the server", &conn{Conn: &failingConn{n: 1}, readable: func() bool { return true }}, true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := &Conn{counted: true}
			r := &request{body: []byte("{}"), call: rpc.NewCall("x", nil)}
			ctx, _ := c.content(t.Context(), r)
			assert.False(t, r.unwritten(ctx, io.EOF), "nothing is known yet")
			httptrace.ContextClientTrace(ctx).GotConn(httptrace.GotConnInfo{Conn: test.conn, Reused: test.reused})
			test.conn.Write([]byte("{}"))
			assert.Equal(t, test.want, r.unwritten(ctx, io.EOF))
			written := &net.OpError{Op: "write", Err: io.EOF}
			assert.True(t, r.unwritten(ctx, written))
			r.delivery.shared = true // what failed may be another's
			assert.True(t, r.unwritten(ctx, written))
			httptrace.ContextClientTrace(ctx).WroteRequest(httptrace.WroteRequestInfo{})
			assert.False(t, r.unwritten(ctx, written))
			canceled, cancel := context.WithCancel(ctx)
			cancel()
			assert.False(t, r.unwritten(canceled, io.EOF), "it may still be written")
		})
	}
}
