package elicit

// This file asks the user.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/seed94b59a13/mcp/internal/patience"
	"github.com/seed94b59a13/mcp/internal/protocol"
	"github.com/seed94b59a13/mcp/internal/raw"
)

// ErrDeclined is what a host returns when the user does not want to answer.
var ErrDeclined = errors.New("the user declined")

// A Host asks the user. Its error other than ErrDeclined cancels. Nil means that
// there is nobody to ask.
type Host func(ctx context.Context, q *Question) (content json.RawMessage, err error)

// Ask asks the user. The clocks of the context stand still meanwhile; when it ends,
// the question is given up: the answer is Canceled, whatever the host does. An
// error says what was wrong with the answer of the host, which is then Canceled as
// well. The host is not trusted to heed the context: it may show a dialog that
// cannot be closed.
func (q *Question) Ask(ctx context.Context, host Host) (answer []byte, err error) {
	defer patience.Pause(ctx)()
	type said struct {
		answer []byte
		err    error
	}
	// With room for the one answer, so that a host that answers too late does not
	// wait for somebody to take it.
	answered := make(chan said, 1)
	go func() { // ends when the host does; it is not waited for after the context
		s := said{answer: Canceled}
		defer func() {
			if p := recover(); p != nil {
				s = said{Canceled, fmt.Errorf("Server.Elicit panicked: %v", p)}
			}
			answered <- s
		}()
		content, err := host(ctx, q)
		switch {
		case errors.Is(err, ErrDeclined):
			s.answer = Declined
		case err == nil:
			if s.answer, s.err = q.Accept(content); s.err != nil {
				s.answer = Canceled
			}
		}
	}()
	select {
	case s := <-answered:
		return s.answer, s.err
	case <-ctx.Done():
		return Canceled, nil
	}
}

// Reply answers a question that came as a request in a session of a version, with
// the member result or error of a response. The error says what was wrong with the
// question, or with the answer of the host. An answer of the protocol for what the
// person does is a result; an error is for a question that nobody can be shown.
func Reply(ctx context.Context, host Host, version string, params []byte) (member []byte, err error) {
	q, err := Parse(params)
	if err != nil {
		return fmt.Appendf(nil, `"error":{"code":%d,"message":%s}`, jsonrpc.CodeInvalidParams, raw.AppendQuote(nil, err.Error())), err
	}
	// In a version without such questions nobody is asked, since nobody has offered
	// to answer them.
	answer := Declined
	if ctx.Err() != nil {
		answer = Canceled
	} else if version >= protocol.FirstURLs || q.URL == "" && version >= protocol.FirstForms {
		answer, err = q.Ask(ctx, host)
	}
	return append([]byte(`"result":`), answer...), err
}

// ask asks in the course of a call, which the end of the context ends. Then there
// is no call left that the answer could belong to.
func (q *Question) ask(ctx context.Context, host Host) (answer []byte, err error) {
	if answer, err = q.Ask(ctx, host); err == nil {
		err = ctx.Err()
	}
	return answer, err
}

// Answer asks for all that the input needs, one after the other, and returns the
// members that the call has more when it is sent again. The error says what was
// wrong with a question or with an answer of the host. A call is sent again with
// all answers or not at all.
func (in *Input) Answer(ctx context.Context, host Host) (members []byte, err error) {
	if len(in.Requests) > maxRequests {
		return nil, fmt.Errorf("the tool asks %d questions at once, more than %d", len(in.Requests), maxRequests)
	}
	var answers [][]byte
	for _, request := range in.Requests {
		q, err := Parse(request.Params)
		if err != nil {
			return nil, err
		}
		answer, err := q.ask(ctx, host)
		if err != nil {
			return nil, err
		}
		answers = append(answers, answer)
	}
	return in.respond(answers), nil
}

// AskURLs asks for each address that an error wants its user to open before the
// call (code -32042), ten at most. It reports whether there are any, and whether
// the user has agreed to all.
func AskURLs(ctx context.Context, host Host, object []byte) (some, agreed bool, err error) {
	left := 10
	for params := range raw.Elements(raw.Member(raw.Member(object, "data"), "elicitations")) {
		q, err := Parse(params)
		// One broken address does not hide the others from the user.
		if err != nil || q.URL == "" {
			continue
		}
		if left--; left < 0 {
			break
		}
		answer, err := q.ask(ctx, host)
		if err != nil {
			return true, false, err
		}
		if string(answer) != accepted {
			return true, false, nil
		}
	}
	return left < 10, true, nil
}
