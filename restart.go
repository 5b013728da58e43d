package mcp

// This file starts a program again that has ended by itself, when it is next
// needed.

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed94b59a13/mcp/internal/text"
)

const (
	// The wait between two starts doubles with each that answered no call.
	firstRestart, lastRestart = time.Second, time.Minute
	// maxIdleStarts is how many starts in a row may answer no call before the
	// connection ends.
	maxIdleStarts = 5
)

// restarts is what a connection with [Server.Restart] knows of its starts.
// Connection.mu guards it.
type restarts struct {
	count   int       // how often the server was started again
	cause   error     // of the last time
	why     error     // the last session has ended
	idle    int       // starts in a row that answered no call
	begun   time.Time // when the last start began
	running *restart  // nil while none is under way
}

// A restart is a start that is under way for all who wait for it.
type restart struct {
	done    chan struct{} // closed when session or err is set
	session *session
	err     error
}

// live returns the session to use. Where the last one has ended and the server
// may be started again, it does that, or waits for a start that is under way.
func (c *Connection) live(ctx context.Context) (*session, error) {
	s := c.session.Load()
	if !c.config().Restart || !s.over() {
		return s, nil
	}
	r, err := c.restart()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: starting the server again: %w", ErrNotSent, ctx.Err())
	}
	if r.err != nil {
		return nil, fmt.Errorf("%w: starting the server again: %w", ErrNotSent, r.err)
	}
	return r.session, nil
}

// restart begins a start, or returns the one that is under way.
func (c *Connection) restart() (*restart, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.session.Load()
	if s.over() {
		c.gone(s) // sessionEnded may not have come so far
	}
	switch {
	case c.closed:
		return nil, errClosed
	case c.cause() != nil:
		return nil, c.cause()
	case c.starts.running != nil:
		return c.starts.running, nil
	case !s.over(): // another caller's start has just succeeded
		r := &restart{done: make(chan struct{}), session: s}
		close(r.done)
		return r, nil
	}
	why := c.starts.why
	if wait := time.Until(c.starts.begun.Add(restartWait(c.starts.idle))); wait > 0 {
		return nil, fmt.Errorf("%w; it may be started again in %v", why, wait.Round(time.Millisecond)+time.Millisecond)
	}
	r := &restart{done: make(chan struct{})}
	c.starts.running, c.starts.begun = r, time.Now()
	c.starts.count, c.starts.cause = c.starts.count+1, why
	c.background.Go(func() { c.startAnew(r, s) }) // ends within the time for a start, and with the connection
	return r, nil
}

// restartWait is how long after a start the next may begin, when so many
// answered no call.
func restartWait(idle int) time.Duration {
	if idle == 0 {
		return 0
	}
	return min(firstRestart<<(idle-1), lastRestart)
}

// startAnew starts the server once the old session is gone.
func (c *Connection) startAnew(r *restart, old *session) {
	defer close(r.done)
	old.close(false)
	ctx, cancel := c.config().startContext(c.life)
	defer cancel()
	s, list, err := c.open(ctx, old.number+1)
	if err == nil {
		err = c.adopt(s, list)
	} else {
		err = c.failedStart(err)
	}
	r.session, r.err = s, err
	c.mu.Lock()
	defer c.mu.Unlock()
	c.starts.running = nil
}

// adopt makes a session that has begun the connection's.
func (c *Connection) adopt(s *session, list *toolList) error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		s.close(false)
		return errClosed
	}
	defer c.mu.Unlock()
	if s.number > 0 {
		s.tools = make(map[string]string, len(list.tools))
		for i := range list.tools {
			s.tools[list.tools[i].ServerTool] = list.tools[i].Fingerprint
		}
		s.forgot.Store(true)
		if list.List != c.listed.List {
			c.toolsChanged()
		}
	}
	c.listed = list
	c.session.Store(s)
	if s.over() {
		c.gone(s)
	}
	return nil
}

// sessionEnded is told that a session has ended by itself.
func (c *Connection) sessionEnded(s *session, err error) {
	s.end(err)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session.Load() == s { // else it has not begun yet
		c.gone(s)
	}
}

// gone takes note that the connection's session has ended by itself. mu is
// held.
func (c *Connection) gone(s *session) {
	switch {
	case s.err == nil || s.counted:
	case !c.config().Restart:
		c.end(s.err)
	default:
		s.counted = true
		if s.answered.Load() {
			c.starts.idle = 0
			c.starts.why = s.err
		} else {
			c.idleStart(s.err)
		}
	}
}

func (c *Connection) failedStart(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errClosed
	}
	c.idleStart(err)
	return err
}

// idleStart counts a start that answered no call. mu is held.
func (c *Connection) idleStart(err error) {
	if !errors.Is(err, ErrServerStopped) {
		err = fmt.Errorf("%w: %w", ErrServerStopped, err)
	}
	c.starts.why = err
	if c.starts.idle++; c.starts.idle == maxIdleStarts {
		c.end(fmt.Errorf("%w; none of the last %d starts answered a call", err, maxIdleStarts))
	}
}

// warnings tell how often the server was started again.
func (r *restarts) warnings() []string {
	if r.count == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the server was started again (%s so far), the last time after: %v", text.Count(r.count, "time"), r.cause)}
}

// checkTool says why a tool that was listed in an earlier session must not be
// called in s.
func (c *Connection) checkTool(s *session, tool, fingerprint string) error {
	now, ok := s.tools[tool]
	if now == fingerprint {
		return nil
	}
	c.toolsChanged()
	if ok {
		return fmt.Errorf("%w: the server was started anew and describes the tool differently now: see the new list", ErrNotSent)
	}
	return fmt.Errorf("%w: the server was started anew and does not offer the tool any more: see the new list", ErrNotSent)
}
