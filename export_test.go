package mcp

// This file opens to the tests what has no other way in.

import (
	"context"
	"reflect"
	"time"

	"github.com/seed94b59a13/mcp/internal/rpc"
)

// Follow follows a call that nobody sends.
func Follow(ctx context.Context, timeout time.Duration) (_ context.Context, update func(params string), done func()) {
	c := &Connection{server: Server{CallTimeout: timeout}}
	call := rpc.NewCall("x", nil)
	ctx, done = c.follow(ctx, call)
	return ctx, func(params string) { call.Progress([]byte(params)) }, done
}

// Waiting returns how many calls and progress tokens the connection knows.
func Waiting(c *Connection) (calls, tokens int) {
	pending := reflect.ValueOf(c.pending).Elem()
	return pending.FieldByName("calls").Len(), pending.FieldByName("tokens").Len()
}
