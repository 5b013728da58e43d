package mcp

// This file starts a server and the session with it.

import (
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
	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/result"
	"github.com/seed94b59a13/mcp/internal/rpc"
	"github.com/seed94b59a13/mcp/internal/stdio"
	"github.com/seed94b59a13/mcp/internal/text"
)

const (
	modulePath = "github.com/seed94b59a13/mcp"

	// startTimeout bounds a start that neither its context nor StartTimeout
	// does. The first start through npx or uvx downloads the server.
	startTimeout = 60 * time.Second
	// maxMessage bounds one message of a server, in bytes.
	maxMessage = 64 << 20

	// firstVersion is what a session on stdio asks for: many servers of that
	// time and before hang or exit when the first request is not initialize.
	firstVersion  = "2025-11-25"
	oldestVersion = "2024-11-05"
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
	server, err := server.check()
	if err != nil {
		return nil, err
	}
	limit := server.StartTimeout
	if _, ok := ctx.Deadline(); limit == 0 && !ok {
		limit = startTimeout
	}
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = patience.WithTimeout(ctx, limit)
		defer cancel()
	}
	version := firstVersion
	if server.URL != "" {
		version = "" // over HTTP no question that a server does not know harms it
	}
	c, err := connect(ctx, server, version)
	var refused refusedVersion
	if errors.As(err, &refused) {
		c, err = connect(ctx, server, refused.instead)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// A refusedVersion is the error of a start with a protocol version that the
// server does not speak, though it names others.
type refusedVersion struct {
	error
	instead string // as for connect
}

// connect makes one attempt. An empty version means that the SDK asks the
// server which versions it speaks (server/discover).
func connect(ctx context.Context, server Server, version string) (_ *Connection, err error) {
	step := "starting"
	c := &Connection{server: server, seed: maphash.MakeSeed(), changed: make(chan struct{}, 1), done: make(chan struct{}), listed: &toolList{List: &listing.List{}}}
	c.pending = &rpc.Pending{ToolsChanged: c.toolsChanged}
	defer func() {
		if err == nil {
			return
		}
		var refusal *jsonrpc.Error
		if errors.As(err, &refusal) {
			// The server has said why, even if it has left since.
			instead, ok := otherVersion(refusal, version)
			if err = c.refusal(*refusal); ok {
				err = refusedVersion{err, instead}
			}
		} else if cause := c.cause(); cause != nil {
			err = cause
		} else if c.transport != nil && ctx.Err() != nil {
			err = fmt.Errorf("%w%s", ctx.Err(), c.transport.Quote())
		}
		if c.transport != nil {
			c.transport.Abort()
		}
		c.background.Wait()
		err = c.failed(step, server.hinted(err))
	}()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if server.URL != "" {
		c.transport, err = c.reach()
	} else {
		c.transport, err = c.start()
	}
	if err != nil {
		return nil, err
	}
	step = "initializing"
	info := &sdk.Implementation{Name: modulePath, Version: moduleVersion()}
	client := sdk.NewClient(info, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{}, // the default would advertise roots
	})
	c.hello, err = handshake.Do(ctx, c.transport, client, version)
	if err != nil {
		return nil, err
	}
	c.meta = protocolMeta(c.hello.ProtocolVersion, info)
	step = stepListing
	if err := c.refresh(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// refusal is the error for a request that the server has answered with one.
func (c *Connection) refusal(e jsonrpc.Error) error {
	return errors.New(text.Start(c.transport.Hide(result.ErrorText(e)), maxRefusal))
}

// maxRefusal bounds the text of such an error, in bytes.
const maxRefusal = 4 << 10

// otherVersion returns which version to begin with, in place of one that was
// refused, if the server speaks any: the newest that begins with initialize, or
// "" for those that are newer.
func otherVersion(refusal *jsonrpc.Error, refused string) (instead string, ok bool) {
	for value := range raw.Elements(raw.Member(refusal.Data, "supported")) {
		if v, ok := raw.String(value); ok && v <= firstVersion && v >= oldestVersion {
			instead = max(instead, v)
		}
	}
	if instead == "" {
		return "", refused != "" && refusal.Code == sdk.CodeUnsupportedProtocolVersion
	}
	return instead, instead != refused
}

// start starts the program of a stdio server.
func (c *Connection) start() (transport, error) {
	started, pipes, err := startProcess(c.server)
	if err != nil {
		return nil, err
	}
	return stdio.New(stdio.Config{
		Process:     started,
		Stdin:       pipes.Stdin,
		Stdout:      pipes.Stdout,
		Stderr:      pipes.Stderr,
		StderrCopy:  c.server.Stderr,
		StopTimeout: c.server.StopTimeout,
		Limit:       maxMessage,
		Mask:        c.server.mask(),
		OnEnd:       c.end,
		Pending:     c.pending,
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
