package mcp

// This file asks a server for its list of tools.

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/seed94b59a13/mcp/internal/rpc"
)

const (
	maxListBytes = 64 << 20 // over all pages
	maxTools     = 20_000
	maxPages     = 1_000
	maxWarnings  = 100
	maxRestarts  = 3 // of a listing whose session was lost between two pages
)

// hashFactor makes the order of pages count.
const hashFactor = 0x9e3779b97f4a7c15

const stepListing = "listing tools"

// ToolsChanged returns a channel that receives after the server announced that
// its tools have changed, once however often it did since the last receive.
// RefreshTools then gets the new list. The channel is the same for the
// connection's life and is never closed: wait for Done beside it.
//
// Servers on stdio announce changes, up to protocol 2025-11-25. Over HTTP
// announcements are not watched, since that takes a stream that is always
// open; there the channel receives when a session was renewed.
func (c *Connection) ToolsChanged() <-chan struct{} { return c.changed }

func (c *Connection) toolsChanged() {
	c.changes.Add(1)
	select {
	case c.changed <- struct{}{}:
	default: // one is waiting to be received
	}
}

// A refresh is a listing that runs for all who wait for it.
type refresh struct {
	number  int   // listings are numbered in the order they begin
	changes int64 // announcements before it began
	waiting int   // callers; guarded by Connection.mu
	cancel  context.CancelFunc
	done    chan struct{} // closed when err is set
	err     error
}

// runs reports whether the listing goes on. Connection.mu is held.
func (r *refresh) runs() bool {
	select {
	case <-r.done:
		return false
	default:
		return r.waiting > 0
	}
}

// RefreshTools lists the tools anew and replaces the list in one step. On an
// error the previous list stays. Tools that are gone stay callable: the server
// answers for them.
//
// Concurrent calls share one listing, unless the server has announced a change
// since it began. A listing goes on until its last caller gives up.
func (c *Connection) RefreshTools(ctx context.Context) error {
	if err := c.refresh(ctx); err != nil {
		return c.failed(stepListing, err)
	}
	return nil
}

func (c *Connection) refresh(ctx context.Context) error {
	c.mu.Lock()
	err := ctx.Err()
	if err == nil && c.closed {
		err = cmp.Or(c.cause(), errClosed)
	}
	if err != nil {
		c.mu.Unlock()
		return fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	r := c.listing
	if r == nil || !r.runs() || r.changes != c.changes.Load() {
		r = &refresh{number: 1, changes: c.changes.Load(), done: make(chan struct{})}
		if c.listing != nil {
			r.number = c.listing.number + 1
		}
		c.listing = r
		// The values of the context belong to whoever came first: credentials
		// may be among them. Its end does not end what others wait for.
		listCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
		r.cancel = cancel
		c.background.Go(func() { // ends when canceled, and with the connection
			defer close(r.done)
			r.err = c.list(listCtx, r.number)
		})
	}
	r.waiting++
	c.mu.Unlock()

	select {
	case <-r.done:
		err = r.err
	case <-ctx.Done():
		err = ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.waiting--; r.waiting == 0 {
		r.cancel()
	}
	return err
}

// list lists the tools. Of two listings that overlap the later one counts.
func (c *Connection) list(ctx context.Context, number int) error {
	capabilities := c.hello.Capabilities
	if capabilities != nil && capabilities.Tools == nil {
		return nil // a server of prompts or resources alone
	}
	c.mu.Lock()
	last := c.listed
	c.mu.Unlock()
	l, err := c.pages(ctx, last)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if number > c.listNumber {
		c.listed, c.listNumber = l, number
	}
	return nil
}

// pages asks for one page after the other. It returns last if nothing has
// changed since.
func (c *Connection) pages(ctx context.Context, last *listing) (*listing, error) {
	var (
		l        = c.newListing(last)
		cursor   string
		cursors  = map[string]bool{}
		size     int
		session  int // that the pages are from
		restarts int
	)
	for page := 1; ; page++ {
		call := rpc.NewCall("tools/list", rpc.ListParams(cursor, c.meta))
		answer, err := c.call(ctx, call)
		if err != nil {
			return nil, err
		}
		// A cursor of a session that was lost means nothing to its successor.
		if page > 1 && call.Generation != session {
			answer.Release()
			if restarts++; restarts > maxRestarts {
				return nil, fmt.Errorf("the server forgot the session %d times", restarts)
			}
			l, page, size, cursor = c.newListing(last), 0, 0, ""
			clear(cursors)
			continue
		}
		session = call.Generation
		if answer.Error != nil {
			refusal := rpc.ParseError(answer.Error)
			answer.Release()
			if refusal.Code == jsonrpc.CodeMethodNotFound && page == 1 {
				break
			}
			return nil, c.refusal(refusal)
		}
		size += len(answer.Result)
		// Most lists have one page. What is unchanged then is not read at all.
		l.hash = l.hash*hashFactor + maphash.Bytes(c.seed, answer.Result)
		if l.hash == last.hash && last.tools != nil {
			answer.Release()
			return last, nil
		}
		if page == 1 {
			l.grow()
		}
		cursor = l.page(answer.Result)
		answer.Release()
		if cursor == "" {
			break
		}
		if size > maxListBytes {
			l.warn("the list of tools is longer than %d bytes: the rest is left out", maxListBytes)
			break
		}
		if cursors[cursor] {
			l.warn("the list of tools comes back to a page that was there before: it is taken to end here")
			break
		}
		if page == maxPages {
			l.warn("the list of tools has more than %d pages: the rest is left out", maxPages)
			break
		}
		cursors[cursor] = true
	}
	l.finish()
	for i := range l.tools {
		if tool := &l.tools[i]; tool.Handler == nil {
			tool.Handler = c.handler(*tool, l.plans[i])
		}
	}
	l.plans = nil
	return l, nil
}
