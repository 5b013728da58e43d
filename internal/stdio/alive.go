package stdio

// This file finds out whether a server is still there that has been silent
// since a call was cancelled: some die of that, and neither say so nor leave.

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed94b59a13/mcp/internal/patience"
	"github.com/seed94b59a13/mcp/internal/rpc"
)

const (
	// quietTime is how long a call hears nothing before the server is asked.
	quietTime = 3 * time.Second
	// pingTime is how long it may take to show a sign of life. One that works
	// on what was cancelled, and on nothing beside it, may well need a while.
	pingTime = 10 * time.Second
)

// doubt is what is known of whether the server is still there.
type doubt struct {
	quietTime, pingTime time.Duration

	signs     atomic.Int64 // of life: what it wrote to standard error, beside its messages
	cancelled atomic.Int64 // the messages heard when the last call was cancelled, and 1; 0 for none

	mu       sync.Mutex
	watching bool
	over     bool           // no goroutine may start any more
	watches  sync.WaitGroup // goroutines
}

// doubtful reports whether nothing was heard since a call was cancelled.
func (c *Conn) doubtful() bool {
	cancelled := c.doubt.cancelled.Load()
	return cancelled != 0 && cancelled == c.heard.Load()+1
}

// watch is called where a call waits though it is doubtful that somebody is
// there. If the server stays silent it is pinged, and if it stays silent then,
// the connection ends.
func (c *Conn) watch() {
	c.doubt.mu.Lock()
	defer c.doubt.mu.Unlock()
	if c.doubt.over || c.doubt.watching {
		return
	}
	c.doubt.watching = true
	c.doubt.watches.Go(func() { // ends within quietTime and pingTime, and with the connection
		silent := c.isSilent()
		c.doubt.mu.Lock()
		c.doubt.watching = false
		c.doubt.mu.Unlock()
		if silent {
			c.finish(fmt.Sprintf("it has been silent since a call was cancelled, also when it was pinged and had %v to answer", c.doubt.pingTime))
			c.halt()
		}
	})
}

// isSilent waits for a message, then pings, and reports whether nothing came of
// it. Any answer to the ping is a sign of life, and so is an error: servers that
// do not know the method say so. A server that works on what was cancelled may
// have no ear for a ping, but often writes a log.
func (c *Conn) isSilent() bool {
	if patience.Await(context.Background(), c.over, c.doubt.quietTime) || !c.doubtful() {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.doubt.pingTime)
	defer cancel()
	signs := c.doubt.signs.Load()
	c.Do(ctx, rpc.NewCall(rpc.MethodPing, nil))
	return ctx.Err() != nil && c.doubtful() && signs == c.doubt.signs.Load()
}

// end waits until nothing is watched any more. The connection has ended.
func (d *doubt) end() {
	d.mu.Lock()
	d.over = true
	d.mu.Unlock()
	d.watches.Wait()
}
