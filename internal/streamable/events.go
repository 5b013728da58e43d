package streamable

// This file reads event streams and lends the buffers that answers are read
// into.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/rpc"
)

const (
	smallBuffer = 4 << 10
	lendSize    = 32 << 10 // a message from here on is lent to its call, not copied
)

var errTooLong = errors.New("the server's answer is longer than allowed")

// tooLong says what was allowed.
func tooLong(limit int) error { return fmt.Errorf("%w: %d bytes", errTooLong, limit) }

// buffers are those of a connection that no answer needs at the moment. Small
// ones do not stand in the way of large ones.
type buffers struct{ small, large rpc.BufferPool }

func (b *buffers) get(size int) []byte {
	if size <= smallBuffer {
		return b.small.Get(smallBuffer)
	}
	return b.large.Get(size)
}

func (b *buffers) put(buffer []byte) {
	if cap(buffer) <= smallBuffer {
		b.small.Put(buffer)
	} else {
		b.large.Put(buffer)
	}
}

// A form is what a body is, by its first characters.
type form int

const (
	formUnclear form = iota // nothing but space yet
	formJSON
	formEvents
	formOther
)

// formOf looks at the start of a body behind its white space.
func formOf(start []byte) form {
	switch {
	case len(start) == 0:
		return formUnclear
	case start[0] == '{', start[0] == '[':
		return formJSON
	case start[0] == ':':
		return formEvents
	}
	for _, field := range []string{"data:", "event:", "id:", "retry:"} {
		switch n := min(len(start), len(field)); {
		case string(start[:n]) != field[:n]:
		case n == len(field):
			return formEvents
		default:
			return formUnclear
		}
	}
	return formOther
}

// A text is a body that was read, or its start. release gives its buffer back,
// unless the text owns it.
type text struct {
	data    []byte
	form    form
	owned   bool
	release func()
}

func noRelease() {}

// readAll reads a body of the size that it claims, or of any if that is
// negative. A form that is not wanted ends it. Of a body that cannot be read to
// its end, and of such a form, the start is returned.
func (b *buffers) readAll(body io.Reader, size int64, limit int, wants func(form) bool) (t text, err error) {
	t.release = noRelease
	if size > int64(limit) {
		return t, tooLong(limit)
	}
	var (
		room   = int(max(size, 0)) + 1 // to see the end
		own    = size >= 0 && size < lendSize
		buf    []byte
		n      int
		looked int // how much of it is only space
	)
	if own {
		buf = make([]byte, room)
	} else {
		buf = b.get(room)
	}
	start := func() []byte {
		defer b.put(buf)
		return bytes.Clone(buf[:min(n, maxRead)])
	}
	for {
		m, err := body.Read(buf[n:])
		n += m
		if t.form == formUnclear {
			for looked < n && strings.IndexByte(" \t\r\n\x00\xef\xbb\xbf", buf[looked]) >= 0 {
				looked++
			}
			t.form = formOf(buf[looked:n])
			if t.form != formUnclear && !wants(t.form) {
				t.data = start()
				return t, nil
			}
		}
		switch {
		case n > limit:
			t.data = start()
			return t, tooLong(limit)
		case errors.Is(err, io.EOF):
			switch {
			case own:
				t.data, t.owned = buf[:n], true
			case n < lendSize:
				t.data, t.owned = bytes.Clone(buf[:n]), true
				b.put(buf)
			default:
				t.data, t.release = buf[:n], func() { b.put(buf) }
			}
			return t, nil
		case err != nil:
			t.data = start()
			return t, fmt.Errorf("reading the answer: %w", err)
		case n == len(buf):
			larger := b.get(min(2*len(buf), limit+1))
			copy(larger, buf)
			b.put(buf)
			buf, own = larger, false
		}
	}
}

// events reads an event stream: comments, any of the three line ends, data on
// several lines, a byte-order mark and a last event without its blank line are
// all legal (HTML standard, section 9.2).
type events struct {
	lastID string        // the id of the last event that had one
	retry  time.Duration // as the server asks for
	name   string        // of the event that next returned

	src   io.Reader
	pool  *buffers
	limit int

	// buf[start:pos] is the event under way as far as its data needs it,
	// buf[pos:end] is not read yet, and has no line end before scanned.
	buf                      []byte
	start, pos, scanned, end int
	begun                    bool // the byte-order mark is past
	afterCR                  bool // a line feed belongs to the line end before
	lineEnd                  int  // of the line that was returned last
	failure                  error

	has      bool   // the event has data:
	from, to int    // its only line, in buf,
	joined   []byte // or its lines, if there are several
	tried    bool   // the data was taken for whole before the event ended
	bare     bool   // the data has no field name before it
	id, kind string // of the event under way

	lastEvent, loose []byte // what was said besides messages: see words
}

