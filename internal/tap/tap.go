// Package tap matches what a server sends with the calls that wait for it, and
// reads and writes the JSON-RPC envelope. Results are handed over as they came:
// whoever called decodes them, once and leniently.
package tap

import (
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/seed94b59a13/mcp/internal/raw"
)

// A Slot is one request and takes its raw answer. It serves one call and is not
// reused. The fields are set before the call.
type Slot struct {
	Method string
	Params []byte // JSON

	Token    int64               // the call's progress token; 0 means none
	Progress func(params []byte) // called in order for notifications with the token; must not block or keep params
	Header   http.Header         // added to the call's HTTP request; nil on stdio

	// Generation counts the sessions that the connection had before the one
	// that the request went out in. It is set before the answer.
	Generation int

	id      int64         // set by Expect
	done    chan struct{} // closed when answer or err is set
	answer  Answer        // guarded by done
	err     error         // guarded by done
	sending atomic.Int32  // one of the states below
}

const (
	waiting   = iota // nothing of the request was written yet
	begun            // some of it may have been written
	abandoned        // it never will be
)

// An Answer is what the server sent back: a result, or the error object.
type Answer struct {
	Result  []byte // nil where the server sent an error
	Error   []byte
	release func()
}

// Release gives the buffer behind the answer back to the transport. The bytes
// must not be used any more. Not calling it is no leak.
func (a Answer) Release() {
	if a.release != nil {
		a.release()
	}
}

// NewSlot returns a call that is not sent yet.
func NewSlot(method string, params []byte) *Slot {
	return &Slot{Method: method, Params: params, done: make(chan struct{})}
}

// ID returns the id of the call's request, once it is expected.
func (s *Slot) ID() int64 { return s.id }

// Done is closed once the call has ended with an answer or an error.
func (s *Slot) Done() <-chan struct{} { return s.done }

// Outcome returns the answer or error of the call; ok is false while there is
// neither, as when the context ended first.
func (s *Slot) Outcome() (answer Answer, err error, ok bool) {
	select {
	case <-s.done:
		return s.answer, s.err, true
	default:
		return Answer{}, nil, false
	}
}

// Begin is called by the writer just before the first byte goes out. It
// reports false if the caller has given up: then nothing must be sent.
func (s *Slot) Begin() bool {
	return s.sending.CompareAndSwap(waiting, begun) || s.sending.Load() == begun
}

// Begun reports whether some of the request may have been written.
func (s *Slot) Begun() bool { return s.sending.Load() == begun }

// Refused is called when the server has certainly not acted on what was
// written, so that the call may be sent again.
func (s *Slot) Refused() { s.sending.CompareAndSwap(begun, waiting) }

// Abandon is called when the caller gives up. It reports whether the request
// certainly never reached the server, and never will.
func (s *Slot) Abandon() bool {
	return s.sending.CompareAndSwap(waiting, abandoned) || s.sending.Load() == abandoned
}

// An Inbox matches what a server sends with the calls that wait for it. All
// methods may be called concurrently. The zero value is ready for use.
type Inbox struct {
	// ToolsChanged, if not nil, is called for each notification that the list
	// of tools has changed. It must not block.
	ToolsChanged func()

	mu     sync.Mutex
	last   int64           // id
	slots  map[int64]*Slot // by request id
	tokens map[int64]*Slot // by progress token
}

// Expect gives the call its id and waits for its answer, before its request is
// sent.
func (b *Inbox) Expect(slot *Slot) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.slots == nil {
		b.slots, b.tokens = map[int64]*Slot{}, map[int64]*Slot{}
	}
	b.last++
	slot.id = b.last
	b.slots[slot.id] = slot
	if slot.Token != 0 {
		b.tokens[slot.Token] = slot
	}
}

// Forget ends the wait for an answer, however the call ended. An answer that
// comes later is ignored, and so is its progress.
func (b *Inbox) Forget(slot *Slot) {
	b.take(slot.id)
}

func (b *Inbox) take(id int64) *Slot {
	b.mu.Lock()
	defer b.mu.Unlock()
	slot := b.slots[id]
	if slot != nil {
		delete(b.slots, id)
		delete(b.tokens, slot.Token)
	}
	return slot
}

// Waiting returns the ids of the calls without an answer, in no order.
func (b *Inbox) Waiting() []int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	ids := make([]int64, 0, len(b.slots))
	for id := range b.slots {
		ids = append(ids, id)
	}
	return ids
}

// Fail ends the call with the id, if it waits, with an error.
func (b *Inbox) Fail(id int64, err error) bool {
	slot := b.take(id)
	if slot == nil {
		return false
	}
	slot.err = err
	close(slot.done)
	return true
}

// Receive takes one message of the server and returns the reply that it asks
// for, nil for none. release is nil when the message's bytes are the caller's
// to reuse: what is needed is copied then. Otherwise the bytes become the
// answer's if Receive reports that it took them, until release is called.
func (b *Inbox) Receive(m Message, release func()) (reply []byte, took bool) {
	switch {
	case m.Method != "" && m.ID != nil:
		return m.reply(), false
	case m.Method == "notifications/progress":
		b.progress(m.Params)
	case m.Method == "notifications/tools/list_changed":
		if b.ToolsChanged != nil {
			b.ToolsChanged()
		}
	case m.Method == "":
		id, ok := ParseID(m.ID)
		if !ok {
			return nil, false
		}
		slot := b.take(id)
		if slot == nil {
			return nil, false // a duplicate, a late answer, or none of ours
		}
		slot.answer = Answer{Result: m.Result, Error: m.Error, release: release}
		if raw.Null(m.Error) {
			slot.answer.Error = nil
		} else {
			slot.answer.Result = nil
		}
		if took = release != nil; !took {
			slot.answer.Result = clone(slot.answer.Result)
			slot.answer.Error = clone(slot.answer.Error)
		}
		close(slot.done)
	}
	return nil, took
}

func clone(b []byte) []byte {
	if b == nil {
		return nil
	}
	return append(make([]byte, 0, len(b)), b...)
}

func (b *Inbox) progress(params []byte) {
	token, ok := ParseID(raw.Member(params, "progressToken"))
	if !ok {
		return
	}
	b.mu.Lock()
	slot := b.tokens[token]
	b.mu.Unlock()
	if slot != nil && slot.Progress != nil {
		slot.Progress(params)
	}
}

// ParseID reads a request id as this client's: a whole number. Some servers
// echo 1 as "1" or as 1.0.
func ParseID(id []byte) (n int64, ok bool) {
	if raw.IsString(id) {
		id = id[1 : len(id)-1]
	}
	if len(id) == 0 || len(id) > 24 {
		return 0, false
	}
	if n, err := strconv.ParseInt(string(id), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(id), 64)
	if err != nil || f != float64(int64(f)) || f > 1<<53 || f < 0 {
		return 0, false
	}
	return int64(f), true
}
