package streamable

// This file reads what comes back for a call. A message with the call's own id is
// its answer, whatever the status and the label say: they are those of gateways
// and frameworks, the id is the server's.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed94b59a13/mcp/internal/patience"
	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/rpc"
)

const (
	// Of attempts to resume a stream that brought nothing new, so many may be
	// in a row: those that failed, and those that were answered by a stream.
	maxFailed, maxEmpty = 5, 100
	// The wait before an attempt to resume doubles with each; the server may
	// ask for more.
	firstWait, lastWait = 100 * time.Millisecond, 5 * time.Second
	maxWait             = time.Minute
)

func succeeded(resp *http.Response) bool { return resp.StatusCode >= 200 && resp.StatusCode <= 299 }

// read reads what came back. Without a failure and an error the call has its
// answer, or r.refused says why not.
func (c *Conn) read(ctx context.Context, s session, r *request, resp *http.Response) (*failure, error) {
	label, ok := mediaType(resp), succeeded(resp)
	// With the status of an error, an error without an id may be a gateway's, or
	// say that the session is lost.
	r.adopts = ok
	if ok {
		c.taken(s)
		if r.method == rpc.MethodInitialize {
			r.session = resp.Header.Get(sessionHeader)
		}
		if label == "text/event-stream" {
			return nil, c.readStream(ctx, s, r, resp)
		}
	}
	// A label of JSON is believed until an event shows, since a handler may flush
	// its head first.
	promised := ok && label == "application/json"
	t, err := c.readBody(resp, promised, false)
	if t.form == formEvents {
		resp.Body = &rejoined{Reader: io.MultiReader(bytes.NewReader(t.data), resp.Body), Closer: resp.Body}
		if ok {
			return nil, c.readStream(ctx, s, r, resp)
		}
		return c.readRefusal(s, r, resp), nil
	}
	isAnswer := t.form == formJSON || promised
	switch {
	case err != nil && (ctx.Err() != nil || ok && (isAnswer || t.form == formUnclear)):
		return nil, c.uncertain(r, c.clean(err))
	case ok && isAnswer:
		return c.readJSON(s, r, resp, t), nil
	}
	f := newFailure(resp, t.data)
	f.free = t.release
	f.find(r.id, t.data)
	// It may be in what was not read, or in what cannot be: compressed, or UTF-16.
	f.partial = f.answer == nil && (f.partial || err != nil || resp.Header.Get("Content-Encoding") != "" || bytes.IndexByte(f.body, 0) >= 0)
	return f, nil
}

