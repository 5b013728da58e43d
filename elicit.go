package mcp

// This file asks the user what a server wants to know.

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed94b59a13/mcp/internal/elicit"
	"github.com/seed94b59a13/mcp/internal/rpc"
	"github.com/seed94b59a13/mcp/internal/text"
)

// ErrDeclined is what Server.Elicit returns when the user does not want to
// answer. The server may then go on without the answer, or not.
var ErrDeclined = elicit.ErrDeclined

// A Question is what a server wants to know from its user: see Server.Elicit.
// The server wrote it, and may be lying about why it asks.
type Question struct {
	// Server is the name of the server as configured.
	Server string
	// Tool is the server's own name of the tool that asks; empty where it asks
	// outside of a call, or during one of several calls over stdio, which does not
	// tell them apart.
	Tool string
	// Message says what is asked, at most 8 KiB, without the characters that a
	// person cannot see.
	Message string
	// Schema describes the fields of a form: a JSON Schema of a flat object, with
	// fields that are texts, numbers, booleans, or lists of given texts, and
	// nothing else in it than what the protocol has for forms. It is nil with a
	// URL.
	Schema json.RawMessage
	// URL is an http or https address that the user is to open, as the server
	// gave it; empty for a form. It is never fetched. Show it whole before it is
	// opened, and open it in a browser of the user's.
	URL string
}

// host asks the user for a tool, or for none; nil if there is nobody to ask.
func (c *Connection) host(tool string) elicit.Host {
	ask := c.config().Elicit
	if ask == nil {
		return nil
	}
	return func(ctx context.Context, q *elicit.Question) (json.RawMessage, error) {
		return ask(ctx, Question{Server: c.name, Tool: tool, Message: q.Message, Schema: q.Schema, URL: q.URL})
	}
}

// asks lets the server ask during a call, if there is somebody to ask. done must
// be called when the call has ended; it returns what was wrong with an answer.
func (h handler) asks(ctx context.Context, s *start, call *rpc.Call) (done func() error) {
	host := h.c.host(h.name)
	if host == nil {
		return func() error { return nil }
	}
	fault := make(chan error, 1) // the first one
	ctx, cancel := context.WithCancel(ctx)
	call.Asker = &rpc.Asker{Clocks: ctx, Elicit: func(withdrawn context.Context, params []byte) []byte {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(withdrawn, cancel)()
		reply, err := elicit.Reply(ctx, host, s.Info.Protocol, params)
		if err != nil {
			select {
			case fault <- err:
			default:
			}
		}
		return reply
	}}
	return func() error {
		cancel()
		select {
		case err := <-fault:
			return err
		default:
			return nil
		}
	}
}

const (
	maxRounds = 10 // of one call, protocol 2026-07-28
	maxBusy   = 3  // rounds of them in which nothing is asked
)

// respond asks what a result wants to know before the server goes on, and
// returns the members of the call that go back with the answers; nil where the
// result is one.
func (h handler) respond(ctx context.Context, result []byte) (members []byte, asked bool, err error) {
	host := h.c.host(h.name)
	if host == nil {
		return nil, false, nil
	}
	input, ok := elicit.Required(result)
	if !ok {
		return nil, false, nil
	}
	members, err = input.Answer(ctx, host)
	return members, len(input.Requests) > 0, err
}

// openURLs asks for each address that an error wants the user to open before
// the call, and returns what the model is told; empty where there is none.
func (h handler) openURLs(ctx context.Context, object []byte) (told string, err error) {
	host := h.c.host(h.name)
	if host == nil {
		return "", nil
	}
	name := text.Start(h.name, maxNameShown)
	some, agreed, err := elicit.AskURLs(ctx, host, object)
	switch {
	case err != nil || !some:
		return "", err
	case agreed:
		return fmt.Sprintf("[the tool %q needed its user to do something in a browser first, and the user has agreed: call it again]", name), nil
	}
	return fmt.Sprintf("[the tool %q needs its user to do something in a browser first, and the user did not agree]", name), nil
}
