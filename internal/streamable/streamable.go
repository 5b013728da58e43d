// Package streamable speaks JSON-RPC over Streamable HTTP, and survives what
// servers, gateways and proxies answer.
//
// [Conn.Do] does the whole exchange of a call, a request and its answer, and
// whatever goes wrong in between is the error of that call. The stream besides
// those of the calls is open only while a call waits for what may come on it, so
// nothing runs while no call does.
package streamable

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/seed94b59a13/mcp/internal/patience"
	"github.com/seed94b59a13/mcp/internal/rpc"
	"github.com/seed94b59a13/mcp/internal/secret"
)

const (
	// discoverTime bounds the question which versions a server speaks: one
	// that does not know the method may never answer it.
	discoverTime = 3 * time.Second
	// pingTime bounds the question whether a session is still there.
	pingTime = 3 * time.Second
	// renewTime bounds the renewal of a session.
	renewTime = 30 * time.Second
	// replyTime is how long a server that has refused the answer to its own
	// request may be silent.
	replyTime = 3 * time.Second
	// noticeTime bounds what is sent and needs no answer.
	noticeTime = 5 * time.Second
	// stopTime bounds the goodbye to a server, and abortTime that to one that
	// did not start properly.
	stopTime  = 500 * time.Millisecond
	abortTime = 200 * time.Millisecond
	// drainTime is how long a stream may stay open after its answer. Most end
	// at once, and their connection can be used again.
	drainTime = 100 * time.Millisecond
	// maxReplies bounds the answers to a server's own requests under way, and
	// the cancellations that Stop sends.
	maxReplies = 16
)

// Config says what a [Conn] speaks to.
type Config struct {
	URL        *url.URL
	Header     http.Header       // of each request: the configured headers and the token
	Credential string            // what Header holds of credentials, for the error of a 401
	Transport  http.RoundTripper // sends the requests
	Own        *http.Transport   // emptied at the end; nil if Transport is the caller's
	Limit      int               // bytes of the longest message
	Quoter     *secret.Quoter    // of answers
	OnEnd      func(error)       // called once if the server ends the connection for good
	Pending    *rpc.Pending
	Auth       Authorizer // nil for none
	// StatusError makes the error for an answer that is none to the call. All
	// that it gets may be shown.
	StatusError func(status int, header http.Header, body, text string) error
}

// A Conn is the connection to one server.
type Conn struct {
	Config
	replies chan struct{} // a place for each reply under way
	buffers buffers
	skipped rpc.Skipped
	counted bool // Own tells what is written

	life    context.Context // ends when Stop or Abort begins
	endLife context.CancelFunc
	stop    sync.Once
	idle    chan struct{} // closed when nothing runs any more after stopping
	ended   chan struct{} // closed when the server has ended the connection
	end     sync.Once
	cookies cookies

	strays      sync.WaitGroup // requests of a caller's transport
	authorizers sync.WaitGroup // calls of Auth

	mu          sync.Mutex
	values      context.Context       // of Connect, for what no caller waits for
	running     map[*request]struct{} // with the goroutines that they left
	stopped     bool
	conns       map[*conn]struct{} // that are open; nil in the end
	session     session
	listener    listener
	lost        bool     // the server has forgotten the session
	renewal     *renewal // under way
	next        string   // the session id that the renewal has got
	initialize  []byte   // the requests that began the session
	initialized []byte
}

// New returns a connection. Nothing is sent before the SDK writes.
func New(config Config) *Conn {
	c := &Conn{
		Config:  config,
		replies: make(chan struct{}, maxReplies),
		idle:    make(chan struct{}),
		ended:   make(chan struct{}),
		values:  context.Background(),
		running: map[*request]struct{}{},
	}
	c.life, c.endLife = context.WithCancel(context.Background())
	if c.Own != nil {
		c.conns, c.counted = map[*conn]struct{}{}, c.count()
	}
	return c
}

// errStopped says that the connection has ended; the owner knows why.
var errStopped = errors.New("the connection has ended")

