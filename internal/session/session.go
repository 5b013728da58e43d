// Package session has one start of a server: it begins with the handshake, has
// the exchanges of requests, and ends with the transport.
package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seed94b59a13/mcp/internal/handshake"
	"github.com/seed94b59a13/mcp/internal/patience"
	"github.com/seed94b59a13/mcp/internal/progress"
	"github.com/seed94b59a13/mcp/internal/rpc"
)

var (
	// ErrStopped is wrapped by errors once the server has ended by itself.
	ErrStopped = errors.New("server stopped")
	// ErrNotSent is wrapped by the error of a call that certainly never reached
	// the server.
	ErrNotSent = errors.New("request not sent")
	// ErrClosed is the reason after a plain close. Nobody branches on it: who
	// closed knows.
	ErrClosed = errors.New("the connection is closed")
)

// A Session is one start of a server, from its handshake to its end. Over HTTP
// a connection has one for life: what the protocol calls a session there is the
// transport's to renew. Its methods may be called concurrently.
type Session struct {
	Pending *rpc.Pending
	// Info and Meta, the members of the protocol in the metadata of each call, are
	// set once the session has begun.
	Info *handshake.Info
	Meta []byte

	transport Transport
	began     chan struct{} // closed when Info and Meta are set

	ended sync.Once
	done  chan struct{} // closed when the session has ended; err is set
	err   error

	mu     sync.Mutex
	closed bool           // Close has begun
	work   sync.WaitGroup // of run

	life    context.Context // ends when Close begins
	endLife context.CancelFunc
}

// A Transport speaks to a server: over stdio or HTTP.
type Transport interface {
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

// Version returns the version of the protocol, empty before the session has begun.
func (s *Session) Version() string {
	if !patience.Closed(s.began) {
		return ""
	}
	return s.Info.Protocol
}

// Warnings tell what the server did that it should not have.
func (s *Session) Warnings() []string { return s.transport.Warnings() }

// Over reports whether the session has ended.
func (s *Session) Over() bool { return patience.Closed(s.done) }

// Cause is why the session has ended by itself, an error that wraps
// [ErrStopped]; nil while it goes on and after Close.
func (s *Session) Cause() error {
	if s.Over() {
		return s.err
	}
	return nil
}

// End records how the session ended, nil for Close; the first call counts.
func (s *Session) End(err error) {
	s.ended.Do(func() {
		if err != nil {
			s.err = fmt.Errorf("%w: %w", ErrStopped, err)
		}
		close(s.done)
	})
}

// Close ends the session and returns when nothing of it is left.
func (s *Session) Close() { s.close(s.transport.Stop) }

func (s *Session) close(stop func()) {
	// In this order: nothing begins any more, then what waits for a person gives up,
	// then the transport ends what is in flight.
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.endLife()
	stop()
	s.work.Wait() // returns at once: nothing is in flight any more
	s.End(nil)
}

// Call sends one request and returns the raw answer. The caller releases it. An
// error that wraps ErrNotSent is certain; of one that does not the server may have
// read the request, and done what it asks for.
func (s *Session) Call(ctx context.Context, call *rpc.Call) (rpc.Response, error) {
	if err := cmp.Or(ctx.Err(), s.Cause()); err != nil {
		return rpc.Response{}, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	s.transport.Do(ctx, call)
	// What Do says of the call is of no interest: either there is an outcome, or
	// it is known better here why there is none.
	answer, failure, ok := call.Outcome()
	if ok && failure == nil {
		return answer, nil
	}
	notSent := call.Abandon()
	if ok {
		if notSent {
			failure = fmt.Errorf("%w: %w", ErrNotSent, failure)
		}
		return rpc.Response{}, failure
	}
	silence := progress.Silence(0)
	err := cmp.Or(s.Cause(), ctx.Err(), ErrClosed)
	if err == ctx.Err() && errors.As(context.Cause(ctx), &silence) {
		err = silence
	}
	switch {
	case notSent:
		return rpc.Response{}, fmt.Errorf("%w: %w", ErrNotSent, err)
	case ctx.Err() != nil:
		s.cancel(ctx, call)
	}
	if silence != 0 || errors.Is(err, ErrStopped) {
		err = fmt.Errorf("%w; the tool may have run", err)
	}
	return rpc.Response{}, err
}

const (
	// noticeTime bounds telling the server that a call is given up.
	noticeTime = 5 * time.Second
	// promptTime is how long a caller that gives up waits for the notice to be on
	// its way. On stdio that takes no time unless the server does not read.
	promptTime = 250 * time.Millisecond
)

// cancel tells the server that a call is given up, so that no later call of the
// same caller overtakes the notice.
func (s *Session) cancel(ctx context.Context, call *rpc.Call) {
	prompt, sent := context.WithTimeout(context.WithoutCancel(ctx), promptTime)
	defer sent()
	if s.run(func() { // ends within noticeTime, and with the session
		defer sent()
		notice, cancel := context.WithTimeout(context.WithoutCancel(ctx), noticeTime)
		defer cancel()
		s.transport.Notify(notice, rpc.MethodCancelled, rpc.Cancelled(call.ID(), ctx.Err().Error()))
	}) {
		<-prompt.Done()
	}
}

// run calls f in a goroutine that Close waits for, and reports false once that
// has begun.
func (s *Session) run(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.work.Go(f)
	return true
}
