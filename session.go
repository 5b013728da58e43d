package mcp

// This file has one start of a server, and its exchanges.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed94b59a13/mcp/internal/handshake"
	"github.com/seed94b59a13/mcp/internal/progress"
	"github.com/seed94b59a13/mcp/internal/rpc"
)

// A session is one start of a server, from its handshake to its end. Over HTTP
// a connection has one for life: what the protocol calls a session there is the
// transport's to renew.
type session struct {
	transport transport
	pending   *rpc.Pending
	info      *handshake.Info
	meta      []byte // of the protocol, for each call; members of a JSON object

	began    chan struct{}     // closed when info and meta are set
	number   int               // of starts before this one
	tools    map[string]string // the fingerprints of its tools by their names there; nil for the first session
	answered atomic.Bool       // a tool call has been
	forgot   atomic.Bool       // the next result is to say that the server was started anew
	counted  bool              // its end is taken note of; Connection.mu guards it

	ended sync.Once
	done  chan struct{} // closed when the session has ended; err is set
	err   error

	mu      sync.Mutex
	closed  bool           // close has begun
	notices sync.WaitGroup // under way, and questions

	life    context.Context // ends when close begins
	endLife context.CancelFunc
}

func (c *Connection) newSession(number int) *session {
	s := &session{number: number, began: make(chan struct{}), done: make(chan struct{}), pending: &rpc.Pending{ToolsChanged: c.toolsChanged, Quoter: c.quoter}}
	s.life, s.endLife = context.WithCancel(context.Background())
	if c.config().Elicit != nil {
		s.pending.Go = s.run
		s.pending.Elicit = func(ctx context.Context, params []byte) []byte {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(s.life, cancel)()
			select {
			case <-s.began:
			case <-ctx.Done():
			}
			return c.replyTo(ctx, s, "", params, &fault{})
		}
	}
	return s
}

// A transport speaks to a server: over stdio or HTTP.
type transport interface {
	handshake.Transport
	// Stop ends the transport and what is behind it, and returns when nothing
	// is left. Calls in flight end at once.
	Stop()
	// Abort is Stop for a server that did not start properly.
	Abort()
	// Quote returns the last words of the server as a clause for an error.
	Quote() string
	// Warnings tell what was skipped.
	Warnings() []string
}

// over reports whether the session has ended.
func (s *session) over() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// cause is why the session has ended by itself; nil while it goes on and after
// a close.
func (s *session) cause() error {
	if s.over() {
		return s.err
	}
	return nil
}

// end records how the session ended; the first call counts.
func (s *session) end(err error) {
	s.ended.Do(func() {
		if err != nil {
			s.err = fmt.Errorf("%w: %w", ErrServerStopped, err)
		}
		close(s.done)
	})
}

// close ends the session and returns when nothing of it is left. abort does
// so for a server that did not start properly.
func (s *session) close(abort bool) {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.endLife()
	if abort {
		s.transport.Abort()
	} else {
		s.transport.Stop()
	}
	s.notices.Wait() // returns at once: nothing is in flight any more
	s.end(nil)
}

// call sends one request and returns the raw answer. The caller releases it.
func (s *session) call(ctx context.Context, call *rpc.Call) (rpc.Response, error) {
	if err := cmp.Or(ctx.Err(), s.cause()); err != nil {
		return rpc.Response{}, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	s.transport.Do(ctx, call)
	// What Do says of the call is of no interest: either there is an outcome, or
	// it is known better here why there is none.
	answer, failure, ok := call.Outcome()
	switch {
	case ok && failure == nil:
		return answer, nil
	case ok && call.Abandon():
		return rpc.Response{}, fmt.Errorf("%w: %w", ErrNotSent, failure)
	case ok:
		return rpc.Response{}, failure
	}
	err := errClosed
	if cause := s.cause(); cause != nil {
		err = cause
	} else if ctx.Err() != nil {
		err = ctx.Err()
		if quiet := progress.Silence(0); errors.As(context.Cause(ctx), &quiet) {
			err = quiet
		}
	}
	notSent := call.Abandon()
	if !notSent && ctx.Err() != nil {
		s.cancel(ctx, call)
	}
	switch {
	case notSent:
		err = fmt.Errorf("%w: %w", ErrNotSent, err)
	case errors.Is(err, ErrServerStopped), errors.As(err, new(progress.Silence)):
		err = fmt.Errorf("%w; the tool may have run", err)
	}
	return rpc.Response{}, err
}

// startedAnew is the note in the first result after a restart.
const startedAnew = "[the server had ended and was started anew before this call: what it held is gone]"

// answer takes note that a tool call was answered, and returns what its result
// is to begin with.
func (s *session) answer() (note string) {
	if !s.answered.Load() {
		s.answered.Store(true)
	}
	if s.forgot.Load() && s.forgot.Swap(false) {
		return startedAnew
	}
	return ""
}

// noticeTime bounds telling the server that a call is given up.
const noticeTime = 5 * time.Second

// promptTime is how long a caller that gives up waits for the notice to be on its
// way. On stdio that takes no time unless the server does not read.
const promptTime = 250 * time.Millisecond

// cancel tells the server that a call is given up, so that no later call of the
// same caller overtakes the notice.
func (s *session) cancel(ctx context.Context, call *rpc.Call) {
	sent := make(chan struct{})
	if !s.run(func() { // ends within noticeTime, and with the session
		defer close(sent)
		notice, cancel := context.WithTimeout(context.WithoutCancel(ctx), noticeTime)
		defer cancel()
		s.transport.Notify(notice, rpc.MethodCancelled, rpc.Cancelled(call.ID(), ctx.Err().Error()))
	}) {
		return
	}
	timer := time.NewTimer(promptTime)
	defer timer.Stop()
	select {
	case <-sent:
	case <-timer.C:
	}
}

// run calls f in a goroutine that close waits for, and reports false once that
// has begun.
func (s *session) run(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.notices.Go(f)
	return true
}
