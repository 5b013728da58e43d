package streamable

// This file knows whether a request was sent: what certainly was not may be
// sent again, and what may have been never is.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptrace"
	"strings"
	"sync/atomic"

	"github.com/seed94b59a13/mcp/internal/rpc"
	"github.com/seed94b59a13/mcp/internal/secret"
)

// A body is the body of one request. It is of a type that net/http cannot
// read again, so that nothing but this package sends a call a second time.
type body struct {
	data []byte
	call *rpc.Call
}

var errGivenUp = errors.New("the caller has given up")

// Read claims the call before its first byte: a caller that gives up later has to
// say that the tool may have run, one that did so before stops it here.
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
	d.data.Reset(r.body)
	if r.call == nil {
		return httptrace.WithClientTrace(ctx, trace), io.NopCloser(&d.data)
	}
	trace.WroteRequest = func(info httptrace.WroteRequestInfo) { d.wrote.Store(info.Err == nil) }
	if !c.counted {
		return httptrace.WithClientTrace(ctx, trace), &body{r.body, r.call}
	}
	// Called by the goroutine that goes on to read the body.
	trace.WroteHeaders = func() {
		if !r.call.Begin() {
			d.data.Reset(nil) // net/http does not send a body that is too short
		}
	}
	return httptrace.WithClientTrace(ctx, trace), io.NopCloser(&d.data)
}

// A delivery is what is known of one attempt to send a request.
type delivery struct {
	loan   atomic.Pointer[loan] // nil while there is none
	shared bool                 // its connection carries others (HTTP/2)
	wrote  atomic.Bool          // net/http has passed it on whole
	data   bytes.Reader         // the body, where net/http may know what it is
	trace  httptrace.ClientTrace
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
	// net/http does not say which of its errors leave a request unwritten, but
	// returns them when nothing more is written; except where the context ends.
	l := d.loan.Load()
	return l != nil && (l.conn.broken.Load() || l.conn.writes.Load() == l.writes)
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
