// Package rpc matches what a server sends with the calls that wait for it, and
// reads and writes the JSON-RPC envelope. Results are handed over as they came:
// whoever called decodes them, once and leniently.
package rpc

import (
	"context"
	"sync"
	"time"

	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/secret"
)

// A Pending matches what a server sends with the calls that wait for it. All
// methods may be called concurrently. The zero value is ready for use.
type Pending struct {
	// ToolsChanged, if not nil, is called for each notification that the list
	// of tools has changed. It must not block.
	ToolsChanged func()
	// Quoter quotes what nobody waits for.
	Quoter *secret.Quoter

	// Elicit answers questions for the server's user that belong to no call, or
	// to one of several; nil means that there is nobody to ask, and Go is not
	// needed then. See Asker.
	Elicit func(ctx context.Context, params []byte) (reply []byte)
	// Go calls f in a goroutine that the owner waits for, and reports false
	// where it does not.
	Go func(f func()) bool

	strays    // what nobody waits for
	questions // that are not answered yet

	mu     sync.Mutex
	last   int64           // id
	calls  map[int64]*Call // by request id
	tokens map[int64]*Call // by progress token

	forgotten map[int64]struct{} // ids of calls that were sent and may still be answered
	forgot    time.Time          // when the last of them was given up
}

// Expect gives the call its id and waits for its answer, before its request is
// sent.
func (b *Pending) Expect(call *Call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.calls == nil {
		b.calls, b.tokens = map[int64]*Call{}, map[int64]*Call{}
	}
	b.last++
	call.id = b.last
	b.calls[call.id] = call
	if call.Token != 0 {
		b.tokens[call.Token] = call
	}
}

// Forget ends the wait for an answer, however the call ended. An answer that
// comes later is ignored, and so is its progress.
func (b *Pending) Forget(call *Call) {
	if b.take(call.id) == nil || !call.Begun() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.forgotten == nil {
		b.forgotten = map[int64]struct{}{}
	}
	if len(b.forgotten) < maxForgotten {
		b.forgotten[call.id] = struct{}{}
	}
	b.forgot = time.Now()
}

const (
	// maxForgotten bounds what is kept of calls that never get an answer, which
	// is what the specification wants where one was cancelled.
	maxForgotten = 1000
	// forgottenTime is how long such a call may still be at work.
	forgottenTime = time.Minute
)

// Forgotten reports whether the server may still work on a call that nobody
// waits for any more.
func (b *Pending) Forgotten() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.forgotten) > 0 && time.Since(b.forgot) < forgottenTime
}

// take ends the wait of the call with the id and returns it, nil if none waits: of
// an answer, an error and a caller that gives up, the first one counts.
func (b *Pending) take(id int64) *Call {
	b.mu.Lock()
	defer b.mu.Unlock()
	call := b.calls[id]
	if call != nil {
		delete(b.calls, id)
		delete(b.tokens, call.Token)
		if id > b.notified {
			b.notified = 0
		}
		if call.nameless != nil {
			call.nameless.Stop()
			b.unclaimed.Add(Message{Error: call.answer.Error}.words(), b.Quoter)
			call.answer = Response{}
		}
	}
	return call
}

// Waits reports whether a call is without an answer.
func (b *Pending) Waits() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.calls) > 0
}

// Waiting returns the ids of the calls without an answer, in no order.
func (b *Pending) Waiting() []int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	ids := make([]int64, 0, len(b.calls))
	for id := range b.calls {
		ids = append(ids, id)
	}
	return ids
}

// Fail ends the call with the id, if it waits, with an error.
func (b *Pending) Fail(id int64, err error) bool {
	call := b.take(id)
	if call == nil {
		return false
	}
	call.err = err
	close(call.done)
	return true
}

// Receive takes one message of the server and returns the reply that it asks
// for, nil for none. release is nil when the message's bytes are the caller's
// to reuse: what is needed is copied then, unless they are Owned. Otherwise the
// bytes become the answer's if Receive reports that it took them, until release is
// called.
func (b *Pending) Receive(m Message, release func()) (reply []byte, took bool) {
	switch {
	case m.Method != "" && m.ID != nil:
		if b.isEcho(m) {
			b.echoed.Add([]byte(m.Method), b.Quoter)
			return nil, false
		}
		if reply = m.reply(); reply == nil {
			b.unanswered.Add([]byte(m.Method), b.Quoter)
		}
	case m.Method == MethodProgress:
		b.Progress(m.Params)
	case m.Method == MethodToolsChanged:
		if b.ToolsChanged != nil {
			b.ToolsChanged()
		}
	case m.Method == "":
		id, ok := raw.Whole(m.ID)
		if !ok || id == 0 { // which is what some languages write for none
			b.stray(m, false)
			return nil, false
		}
		call := b.take(id)
		if call == nil {
			b.stray(m, true)
			return nil, false
		}
		call.answer = Response{Result: m.Result, Error: m.Error, Lent: release != nil && !m.Owned, release: release}
		if raw.Null(m.Error) {
			call.answer.Error = nil
		} else {
			call.answer.Result = nil
		}
		if took = release != nil; !took && !m.Owned {
			call.answer.Result = clone(call.answer.Result)
			call.answer.Error = clone(call.answer.Error)
		}
		close(call.done)
	}
	return reply, took
}

// clone is bytes.Clone without room to spare: an answer may live long.
func clone(b []byte) []byte {
	if b == nil {
		return nil
	}
	return append(make([]byte, 0, len(b)), b...)
}

// Progress takes the params of a progress notification, and reports whether a
// call waits that has the token.
func (b *Pending) Progress(params []byte) bool {
	token, ok := raw.Whole(raw.Member(params, "progressToken"))
	if !ok {
		return false
	}
	b.mu.Lock()
	call := b.tokens[token]
	b.mu.Unlock()
	if call == nil {
		return false
	}
	if call.Progress != nil {
		call.Progress(params)
	}
	return true
}
