package streamable

// This file reads event streams and lends the buffers that answers are read
// into.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
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

// readAll reads a body of the size that it claims, or of any if that is
// negative. release gives the buffer back.
func (b *buffers) readAll(body io.Reader, size int64, limit int) (data []byte, release func(), err error) {
	if size > int64(limit) {
		return nil, nil, tooLong(limit)
	}
	var (
		room = int(max(size, 0)) + 1 // to see the end
		own  = size >= 0 && size < lendSize
		buf  []byte
		n    int
	)
	if own {
		buf = make([]byte, room)
	} else {
		buf = b.get(room)
	}
	for {
		m, err := body.Read(buf[n:])
		n += m
		switch {
		case n > limit:
			b.put(buf)
			return nil, nil, tooLong(limit)
		case errors.Is(err, io.EOF):
			if own {
				return buf[:n], func() {}, nil
			}
			if n < lendSize {
				data = bytes.Clone(buf[:n])
				b.put(buf)
				return data, func() {}, nil
			}
			return buf[:n], func() { b.put(buf) }, nil
		case err != nil:
			b.put(buf)
			return nil, nil, fmt.Errorf("reading the answer: %w", err)
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
	id, kind string // of the event under way
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
	e.has, e.joined, e.tried, e.id, e.kind = false, nil, false, "", ""
}

// dispatch ends the event under way and returns its data.
func (e *events) dispatch() []byte {
	if e.id != "" {
		e.lastID = e.id
	}
	e.name = e.kind
	switch {
	case !e.has:
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
	case "data":
		switch {
		case !e.has:
			e.has = true
			e.to = e.lineEnd
			e.from = e.to - len(value)
			return
		case e.joined == nil:
			e.join(e.buf[e.from:e.to])
		}
		e.join([]byte("\n"))
		e.join(value)
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
