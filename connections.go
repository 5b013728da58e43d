package mcp

// This file connects to several servers at once.

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// atOnce bounds how many servers start at the same time: each may be several
// processes that all load their code.
const atOnce = 8

// Connections are the servers of an application that could be connected, and
// why the others could not. All methods may be called concurrently. Whoever
// called [ConnectAll] calls Close.
type Connections struct {
	connections []*Connection
	err         error
}

// ConnectAll connects to the servers side by side, at most eight at a time, and
// returns when each has connected or failed. A server that fails stops no
// other: [Connections.Err] tells. The context bounds each start as it does for
// [Connect]; when it ends, what is connected stays so.
//
// The second of two servers with one name fails with [ErrInvalidServer], since
// their tools could not be told apart.
func ConnectAll(ctx context.Context, servers ...Server) *Connections {
	var (
		connections = make([]*Connection, len(servers))
		errs        = make([]error, len(servers))
		names       = map[string]bool{}
		slots       = make(chan struct{}, atOnce)
		wg          sync.WaitGroup
	)
	for i, server := range servers {
		if names[server.Name] {
			errs[i] = fmt.Errorf("mcp server %q: %w: another server has this Name", server.Name, ErrInvalidServer)
			continue
		}
		names[server.Name] = true
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			connections[i], errs[i] = Connect(ctx, server)
		})
	}
	wg.Wait()
	all := &Connections{err: errors.Join(errs...)}
	for _, c := range connections {
		if c != nil {
			all.connections = append(all.connections, c)
		}
	}
	return all
}

// Err returns why servers could not be connected: the errors of [Connect], each
// of which names its server, joined in the order of the servers. It is nil if
// all are connected.
func (c *Connections) Err() error { return c.err }

// All returns the connections in the order of their servers. The slice is the
// caller's.
func (c *Connections) All() []*Connection { return append([]*Connection(nil), c.connections...) }

// Tools returns the tools of all connections, in the order of the servers. No
// two have the same name. A connection that has ended keeps its tools.
func (c *Connections) Tools() []Tool {
	var tools []Tool
	for _, connection := range c.connections {
		tools = append(tools, connection.Tools()...)
	}
	return tools
}

// RefreshTools lists the tools of all connections anew, side by side. The
// errors are joined; a connection whose listing fails keeps its list.
func (c *Connections) RefreshTools(ctx context.Context) error {
	return c.each(func(connection *Connection) error { return connection.RefreshTools(ctx) })
}

// Warnings returns the warnings of all connections, each behind the name of
// its server.
func (c *Connections) Warnings() []string {
	var warnings []string
	for _, connection := range c.connections {
		for _, warning := range connection.Warnings() {
			warnings = append(warnings, connection.server.Name+": "+warning)
		}
	}
	return warnings
}

// Close closes all connections side by side, and so takes as long as the
// slowest. It may be called more than once.
func (c *Connections) Close() error {
	return c.each((*Connection).Close)
}

// each calls f for all connections at once and joins the errors.
func (c *Connections) each(f func(*Connection) error) error {
	errs := make([]error, len(c.connections))
	var wg sync.WaitGroup
	for i, connection := range c.connections {
		wg.Go(func() { errs[i] = f(connection) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