func mediaType(resp *http.Response) string {
	// The parameters may be broken; the type before them counts all the same.
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// readJSON takes an answer that is one JSON text.
func (c *Conn) readJSON(s session, r *request, resp *http.Response, t text) *failure {
	message := rpc.Trim(t.data)
	if took := c.takeAll(s, r, message, t.owned, t.release, func([]byte) {}); took {
		return nil
	}
	defer t.release()
	if r.settled() {
		return nil
	}
	return newFailure(resp, bytes.Clone(message[:min(len(message), maxRead)]))
}

// deliver gives the call the answer that came with the status of an error. If the
// server says in it that it does not know the session, every call would fail like
// this one; but a tool may say the same of a session of its own, so a ping decides.
func (c *Conn) deliver(s session, r *request, f *failure) {
	if s.id != "" && f.answer.Error != nil && f.mayLoseSession() {
		c.suspect(s, doubtful)
	}
	if took := c.take(s, r, *f.answer, f.free); !took {
		f.release()
	}
}

// settled reports whether nothing more is to come for the call.
func (r *request) settled() bool {
	if r.refused {
		return true
	}
	_, _, ok := r.call.Outcome()
	return ok
}

// take gives a message that came in the answer of a call to those that wait. A
// server that could not even read the id reports that with none, or a made-up
// one: in this exchange it can only be this call's.
func (c *Conn) take(s session, r *request, m rpc.Message, release func()) (took bool) {
	id, ok := raw.Whole(m.ID)
	ok = ok && id != 0 // which is what some languages write for none
	if m.Method == "" && !raw.Null(m.Error) {
		own := ok && id == r.id
		if s.id != "" && !r.renewed && (own || !ok) && tellsLost(m.Error) {
			// Before it refuses a call unread, a server has nothing to tell.
			unread := !own && r.heard.Load() == 0
			if unread || r.method != rpc.MethodCallTool {
				r.refused = true
				return false
			}
			c.suspect(s, forgotten) // it is the answer of this call, and would be of the next
		}
		if !ok && r.adopts {
			id, ok, m.ID = r.id, true, strconv.AppendInt(nil, r.id, 10)
		}
	}
	if m.Method == "" && !ok {
		return false // the failure quotes it
	}
	r.heard.Add(1)
	if m.Method == rpc.MethodProgress && m.ID == nil {
		c.report(r, m.Params)
		return false
	}
	if c.Pending.Elicit != nil && c.asked(s, r, m) {
		return false
	}
	reply, took := c.Pending.Receive(m, release)
	c.reply(s, r, m.Method, reply, false)
	if m.Method == "" && id != r.id {
		c.answered(id)
	}
	return took
}

// takeAll takes what a text holds: one message, which may keep the bytes that are
// owned or until they are released, or several, or a batch. skip gets the rest.
func (c *Conn) takeAll(s session, r *request, data []byte, owned bool, release func(), skip func([]byte)) (took bool) {
	m, rest, err := rpc.Parse(data)
	if err == nil && len(rest) == 0 {
		m.Owned = owned
		return c.take(s, r, m, release)
	}
	for m, skipped := range rpc.Messages(data) {
		if skipped != nil {
			skip(skipped)
		} else {
			c.take(s, r, m, nil)
		}
	}
	return false
}

// asked takes a question for the user. It stands apart from take so that other
// messages do not pay for what the answer needs.
func (c *Conn) asked(s session, r *request, m rpc.Message) bool {
	return c.Pending.Asks(m, r.call, func(reply []byte) { c.reply(s, r, m.Method, reply, true) })
}

// report takes a report of progress that came in the stream of a call. It is a
// sign of life of that call whatever its token, and about it unless the token is
// that of another: some servers make one up, or take the request's id.
func (c *Conn) report(r *request, params []byte) {
	token, ok := raw.Whole(raw.Member(params, "progressToken"))
	if ok && token != r.call.Token && token != r.id && c.Pending.Progress(params) {
		params = nil
	}
	if r.call.Progress != nil {
		r.call.Progress(params)
	}
}

// answered ends the exchange of a call whose answer came with that of another,
// against the specification: its own stream may stay open.
func (c *Conn) answered(id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for r := range c.running {
		if r.id == id && r.call != nil {
			r.cancel()
		}
	}
}

// readStream reads an event stream until the answer, and the streams that go
// on where it was cut.
func (c *Conn) readStream(ctx context.Context, s session, r *request, resp *http.Response) error {
	e, t := newEvents(&c.buffers, c.Limit), tries{wait: firstWait}
	for {
		e.read(resp.Body)
		err := c.pump(e, s, r)
		if r.settled() {
			c.drainLater(resp, e, r)
			return nil
		}
		resp.Body.Close()
		if err == nil || errors.Is(err, io.EOF) {
			err = errors.New("the stream ended without the answer")
		}
		if resp, err = c.goOn(ctx, s, r, e, &t, c.withWords(err, e)); err != nil {
			e.free()
			return c.uncertain(r, err)
		}
	}
}

// tries are the attempts to resume one stream since it brought something new.
type tries struct {
	last          string // the id of the event that it was to go on after
	failed, empty int    // by an error, and with a stream
	wait          time.Duration
}

// goOn returns the stream that goes on where one was cut, for the reason: the
// answer may wait there. It fails where that cannot be resumed, or has been too
// often without anything new.
func (c *Conn) goOn(ctx context.Context, s session, r *request, e *events, t *tries, reason error) (*http.Response, error) {
	if e.lastID == "" || errors.Is(reason, errTooLong) {
		return nil, reason
	}
	t.empty++
	if e.lastID != t.last {
		*t = tries{last: e.lastID, wait: firstWait}
	}
	for t.failed < maxFailed && t.empty < maxEmpty {
		if !patience.Sleep(ctx, min(max(t.wait, e.retry), maxWait)) {
			return nil, ctx.Err()
		}
		t.wait = min(2*t.wait, lastWait)
		resp, final, err := c.resume(ctx, s, r, t.last)
		if err == nil || final {
			return resp, err
		}
		t.failed, reason = t.failed+1, err
	}
	return nil, fmt.Errorf("%w; giving up resuming it after %d attempts", reason, t.failed+t.empty)
}

// readRefusal reads a stream that came with a status of an error: the answer may
// be in it. It is not resumed: a server that resumes streams gives them no such
// status.
func (c *Conn) readRefusal(s session, r *request, resp *http.Response) *failure {
	var start head
	heard := r.heard.Load()
	e := newEvents(&c.buffers, c.Limit)
	e.read(io.TeeReader(resp.Body, &start))
	err := c.pump(e, s, r)
	if r.settled() {
		c.drainLater(resp, e, r)
		return nil
	}
	resp.Body.Close()
	e.free()
	f := newFailure(resp, start)
	f.find(r.id, start)
	f.partial = f.partial || err != nil && !errors.Is(err, io.EOF) || r.heard.Load() > heard || len(start) == maxRead
	return f
}

// A head keeps the start of what is written to it.
type head []byte

func (h *head) Write(p []byte) (int, error) {
	*h = append(*h, p[:min(len(p), maxRead-len(*h))]...)
	return len(p), nil
}

// pump takes the events of a stream until the answer or the end.
func (c *Conn) pump(e *events, s session, r *request) error {
	skip := func(data []byte) {
		e.say(e.name, data)
		// An event with a name of its own, such as ping, is not a message that
		// went wrong.
		if e.name == "" || e.name == "message" {
			c.skipped.Add(data, c.Quoter)
		}
	}
	for !r.settled() {
		data, err := e.next()
		if err != nil {
			return c.clean(err)
		}
		data = rpc.Trim(data)
		var release func()
		if len(data) >= lendSize {
			release = e.lend()
		}
		if took := c.takeAll(s, r, data, false, release, skip); release != nil && !took {
			release()
		}
	}
	return nil
}

// withWords adds to the error of a stream what the server said in it besides
// messages.
func (c *Conn) withWords(err error, e *events) error {
	if said := c.line(e.words()); said != "" {
		return fmt.Errorf("%w: %s", err, said)
	}
	return err
}

// resume asks for the rest of a stream. final means that asking again is in
// vain.
func (c *Conn) resume(ctx context.Context, s session, r *request, last string) (_ *http.Response, final bool, err error) {
	resp, err := c.send(ctx, http.MethodGet, s, &request{after: last})
	if err != nil {
		return nil, isDenial(err), fmt.Errorf("resuming the stream: %w", err)
	}
	if resp.StatusCode == http.StatusOK && mediaType(resp) == "text/event-stream" {
		return resp, false, nil
	}
	f := newFailure(resp, readText(resp))
	return nil, f.status < 500 && f.status != http.StatusTooManyRequests, fmt.Errorf("resuming the stream: %w", c.failed(r, f))
}

// drainLater reads what follows an answer in a goroutine: the caller has what it
// wants, and a server may take its time to end the stream.
func (c *Conn) drainLater(resp *http.Response, e *events, r *request) {
	if r.refused { // the request goes on
		resp.Body.Close()
		e.free()
		return
	}
	r.draining = true
	go func() { // ends within drainTime
		defer c.leave(r)
		c.drain(resp, e, r)
	}()
}

// drain reads what follows an answer, so that its connection can be used
// again, and ends what does not end soon.
func (c *Conn) drain(resp *http.Response, e *events, r *request) {
	defer resp.Body.Close()
	timer := time.AfterFunc(drainTime, r.cancel)
	defer timer.Stop()
	if e == nil {
		io.Copy(io.Discard, resp.Body)
		return
	}
	defer e.free()
	for {
		data, err := e.next()
		if err != nil {
			return
		}
		if m, _, err := rpc.Parse(data); err == nil && m.ID == nil && m.Method != "" {
			c.Pending.Receive(m, nil)
		}
	}
}
