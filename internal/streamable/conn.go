package streamable

// This file has the network connections of the own transport. They tell what is
// written to them, and net/http sees nothing on them but answers to what it sent:
// it writes anything else to the host's log, secrets too, or takes it for the
// answer to the next request.

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// lastRead is how long a connection may be read that cannot be written to.
const lastRead = 2 * time.Second

var errStale = fmt.Errorf("the server has closed the connection: %w", io.EOF)

// A conn is a network connection, above its TLS unless that is for HTTP/2 or
// goes through a proxy.
//
// net/http reads ahead in a goroutine of its own, and logs what it finds while it
// waits for nothing. So what is not to be expected is held back where it comes
// in, and where the end of an answer can be seen, which is in its plain text. A
// connection that was sent more has ended for net/http, and is not used again.
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

// A loan is the use of a conn by one request.
type loan struct {
	conn   *conn
	writes int64 // before it
	number int   // of the requests on conn, this one included
}

// count makes the connections of the own transport conns. It reports false where
// they do not tell enough of what is written, and leaves a transport alone that
// has ways of its own to make connections, or shares those that do not say so.
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
	open := func(ctx context.Context, network, address string) (*conn, error) {
		plain, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return c.opened(&conn{Conn: plain, closed: c.closed, readable: peeker(plain)})
	}
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		made, err := open(ctx, network, address)
		if err == nil && c.URL.Scheme == "http" && address == hostPort(c.URL) {
			made.framing.end() // a server has nothing to say before it is asked, a proxy may
		}
		return made, err
	}
	t.DialTLSContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		made, err := open(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return made.encrypt(ctx, t, address)
	}
	return peeks
}

// encrypt returns the connection with TLS, as net/http would have it: for HTTP/2
// it must be a *tls.Conn, of which the conn below stays in use.
func (c *conn) encrypt(ctx context.Context, t *http.Transport, address string) (net.Conn, error) {
	config := &tls.Config{}
	if t.TLSClientConfig != nil {
		config = t.TLSClientConfig.Clone()
	}
	host, _, _ := net.SplitHostPort(address)
	config.ServerName = cmp.Or(config.ServerName, host)
	var cancel context.CancelFunc = func() {}
	if t.TLSHandshakeTimeout > 0 {
		ctx, cancel = context.WithTimeoutCause(ctx, t.TLSHandshakeTimeout, errHandshake)
	}
	defer cancel()
	encrypted := tls.Client(c, config)
	if err := encrypted.HandshakeContext(ctx); err != nil {
		c.Close()
		if context.Cause(ctx) == errHandshake {
			err = errHandshake // the deadline was not the caller's
		}
		return nil, err
	}
	if encrypted.ConnectionState().NegotiatedProtocol == "h2" {
		return encrypted, nil
	}
	above := &conn{Conn: encrypted, closed: func(*conn) {}, readable: c.readable}
	above.framing.end()
	return above, nil
}

var errHandshake = errors.New("the TLS handshake took too long")

// opened and closed keep the network connections that are open.
func (c *Conn) opened(made *conn) (*conn, error) {
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

// use is called when net/http has found the network connection.
//
// net/http keeps connections that the server has closed until it notices. Then
// there is something to be read, which between two requests there must not be.
func (d *delivery) use(info httptrace.GotConnInfo) {
	d.loan.Store(nil)
	d.shared = false
	below, readable := info.Conn, true
	for {
		t, ok := below.(*tls.Conn) // there are two below an HTTPS proxy
		if !ok {
			break
		}
		if t.ConnectionState().NegotiatedProtocol == "h2" {
			d.shared = true
			return
		}
		below, readable = t.NetConn(), false
	}
	c, ok := below.(*conn)
	if !ok {
		return
	}
	if info.Reused && (c.broken.Load() || c.readable()) {
		c.stale.Store(true)
	}
	c.begun.Store(false)
	c.counts.Store(true)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests++
	d.loan.Store(&loan{conn: c, writes: c.writes.Load(), number: c.requests})
	// Of what comes encrypted through a proxy only the time tells whether it was
	// to be expected.
	c.framing.begin(readable)
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
