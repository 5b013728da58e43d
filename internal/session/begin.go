package session

// This file starts a server and the session with it.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed94b59a13/mcp/internal/handshake"
	"github.com/seed94b59a13/mcp/internal/protocol"
	"github.com/seed94b59a13/mcp/internal/result"
	"github.com/seed94b59a13/mcp/internal/rpc"
	"github.com/seed94b59a13/mcp/internal/secret"
)

// A Config says how a session begins.
type Config struct {
	// Open starts the server's program, or prepares to reach it by its URL. What
	// it returns hands all that comes to the session's Pending.
	Open func(*Session) (Transport, error)
	// Discover asks the server which versions it speaks. Many servers on stdio
	// hang or exit when the first request is not initialize; over HTTP no question
	// that a server does not know harms it.
	Discover bool
	Quoter   *secret.Quoter
	// ToolsChanged is called when the server announces that.
	ToolsChanged func()
	// Ask answers a question of the server that is not about a call, with the
	// member result or error of a response. Nil means that there is nobody to ask,
	// and the server is told so.
	Ask func(ctx context.Context, s *Session, params []byte) []byte
}

// Begin starts a server and does the handshake. The context bounds that, not the
// life of the session. The error names the step.
func Begin(ctx context.Context, config Config) (*Session, error) {
	version := protocol.Newest
	if config.Discover {
		version = "" // the SDK asks
	}
	s, err := config.attempt(ctx, version)
	var refused refusedVersion
	if errors.As(err, &refused) {
		s, err = config.attempt(ctx, refused.instead)
	}
	return s, err
}

// A refusedVersion is the error of a start with a protocol version that the
// server does not speak, though it names others.
type refusedVersion struct {
	error
	instead string // as for attempt
}

func (c *Config) attempt(ctx context.Context, version string) (*Session, error) {
	s := c.prepare()
	err := ctx.Err()
	if err == nil {
		s.transport, err = c.Open(s)
	}
	if err != nil {
		return nil, fmt.Errorf("starting: %w", err)
	}
	info := &sdk.Implementation{Name: modulePath, Version: moduleVersion()}
	capabilities := &sdk.ClientCapabilities{} // the SDK's default has roots in it
	if c.Ask != nil {
		capabilities.Elicitation = &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{}}
	}
	client := sdk.NewClient(info, &sdk.ClientOptions{Capabilities: capabilities})
	s.Info, err = handshake.Do(ctx, s.transport, client, version, c.Quoter)
	if err != nil {
		instead, ok := otherVersion(err, version)
		err = s.GiveUp(ctx, "initializing", err)
		if ok {
			err = refusedVersion{err, instead}
		}
		return nil, err
	}
	s.Meta = protocol.ClientMeta(s.Info.Protocol, info, capabilities)
	close(s.began)
	return s, nil
}

// prepare returns a session without a transport.
func (c *Config) prepare() *Session {
	s := &Session{began: make(chan struct{}), done: make(chan struct{}), Pending: &rpc.Pending{ToolsChanged: c.ToolsChanged, Quoter: c.Quoter}}
	s.life, s.endLife = context.WithCancel(context.Background())
	if c.Ask != nil {
		s.Pending.Go = s.run
		s.Pending.Elicit = func(ctx context.Context, params []byte) []byte {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(s.life, cancel)()
			select {
			case <-s.began:
			case <-ctx.Done():
			}
			return c.Ask(ctx, s, params)
		}
	}
	return s
}

// otherVersion returns which version to begin with, in place of one that was
// refused, if that is worth an attempt. What the SDK chose by itself is the
// newest that begins with initialize.
func otherVersion(err error, version string) (instead string, ok bool) {
	refusal, refused := (*jsonrpc.Error)(nil), cmp.Or(version, protocol.Newest)
	if !errors.As(err, &refusal) {
		return "", false
	}
	words, ok := protocol.Refused(refusal, refused)
	if !ok {
		return "", false
	}
	instead, ok = protocol.Instead(words, refused)
	return instead, ok && instead != version
}

// GiveUp ends a session that could not begin for err, in the step given, and
// returns the error that tells most: what the server has answered, even if it has
// left since, or else how it has ended, or what it said last.
func (s *Session) GiveUp(ctx context.Context, step string, err error) error {
	if refusal := (*jsonrpc.Error)(nil); errors.As(err, &refusal) {
		err = Refusal(s.Pending.Quoter, *refusal)
	} else if cause := s.Cause(); cause != nil {
		err = cause
	} else if ctx.Err() != nil {
		err = fmt.Errorf("%w%s", ctx.Err(), s.transport.Quote())
	}
	s.close(s.transport.Abort)
	return fmt.Errorf("%s: %w", step, err)
}

// maxRefusal bounds the message of a refusal, in bytes; its data may have a
// quarter of that.
const maxRefusal = 4 << 10

// Refusal is the error for a request that the server has answered with one, in its
// words. It is not a *jsonrpc.Error: nobody can branch on a code that each server uses
// as it likes.
func Refusal(quoter *secret.Quoter, e jsonrpc.Error) error {
	e.Message = quoter.Quote(e.Message, maxRefusal)
	e.Data = []byte(quoter.QuoteBytes(e.Data, maxRefusal/4))
	return errors.New(result.ErrorText(e))
}

const modulePath = "github.com/seed94b59a13/mcp"

// moduleVersion returns the version of this module in the program, for the name
// that servers log of their client.
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
