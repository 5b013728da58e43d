package oauth

// This file lets all who wait for a token wait for one that gets it.

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed94b59a13/mcp/internal/patience"
)

// A want is what a request needs.
type want struct {
	sent   string   // not this token, which was refused or is old
	scopes []string // more than it has
	login  bool     // a person, whatever the token
}

// A work gets a token. It lives as long as someone waits for it: it belongs to
// no caller, so none that gives up takes it from the others.
type work struct {
	want   want
	cancel context.CancelCauseFunc
	done   chan struct{} // closed at the end; err is set
	err    error

	person bool // one may be asked

	// Guarded by grant.mu.
	waiting int
	asking  bool // one is
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

// A patient says how to wait for a work.
type patient struct {
	person bool          // the work may ask one, whose time does not count
	stay   bool          // the last one to go waits all the same: see Client.share
	grace  time.Duration // how long to wait; 0 for as long as the context lasts
}

var errSlow = errors.New("the authorization server is slow")

// share has do run for all who want the same, in a goroutine of its own, and
// waits for it. It returns at the end of the context. A work that nobody waits
// for ends at once but for a token request under way, whose answer may be the
// only token: with stay, the last one to go waits for that.
func (c *Client) share(ctx context.Context, g *grant, w want, how patient, do func(context.Context) error) error {
	for {
		g.mu.Lock()
		if !w.login && g.saved.Token != "" && g.saved.Token != w.sent {
			g.mu.Unlock()
			return nil // another one was quicker
		}
		k := g.work
		joined := k == nil || k.serves(w)
		if k == nil {
			k = &work{want: w, person: how.person, done: make(chan struct{})}
			var inner context.Context
			inner, k.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
			g.work = k
			go g.run(inner, k, do) // ends when nobody waits, or a token request later
		}
		if joined {
			k.waiting++
		}
		g.mu.Unlock()
		err := k.wait(ctx, how.grace)
		if joined {
			if last := g.leave(k); last && ctx.Err() != nil && how.stay {
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
	if k.person {
		defer patience.Pause(ctx)()
	}
	var slow <-chan time.Time
	if grace > 0 {
		timer := time.NewTimer(grace)
		defer timer.Stop()
		slow = timer.C
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
		k.over = true
		k.cancel(errGivenUp)
	}
	return k.waiting == 0
}

// giveUp ends the work under way, if there is any.
func (g *grant) giveUp(why error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.work != nil {
		g.work.over = true
		g.work.cancel(why)
	}
}

func (g *grant) run(ctx context.Context, k *work, do func(context.Context) error) {
	defer func() {
		if p := recover(); p != nil { // of Open, a Store or the like
			k.err = fmt.Errorf("getting a token: panic: %v", p)
		}
		if k.err != nil && ctx.Err() != nil && errors.Is(k.err, context.Canceled) {
			k.err = context.Cause(ctx)
		}
		g.mu.Lock()
		g.work = nil
		g.mu.Unlock()
		close(k.done)
		k.cancel(nil)
	}()
	k.err = do(ctx)
}

// beginAsking tells that the work under way asks a person from now on.
func (g *grant) beginAsking() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.work != nil {
		g.work.asking = true
	}
}

// detach runs what must not end with the context, and returns when that does.
func detach(ctx context.Context, do func(context.Context) error) error {
	ended := make(chan error, 1)
	go func() { // ends with the token request
		defer func() {
			if p := recover(); p != nil {
				ended <- fmt.Errorf("getting a token: panic: %v", p)
			}
		}()
		ended <- do(context.WithoutCancel(ctx))
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// graceTime is how long a call with a token that still does waits for another.
const graceTime = 2 * time.Second

// freshen renews a token that is about to expire, or has. One that still does is
// used all the same if the authorization server cannot be reached.
func (c *Client) freshen(ctx context.Context, g *grant, s saved) (saved, error) {
	renew := func(ctx context.Context) error {
		_, err := c.renew(ctx, g, s.Token)
		return err
	}
	how := patient{stay: true}
	if s.valid() {
		how.grace = graceTime
	}
	err := c.share(ctx, g, want{sent: s.Token}, how, renew)
	if now := g.snapshot(); errors.Is(err, errSlow) && !now.valid() {
		err = c.share(ctx, g, want{sent: s.Token}, patient{stay: true}, renew) // it has ended meanwhile
	}
	if ctx.Err() != nil {
		return saved{}, ctx.Err()
	}
	if now := g.snapshot(); err == nil || now.valid() {
		return now, nil
	}
	return saved{}, err
}
