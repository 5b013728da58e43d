package streamable

// This file knows whether a request was sent: what certainly was not may be
// sent again, and what may have been never is.

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"

	"github.com/seed94b59a13/mcp/internal/tap"
)

// A body is the body of one request. It is of a type that net/http cannot
// read again, so that nothing but this package sends a call a second time.
type body struct {
	data []byte
	slot *tap.Slot
}

var (
	errGivenUp = errors.New("the caller has given up")
	errStale   = fmt.Errorf("the server has closed the connection: %w", io.EOF)
)

func (b *body) Read(p []byte) (int, error) {
	if b.slot != nil && !b.slot.Begin() {
		return 0, errGivenUp
	}
	if len(b.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, b.data)
	b.data = b.data[n:]
	return n, nil
}

func (b *body) Close() error { return nil }

// content returns the body of a request, and the context to send it with.
//
// net/http writes the head and a body of a type that it knows to the network
// in one go, but flushes the head before any other body. That costs a good part
// of a small call, so a transport that tells what it writes gets such a body.
// That net/http can read it again does not matter without a GetBody.
func (c *Conn) content(ctx context.Context, r *request) (context.Context, io.ReadCloser) {
	switch {
	case r.body == nil:
		return ctx, nil
	case !c.counted:
		return ctx, &body{r.body, r.slot}
	}
	r.conn = nil
	data := bytes.NewReader(r.body)
	if r.slot != nil {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
			GotConn: func(info httptrace.GotConnInfo) { r.conn, r.writes = use(info) },
			// Called by the goroutine that goes on to read the body.
			WroteHeaders: func() {
				if !r.slot.Begin() {
					data.Reset(nil) // net/http does not send a body that is too short
				}
			},
		})
	}
	return ctx, io.NopCloser(data)
}

// A conn is a network connection that counts what is written to it.
type conn struct {
	net.Conn
	readable func() bool  // whether a read would return at once, with data or the end
	writes   atomic.Int64 // but for those that failed with nothing written
	stale    atomic.Bool  // the server has closed it
}

func (c *conn) Write(p []byte) (int, error) {
	if c.stale.Load() {
		return 0, errStale
	}
	c.writes.Add(1)
	n, err := c.Conn.Write(p)
	if n == 0 && err != nil {
		c.writes.Add(-1)
	}
	return n, err
}

// use is called when net/http has found the network connection for a request.
// It returns nil for one of HTTP/2, which is not for one request alone.
//
// net/http keeps connections that the server has closed until it notices. Then
// there is something to be read, which between two requests there must not be.
func use(info httptrace.GotConnInfo) (_ *conn, writes int64) {
	below := info.Conn
	for {
		t, ok := below.(*tls.Conn) // there are two below an HTTPS proxy
		if !ok {
			break
		}
		if t.ConnectionState().NegotiatedProtocol == "h2" {
			return nil, 0
		}
		below = t.NetConn()
	}
	c, ok := below.(*conn)
	if !ok {
		return nil, 0
	}
	if info.Reused && c.readable() {
		c.stale.Store(true)
	}
	return c, c.writes.Load()
}

// count makes the connections of a transport count what is written to them. It
// reports false if the transport has ways of its own to make connections.
func count(t *http.Transport) bool {
	//lint:ignore SA1019 deprecated, but whoever replaced the default transport may use them
	special := t.DialTLSContext != nil || t.DialTLS != nil || t.DialContext == nil && t.Dial != nil
	if special || !peeks {
		return false
	}
	dial := t.DialContext
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &conn{Conn: c, readable: peeker(c)}, nil
	}
	return true
}

// unwritten reports whether the request could not be written to its end, so
// that no server can have acted on it.
func (r *request) unwritten(ctx context.Context, err error) bool {
	var op *net.OpError
	if errors.As(err, &op) && (op.Op == "write" || op.Op == "readfrom") {
		return true
	}
	// net/http does not say which of its errors leave a request unwritten, but
	// returns them when nothing more is written; except where the context ends.
	return r.conn != nil && ctx.Err() == nil && r.conn.writes.Load() == r.writes
}

// closed reports whether the network connection had been there and was lost.
func closed(err error) bool {
	var op *net.OpError
	return errors.Is(err, io.EOF) || errors.As(err, &op) && (op.Op == "read" || op.Op == "write" || op.Op == "readfrom") ||
		strings.Contains(err.Error(), "server closed idle connection")
}

// uncertain adds to an error what it may have left behind.
func (c *Conn) uncertain(r *request, err error) error {
	if r.method == methodCallTool && r.slot.Begun() {
		return fmt.Errorf("%w; the tool may have run", err)
	}
	return err
}