func newEvents(pool *buffers, limit int) *events {
	return &events{pool: pool, limit: limit, buf: pool.get(smallBuffer)}
}

// read begins a stream, another one where the one before was cut.
func (e *events) read(src io.Reader) {
	e.src, e.failure = src, nil
	e.start, e.pos, e.scanned, e.end = 0, 0, 0, 0
	e.begun, e.afterCR = false, false
}

// free gives the buffer back.
func (e *events) free() {
	e.reset()
	e.pool.put(e.buf)
	e.buf = nil
}

// lend gives the buffer with the last event's data away, until release is
// called. What follows the event moves on.
func (e *events) lend() (release func()) {
	if joined := e.joined; joined != nil {
		e.joined = nil
		return func() { e.pool.put(joined) }
	}
	lent, rest := e.buf, e.buf[e.pos:e.end]
	e.buf = e.pool.get(max(len(rest), smallBuffer))
	e.scanned -= e.pos
	e.start, e.pos, e.end = 0, 0, copy(e.buf, rest)
	return func() { e.pool.put(lent) }
}

// next returns the data of the next event that has some; it is valid until the
// next call.
func (e *events) next() ([]byte, error) {
	e.reset()
	for {
		line, err := e.line()
		if err != nil {
			if errors.Is(err, io.EOF) && e.has { // an event without its blank line
				e.id = "" // it may be cut: a stream that goes on must bring it again
				if data := e.dispatch(); len(data) > 0 {
					return data, nil
				}
			}
			return nil, err
		}
		if len(line) == 0 {
			if data := e.dispatch(); len(data) > 0 {
				return data, nil
			}
			e.reset()
			continue
		}
		e.field(line)
		if !e.has || e.joined != nil {
			e.start = e.pos // nothing up to here is needed in the buffer
		}
		// A whole message does not wait for a blank line that may not come.
		if e.has && !e.tried && e.pos == e.end && e.joined == nil {
			e.tried = true
			if data := e.buf[e.from:e.to]; len(data) > 0 && data[0] == '{' && raw.Valid(data) {
				return e.dispatch(), nil
			}
		}
	}
}

func (e *events) reset() {
	if e.joined != nil {
		e.pool.put(e.joined)
	}
	e.start = e.pos
	e.has, e.joined, e.tried, e.bare, e.id, e.kind = false, nil, false, false, "", ""
}

// dispatch ends the event under way and returns its data.
func (e *events) dispatch() []byte {
	if e.id != "" {
		e.lastID = e.id
	}
	e.name = e.kind
	switch {
	case !e.has:
		e.say(e.name, nil)
		return nil
	case e.joined != nil:
		return e.joined
	}
	return e.buf[e.from:e.to]
}

func (e *events) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data", "event", "id", "retry":
		if e.bare { // it was not the start of a message
			e.note(e.buf[e.from:e.to])
			e.pool.put(e.joined)
			e.has, e.joined, e.tried, e.bare = false, nil, false, false
		}
	case "":
		return // a comment
	default:
		// A message without "data:" is one all the same.
		if open := bytes.TrimLeft(line, " "); e.bare || !e.has && len(open) > 0 && (open[0] == '{' || open[0] == '[') {
			e.bare = true
			e.data(line)
			return
		}
		e.note(line)
	}
	switch string(name) {
	case "data":
		e.data(value)
	case "event":
		e.kind = string(value)
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			e.id = string(value)
		}
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
			e.retry = time.Duration(ms) * time.Millisecond
		}
	}
}

// data adds a line to the data of the event. It is the end of the line that was
// read last.
func (e *events) data(line []byte) {
	switch {
	case !e.has:
		e.has = true
		e.to = e.lineEnd
		e.from = e.to - len(line)
		return
	case e.joined == nil:
		e.join(e.buf[e.from:e.to])
	}
	e.join([]byte("\n"))
	e.join(line)
}

