package stdio

// This file keeps the end of what a server writes to its standard error, and
// hands a copy to the host.

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/seed94b59a13/mcp/internal/patience"
	"github.com/seed94b59a13/mcp/internal/secret"
)

// tailSize is how much of stderr an error quotes at most. Twice as much is
// kept, since what is masked and cleaned away makes it less.
const tailSize = 4 << 10

// A tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
	cut bool // there was more before
}

// Write implements [io.Writer]. It never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p[max(0, len(p)-2*tailSize):]...)
	// Not with each of many small writes.
	if t.cut = t.cut || len(p) > 2*tailSize; len(t.buf) > 4*tailSize {
		t.buf, t.cut = slices.Delete(t.buf, 0, len(t.buf)-2*tailSize), true
	}
	return len(p), nil
}

// text returns a copy of what is kept, decoded, and whether there was more
// before.
func (t *tail) text() (text []byte, cut bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(decodeLines(t.buf)), t.cut
}

// reset forgets all, and keeps the buffer.
func (t *tail) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf, t.cut = t.buf[:0], false
}

const (
	// maxFault bounds what is shown of a writer's error, in bytes.
	maxFault = 512
	// relayRoom bounds what waits for a slow writer, in bytes.
	relayRoom = 64 << 10
	// relayTime bounds the wait for a writer at the end.
	relayTime = 100 * time.Millisecond
)

// A relay hands what is offered to a writer of the host, which may block, fail
// or panic: its goroutine stands between.
type relay struct {
	to   io.Writer
	done chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex
	news    *sync.Cond // there is something to do
	pending []byte
	writing int    // bytes that the writer has not answered for yet
	missed  int64  // bytes, beside these once there is a fault
	fault   string // why the writer is not called any more; empty while it is
	ending  bool   // no more is offered
}

// newRelay starts the goroutine of a relay, which end waits for.
func newRelay(to io.Writer) *relay {
	r := &relay{to: to, done: make(chan struct{})}
	r.news = sync.NewCond(&r.mu)
	go r.run()
	return r
}

// offer takes a copy of p, as far as there is room. It does not block.
func (r *relay) offer(p []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	if r.fault == "" && !r.ending {
		n = min(len(p), relayRoom-len(r.pending))
	}
	r.pending = append(r.pending, p[:n]...)
	r.missed += int64(len(p) - n)
	r.news.Signal()
}

// run ends with the first fault, or when all is handed over in the end.
func (r *relay) run() {
	defer close(r.done)
	for {
		r.mu.Lock()
		for len(r.pending) == 0 && !r.ending {
			r.news.Wait()
		}
		if r.fault != "" || len(r.pending) == 0 {
			r.mu.Unlock()
			return
		}
		batch := r.pending
		r.pending, r.writing = nil, len(batch)
		r.mu.Unlock()
		r.write(batch)
	}
}

// write calls the writer, and notes how that went, even if it does not come
// back: a writer may panic, or end the goroutine, as one does that fails a test.
// How much it says it has written is not to be trusted either.
func (r *relay) write(batch []byte) {
	n, fault := 0, "it ended the goroutine that called it"
	defer func() {
		if v := recover(); v != nil {
			fault = fmt.Sprintf("it panicked: %v", v)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.missed += int64(len(batch) - min(max(n, 0), len(batch)))
		r.writing, r.fault = 0, cmp.Or(r.fault, fault)
	}()
	n, err := r.to.Write(batch)
	if fault = ""; err == nil && n < len(batch) {
		err = io.ErrShortWrite
	}
	if err != nil {
		fault = fmt.Sprintf("it failed: %v", err)
	}
}

// end hands over what is left and ends the goroutine. One that is stuck in the
// writer is left behind after relayTime: it ends when the writer returns, and
// calls it no more.
func (r *relay) end() {
	r.mu.Lock()
	r.ending = true
	r.news.Signal()
	r.mu.Unlock()
	if !patience.Await(context.Background(), r.done, relayTime) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.fault = cmp.Or(r.fault, "it did not return")
	}
}

// warnings tell what the writer missed.
func (r *relay) warnings(quoter *secret.Quoter) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	missed := r.missed
	if r.fault != "" {
		missed += int64(len(r.pending) + r.writing)
	}
	if missed == 0 {
		return nil
	}
	why := quoter.Quote(cmp.Or(r.fault, "it was too slow"), maxFault)
	return []string{fmt.Sprintf("the writer Server.Stderr missed %d bytes: %s", missed, why)}
}
