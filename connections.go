package mcp

// This file connects to several servers at once.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/seed94b59a13/mcp/internal/session"
)

// Connections are the servers of an application: those that could be
// connected, and why the others could not. All methods may be called
// concurrently. Whoever called [ConnectAll] calls Close.
type Connections struct {
	changed chan struct{}   // see ToolsChanged
	life    context.Context // ends when Close begins
	endLife context.CancelFunc

	setting sync.Mutex // held by Set and Close

	mu      sync.Mutex
	members []member // in the order of the servers
}

// A member is one server that was asked for.
type member struct {
	name       string
	connection *Connection // nil where it could not be connected
	err        error       // why
}

// A Status is how it stands with one server of [Connections].
type Status struct {
	// Name is that of the server.
	Name string
	// Connection is nil where the server could not be connected.
	Connection *Connection
	// Err says why it could not be connected, or why it has ended since. It is
	// nil for a connection that is open.
	Err error
}

// ConnectAll connects to the servers side by side and returns when each has
// connected or failed. A server that fails or hangs stops no other:
// [Connections.Status] and [Connections.Err] tell. The context bounds each start
// as it does for [Connect], and so does Server.StartTimeout; when the context
// ends, what is connected stays so.
//
// The second of two servers with one name fails with [ErrInvalidServer], since
// their tools could not be told apart.
func ConnectAll(ctx context.Context, servers ...Server) *Connections {
	c := &Connections{changed: make(chan struct{}, 1)}
	c.life, c.endLife = context.WithCancel(context.Background())
	c.members = c.connect(ctx, servers, nil)
	return c
}

// connect returns a member for each server: that of before where there is an
// equal one, else a new connection.
func (c *Connections) connect(ctx context.Context, servers []Server, before []member) []member {
	members := make([]member, len(servers))
	names := map[string]bool{}
	var wg sync.WaitGroup
	for i, server := range servers {
		m := &members[i]
		m.name = server.Name
		if names[server.Name] {
			m.err = fmt.Errorf("mcp server %q: %w: another server has this Name", server.Name, ErrInvalidServer)
			continue
		}
		names[server.Name] = true
		if at := slices.IndexFunc(before, func(m member) bool { return m.stays(server) }); at >= 0 {
			*m = before[at]
			continue
		}
		wg.Go(func() { m.connection, m.err = connect(ctx, server, c.toolsChanged) })
	}
	wg.Wait()
	return members
}

// stays reports whether the member serves for the server: it is connected, and
// was made of an equal one.
func (m *member) stays(server Server) bool {
	return m.connection != nil && !m.connection.over() && m.connection.given.Open().equal(server)
}

// Set makes the servers those of an application whose configuration was read
// again. A server that is connected already, with every field equal, stays as
// it is; all others are connected as by [ConnectAll]. Connections of servers
// that are gone, have changed or have ended are closed once their successors
// run. The order is that of servers.
//
// The error joins why servers could not be connected, as [Connections.Err] does
// afterwards. After Close nothing is connected and the error says so.
func (c *Connections) Set(ctx context.Context, servers ...Server) error {
	c.setting.Lock()
	defer c.setting.Unlock()
	if c.life.Err() != nil {
		return session.ErrClosed
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	c.mu.Lock()
	before := c.members
	c.mu.Unlock()
	members := c.connect(ctx, servers, before)
	c.mu.Lock()
	c.members = members
	c.mu.Unlock()
	c.toolsChanged()
	kept := map[*Connection]bool{}
	for _, m := range members {
		kept[m.connection] = true
	}
	var gone []*Connection
	for _, m := range before {
		if m.connection != nil && !kept[m.connection] {
			gone = append(gone, m.connection)
		}
	}
	return errors.Join(c.Err(), each(gone, (*Connection).Close))
}

func (c *Connections) toolsChanged() { signal(c.changed) }

// ToolsChanged returns a channel that receives after a server announced that
// its tools have changed, as [Connection.ToolsChanged] does for one, and after
// Set. RefreshTools then gets the new lists. The channel is the same for the
// life of the Connections and is never closed.
func (c *Connections) ToolsChanged() <-chan struct{} { return c.changed }

// Status returns how it stands with each server that was asked for, in their
// order. The slice is the caller's.
func (c *Connections) Status() []Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	status := make([]Status, len(c.members))
	for i, m := range c.members {
		status[i] = Status{Name: m.name, Connection: m.connection, Err: m.err}
		if m.connection != nil {
			status[i].Err = m.connection.Err()
		}
	}
	return status
}

// Err returns why servers could not be connected: the errors of [Connect], each
// of which names its server, joined in the order of the servers. It is nil if
// all are connected. What has ended since is in [Connections.Status].
func (c *Connections) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, m := range c.members {
		errs = append(errs, m.err)
	}
	return errors.Join(errs...)
}

// All returns the connections in the order of their servers. The slice is the
// caller's.
func (c *Connections) All() []*Connection {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*Connection
	for _, m := range c.members {
		if m.connection != nil {
			all = append(all, m.connection)
		}
	}
	return all
}

// Tools returns the tools of all connections, in the order of the servers. No
// two have the same name. A connection that has ended keeps its tools.
func (c *Connections) Tools() []Tool {
	var tools []Tool
	for _, connection := range c.All() {
		tools = append(tools, connection.Tools()...)
	}
	return tools
}

// RefreshTools lists the tools of all connections anew, side by side. The
// errors are joined; a connection whose listing fails keeps its list.
func (c *Connections) RefreshTools(ctx context.Context) error {
	return each(c.All(), func(connection *Connection) error { return connection.RefreshTools(ctx) })
}

// Warnings returns the warnings of all connections, each behind the name of
// its server.
func (c *Connections) Warnings() []string {
	var warnings []string
	for _, connection := range c.All() {
		for _, warning := range connection.Warnings() {
			warnings = append(warnings, connection.name+": "+warning)
		}
	}
	return warnings
}

// Instructions returns what the servers say about their use, see
// [Connection.Instructions]: one section for each that says something, under a
// line with its name, in the order of the servers. It is empty if none does.
func (c *Connections) Instructions() string {
	var b strings.Builder
	for _, connection := range c.All() {
		if instructions := connection.Instructions(); instructions != "" {
			if b.Len() > 0 {
				b.WriteString("\n\n")
			}
			fmt.Fprintf(&b, "MCP server %s:\n%s", connection.name, instructions)
		}
	}
	return b.String()
}

// Close closes all connections side by side, and so takes as long as the
// slowest. A Set that is under way is given up. It may be called more than once.
func (c *Connections) Close() error {
	c.endLife()
	c.setting.Lock()
	defer c.setting.Unlock()
	return each(c.All(), (*Connection).Close)
}

// each calls f for all connections at once and joins the errors.
func each(connections []*Connection, f func(*Connection) error) error {
	errs := make([]error, len(connections))
	var wg sync.WaitGroup
	for i, connection := range connections {
		wg.Go(func() { errs[i] = f(connection) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
