package mcp

// This file opens to the tests what has no other way in.

import (
	"context"
	"reflect"
	"time"

	"github.com/seed94b59a13/mcp/internal/tap"
)

// Follow follows a call that nobody sends.
func Follow(ctx context.Context, timeout time.Duration) (_ context.Context, update func(params string), done func()) {
	c := &Connection{server: Server{CallTimeout: timeout}}
	slot := tap.NewSlot("x", nil)
	ctx, done = c.follow(ctx, slot)
	return ctx, func(params string) { slot.Progress([]byte(params)) }, done
}

// Waiting returns how many calls and progress tokens the connection knows.
func Waiting(c *Connection) (calls, tokens int) {
	inbox := reflect.ValueOf(c.inbox).Elem()
	return inbox.FieldByName("slots").Len(), inbox.FieldByName("tokens").Len()
}
