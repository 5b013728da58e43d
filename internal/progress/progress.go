// Package progress follows a call while it runs: its progress, and its silence.
package progress

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed94b59a13/mcp/internal/patience"
	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/text"
)

// An Update is what a server says of a call that runs.
type Update struct {
	Done    float64
	Total   float64 // 0 if the server does not say
	Message string
}

// maxMessage bounds the message of an update, in bytes, but for a clause that says
// how long it was: an application shows it in one line, and may keep it.
const maxMessage = 8 << 10

// lastWord is how long a call that has ended waits for its reports.
const lastWord = 20 * time.Millisecond

// Follow begins to watch a call. report, if it is not nil, gets the updates, in
// a goroutine of its own; while it runs, updates replace each other. A limit
// that is not 0 bounds the silence of the server: the context returned, which is
// that of the call, then ends with a [Silence] as its cause. Call
// [Watch.End] when the call has ended.
func Follow(ctx context.Context, report func(Update), limit time.Duration) (context.Context, *Watch) {
	w := &Watch{report: report, limit: limit, idle: make(chan struct{}, 1)}
	if limit == 0 {
		return ctx, w
	}
	ctx, w.cancel = context.WithCancelCause(ctx)
	w.timer = &patience.Limit{}
	w.timer.Start(limit, func() { w.cancel(Silence(limit)) })
	return patience.With(ctx, w.timer), w
}

// read reads the params of a progress notification; ok is false where they say
// nothing but that the server is alive. Servers write percentages and texts where
// the specification has numbers, and messages alone.
func read(params []byte) (u Update, ok bool) {
	for name, value := range raw.Members(params) {
		switch string(name) {
		case "progress":
			var percent bool
			if u.Done, percent, ok = number(value); percent && u.Total == 0 {
				u.Total = 100
			}
		case "total":
			if n, _, ok := number(value); ok {
				u.Total = n
			}
		case "message":
			message, _ := raw.String(value)
			message, _ = text.Prompt(message)
			u.Message = text.Start(message, maxMessage)
		}
	}
	return u, ok || u.Message != ""
}

// number reads a number, also one that is written as a text or a percentage. It
// is 0 where there is none.
func number(value []byte) (n float64, percent, ok bool) {
	digits := string(value)
	if raw.IsString(value) {
		digits, _ = raw.String(value)
		digits, percent = strings.CutSuffix(strings.TrimSpace(digits), "%")
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if err != nil || n-n != 0 { // infinite or not a number
		return 0, false, false
	}
	return n, percent, true
}

// A Silence is the cause of a context whose call was too long without an
// answer or progress. It is not an error of the context package: agent loops read
// those as the end of the whole run.
type Silence time.Duration

func (s Silence) Error() string {
	return fmt.Sprintf("no answer or progress for %v", time.Duration(s))
}

func (s Silence) Unwrap() error { return os.ErrDeadlineExceeded }

// A Watch follows one call. Its methods may be called concurrently.
type Watch struct {
	report func(Update) // nil if nobody wants to know
	limit  time.Duration
	timer  *patience.Limit // ends the call after limit; nil if it may be silent
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	latest  Update
	pending bool          // latest is still to be reported
	running bool          // run is at work
	ended   bool          // report is not called any more, and the timer is stopped
	idle    chan struct{} // gets a value when run ends
}

// Take takes the params of a notification, without waiting. Whatever they say,
// the server is alive.
func (w *Watch) Take(params []byte) {
	u, ok := read(params)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	if w.timer != nil {
		w.timer.Restart(w.limit)
	}
	if w.report == nil || !ok {
		return
	}
	w.latest, w.pending = u, true
	if !w.running {
		w.running = true
		go w.run() // ends when there is nothing to report; a report that blocks is its caller's
	}
}

// run reports what is latest until there is nothing new. A report that panics, or
// ends its goroutine as a test's FailNow does, is not called again.
func (w *Watch) run() {
	running := true
	defer func() {
		if running { // report panicked or ended its goroutine
			recover()
			w.mu.Lock()
			w.running, w.report = false, nil
			w.mu.Unlock()
		}
		select {
		case w.idle <- struct{}{}:
		default:
		}
	}()
	for {
		w.mu.Lock()
		u := w.latest
		running = w.pending && !w.ended
		w.running, w.pending = running, false
		w.mu.Unlock()
		if !running {
			return
		}
		w.report(u)
	}
}

// End makes sure that no report begins any more. What the server said before
// its answer is still reported, if that is quick.
func (w *Watch) End() {
	if w.cancel != nil {
		defer w.cancel(nil)
	}
	timer := time.NewTimer(lastWord)
	defer timer.Stop()
	for late := false; ; {
		w.mu.Lock()
		if w.ended = late || !w.running; w.ended {
			if w.timer != nil {
				w.timer.Stop()
			}
			w.mu.Unlock()
			return
		}
		w.mu.Unlock()
		select {
		case <-w.idle:
		case <-timer.C:
			late = true
		}
	}
}