// Do sends the request of a call and returns when it has its answer, or an
// error if there will be none.
func (c *Conn) Do(ctx context.Context, call *rpc.Call) error {
	r := &request{method: call.Method, call: call}
	if r.method == rpc.MethodDiscover || r.method == rpc.MethodInitialize {
		c.mu.Lock()
		c.values = context.WithoutCancel(ctx)
		c.mu.Unlock()
	}
	if r.method == rpc.MethodDiscover {
		var cancel context.CancelFunc
		ctx, cancel = patience.WithTimeout(ctx, discoverTime)
		defer cancel()
	}
	if err := c.do(ctx, r); err != nil {
		return err
	}
	answer, _, _ := call.Outcome()
	c.began(r, answer)
	return nil
}

// Notify sends a notification, and returns when the server has taken it or the
// context has ended: it is on its way then, and goes on, unless it is a part of
// the handshake.
func (c *Conn) Notify(ctx context.Context, method string, params []byte) error {
	r := &request{method: method, body: rpc.Encode(0, method, params)}
	inner := context.WithoutCancel(ctx)
	if method == rpc.MethodInitialized {
		c.mu.Lock()
		c.initialized = r.body
		c.mu.Unlock()
		inner = ctx
	}
	select {
	case <-c.tell(inner, c.current(), r, nil):
	case <-ctx.Done():
	}
	return nil
}

// do runs the exchange of one call. Its error is that of the call, too, unless
// the context or the connection has ended.
func (c *Conn) do(ctx context.Context, r *request) error {
	inner, ok := c.enter(ctx, r)
	if !ok {
		return errStopped
	}
	c.Pending.Expect(r.call)
	defer c.Pending.Forget(r.call)
	r.id, r.body = r.call.ID(), r.call.Request()
	err := c.exchange(inner, r)
	if !r.draining {
		c.leave(r)
	}
	switch {
	case err == nil || errors.Is(err, errStopped):
	case ctx.Err() != nil:
		err = ctx.Err()
	case c.life.Err() != nil:
		err = errStopped
	default:
		c.Pending.Fail(r.id, err)
	}
	return err
}

// enter begins a request, until leave, and returns a context that also ends
// with the connection. It reports false when that has ended.
func (c *Conn) enter(ctx context.Context, r *request) (context.Context, bool) {
	if patience.Closed(c.ended) {
		return ctx, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return ctx, false
	}
	return c.run(ctx, r), true
}

// run is enter for who holds mu and knows that the connection has not ended.
func (c *Conn) run(ctx context.Context, r *request) context.Context {
	ctx, r.cancel = context.WithCancel(ctx)
	c.running[r] = struct{}{}
	return ctx
}

// leave ends a request that was entered. Shutdown waits for the last of them.
func (c *Conn) leave(r *request) {
	r.cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	if delete(c.running, r); len(c.running) == 0 && c.stopped {
		close(c.idle)
	}
}

// tell sends what gets no answer. taken is closed when the server has taken it,
// or never will. Whether it arrives changes nothing, since a server that refuses
// it shows that again when it is called; who wants to know how it was refused
// gives a function, which is called once.
func (c *Conn) tell(ctx context.Context, s session, r *request, told func(context.Context, error)) (taken <-chan struct{}) {
	done := make(chan struct{})
	ctx, ok := c.enter(ctx, r)
	if !ok {
		close(done)
		return done
	}
	go func() { // ends with the connection, and within noticeTime but for told
		defer c.leave(r)
		notice, cancel := patience.WithTimeout(ctx, noticeTime) // some servers never answer
		defer cancel()
		resp, err := c.send(notice, http.MethodPost, s, r)
		close(done)
		switch {
		case err == nil && told != nil && resp.StatusCode >= 400:
			err = c.failed(r, newFailure(resp, readText(resp)))
		case err == nil:
			c.drain(resp, nil, r)
		}
		if told != nil {
			told(ctx, err)
		}
	}()
	return done
}

// reply sends the answer to what the server asked while it worked on r, if that is
// known. A server that asks without taking the answers gets no more of them,
// unless the reply is one to wait with.
func (c *Conn) reply(s session, r *request, asked string, reply []byte, wait bool) {
	if reply == nil {
		return
	}
	select {
	case c.replies <- struct{}{}:
	default:
		if !wait {
			return
		}
		select {
		case c.replies <- struct{}{}:
		case <-c.life.Done():
			return
		}
	}
	c.tell(c.connectValues(), s, &request{body: reply}, func(ctx context.Context, err error) {
		<-c.replies
		if err != nil && asked != rpc.MethodPing && r != nil {
			c.mind(ctx, r, fmt.Errorf("the server does not take the answer to its own request %s: %w", c.line(asked), err))
		}
	})
}

