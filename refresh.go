package mcp

// This file asks a server for its list of tools.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/seed94b59a13/mcp/internal/listing"
	"github.com/seed94b59a13/mcp/internal/patience"
	"github.com/seed94b59a13/mcp/internal/protocol"
	"github.com/seed94b59a13/mcp/internal/rpc"
	"github.com/seed94b59a13/mcp/internal/session"
	"github.com/seed94b59a13/mcp/internal/streamable"
)

const stepListing = "listing tools"

// ToolsChanged returns a channel that receives after a server on stdio announced
// that its tools have changed, and over HTTP, where announcements are not
// watched, after a session was renewed: once, however often since the last
// receive. RefreshTools then gets the new list. The channel is the same for the
// connection's life and is never closed: wait for Done beside it.
//
// Servers announce changes up to protocol 2025-11-25. To watch for that over
// HTTP would take a stream that is always open.
func (c *Connection) ToolsChanged() <-chan struct{} { return c.changed }

func (c *Connection) toolsChanged() {
	c.changes.Add(1)
	signal(c.changed)
	if c.tell != nil {
		c.tell()
	}
}

// signal makes a channel receive, unless a value is waiting there already.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// A refresh is a listing that runs for all who wait for it. Connection.mu guards
// it.
type refresh struct {
	*run
	number  int   // listings are numbered in the order they begin
	changes int64 // announcements before it began
	waiting int   // callers
	cancel  context.CancelFunc
}

// serves reports whether who wants a list after so many announcements may wait
// for the listing.
func (r *refresh) serves(changes int64) bool {
	return r.waiting > 0 && r.changes == changes && !patience.Closed(r.done)
}

// RefreshTools lists the tools anew and replaces the list in one step. On an
// error the previous list stays. Tools that are gone stay callable: the server
// answers for them.
//
// Concurrent calls share one listing, unless the server has announced a change
// since it began. A listing goes on until its last caller gives up. A server of
// protocol 2026-07-28 may say how long its list stays the same (ttlMs): for so
// long, an hour at most, and until it announces a change, nothing is asked.
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
		err = cmp.Or(c.cause(), session.ErrClosed)
	}
	if err != nil {
		c.mu.Unlock()
		return fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	if c.listed.fresh(c.changes.Load()) && !c.session.Load().Over() {
		c.mu.Unlock()
		return nil
	}
	r := c.listing
	if changes := c.changes.Load(); !r.serves(changes) {
		// The values of the context belong to whoever came first: credentials
		// may be among them. Its end does not end what others wait for.
		listCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
		number := r.number + 1
		r = &refresh{number: number, changes: changes, cancel: cancel}
		r.run = c.begin(func() error { return c.list(listCtx, number) }) // ends when canceled, and with the connection
		c.listing = r
	}
	r.waiting++
	c.mu.Unlock()

	err = r.wait(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.waiting--; r.waiting == 0 {
		r.cancel()
	}
	return err
}

// A toolList is a list of tools with what tells the next one from it.
type toolList struct {
	*listing.List
	tools   []Tool
	read    time.Time // when it was
	changes int64     // announcements before
}

// fresh reports whether the server says that its list is still the same.
func (l *toolList) fresh(changes int64) bool {
	return l.Fresh > 0 && changes == l.changes && time.Since(l.read) < l.Fresh
}

// list lists the tools. Of two listings that overlap the later one counts.
func (c *Connection) list(ctx context.Context, number int) error {
	s, err := c.live(ctx)
	if err != nil {
		return err
	}
	now, err := c.read(ctx, s, c.lastList())
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if number > c.listNumber && c.session.Load() == s {
		c.listed, c.listNumber = now, number
	}
	return nil
}

func (c *Connection) lastList() *toolList {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.listed
}

// read lists the tools of a session. It returns last if nothing has changed.
func (c *Connection) read(ctx context.Context, s *start, last *toolList) (*toolList, error) {
	if !s.Info.Tools {
		return last, nil // a server of prompts or resources alone
	}
	read, changes := time.Now(), c.changes.Load()
	// Reading a long list takes a while: neither Close nor the last of those who
	// wait for it waits for that.
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(c.life, func() { stop(session.ErrClosed) })()
	config := listing.Config{
		Work:   work,
		Server: c.name,
		Keep:   c.config().Tools,
		Leave:  c.config().ExcludeTools,
		Name:   func(tool string) string { return ToolName(c.name, tool) },
		Quoter: c.quoter,
		Seed:   c.seed,
		Ask: func(ctx context.Context, cursor string) (rpc.Response, int, error) {
			call := rpc.NewCall(rpc.MethodListTools, rpc.ListParams(cursor, s.Meta))
			response, err := s.Call(ctx, call)
			return response, call.Generation, err
		},
	}
	tools := []Tool{}
	config.Last = func(i int) (name, serverTool string) { return last.tools[i].Name, last.tools[i].ServerTool }
	config.Begin = func(size int) { tools = make([]Tool, 0, size) }
	config.Take = func(t *listing.Tool) { tools = append(tools, c.tool(s, t, last.tools)) }
	if c.repeatsArguments(s) {
		config.Refuse = func(schema []byte) error {
			_, err := streamable.ReadParams(schema)
			return err
		}
	}
	list, err := listing.Read(ctx, config, last.List)
	if refusal := (*jsonrpc.Error)(nil); errors.As(err, &refusal) {
		return nil, session.Refusal(c.quoter, *refusal)
	}
	if err != nil {
		return nil, err
	}
	now := &toolList{list, last.tools, read, changes}
	if list != last.List {
		now.tools = tools
	}
	if s.Info.Protocol < protocol.Stateless {
		now.read = time.Time{} // the member means nothing there
	}
	return now, nil
}

// tool makes what a list says of a tool public, or takes over what was there
// before.
func (c *Connection) tool(s *start, t *listing.Tool, last []Tool) Tool {
	if t.Reused >= 0 {
		return last[t.Reused]
	}
	tool := Tool{
		Name: t.Name, Description: t.Description, InputSchema: t.InputSchema,
		Server: c.name, ServerTool: t.ServerTool, ServerSchema: t.ServerSchema,
		ServerDescription: t.ServerDescription, Title: t.Title, OutputSchema: t.OutputSchema,
		Annotations: (*Annotations)(t.Annotations), Fingerprint: t.Fingerprint,
	}
	tool.Handler = c.handler(s, &tool, t.Plan)
	return tool
}
