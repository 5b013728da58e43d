package mcp

// This file starts a server and the session with it.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"runtime/debug"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed94b59a13/mcp/internal/handshake"
	"github.com/seed94b59a13/mcp/internal/listing"
	"github.com/seed94b59a13/mcp/internal/patience"
	"github.com/seed94b59a13/mcp/internal/protocol"
	"github.com/seed94b59a13/mcp/internal/result"
	"github.com/seed94b59a13/mcp/internal/secret"
	"github.com/seed94b59a13/mcp/internal/stdio"
)

const (
	modulePath = "github.com/seed94b59a13/mcp"

	// startTimeout bounds a start that neither its context nor StartTimeout
	// does. The first start through npx or uvx downloads the server.
	startTimeout = 60 * time.Second
	// maxMessage bounds one message of a server, in bytes.
	maxMessage = 64 << 20
)

// Connect starts the server, or reaches it by its URL, and lists its tools.
//
// The context bounds the start, and so does Server.StartTimeout; where neither
// does, it takes 60 seconds at most. Once Connect has returned, the context's end has no effect.
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
		listed: &toolList{List: &listing.List{}}, starts: restarts{begun: time.Now()},
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
func (c *Connection) open(ctx context.Context, number int) (*session, *toolList, error) {
	// Many servers on stdio hang or exit when the first request is not
	// initialize.
	version := protocol.Newest
	if c.config().URL != "" {
		version = "" // over HTTP no question that a server does not know harms it
	}
	s, list, err := c.attempt(ctx, number, version)
	var refused refusedVersion
	if errors.As(err, &refused) {
		s, list, err = c.attempt(ctx, number, refused.instead)
	}
	return s, list, err
}

// A refusedVersion is the error of a start with a protocol version that the
// server does not speak, though it names others.
type refusedVersion struct {
	error
	instead string // as for attempt
}

// attempt makes one attempt. An empty version means that the SDK asks the
// server which versions it speaks (server/discover).
func (c *Connection) attempt(ctx context.Context, number int, version string) (_ *session, _ *toolList, err error) {
	step := "starting"
	s := c.newSession(number)
	defer func() {
		if err == nil {
			return
		}
		var refusal *jsonrpc.Error
		if errors.As(err, &refusal) {
			// The server has said why, even if it has left since.
			err = c.refusal(*refusal)
			if instead, ok := otherVersion(refusal, version); ok {
				err = refusedVersion{err, instead}
			}
		} else if cause := s.cause(); cause != nil {
			err = cause
		} else if s.transport != nil && ctx.Err() != nil {
			err = fmt.Errorf("%w%s", ctx.Err(), s.transport.Quote())
		}
		if s.transport != nil {
			s.close(true)
		}
		err = fmt.Errorf("%s: %w", step, c.config().hinted(err))
	}()
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if c.config().URL != "" {
		s.transport, err = c.reach(s)
	} else {
		s.transport, err = c.start(s)
	}
	if err != nil {
		return nil, nil, err
	}
	step = "initializing"
	info := &sdk.Implementation{Name: modulePath, Version: moduleVersion()}
	capabilities := c.config().capabilities()
	client := sdk.NewClient(info, &sdk.ClientOptions{Capabilities: capabilities})
	s.info, err = handshake.Do(ctx, s.transport, client, version, c.quoter)
	if err != nil {
		return nil, nil, err
	}
	s.meta = protocolMeta(s.info.Protocol, info, capabilities)
	close(s.began)
	step = stepListing
	list, err := c.read(ctx, s, c.lastList())
	return s, list, err
}

// capabilities are what the client declares. The SDK's default has roots in it.
func (s *Server) capabilities() *sdk.ClientCapabilities {
	c := &sdk.ClientCapabilities{}
	if s.Elicit != nil {
		c.Elicitation = &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{}}
	}
	return c
}

// refusal is the error for a request that the server has answered with one.
func (c *Connection) refusal(e jsonrpc.Error) error {
	e.Message = c.quoter.Quote(e.Message, maxRefusal)
	e.Data = []byte(c.quoter.QuoteBytes(e.Data, maxRefusal/4))
	return errors.New(result.ErrorText(e))
}

// maxRefusal bounds the message of such an error, in bytes; its data may have a
// quarter of that.
const maxRefusal = 4 << 10

// otherVersion returns which version to begin with, in place of one that was
// refused, if that is worth an attempt. What the SDK chose by itself is the
// newest that begins with initialize.
func otherVersion(refusal *jsonrpc.Error, version string) (instead string, ok bool) {
	refused := cmp.Or(version, protocol.Newest)
	words, ok := protocol.Refused(refusal, refused)
	if !ok {
		return "", false
	}
	instead, ok = protocol.Instead(words, refused)
	return instead, ok && instead != version
}

// start starts the program of a stdio server.
func (c *Connection) start(s *session) (transport, error) {
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
		Pending:     s.pending,
	}), nil
}

// moduleVersion returns the version of this module in the program.
func moduleVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Path == modulePath {
			return info.Main.Version
		}
		if i := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == modulePath }); i >= 0 {
			return info.Deps[i].Version
		}
	}
	return "(devel)"
}
