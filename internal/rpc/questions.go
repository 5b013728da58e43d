package rpc

// This file takes the questions that a server has for its user.

import (
	"context"
	"strings"
	"sync"

	"github.com/seed94b59a13/mcp/internal/patience"
	"github.com/seed94b59a13/mcp/internal/raw"
)

// maxAsked bounds the questions of one server that wait for an answer. A person
// answers one after the other, but each of many calls may ask its own.
const maxAsked = 512

// questions are those that wait for an answer, by the JSON text of their ids.
type questions struct {
	asking sync.Mutex
	asked  map[string]*question
}

// A question waits for an answer. The id of one that was withdrawn may be that
// of the next, while the person who was asked still has the first before them.
type question struct {
	withdraw context.CancelFunc
}

// Asks takes a request that a person is to answer, or the notice that it is
// withdrawn, and reports whether m is one. call is the one that it belongs to;
// nil where that is not known: then it is that of the only call under way, if
// there is one alone. reply is called with the response, from another
// goroutine.
func (b *Pending) Asks(m Message, call *Call, reply func([]byte)) bool {
	if b.Elicit == nil {
		return false
	}
	if m.Method == MethodCancelled && m.ID == nil {
		b.withdraw(string(raw.Member(m.Params, "requestId")), nil)
		return true
	}
	if m.Method != MethodElicit || m.ID == nil || len(m.ID) > maxIDLength {
		return false
	}
	if call == nil {
		call = b.only()
	}
	answer := b.Elicit
	if call != nil && call.Asker != nil {
		answer = call.Asker.Elicit
	}
	id, params := string(m.ID), clone(m.Params)
	ctx, cancel := context.WithCancel(context.Background())
	q := &question{cancel}
	if !b.ask(id, q) {
		cancel()
		return false // it is refused like any other request
	}
	if !b.Go(func() { // ends with the question, which is bounded by the call or the session
		if call == nil {
			defer b.pause()()
		}
		said := answer(ctx, params)
		withdrawn := ctx.Err() != nil // the specification: "Cancellation", point 4
		b.withdraw(id, q)             // first: the next question may have the same id
		if !withdrawn {
			reply(answered(id, said))
		}
	}) {
		b.withdraw(id, q)
	}
	return true
}

// answered is a response to the request with the id.
func answered(id string, reply []byte) []byte {
	var b strings.Builder
	b.WriteString(`{"jsonrpc":"2.0","id":`)
	b.WriteString(id)
	b.WriteByte(',')
	b.Write(reply)
	b.WriteByte('}')
	return []byte(b.String())
}

// only returns the tool call under way, if there is exactly one.
func (b *Pending) only() (only *Call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, call := range b.calls {
		if call.Asker == nil {
			continue
		}
		if only != nil {
			return nil
		}
		only = call
	}
	return only
}

// pause stops the clocks of all calls under way until resume is called: any of
// them may be the one that waits for the answer.
func (b *Pending) pause() (resume func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var resumes []func()
	for _, call := range b.calls {
		if call.Asker != nil {
			resumes = append(resumes, patience.Pause(call.Asker.Clocks))
		}
	}
	return func() {
		for _, resume := range resumes {
			resume()
		}
	}
}

// ask takes note of a question. A second one with the id of one that waits is
// not one.
func (b *Pending) ask(id string, q *question) bool {
	b.asking.Lock()
	defer b.asking.Unlock()
	if b.asked == nil {
		b.asked = map[string]*question{}
	}
	if b.asked[id] != nil || len(b.asked) == maxAsked {
		return false
	}
	b.asked[id] = q
	return true
}

// withdraw ends a question: q, or for nil whichever has the id now.
func (b *Pending) withdraw(id string, q *question) {
	b.asking.Lock()
	defer b.asking.Unlock()
	if now := b.asked[id]; now != nil && (q == nil || q == now) {
		now.withdraw()
		delete(b.asked, id)
	}
}
