package rpc

// This file deals with what belongs to no call, or does not say so.

import (
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/seed94b59a13/mcp/internal/raw"
)

// namelessTime is how long an error without an id waits for a real answer. A
// server may mean a notification with it, such as the one that ends the
// handshake, and answer the request that came behind that.
const namelessTime = time.Second

// strays are what nobody waits for.
type strays struct {
	unclaimed  Skipped // answers
	echoed     Skipped // requests of this client
	unanswered Skipped // requests of the server

	// An error without an id may be for the notification that was sent when
	// this was the last id, until a later request is answered. 0 means none.
	// It is guarded by Pending.mu.
	notified int64
}

// Notified is called when a notification is sent.
func (b *Pending) Notified() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notified = b.last
}

// isEcho reports whether a request is one of this client's, which comes back
// from a terminal or from a program that repeats its input. An answer to it
// would confuse both sides.
func (b *Pending) isEcho(m Message) bool {
	switch m.Method {
	case MethodInitialize, MethodDiscover, MethodListTools, MethodCallTool:
	default:
		return false // of a ping, which both sides send, an answer to it does no harm
	}
	id, ok := raw.Whole(m.ID)
	b.mu.Lock()
	defer b.mu.Unlock()
	return ok && id > 0 && id <= b.last
}

// stray takes an answer without a call. Where a number names none, that may
// have been given up. A server that could not even read the id of a request
// reports that with none, or a made-up one: if one request is under way, that
// must be it, unless its real answer follows. Of a result nobody can say whose
// it is.
func (b *Pending) stray(m Message, numbered bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	id, _ := raw.Whole(m.ID)
	switch {
	case numbered && id <= b.last: // a duplicate, or late
		delete(b.forgotten, id)
		return
	case numbered, raw.Null(m.Error), len(b.calls) != 1:
	case b.notified > 0 && !isParseError(m.Error):
		b.notified = 0
	default:
		for _, call := range b.calls {
			if call.nameless != nil {
				break // the first says more
			}
			call.answer = Response{Error: clone(m.Error)}
			call.nameless = time.AfterFunc(namelessTime, func() { b.settle(call) })
			return
		}
	}
	b.unclaimed.Add(m.words(), b.Quoter)
}

// settle gives a call the error that came without an id.
func (b *Pending) settle(call *Call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.calls[call.id] != call {
		return
	}
	delete(b.calls, call.id)
	delete(b.tokens, call.Token)
	close(call.done)
}

// isParseError reports whether an error says that what was sent could not be read,
// which is no answer to a notification.
func isParseError(object []byte) bool {
	code, _ := parseCode(raw.Member(object, "code"))
	return code == jsonrpc.CodeParseError
}

// words returns what an answer says, or its start.
func (m Message) words() []byte {
	const most = 1 << 10 // more than is shown
	text := m.Result
	if !raw.Null(m.Error) {
		text = m.Error
		if message := raw.Member(m.Error, "message"); raw.IsString(message) && len(message) > 2 {
			return raw.AppendText(nil, message[1:min(len(message)-1, most)])
		}
	}
	return text[:min(len(text), most)]
}

// Warnings tell what belongs to no call.
func (b *Pending) Warnings() []string {
	warnings := b.unclaimed.Warnings("an answer without the id of a request that waits for one", "answers without the id of a request that waits for one")
	warnings = append(warnings, b.echoed.Warnings("a request of this client that the server sent back", "requests of this client that the server sent back")...)
	return append(warnings, b.unanswered.Warnings("a request of the server whose id is too long to be sent back", "requests of the server whose ids are too long to be sent back")...)
}

// Quote returns what belongs to no call as clauses for an error text.
func (b *Pending) Quote() string {
	var clauses strings.Builder
	if b.echoed.any() {
		clauses.WriteString("; the program repeats what it is sent: it or what it is started through may be no server, or a terminal")
	}
	if first := b.unclaimed.shown(); first != "" {
		clauses.WriteString("; it sent an answer without the id of a request: " + first)
	}
	return clauses.String()
}
