package mcp

// This file asks the user what a server wants to know.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/seed94b59a13/mcp/internal/elicit"
	"github.com/seed94b59a13/mcp/internal/patience"
	"github.com/seed94b59a13/mcp/internal/protocol"
	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/rpc"
	"github.com/seed94b59a13/mcp/internal/session"
	"github.com/seed94b59a13/mcp/internal/text"
)

// ErrDeclined is what Server.Elicit returns when the user does not want to
// answer. The server may then go on without the answer, or not.
var ErrDeclined = errors.New("the user declined")

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

// A fault is what was wrong with the answers of a host during one call.
type fault struct {
	mu  sync.Mutex
	err error // the first one
}

func (f *fault) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
}

func (f *fault) get() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// replyTo answers a question that came as a request, with the member result or
// error of a response.
func (c *Connection) replyTo(ctx context.Context, s *session.Session, tool string, params []byte, f *fault) []byte {
	q, err := elicit.Parse(params)
	if err != nil {
		const invalidParams = -32602
		f.set(err)
		return fmt.Appendf(nil, `"error":{"code":%d,"message":%s}`, invalidParams, raw.AppendQuote(nil, err.Error()))
	}
	answer := elicit.Declined
	if ctx.Err() != nil {
		answer = elicit.Canceled
	} else if version := s.Info.Protocol; version >= protocol.FirstURLs || q.URL == "" && version >= protocol.FirstForms {
		answer, err = c.ask(ctx, tool, &q)
		f.set(err)
	}
	return append([]byte(`"result":`), answer...)
}

// ask asks the user. The clocks of the context stand still meanwhile; when it
// ends, the question is given up. An error says what was wrong with the answer of
// the host, which is then none.
func (c *Connection) ask(ctx context.Context, tool string, q *elicit.Question) (answer []byte, err error) {
	defer patience.Pause(ctx)()
	type said struct {
		content json.RawMessage
		err     error
	}
	answered := make(chan said, 1)
	go func() { // ends when the host does; it is not waited for after the context
		answered <- func() (s said) {
			defer func() {
				if p := recover(); p != nil {
					s.err = hostFault{fmt.Errorf("Server.Elicit panicked: %v", p)}
				}
			}()
			s.content, s.err = c.config().Elicit(ctx, Question{Server: c.name, Tool: tool, Message: q.Message, Schema: q.Schema, URL: q.URL})
			return s
		}()
	}()
	select {
	case <-ctx.Done():
		return elicit.Canceled, nil
	case s := <-answered:
		var f hostFault
		switch {
		case errors.As(s.err, &f):
			return elicit.Canceled, f.error
		case errors.Is(s.err, ErrDeclined):
			return elicit.Declined, nil
		case s.err != nil:
			return elicit.Canceled, nil
		}
		if answer, err = q.Accept(s.content); err != nil {
			return elicit.Canceled, err
		}
		return answer, nil
	}
}

type hostFault struct{ error }

// asks lets the server ask during a call, if there is somebody to ask. done must
// be called when the call has ended; it returns what was wrong with the answers.
func (h handler) asks(ctx context.Context, s *start, call *rpc.Call) (done func() error) {
	if h.c.config().Elicit == nil {
		return func() error { return nil }
	}
	var f fault
	ctx, cancel := context.WithCancel(ctx)
	call.Asker = &rpc.Asker{Clocks: ctx, Elicit: func(withdrawn context.Context, params []byte) []byte {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(withdrawn, cancel)()
		return h.c.replyTo(ctx, s.Session, h.name, params, &f)
	}}
	return func() error {
		cancel()
		return f.get()
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
	if h.c.config().Elicit == nil {
		return nil, false, nil
	}
	input, ok := elicit.Required(result)
	if !ok {
		return nil, false, nil
	}
	var answers [][]byte
	for _, request := range input.Requests {
		q, err := elicit.Parse(request.Params)
		if err != nil {
			return nil, false, err
		}
		answer, err := h.c.ask(ctx, h.name, &q)
		if err != nil {
			return nil, false, err
		}
		if ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		answers = append(answers, answer)
	}
	return input.Respond(answers), len(answers) > 0, nil
}

// openURLs asks for each address that an error wants the user to open before
// the call, and returns what the model is told; empty where there is none.
func (h handler) openURLs(ctx context.Context, object []byte) (told string, err error) {
	questions := elicit.URLs(object)
	if h.c.config().Elicit == nil || len(questions) == 0 {
		return "", nil
	}
	name := text.Start(h.name, maxNameShown)
	for i := range questions {
		answer, err := h.c.ask(ctx, h.name, &questions[i])
		if err != nil {
			return "", err
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if string(raw.Member(answer, "action")) != `"accept"` {
			return fmt.Sprintf("[the tool %q needs its user to do something in a browser first, and the user did not agree]", name), nil
		}
	}
	return fmt.Sprintf("[the tool %q needed its user to do something in a browser first, and the user has agreed: call it again]", name), nil
}
