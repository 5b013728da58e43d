package mcp

// This file follows a call while it runs: its progress, and its silence.

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/rpc"
	"github.com/seed94b59a13/mcp/internal/text"
)

// A Progress is an update of a server on a call that runs.
type Progress struct {
	Progress float64 // how far it is, growing, in a unit of the server's choice
	Total    float64 // the value at the end; 0 if the server does not say
	Message  string  // for a person; empty if the server gives none
}

type progressKey struct{}

// WithProgress returns a context under which each tool call asks its server
// for progress and calls f with what comes. A nil f asks for none.
//
// The calls of f for one tool call come one after the other, in the server's
// order; no call starts after the Handler has returned. While f runs, updates
// replace each other, so that the next call has the latest. f runs in a
// goroutine of its own and holds nothing up: a Handler that has its answer
// lets f finish what is at hand, but for 20 milliseconds at most, and returns.
// A panic of f is recovered, and f is not called again for that tool call.
// Tool calls that run concurrently call f concurrently.
func WithProgress(ctx context.Context, f func(Progress)) context.Context {
	return context.WithValue(ctx, progressKey{}, f)
}

// lastWord is how long a call that has ended waits for f.
const lastWord = 20 * time.Millisecond

// follow prepares a call for progress, where the caller or CallTimeout wants
// it: the call gets a token and what is to be done. The context returned is that
// of the call; done must be called when the call has ended.
func (c *Connection) follow(ctx context.Context, call *rpc.Call) (_ context.Context, done func()) {
	f, _ := ctx.Value(progressKey{}).(func(Progress))
	limit := c.server.CallTimeout
	if f == nil && limit == 0 {
		return ctx, func() {}
	}
	call.Token = c.tokens.Add(1)
	w := &watch{f: f, limit: limit, idle: make(chan struct{}, 1)}
	call.Progress = w.progress
	if limit == 0 {
		return ctx, w.end
	}
	ctx, cancel := context.WithCancelCause(ctx)
	w.timer = time.AfterFunc(limit, func() { cancel(silence(limit)) })
	return ctx, func() {
		w.end()
		cancel(nil)
	}
}

// readProgress reads the params of a progress notification; ok is false where
// they say nothing.
func readProgress(params []byte) (p Progress, ok bool) {
	for name, value := range raw.Members(params) {
		switch string(name) {
		case "progress":
			n, err := strconv.ParseFloat(string(value), 64)
			p.Progress, ok = n, err == nil
		case "total":
			if n, err := strconv.ParseFloat(string(value), 64); err == nil {
				p.Total = n
			}
		case "message":
			message, _ := raw.String(value)
			p.Message, _ = text.Prompt(message)
		}
	}
	return p, ok
}

// A silence is the cause of a context whose call was too long without an
// answer or progress. It is no error of the context package: agent loops read
// those as the end of the whole run.
type silence time.Duration

func (s silence) Error() string {
	return fmt.Sprintf("no answer or progress for %v", time.Duration(s))
}

func (s silence) Unwrap() error { return os.ErrDeadlineExceeded }

// A watch follows one tool call.
type watch struct {
	f     func(Progress) // nil if nobody wants to know
	limit time.Duration
	timer *time.Timer // ends the call after limit; nil if it may be silent

	mu      sync.Mutex
	latest  Progress
	pending bool          // latest is still to be reported
	running bool          // run is at work
	ended   bool          // no call of f may start, and the timer is stopped
	idle    chan struct{} // gets a value when run ends
}

// progress takes the params of a notification, without waiting.
func (w *watch) progress(params []byte) {
	p, ok := readProgress(params)
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	if w.timer != nil {
		w.timer.Reset(w.limit)
	}
	if w.f == nil {
		return
	}
	w.latest, w.pending = p, true
	if !w.running {
		w.running = true
		go w.run() // ends when there is nothing to report; an f that blocks is its caller's
	}
}

func (w *watch) run() {
	running := true
	defer func() {
		if running { // f panicked or ended its goroutine
			recover()
			w.mu.Lock()
			w.running, w.f = false, nil
			w.mu.Unlock()
		}
		select {
		case w.idle <- struct{}{}:
		default:
		}
	}()
	for {
		w.mu.Lock()
		p := w.latest
		running = w.pending && !w.ended
		w.running, w.pending = running, false
		w.mu.Unlock()
		if !running {
			return
		}
		w.f(p)
	}
}

// end makes sure that no call of f starts any more. What the server said
// before its answer is still reported, if f is quick.
func (w *watch) end() {
	timer := time.NewTimer(lastWord)
	defer timer.Stop()
	for late := false; ; {
		w.mu.Lock()
		if w.ended = late || !w.running; w.ended {
			if w.timer != nil {
				w.timer.Stop()
			}
			w.mu.Unlock()
			return
		}
		w.mu.Unlock()
		select {
		case <-w.idle:
		case <-timer.C:
			late = true
		}
	}
}
