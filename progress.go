package mcp

// This file tells a caller how far a call is.

import (
	"context"

	"github.com/seed94b59a13/mcp/internal/progress"
	"github.com/seed94b59a13/mcp/internal/rpc"
)

// A Progress is an update of a server on a call that runs.
type Progress struct {
	Done    float64 // how far it is, growing, in a unit of the server's choice
	Total   float64 // what Done is at the end; 0 if the server does not say
	Message string  // for a person, at most 8 KiB; empty if the server gives none
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

// follow prepares a call for progress, where the caller or CallTimeout wants
// it: the call gets a token and what is to be done. The context returned is that
// of the call; done must be called when the call has ended.
func (c *Connection) follow(ctx context.Context, call *rpc.Call) (_ context.Context, done func()) {
	f, _ := ctx.Value(progressKey{}).(func(Progress))
	limit := c.config().CallTimeout
	if f == nil && limit == 0 {
		return ctx, func() {}
	}
	call.Token = c.tokens.Add(1)
	var report func(progress.Update)
	if f != nil {
		report = func(u progress.Update) { f(Progress(u)) }
	}
	ctx, watch := progress.Follow(ctx, report, limit)
	call.Progress = watch.Take
	return ctx, watch.End
}
