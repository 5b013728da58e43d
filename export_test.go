package mcp

// This file opens to the tests what has no other way in.

import (
	"reflect"
	"time"
)

// Waiting returns how many calls and progress tokens the connection knows.
func Waiting(c *Connection) (calls, tokens int) {
	pending := reflect.ValueOf(c.session.Load().Pending).Elem()
	return pending.FieldByName("calls").Len(), pending.FieldByName("tokens").Len()
}

// EndSession ends the session as if its server had just gone, before the
// connection is told.
func EndSession(c *Connection, err error) { c.session.Load().End(err) }

// BeginsLate makes the last start of the server one of the future, so that the
// next may not begin yet on the slowest machine.
func BeginsLate(c *Connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.starts.Begun = time.Now().Add(time.Hour)
}
