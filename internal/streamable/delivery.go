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
	"maps"
	"net"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed94b59a13/mcp/internal/rpc"
	"github.com/seed94b59a13/mcp/internal/secret"
)

// A body is the body of one request. It is of a type that net/http cannot
// read again, so that nothing but this package sends a call a second time.
type body struct {
	data []byte
	call *rpc.Call
}

// lastRead is how long a connection may be read that cannot be written to.
const lastRead = 2 * time.Second

var (
	errGivenUp = errors.New("the caller has given up")
	errStale   = fmt.Errorf("the server has closed the connection: %w", io.EOF)
)

func (b *body) Read(p []byte) (int, error) {
	if !b.call.Begin() {
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
	d := &delivery{}
	trace := &d.trace
	trace.GotConn, trace.PutIdleConn = d.use, d.leave
	if r.body == nil {
		return httptrace.WithClientTrace(ctx, trace), nil
	}
	r.delivery = d
	data := bytes.NewReader(r.body)
	if r.call == nil {
		return httptrace.WithClientTrace(ctx, trace), io.NopCloser(data)
	}
	trace.WroteRequest = func(info httptrace.WroteRequestInfo) { d.wrote.Store(info.Err == nil) }
	if !c.counted {
		return httptrace.WithClientTrace(ctx, trace), &body{r.body, r.call}
	}
	// Called by the goroutine that goes on to read the body.
	trace.WroteHeaders = func() {
		if !r.call.Begin() {
			data.Reset(nil) // net/http does not send a body that is too short
		}
	}
	return httptrace.WithClientTrace(ctx, trace), io.NopCloser(data)
}

// A delivery is what is known of one attempt to send a request.
type delivery struct {
	conn   *conn       // that it went to, if that counts and carries no other
	writes int64       // to conn before
	shared bool        // its connection carries others (HTTP/2)
	wrote  atomic.Bool // net/http has passed it on whole
	loan   atomic.Pointer[loan]
	trace  httptrace.ClientTrace // of the attempt
}

// A loan is the use of a network connection by one request.
type loan struct {
	conn   *conn
	number int // of the requests on conn, this one included
}

// use is called when net/http has found the network connection.
//
// net/http keeps connections that the server has closed until it notices. Then
// there is something to be read, which between two requests there must not be.
func (d *delivery) use(info httptrace.GotConnInfo) {
	d.conn, d.shared = nil, false
	below, plain := info.Conn, true
	for {
		t, ok := below.(*tls.Conn) // there are two below an HTTPS proxy
		if !ok {
			break
		}
		if t.ConnectionState().NegotiatedProtocol == "h2" {
			d.shared = true
			return
		}
		below, plain = t.NetConn(), false
	}
	c, ok := below.(*conn)
	if !ok {
		return
	}
	if info.Reused && (c.broken.Load() || c.readable()) {
		c.stale.Store(true)
	}
	d.conn, d.writes = c, c.writes.Load()
	c.begun.Store(false)
	c.counts.Store(true)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests++
	d.loan.Store(&loan{c, c.requests})
	// Of what is encrypted only the time tells whether it was to be expected.
	c.framing.begin(plain)
}

// leave is called when net/http keeps the network connection for another
// request, which may have it by now.
func (d *delivery) leave(err error) {
	l := d.loan.Load()
	if l == nil || err != nil {
		return
	}
	l.conn.mu.Lock()
	defer l.conn.mu.Unlock()
	if l.conn.requests == l.number {
		l.conn.framing.end()
	}
}

// A conn is a network connection that counts what is written to it.
type conn struct {
	net.Conn
	closed   func(*conn)
	readable func() bool  // whether a read would return at once, with data or the end
	writes   atomic.Int64 // but for those that failed with nothing written
	stale    atomic.Bool  // the server has closed it
	counts   atomic.Bool  // it carries one request at a time
	begun    atomic.Bool  // a part of that is written
	broken   atomic.Bool  // the rest never will be

	mu       sync.Mutex
	requests int // that it was used for
	framing  framing
}

// Read returns what was to be expected, and the end before anything else.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if expected := c.framing.pass(p[:n]); expected < n {
		return expected, io.EOF
	}
	return n, err
}

