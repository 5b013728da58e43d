// Package patience has contexts whose time stands still while a person is
// asked something, which takes as long as it takes.
package patience

import (
	"context"
	"sync"
	"time"
)

// A Clock is something with a time limit. Pause and Resume may be called several
// times over, in pairs. Between the first Pause and the last Resume no time passes
// for it.
type Clock interface {
	Pause()
	Resume()
}

// key is that of the clocks in a context, of which the innermost comes first.
type key struct{}

type clocks struct {
	clock Clock
	outer *clocks
}

// With returns a context whose clocks include c. A question within a call stops the
// limit of the call and that of the step it is in, whoever has set them.
func With(ctx context.Context, c Clock) context.Context {
	outer, _ := ctx.Value(key{}).(*clocks)
	return context.WithValue(ctx, key{}, &clocks{c, outer})
}

// Pause stops all clocks of the context until resume is called. resume must be
// called once, and may be by another goroutine.
func Pause(ctx context.Context) (resume func()) {
	all, _ := ctx.Value(key{}).(*clocks)
	for c := all; c != nil; c = c.outer {
		c.clock.Pause()
	}
	return func() {
		for c := all; c != nil; c = c.outer {
			c.clock.Resume()
		}
	}
}

// WithTimeout is context.WithTimeout but for pauses. The context tells no deadline,
// since that may move. Whoever calls it must call the CancelFunc, which stops the
// timer.
func WithTimeout(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	t := &timeout{Context: ctx}
	t.limit.Start(limit, func() { cancel(context.DeadlineExceeded) })
	return With(t, &t.limit), func() {
		t.limit.Stop()
		cancel(nil)
	}
}

type timeout struct {
	context.Context
	limit Limit
}

// Err tells the end of the time from another one.
func (t *timeout) Err() error {
	err := t.Context.Err()
	if err != nil && context.Cause(t.Context) == context.DeadlineExceeded {
		return context.DeadlineExceeded
	}
	return err
}

// A Limit is a timer that can be paused. Pauses nest: several questions may be
// asked at once. Its methods may be called concurrently, once Start was.
type Limit struct {
	mu     sync.Mutex
	timer  *time.Timer
	left   time.Duration
	since  time.Time
	paused int
	over   bool // stopped
}

// Start begins with f to be called after limit.
func (l *Limit) Start(limit time.Duration, f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left, l.since = limit, time.Now()
	l.timer = time.AfterFunc(limit, f)
}

// Restart begins anew. During a pause it begins with the end of that. A limit that
// was stopped stays so.
func (l *Limit) Restart(limit time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left, l.since = limit, time.Now()
	if l.paused == 0 && !l.over {
		l.timer.Reset(limit)
	}
}

// Stop ends the timer for good.
func (l *Limit) Stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	l.timer.Stop()
}

// Pause implements [Clock].
func (l *Limit) Pause() {
	l.mu.Lock()
	defer l.mu.Unlock()
	// A timer that has fired has no time left that could be kept; Stop tells.
	if l.paused++; l.paused == 1 && !l.over && l.timer.Stop() {
		l.left -= time.Since(l.since)
	}
}

// Resume implements [Clock].
func (l *Limit) Resume() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paused--; l.paused == 0 && !l.over {
		l.since = time.Now()
		l.timer.Reset(max(l.left, 0))
	}
}

// Sleep waits for d, and reports false if the context ended first.
func Sleep(ctx context.Context, d time.Duration) bool {
	Await(ctx, nil, d)
	return ctx.Err() == nil
}

// Await waits until done is closed, and reports false if the context or the time
// ended first. A nil channel is never closed. If several have ended, done wins.
func Await(ctx context.Context, done <-chan struct{}, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-ctx.Done():
	}
	return Closed(done)
}

// Closed reports whether done is closed, without a wait. It is for channels that
// nobody sends on; a nil one is never closed.
func Closed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}
