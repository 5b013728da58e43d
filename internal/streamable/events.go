package streamable

// This file reads event streams.

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/seed94b59a13/mcp/internal/lines"
	"github.com/seed94b59a13/mcp/internal/raw"
)

// events reads an event stream: comments, any of the three line ends, data on
// several lines, a byte-order mark and a last event without its blank line are
// all legal (HTML standard, section 9.2).
type events struct {
	lastID string        // the id of the last event that had one
	retry  time.Duration // as the server asks for
	name   string        // of the event that next returned

	lines *lines.Reader // which holds the only line of data
	pool  *buffers
	limit int
	begun bool // the byte-order mark is past

	has      bool   // the event has data:
	size     int    // the length of its only line,
	joined   []byte // or its lines, if there are several
	tried    bool   // the data was taken for whole before the event ended
	bare     bool   // the data has no field name before it
	id, kind string // of the event under way

	lastEvent, loose []byte // what was said besides messages: see words
}

// newEvents returns a reader of streams whose messages have limit bytes at most.
// It is for one goroutine; free gives its buffer back.
func newEvents(pool *buffers, limit int) *events {
	e := &events{pool: pool, limit: limit, lines: lines.NewReader(&pool.Pool, limit)}
	e.lines.CR = true
	return e
}

// read begins a stream, another one where the one before was cut.
func (e *events) read(src io.Reader) {
	e.lines.Reset(src)
	e.begun = false
}

// free gives the buffer back.
func (e *events) free() {
	e.reset()
	e.lines.Free()
}

// lend gives the buffer with the last event's data away, until release is
// called. What follows the event moves on.
func (e *events) lend() (release func()) {
	if joined := e.joined; joined != nil {
		e.joined = nil
		return func() { e.pool.Put(joined) }
	}
	return e.lines.Lend()
}

// only returns the only line of data.
func (e *events) only() []byte { return e.lines.Held()[:e.size:e.size] }

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
		// A whole message does not wait for a blank line that may not come.
		if e.has && !e.tried && !e.lines.Buffered() && e.joined == nil {
			e.tried = true
			if data := e.only(); len(data) > 0 && data[0] == '{' && raw.Valid(data) {
				return e.dispatch(), nil
			}
		}
	}
}

// reset forgets the event under way. Its data is not valid any more.
func (e *events) reset() {
	if e.joined != nil {
		e.pool.Put(e.joined)
	}
	e.lines.Drop()
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
	return e.only()
}

// field takes one line of an event, and what servers and gateways write in place
// of one: a message without a field name, or words about what went wrong.
func (e *events) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data", "event", "id", "retry":
		if e.bare { // it was not the start of a message
			if e.joined == nil {
				e.note(e.only())
			} else {
				e.note(e.joined)
				e.pool.Put(e.joined)
			}
			e.lines.Drop()
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
		e.has, e.size = true, len(line)
		e.lines.Hold(e.size)
		return
	case e.joined == nil:
		e.join(e.only())
		e.lines.Drop()
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
		grown := e.pool.Get(max(need, 2*cap(e.joined)))[:0]
		grown = append(grown, e.joined...)
		if e.joined != nil {
			e.pool.Put(e.joined)
		}
		e.joined = grown
	}
	e.joined = append(e.joined, data...)
}

// line returns the next line without its end. The last line of a stream may
// lack one.
func (e *events) line() ([]byte, error) {
	line, err := e.lines.Line()
	switch {
	case errors.Is(err, lines.ErrTooLong), len(line)+len(e.joined) > e.limit:
		return nil, tooLong(e.limit)
	case err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)):
		return nil, err
	}
	return e.first(line), nil
}

// first takes the byte-order mark off the first line.
func (e *events) first(line []byte) []byte {
	if !e.begun {
		e.begun = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	return line
}
