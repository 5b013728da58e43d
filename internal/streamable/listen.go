package streamable

// This file listens to the stream that belongs to no request ("Listening for
// messages from the server"). Some servers send the progress of calls on it, and
// what they ask their user during one. For progress it is open only while a call
// waits that wants to know, and not for a call that is over soon. Where there is a
// user to ask it is open from the first call on, since a question that finds no
// stream is lost.

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/seed94b59a13/mcp/internal/patience"
	"github.com/seed94b59a13/mcp/internal/protocol"
	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/rpc"
)

const (
	// listenAfter is how long a call takes before the stream is opened for it.
	// Most are over by then.
	listenAfter = 150 * time.Millisecond
	// maxListens bounds the attempts in one session that brought no message. A
	// server that has no such stream says so to the first.
	maxListens = 5
	firstPause = 100 * time.Millisecond
	// openTime bounds the wait for the server to open it.
	openTime = 2 * time.Second
	// longEnough is how long a stream without a message lasts that was not in
	// vain: something between cuts those that are idle.
	longEnough = 5 * time.Second
)

// A listener is what a Conn knows of that stream. It is guarded by Conn.mu.
type listener struct {
	session session            // that it is, or was, open in
	calls   int                // that wait for what comes on it
	stop    context.CancelFunc // ends it; nil while it is not open
	opened  chan struct{}      // closed when the server has answered, whatever
	stays   bool               // it is open while no call waits, too
	vain    int                // attempts that brought nothing
}

// A listening is what one call wants of it. It is guarded by Conn.mu.
type listening struct{ began, over bool }

// listen opens the stream for a call, unless that is over before. done must be
// called when it is.
func (c *Conn) listen(ctx context.Context, r *request) (done func()) {
	var wanted listening
	if r.call.Asker != nil {
		patience.Await(ctx, c.beginListening(&wanted, true), openTime)
		return func() { c.endListening(&wanted) }
	}
	if r.call.Progress == nil {
		return func() {}
	}
	timer := time.AfterFunc(listenAfter, func() { c.beginListening(&wanted, false) })
	return func() {
		timer.Stop()
		c.endListening(&wanted)
	}
}

// beginListening opens the stream, unless it is open. The channel is closed when
// the server has answered.
func (c *Conn) beginListening(wanted *listening, stays bool) (opened <-chan struct{}) {
	none := make(chan struct{})
	close(none)
	c.mu.Lock()
	defer c.mu.Unlock()
	s, l := c.session, &c.listener
	if wanted.over || c.stopped || s.id == "" || s.version >= protocol.Stateless {
		return none
	}
	wanted.began = true
	l.calls++
	l.stays = l.stays || stays
	// After a renewal the stream of the session before says nothing any more.
	if l.session.generation != s.generation || l.session.id != s.id {
		if l.stop != nil {
			l.stop()
		}
		*l = listener{session: s, calls: l.calls, stays: l.stays}
	}
	if l.stop != nil {
		return l.opened
	}
	if l.vain >= maxListens {
		return none
	}
	inner := &request{}
	ctx := c.run(c.values, inner)
	l.stop, l.opened = inner.cancel, make(chan struct{})
	go c.hearOut(ctx, s, inner, l.opened) // ends with the last call that wants it unless it stays, and with the connection
	return l.opened
}

// endListening closes the stream after the last call that wanted it. One that stays
// is for questions, which no call needs to wait for.
func (c *Conn) endListening(wanted *listening) {
	c.mu.Lock()
	defer c.mu.Unlock()
	wanted.over = true
	if !wanted.began {
		return
	}
	l := &c.listener
	if l.calls--; l.calls == 0 && l.stop != nil && !l.stays {
		l.stop()
		l.stop = nil
	}
}

// hearOut reads the stream, again where it ends, as long as that brings anything.
func (c *Conn) hearOut(ctx context.Context, s session, r *request, opened chan<- struct{}) {
	defer c.leave(r)
	open := sync.OnceFunc(func() { close(opened) })
	defer open()
	e := newEvents(&c.buffers, c.Limit)
	defer e.free()
	for pause := firstPause; ; pause = min(2*pause, lastWait) {
		begun, vain := time.Now(), 1
		resp, err := c.send(ctx, http.MethodGet, s, r)
		open()
		switch {
		case err != nil:
		case resp.StatusCode == http.StatusOK && mediaType(resp) == "text/event-stream":
			e.read(resp.Body)
			if c.hearAll(s, e) || time.Since(begun) > longEnough {
				pause, vain = firstPause, 0
			}
		case resp.StatusCode != http.StatusConflict && resp.StatusCode < 500:
			// 405 is the specification's word for a server without such a stream,
			// but 400, 401 and 404 are seen, and pages. 409 means that an earlier
			// one is still open there.
			vain = maxListens
		}
		if err == nil {
			resp.Body.Close()
			r.after = e.lastID
		}
		// Once nobody waits any more, the end says nothing of the stream.
		if ctx.Err() != nil || !c.listensOn(s, vain) || !patience.Sleep(ctx, min(max(pause, e.retry), maxWait)) {
			return
		}
	}
}

// listensOn takes note of an attempt, with how much more of them were in vain, and
// reports whether to make another. Where no call waits the next one opens the
// stream again.
func (c *Conn) listensOn(s session, vain int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := &c.listener
	if l.session.generation != s.generation {
		return false
	}
	if l.vain += vain; vain == 0 {
		l.vain = 0
	}
	if l.calls == 0 {
		l.stop = nil
	}
	return l.calls > 0 && l.vain < maxListens
}

// hearAll takes what comes on the stream until it ends, and reports whether
// there was anything.
func (c *Conn) hearAll(s session, e *events) (any bool) {
	for {
		data, err := e.next()
		if err != nil {
			return any
		}
		for m, skipped := range rpc.Messages(data) {
			if skipped == nil {
				any = true
				c.hear(s, m)
			}
		}
	}
}

// hear takes one message that belongs to no request, or does not say to which.
func (c *Conn) hear(s session, m rpc.Message) {
	id, ok := raw.Whole(m.ID)
	if m.Method == "" && (!ok || id == 0) || c.Pending.Asks(m, nil, func(reply []byte) { c.reply(s, nil, m.Method, reply, true) }) {
		return
	}
	reply, _ := c.Pending.Receive(m, nil)
	c.reply(s, nil, m.Method, reply, false)
	if m.Method == "" { // against the specification, but it is an answer
		c.answered(id)
	}
}
