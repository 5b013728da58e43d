// Package lines reads lines up to a bound on their length. None is copied: a
// long one gets a large buffer, which is lent to whoever needs the line and
// comes back for the next.
package lines

import (
	"bytes"
	"errors"
	"io"
)

const (
	// Small is the size of the buffer that a reader at rest keeps.
	Small = 4 << 10
	// Edge is how much [Reader.Skip] keeps of both ends of a line, more than any
	// quote of it shows.
	Edge = 8 << 10
)

// ErrTooLong is returned for a line that is longer than the limit, together
// with what is held before it.
var ErrTooLong = errors.New("a line is too long")

// A Reader reads lines from a source. It is for one goroutine.
type Reader struct {
	// CR says that a carriage return ends a line as well, alone or before a
	// line feed.
	CR bool
	// Partial, if not nil, is called with what there is of a line before more
	// is read, which may take for ever. It reports whether to take that for the
	// line. The text is valid until it returns.
	Partial func(line []byte) bool

	pool  *Pool
	src   io.Reader
	limit int

	// buf[start:end] is needed: what is held, the last line, and from pos on
	// what is not read yet, which has no line end before scanned.
	buf                      []byte
	start, pos, scanned, end int
	line                     int // the end of the last line
	held                     bool
	afterCR                  bool // a line feed belongs to the line end before
	failure                  error
}

// NewReader returns a reader with buffers of the pool. A line, with all that is
// held before it, may have limit bytes.
func NewReader(pool *Pool, limit int) *Reader {
	return &Reader{pool: pool, limit: limit, buf: pool.Get(Small)}
}

// Reset begins to read src, and forgets what was read before.
func (r *Reader) Reset(src io.Reader) {
	r.src, r.failure = src, nil
	r.start, r.pos, r.scanned, r.end, r.line = 0, 0, 0, 0, 0
	r.held, r.afterCR = false, false
}

// Free gives the buffer back. The reader is not used any more.
func (r *Reader) Free() {
	r.pool.Put(r.buf)
	r.buf = nil
}

// Line returns the next line without its end. It is valid until the next call.
// The last one may lack its end: it comes with the error of the source.
func (r *Reader) Line() ([]byte, error) {
	if !r.held {
		r.start = r.pos
	}
	for {
		if r.afterCR && r.pos < r.end {
			if r.afterCR = false; r.buf[r.pos] == '\n' {
				r.pos++
				r.scanned = max(r.scanned, r.pos)
			}
		}
		if n := r.find(r.buf[r.scanned:r.end]); n >= 0 {
			return r.take(r.scanned+n, 1), nil
		}
		r.scanned = r.end
		switch {
		case r.failure != nil:
			return r.take(r.end, 0), r.failure
		case r.end-r.start > r.limit:
			return nil, ErrTooLong
		case r.Partial != nil && r.pos < r.end && r.Partial(r.buf[r.pos:r.end]):
			return r.take(r.end, 0), nil
		case r.end == len(r.buf):
			r.makeRoom()
		}
		n, err := r.src.Read(r.buf[r.end:])
		r.end += n
		r.failure = err
	}
}

// take passes a line and its end, which is n bytes long.
func (r *Reader) take(to, n int) []byte {
	line := r.buf[r.pos:to:to]
	r.afterCR = n > 0 && r.CR && r.buf[to] == '\r'
	r.line, r.pos, r.scanned = to, to+n, to+n
	return line
}

// find returns where the first line end is, -1 for none.
func (r *Reader) find(data []byte) int {
	n := bytes.IndexByte(data, '\n')
	if !r.CR {
		return n
	}
	if n >= 0 {
		data = data[:n]
	}
	if cr := bytes.IndexByte(data, '\r'); cr >= 0 {
		return cr
	}
	return n
}

// Buffered reports whether there is more to read at once.
func (r *Reader) Buffered() bool { return r.pos < r.end }

// Hold keeps the last n bytes of the last line, and all that is read from then
// on, until [Reader.Drop]. It has no effect while something is held.
func (r *Reader) Hold(n int) {
	if !r.held {
		r.held, r.start = true, r.line-n
	}
}

// Held returns what is held up to the end of the last line, line ends included.
// It is valid until the next line is read.
func (r *Reader) Held() []byte { return r.buf[r.start:r.line:r.line] }

// Drop ends what [Reader.Hold] began.
func (r *Reader) Drop() { r.held = false }

// Lend gives the buffer away, with the last line and what is held in it, until
// release is called. Nothing is held any more.
func (r *Reader) Lend() (release func()) {
	lent, rest := r.buf, r.buf[r.pos:r.end]
	size := Small
	if len(rest) > Small/2 {
		size = 2 * len(rest)
	}
	r.buf = r.pool.Get(size)
	r.scanned -= r.pos
	r.start, r.pos, r.line, r.end = 0, 0, 0, copy(r.buf, rest)
	r.held = false
	return func() { r.pool.Put(lent) }
}

// Skip reads to the end of a line that was too long, and returns its ends and
// its length. What was held before it counts as a part of it, and is held no
// more. The error is that of the source.
func (r *Reader) Skip() (head, tail []byte, size int, err error) {
	head = bytes.Clone(r.buf[r.start:min(r.start+Edge, r.end)])
	tail = bytes.Clone(r.buf[max(r.start, r.end-Edge):r.end])
	size = r.end - r.start
	r.pool.Put(r.buf)
	r.buf = r.pool.Get(Small)
	r.start, r.pos, r.scanned, r.end, r.line, r.held = 0, 0, 0, 0, 0, false
	for n := -1; n < 0; {
		if r.failure != nil {
			return head, tail, size, r.failure
		}
		r.end, r.failure = r.src.Read(r.buf)
		part := r.buf[:r.end]
		if n = r.find(part); n >= 0 {
			part = r.take(n, 1)
		}
		size += len(part)
		tail = append(tail, part...)
		tail = append(tail[:0], tail[max(0, len(tail)-Edge):]...)
	}
	return head, tail, size, nil
}

// makeRoom moves what is needed to the front of a buffer with room behind it.
func (r *Reader) makeRoom() {
	needed, old := r.buf[r.start:r.end], r.buf
	size := len(old)
	switch {
	case len(needed) <= Small/2:
		size = Small
	case len(needed) > len(old)/2:
		size = min(2*len(old), r.limit+Small)
	}
	if size != len(old) {
		r.buf = r.pool.Get(size)
		defer r.pool.Put(old)
	}
	r.end = copy(r.buf, needed)
	r.pos, r.scanned, r.line, r.start = r.pos-r.start, r.scanned-r.start, r.line-r.start, 0
}
