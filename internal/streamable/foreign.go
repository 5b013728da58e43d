package streamable

// This file keeps away what a caller's transport may do: wait for something of
// its own, such as a token or a lock, whatever the context of a request. It is
// left to that; who asked goes on when the context ends.

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
)

// roundTrip sends one request.
func (c *Conn) roundTrip(req *http.Request) (*http.Response, error) {
	if c.Own != nil {
		return c.Transport.RoundTrip(req)
	}
	ctx := req.Context()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	type outcome struct {
		resp *http.Response
		err  error
	}
	ended := make(chan outcome)
	c.strays.Go(func() { // ends when the transport returns; shutdown waits for a time
		resp, err := c.Transport.RoundTrip(req)
		if resp != nil && resp.Body != nil {
			resp.Body = &foreignBody{ctx: ctx, body: resp.Body, strays: &c.strays, closed: make(chan struct{})}
		}
		select {
		case ended <- outcome{resp, err}:
		case <-ctx.Done():
			if resp != nil && resp.Body != nil {
				resp.Body.Close()
			}
		}
	})
	select {
	case o := <-ended:
		return o.resp, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// foreignSize is how much of a foreign body is read at once, in bytes.
const foreignSize = 32 << 10

var errBodyClosed = errors.New("the body is closed")

// A foreignBody is the body of an answer of a caller's transport. Read and Close
// return when the context ends, which they would not all do.
type foreignBody struct {
	ctx    context.Context
	body   io.ReadCloser
	strays *sync.WaitGroup
	closed chan struct{}
	once   sync.Once

	buffer []byte // for a read that nobody may wait for any more
	rest   []byte // of it
	err    error  // that came with rest, or for good
}

// Read is not for concurrent use, but concurrent with Close.
func (b *foreignBody) Read(p []byte) (int, error) {
	if len(b.rest) == 0 && b.err == nil {
		b.fill()
	}
	n := copy(p, b.rest)
	if b.rest = b.rest[n:]; len(b.rest) > 0 {
		return n, nil
	}
	return n, b.err
}

// fill reads into a buffer of its own: a read that nobody waits for any more must
// not write into the caller's.
func (b *foreignBody) fill() {
	if b.buffer == nil {
		b.buffer = make([]byte, foreignSize)
	}
	type outcome struct {
		n   int
		err error
	}
	read := make(chan outcome, 1)
	b.strays.Go(func() { // ends with the read; shutdown waits for a time
		n, err := b.body.Read(b.buffer)
		read <- outcome{n, err}
	})
	select {
	case o := <-read:
		b.rest, b.err = b.buffer[:o.n], o.err
	case <-b.ctx.Done():
		b.err = b.ctx.Err()
	case <-b.closed:
		b.err = errBodyClosed
	}
}

// Close may be called more than once. A body whose Close hangs is left behind.
func (b *foreignBody) Close() error {
	b.once.Do(func() {
		close(b.closed)
		b.strays.Go(func() { b.body.Close() }) // as fill does
	})
	return nil
}
