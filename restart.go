package mcp

// This file starts a program again that has ended by itself, when it is next
// needed.

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/seed94b59a13/mcp/internal/session"
)

// A start is a session of a connection, and what is known of it there.
type start struct {
	*session.Session
	number   int               // of starts before this one
	tools    map[string]string // the fingerprints of its tools by their names there; nil for the first start
	answered atomic.Bool       // a tool call has been
	forgot   atomic.Bool       // the next result is to say that the server was started anew
	counted  bool              // its end is taken note of; Connection.mu guards it
}

// startedAnew is the note in the first result after a restart.
const startedAnew = "[the server had ended and was started anew before this call: what it held is gone]"

// answer takes note that a tool call was answered, and returns what its result
// is to begin with.
func (s *start) answer() (note string) {
	if !s.answered.Load() { // calls side by side need not write to one word
		s.answered.Store(true)
	}
	if s.forgot.Load() && s.forgot.Swap(false) {
		return startedAnew
	}
	return ""
}

// A run is work that goes on for all who wait for it: a start, or a listing.
type run struct {
	done chan struct{} // closed when err is set
	err  error
}

// begin has work done in the background, where Close waits for it. mu is held,
// and closed is false.
func (c *Connection) begin(work func() error) *run {
	r := &run{done: make(chan struct{})}
	c.background.Go(func() {
		defer close(r.done)
		r.err = work()
	})
	return r
}

func (r *run) wait(ctx context.Context) error {
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// live returns the session to use. Where the last one has ended and the server
// may be started again, it does that, or waits for a start that is under way.
func (c *Connection) live(ctx context.Context) (*start, error) {
	s := c.session.Load()
	if !c.config().Restart || !s.Over() {
		return s, nil
	}
	r, err := c.restart()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	if r != nil {
		if err := r.wait(ctx); err != nil {
			return nil, fmt.Errorf("%w: starting the server again: %w", ErrNotSent, err)
		}
	}
	return c.session.Load(), nil
}

// restart begins a start, or returns the one that is under way; nil if another
// caller's has just succeeded.
func (c *Connection) restart() (*run, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.session.Load()
	c.gone() // sessionEnded may not have come so far
	switch {
	case c.closed:
		return nil, session.ErrClosed
	case c.cause() != nil:
		return nil, c.cause()
	case c.restarting != nil:
		return c.restarting, nil
	case !s.Over():
		return nil, nil
	}
	if err := c.starts.Again(); err != nil {
		return nil, err
	}
	c.restarting = c.begin(func() error { return c.startAnew(s) }) // ends within the time for a start, and with the connection
	return c.restarting, nil
}

// startAnew starts the server once the old session is gone.
func (c *Connection) startAnew(old *start) error {
	old.Close()
	ctx, cancel := c.config().startContext(c.life)
	defer cancel()
	s, list, err := c.open(ctx, old.number+1)
	if err == nil {
		err = c.adopt(s, list)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.restarting = nil
	switch {
	case err == nil:
	case c.closed:
		err = session.ErrClosed
	default:
		c.countStart(err, false)
	}
	return err
}

// adopt makes a session that has begun the connection's.
func (c *Connection) adopt(s *start, list *toolList) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		c.background.Go(s.Close) // Close waits for it
		return session.ErrClosed
	}
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
	c.gone()
	return nil
}

// sessionEnded is told that a session has ended by itself.
func (c *Connection) sessionEnded(s *session.Session, err error) {
	s.End(err)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone()
}

// gone takes note that the connection's session has ended by itself, if it has.
// mu is held.
func (c *Connection) gone() {
	s := c.session.Load() // nil while the first one has not begun
	switch {
	case s == nil || s.counted || s.Cause() == nil:
	case !c.config().Restart:
		c.end(s.Cause())
	default:
		s.counted = true
		c.countStart(s.Cause(), s.answered.Load())
	}
}

// countStart takes note of a start that has ended, or failed. mu is held.
func (c *Connection) countStart(why error, answered bool) {
	if over := c.starts.Ended(why, answered); over != nil {
		c.end(over)
	}
}

// checkTool says why a tool that was listed in an earlier session must not be
// called in s.
func (c *Connection) checkTool(s *start, tool, fingerprint string) error {
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