// mind waits for a sign of life of a call that may now wait for ever: the server
// got no answer to what it asked. Without one, the call ends with the error.
func (c *Conn) mind(ctx context.Context, r *request, err error) {
	heard := r.heard.Load()
	if patience.Await(ctx, r.call.Done(), replyTime) || ctx.Err() != nil {
		return
	}
	if r.heard.Load() == heard && c.Pending.Fail(r.id, c.uncertain(r, err)) {
		c.answered(r.id)
	}
}

// connectValues returns a context with the values of that of Connect, which a
// caller's transport or Authorizer may look for, but not with its end.
func (c *Conn) connectValues() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.values
}

// finish records that the server has ended the connection for good.
func (c *Conn) finish(err error) {
	c.end.Do(func() {
		c.OnEnd(err)
		close(c.ended)
	})
}

// Quote returns nothing: a server behind HTTP has no last words.
func (c *Conn) Quote() string { return "" }

// Warnings returns what was skipped.
func (c *Conn) Warnings() []string {
	return c.skipped.Warnings("an event of a stream that is not a JSON-RPC message", "events of streams that are not JSON-RPC messages")
}

// Stop ends the calls in flight, then the session, for which the server gets
// half a second, and returns when nothing is left. It may be called more than
// once and from several goroutines.
func (c *Conn) Stop() { c.shutdown(stopTime) }

// Abort is Stop for a server that did not start properly.
func (c *Conn) Abort() { c.shutdown(abortTime) }

// shutdown takes its steps in this order: no request begins any more, those under
// way end, the server is told, and then the network connections are closed, since
// all before may still use them.
func (c *Conn) shutdown(limit time.Duration) {
	c.stop.Do(func() {
		waiting := c.Pending.Waiting()
		c.mu.Lock()
		c.stopped = true
		if len(c.running) == 0 {
			close(c.idle)
		}
		running := slices.Collect(maps.Keys(c.running)) // no more will follow
		c.mu.Unlock()
		c.endLife()
		for _, r := range running {
			r.cancel()
		}
		patience.Await(context.Background(), c.idle, limit) // a caller's transport may not mind its context
		ctx, cancel := context.WithTimeout(c.connectValues(), limit)
		defer cancel()
		c.goodbye(ctx, waiting)
		if c.Own != nil {
			c.closeAll()
		} else {
			wait(&c.strays, limit) // a transport that minds the contexts of its requests returns now
		}
		wait(&c.authorizers, authTime)
	})
}

// wait waits until all have returned, for a time.
func wait(all *sync.WaitGroup, limit time.Duration) {
	returned := make(chan struct{})
	go func() { // ends with the last of them
		all.Wait()
		close(returned)
	}()
	patience.Await(context.Background(), returned, limit)
}

// goodbye ends the session. A server that is told to forget a session while it
// works for it may first wait for that work, so the work is called off first.
func (c *Conn) goodbye(ctx context.Context, waiting []int64) {
	c.mu.Lock()
	s, next, lost := c.session, c.next, c.lost
	c.mu.Unlock()
	say := func(ctx context.Context, method string, s session, body []byte) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		if resp, err := c.send(ctx, method, s, &request{body: body}); err == nil {
			resp.Body.Close()
		}
	}
	if s.id != "" && !lost {
		deadline, _ := ctx.Deadline()
		half, cancel := context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
		var sent sync.WaitGroup
		for _, id := range waiting[:min(len(waiting), maxReplies)] {
			sent.Go(func() {
				say(half, http.MethodPost, s, rpc.Encode(0, rpc.MethodCancelled, rpc.Cancelled(id, "the connection is closed")))
			})
		}
		sent.Wait()
		say(ctx, http.MethodDelete, s, nil)
	}
	if next != "" {
		s.id = next
		say(ctx, http.MethodDelete, s, nil)
	}
}