func (c *conn) Close() error {
	c.closed(c)
	return c.Conn.Close()
}

// Write writes a part of a request. Where the server has closed the connection in
// the middle of it, that is not an error yet: it may have answered before, as with
// 413, and net/http would give up reading that. What can be read ends soon.
func (c *conn) Write(p []byte) (int, error) {
	if c.stale.Load() {
		return 0, errStale
	}
	if c.broken.Load() {
		return len(p), nil
	}
	c.writes.Add(1)
	n, err := c.Conn.Write(p)
	switch {
	case err == nil:
		c.begun.Store(true)
	case c.counts.Load() && (n > 0 || c.begun.Load()) && !errors.Is(err, net.ErrClosed):
		c.broken.Store(true)
		c.Conn.SetReadDeadline(time.Now().Add(lastRead))
		return len(p), nil
	case n == 0:
		c.writes.Add(-1)
	}
	return n, err
}

// count makes the connections of the own transport count what is written to
// them. It reports false where that does not tell enough, and leaves a transport
// alone that has ways of its own to make connections, or shares those that do not
// say so.
func (c *Conn) count() bool {
	t := c.Own
	//lint:ignore SA1019 deprecated, but whoever replaced the default transport may use them
	special := t.DialTLSContext != nil || t.DialTLS != nil || t.DialContext == nil && t.Dial != nil
	if special || t.Protocols != nil && t.Protocols.UnencryptedHTTP2() {
		return false
	}
	dial := t.DialContext
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		plain, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return c.opened(&conn{Conn: plain, closed: c.closed, readable: peeker(plain)})
	}
	return peeks
}

// opened and closed keep the network connections that are open.
func (c *Conn) opened(made *conn) (net.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conns == nil {
		made.Conn.Close()
		return nil, net.ErrClosed
	}
	c.conns[made] = struct{}{}
	return made, nil
}

func (c *Conn) closed(made *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.conns, made)
}

// closeAll closes the connections of the own transport, also those that net/http
// does not take for idle yet: of HTTP/2, one whose last request has just been
// given up.
func (c *Conn) closeAll() {
	c.Own.CloseIdleConnections()
	c.mu.Lock()
	left := slices.Collect(maps.Keys(c.conns))
	c.conns = nil
	c.mu.Unlock()
	for _, conn := range left {
		conn.Close()
	}
}

// unwritten reports whether the request could not be written to its end, so
// that no server can have acted on it.
func (r *request) unwritten(ctx context.Context, err error) bool {
	d := r.delivery
	if ctx.Err() != nil || d == nil || d.shared && d.wrote.Load() {
		return false // of a shared connection, what failed may be the write of another
	}
	var op *net.OpError
	if errors.As(secret.Original(err), &op) && (op.Op == "write" || op.Op == "readfrom") {
		return true
	}
	if d.conn != nil && d.conn.broken.Load() {
		return true
	}
	// net/http does not say which of its errors leave a request unwritten, but
	// returns them when nothing more is written; except where the context ends.
	return d.conn != nil && d.conn.writes.Load() == d.writes
}

// cut reports whether the network connection had been there and was lost.
func cut(err error) bool {
	var op *net.OpError
	err = secret.Original(err)
	return errors.Is(err, io.EOF) || errors.As(err, &op) && (op.Op == "read" || op.Op == "write" || op.Op == "readfrom") ||
		strings.Contains(err.Error(), "server closed idle connection")
}

// uncertain adds to an error what it may have left behind.
func (c *Conn) uncertain(r *request, err error) error {
	if r.method == rpc.MethodCallTool && r.call.Begun() {
		return fmt.Errorf("%w; the tool may have run", err)
	}
	return err
}
