package mcp

// This file starts a server and the session with it.

import (
	"context"
	"fmt"
	"hash/maphash"
	"time"

	"github.com/seed94b59a13/mcp/internal/elicit"
	"github.com/seed94b59a13/mcp/internal/listing"
	"github.com/seed94b59a13/mcp/internal/patience"
	"github.com/seed94b59a13/mcp/internal/program"
	"github.com/seed94b59a13/mcp/internal/secret"
	"github.com/seed94b59a13/mcp/internal/session"
	"github.com/seed94b59a13/mcp/internal/stdio"
)

const (
	// startTimeout bounds a start that neither its context nor StartTimeout
	// does. The first start through npx or uvx downloads the server.
	startTimeout = 60 * time.Second
	// maxMessage bounds one message of a server, in bytes.
	maxMessage = 64 << 20
)

// Connect starts the server, or reaches it by its URL, and lists its tools.
//
// The context and Server.StartTimeout bound the start; without either it takes 60
// seconds at most. Once Connect has returned, the end of the context has no effect.
// After an error nothing is left: a process that was started has ended, half a
// second after the end of the context at the latest. The error names the
// server, the step (starting, initializing, listing tools) and the cause, with
// the exit status and the last words of a process. It wraps [ErrInvalidServer]
// for a Server that cannot be right, and os.ErrNotExist,
// context.DeadlineExceeded and the like where they are the cause.
//
// The caller must call [Connection.Close].
func Connect(ctx context.Context, server Server) (*Connection, error) {
	return connect(ctx, server, nil)
}

// connect is Connect; changed, which may be nil, is called beside what
// ToolsChanged returns.
func connect(ctx context.Context, given Server, changed func()) (*Connection, error) {
	given = given.clone()
	server, err := given.check()
	if err != nil {
		return nil, err
	}
	ctx, cancel := server.startContext(ctx)
	defer cancel()
	c := &Connection{
		name: server.Name, server: secret.Keep(&server), given: secret.Keep(&given), tell: changed, quoter: server.quoter(),
		seed: maphash.MakeSeed(), changed: make(chan struct{}, 1), done: make(chan struct{}),
		listed: &toolList{List: &listing.List{}}, listing: &refresh{}, starts: session.Starts{Begun: time.Now()},
	}
	c.life, c.endLife = context.WithCancel(context.Background())
	s, list, err := c.open(ctx, 0)
	if err != nil {
		return nil, fmt.Errorf("mcp server %q: %w", server.Name, err)
	}
	return c, c.adopt(s, list)
}

// startContext bounds a start, by its context or StartTimeout.
func (s *Server) startContext(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := s.StartTimeout
	if _, ok := ctx.Deadline(); limit == 0 && !ok {
		limit = startTimeout
	}
	if limit == 0 {
		return ctx, func() {}
	}
	return patience.WithTimeout(ctx, limit)
}

// open starts the server, or reaches it by its URL, and lists its tools.
func (c *Connection) open(ctx context.Context, number int) (*start, *toolList, error) {
	config := session.Config{Open: c.startProgram, Quoter: c.quoter, ToolsChanged: c.toolsChanged}
	if c.config().URL != "" {
		config.Open, config.Discover = c.reach, true
	}
	if host := c.host(""); host != nil {
		config.Ask = func(ctx context.Context, s *session.Session, params []byte) []byte {
			reply, _ := elicit.Reply(ctx, host, s.Version(), params)
			return reply
		}
	}
	s, err := session.Begin(ctx, config)
	if err != nil {
		return nil, nil, c.hinted(err)
	}
	begun := &start{Session: s, number: number}
	list, err := c.read(ctx, begun, c.lastList())
	if err != nil {
		return nil, nil, c.hinted(s.GiveUp(ctx, stepListing, err))
	}
	return begun, list, nil
}

// hinted adds to the error of a start what its reader may do next.
func (c *Connection) hinted(err error) error {
	if hint := program.Hint(c.config().Command, c.config().Env, err); hint != "" {
		return fmt.Errorf("%w (%s)", err, hint)
	}
	return err
}

// startProgram starts the program of a stdio server.
func (c *Connection) startProgram(s *session.Session) (session.Transport, error) {
	started, pipes, err := startProcess(*c.config())
	if err != nil {
		return nil, err
	}
	return stdio.New(stdio.Config{
		Process:     started,
		Stdin:       pipes.Stdin,
		Stdout:      pipes.Stdout,
		Stderr:      pipes.Stderr,
		StderrCopy:  c.config().Stderr,
		StopTimeout: c.config().StopTimeout,
		Limit:       maxMessage,
		Quoter:      c.quoter,
		OnEnd:       func(err error) { c.sessionEnded(s, err) },
		Pending:     s.Pending,
	}), nil
}