// maxWords is how much of what is said besides messages is kept: more than is
// shown, since words in an object are still to be found, and secrets masked.
const maxWords = 16 << 10

// say keeps the last event that was not a message, but for those that keep a
// stream alive.
func (e *events) say(name string, data []byte) {
	switch strings.ToLower(name) {
	case "ping", "heartbeat", "keepalive", "keep-alive":
		return
	case "", "message":
		name = ""
	}
	if name == "" && len(data) == 0 {
		return
	}
	data = data[:min(len(data), maxWords)]
	if len(data) > 0 && data[0] == '{' && raw.Valid(data) {
		if said := words(data); said != "" {
			data = []byte(said)
		}
	}
	e.lastEvent = append(e.lastEvent[:0], name[:min(len(name), maxWords)]...)
	if name != "" && len(data) > 0 {
		e.lastEvent = append(e.lastEvent, ": "...)
	}
	e.lastEvent = append(e.lastEvent, data...)
}

// note keeps the start of the lines that have no field name.
func (e *events) note(line []byte) {
	if len(e.loose) > 0 && len(e.loose) < maxWords {
		e.loose = append(e.loose, ' ')
	}
	e.loose = append(e.loose, line[:min(len(line), max(0, maxWords-len(e.loose)))]...)
}

// words returns what the server said in the stream besides messages.
func (e *events) words() string {
	if len(e.lastEvent) > 0 {
		return string(e.lastEvent)
	}
	return string(e.loose)
}

// join appends to the lines of data. Growing by a quarter, as append does,
// would leave several times the size behind.
func (e *events) join(data []byte) {
	if need := len(e.joined) + len(data); need > cap(e.joined) {
		grown := e.pool.get(max(need, 2*cap(e.joined)))[:0]
		grown = append(grown, e.joined...)
		if e.joined != nil {
			e.pool.put(e.joined)
		}
		e.joined = grown
	}
	e.joined = append(e.joined, data...)
}

// line returns the next line without its end. The last line of a stream may
// lack one.
func (e *events) line() ([]byte, error) {
	for {
		if e.afterCR && e.pos < e.end {
			if e.afterCR = false; e.buf[e.pos] == '\n' {
				e.pos++
				e.scanned = max(e.scanned, e.pos)
			}
		}
		if n := lineEnd(e.buf[e.scanned:e.end]); n >= 0 {
			from, to := e.pos, e.scanned+n
			e.afterCR = e.buf[to] == '\r'
			e.pos, e.scanned, e.lineEnd = to+1, to+1, to
			return e.first(e.buf[from:to]), nil
		}
		e.scanned = e.end
		if e.failure != nil {
			line := e.buf[e.pos:e.end]
			e.pos, e.lineEnd = e.end, e.end
			if len(line) > 0 && errors.Is(e.failure, io.EOF) {
				return e.first(line), nil
			}
			return nil, e.failure
		}
		if e.end-e.start+len(e.joined) > e.limit {
			return nil, tooLong(e.limit)
		}
		if e.end == len(e.buf) {
			e.makeRoom()
		}
		n, err := e.src.Read(e.buf[e.end:])
		e.end += n
		e.failure = err
	}
}

func lineEnd(data []byte) int {
	n := bytes.IndexByte(data, '\n')
	if n >= 0 {
		data = data[:n]
	}
	if r := bytes.IndexByte(data, '\r'); r >= 0 {
		return r
	}
	return n
}

// first takes the byte-order mark off the first line.
func (e *events) first(line []byte) []byte {
	if !e.begun {
		e.begun = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	return line
}

// makeRoom moves what is needed to the front of a buffer with room behind it.
func (e *events) makeRoom() {
	kept := e.buf[e.start:e.end]
	old := e.buf
	if len(kept) > len(old)/2 {
		e.buf = e.pool.get(min(2*len(old), e.limit+smallBuffer))
	}
	shift := e.start
	e.end = copy(e.buf, kept)
	e.start, e.pos, e.scanned = 0, e.pos-shift, e.scanned-shift
	e.from, e.to = e.from-shift, e.to-shift
	if len(old) != len(e.buf) || &old[0] != &e.buf[0] {
		e.pool.put(old)
	}
}
