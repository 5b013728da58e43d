package oauth

// This file lets all who wait for a token wait for one that gets it.

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed94b59a13/mcp/internal/patience"
)

// A want is what a request needs, and how it waits for that.
type want struct {
	sent   string        // not this token, which was refused or is old
	scopes []string      // more than it has
	login  bool          // a person, whatever the token
	person bool          // one may be asked, whose time does not count
	grace  time.Duration // to wait; 0 for as long as the context lasts
}

// A work gets a token. It lives as long as someone waits for it: it belongs to
// no caller, so none that gives up takes it from the others.
type work struct {
	want   want
	cancel context.CancelCauseFunc
	done   chan struct{} // closed at the end; err is set
	err    error

	// Guarded by grant.mu.
	waiting int
	asking  bool // a person
	over    bool // nobody waits for it, or it is to end: no one may join
}

// serves reports whether who wants w may wait for the work's outcome.
func (k *work) serves(w want) bool {
	switch {
	case k.over:
		return false
	case w.login:
		return k.want.login || k.asking
	}
	return k.want.login || k.want.sent == w.sent && containsAll(k.want.scopes, w.scopes)
}

var errSlow = errors.New("the authorization server is slow")

// share has do run for all who want the same, in a goroutine of its own, and
// waits for it. It returns at the end of the context. A work that nobody waits
// for ends at once but for a token request under way, whose answer may be the
// only token: of the calls, the last one to go waits for that, so that Close
// does. Who called Login has nothing to close.
func (c *Client) share(ctx context.Context, g *grant, w want, do func(context.Context) error) error {
	for {
		g.mu.Lock()
		if !w.login && g.Token != "" && g.Token != w.sent {
			g.mu.Unlock()
			return nil // another one was quicker
		}
		k := g.work
		if k == nil {
			k = &work{want: w, done: make(chan struct{})}
			var inner context.Context
			inner, k.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
			g.work = k
			go g.run(inner, k, do) // ends when nobody waits, or a token request later
		}
		joined := k.serves(w)
		if joined {
			k.waiting++
		}
		g.mu.Unlock()
		err := k.wait(ctx, w.grace)
		if joined {
			if last := g.leave(k); last && ctx.Err() != nil && !w.login {
				<-k.done
			}
			return err
		}
		if ctx.Err() != nil || err == errSlow {
			return err
		}
	}
}

// wait returns the outcome of the work, or why it was not waited for.
func (k *work) wait(ctx context.Context, grace time.Duration) error {
	if k.want.person {
		defer patience.Pause(ctx)()
	}
	var slow <-chan time.Time
	if grace > 0 {
		slow = time.After(grace)
	}
	select {
	case <-k.done:
		return k.err
	case <-slow:
		return errSlow
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g *grant) leave(k *work) (last bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if k.waiting--; k.waiting == 0 {
		k.end(errGivenUp)
	}
	return k.waiting == 0
}

// end has the work end soon. The caller holds the grant's mutex.
func (k *work) end(why error) {
	k.over = true
	k.cancel(why)
}

func (g *grant) run(ctx context.Context, k *work, do func(context.Context) error) {
	k.err = guarded("getting a token", func() error { return do(ctx) })
	if k.err != nil && ctx.Err() != nil && errors.Is(k.err, context.Canceled) {
		k.err = context.Cause(ctx)
	}
	g.do(func() { g.work = nil })
	close(k.done)
	k.cancel(nil)
}

// guarded calls what runs code of others, such as Open, a Store or a key: their
// panic ends what they were called for, and not the program.
func guarded(what string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: panic: %v", what, p)
		}
	}()
	return f()
}

// detach runs what must not end with the context, and returns when that does.
func detach(ctx context.Context, do func(context.Context) error) error {
	ended := make(chan error, 1)
	go func() { // ends with the token request
		ended <- guarded("getting a token", func() error { return do(context.WithoutCancel(ctx)) })
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
