package rpc

// This file is one request with its response.

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/seed94b59a13/mcp/internal/patience"
)

// A Call is one request and takes its raw answer. It serves one call and is not
// reused. The fields are set before the call.
type Call struct {
	Method string
	Params []byte // JSON

	Token    int64               // the call's progress token; 0 means none
	Progress func(params []byte) // called in order for notifications about the call, nil params saying only that it is alive; must not block or keep params
	Header   http.Header         // added to the call's HTTP request; nil on stdio

	Asker *Asker // whom the server may ask during the call; nil leaves that to Pending.Elicit

	// Generation counts the sessions that the connection had before the one
	// that the request went out in. It is set before the answer.
	Generation int

	id      int64         // set by Expect
	done    chan struct{} // closed when answer or err is set
	answer  Response      // guarded by done
	err     error         // guarded by done
	sending atomic.Int32  // one of the states below

	nameless *time.Timer // ends the wait of an error without an id, which answer has; guarded by Pending.mu
}

// An Asker asks a person what a server wants to know while it works on a call.
type Asker struct {
	// Clocks is the context whose clocks stand still while a person is asked
	// something that may belong to the call. See package patience.
	Clocks context.Context
	// Elicit answers a question, with the member result or error of a response.
	// It is called in a goroutine of Pending.Go; the context ends when the server
	// withdraws the question.
	Elicit func(ctx context.Context, params []byte) (reply []byte)
}

const (
	waiting   = iota // nothing of the request was written yet
	begun            // some of it may have been written
	abandoned        // it never will be
)

// A Response is what the server sent back: a result, or the error object.
type Response struct {
	Result  []byte // nil where the server sent an error
	Error   []byte
	Lent    bool // the bytes are valid until Release; else nothing changes them
	release func()
}

// Release gives the buffer behind the answer back to the transport. The bytes
// must not be used any more. Not calling it does not leak anything.
func (a Response) Release() {
	if a.release != nil {
		a.release()
	}
}

// NewCall returns a call that is not sent yet.
func NewCall(method string, params []byte) *Call {
	return &Call{Method: method, Params: params, done: make(chan struct{})}
}

// Again returns a call like c that is not sent yet, with other params.
func (c *Call) Again(params []byte) *Call {
	return &Call{Method: c.Method, Params: params, Token: c.Token, Progress: c.Progress, Header: c.Header, done: make(chan struct{})}
}

// ID returns the id of the call's request, once it is expected.
func (c *Call) ID() int64 { return c.id }

// Done is closed once the call has ended with an answer or an error.
func (c *Call) Done() <-chan struct{} { return c.done }

// Outcome returns the answer or error of the call; ok is false while there is
// neither, as when the context ended first.
func (c *Call) Outcome() (answer Response, err error, ok bool) {
	if !patience.Closed(c.done) {
		return Response{}, nil, false
	}
	return c.answer, c.err, true
}

// Begin is called by the writer just before the first byte goes out. It
// reports false if the caller has given up: then nothing must be sent.
func (c *Call) Begin() bool {
	return c.sending.CompareAndSwap(waiting, begun) || c.sending.Load() == begun
}

// Begun reports whether some of the request may have been written.
func (c *Call) Begun() bool { return c.sending.Load() == begun }

// Refused is called when the server has certainly not acted on what was
// written, so that the call may be sent again.
func (c *Call) Refused() { c.sending.CompareAndSwap(begun, waiting) }

// Abandon is called when the caller gives up. It reports whether the request
// certainly never reached the server, and never will.
func (c *Call) Abandon() bool {
	return c.sending.CompareAndSwap(waiting, abandoned) || c.sending.Load() == abandoned
}
