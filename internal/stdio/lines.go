package stdio

// This file reads messages from the output of a server, whatever else it
// prints there.

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/rpc"
)

const (
	smallBuffer = 4 << 10  // what a connection at rest keeps
	lendSize    = 32 << 10 // a message from here on is lent to its call, not copied
	edge        = 4 << 10  // what is kept of both ends of a message that is too long
	maxPretty   = 1 << 20  // bytes of a message that is spread over lines
)

// receive reads until the output ends.
func (c *Conn) receive() {
	var (
		l      = newLines(c.Stdout, c.Limit)
		pretty pretty
	)
	for {
		line, err := l.next()
		if errors.Is(err, errTooLong) {
			c.tooLong(l.head, l.tail, l.skipped)
			continue
		}
		if line = rpc.Trim(line); len(line) > 0 {
			c.line(line, &pretty, l)
		}
		if err != nil {
			if rest := pretty.take(); rest != nil {
				c.broken(rest)
			}
			return
		}
	}
}

// line takes one line of output.
func (c *Conn) line(line []byte, p *pretty, l *lines) {
	m, rest, err := rpc.Parse(line)
	if p.depth > 0 {
		// A whole message on one line ends one that was spread over several.
		if err != nil {
			switch whole, ok := p.add(line); {
			case !ok:
				c.broken(p.take())
			case whole:
				c.whole(p.take())
				return
			default:
				return
			}
		} else {
			c.broken(p.take())
		}
	}
	switch {
	case err == nil:
		var release func()
		if len(line) >= lendSize && len(rest) == 0 {
			release = l.lend()
		}
		reply, took := c.Pending.Receive(m, release)
		if release != nil && !took {
			release()
		}
		c.reply(reply)
		if len(rest) > 0 {
			c.whole(rest) // two messages on one line, or text behind one
		}
	case errors.Is(err, raw.ErrShort) && p.start(line):
	default:
		c.whole(line)
	}
}

// whole takes a piece of output that is complete as far as line ends go: a
// message, a batch, text with messages in it, or neither.
func (c *Conn) whole(piece []byte) {
	for m, skipped := range rpc.Messages(piece) {
		if skipped != nil {
			c.broken(skipped)
			continue
		}
		reply, _ := c.Pending.Receive(m, nil)
		c.reply(reply)
	}
}

// broken takes a piece that is no message. If it was to be the answer of a
// call, the call ends now rather than at its deadline.
func (c *Conn) broken(piece []byte) {
	if piece[0] == '{' {
		if id, ok := rpc.FindID(piece, piece[max(0, len(piece)-edge):]); ok {
			_, err := raw.Scan(piece)
			if err == nil || errors.Is(err, raw.ErrShort) {
				err = errors.New("the message is incomplete")
			}
			if c.Pending.Fail(id, fmt.Errorf("decoding the server's answer: %w", err)) {
				return
			}
		}
	}
	c.skipped.Add(piece, c.Quoter)
}

func (c *Conn) tooLong(head, tail []byte, size int) {
	err := fmt.Errorf("the server's answer of %d bytes is longer than the %d allowed", size, c.Limit)
	if id, ok := rpc.FindID(rpc.Trim(head), rpc.Trim(tail)); !ok || !c.Pending.Fail(id, err) {
		c.skipped.Add(head, c.Quoter)
	}
}

// reply queues the answer to a request of the server. A server that asks
// without reading the answers gets no more of them.
func (c *Conn) reply(reply []byte) {
	if reply == nil {
		return
	}
	select {
	case c.replies <- append(reply, '\n'):
	default:
	}
}

// A pretty collects a message that is spread over several lines, which the
// specification forbids and some servers write all the same.
type pretty struct {
	buf   []byte
	depth int // open brackets; 0 when nothing is collected
}

// start reports whether the line may be the first one of such a message.
func (p *pretty) start(line []byte) bool {
	if line[0] != '{' {
		return false
	}
	_, ok := p.add(line)
	return ok
}

// add appends a line. ok is false if it cannot be a part of the message.
func (p *pretty) add(line []byte) (whole, ok bool) {
	depth := p.depth
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			// Strings do not go over line ends, so each line is scanned once.
			n, err := raw.Scan(line[i:])
			if err != nil {
				return false, false
			}
			i += n - 1
		}
	}
	if depth < 0 || len(p.buf)+len(line) > maxPretty {
		return false, false
	}
	p.buf, p.depth = append(append(p.buf, line...), '\n'), depth
	return depth == 0, true
}

func (p *pretty) take() []byte {
	buf := p.buf
	p.buf, p.depth = nil, 0
	return buf
}

var errTooLong = errors.New("a line is too long")

// lines splits output into lines. Its buffer is small at rest; a long line
// gets a large one, which is lent to the call that waits for it and comes back
// for the next, so that a stream of large results allocates nothing.
type lines struct {
	src        io.Reader
	limit      int
	buf        []byte
	start, end int // buf[start:end] is unread
	spare      rpc.BufferPool

	head, tail []byte // the ends of a line that was too long
	skipped    int    // its length
}

func newLines(src io.Reader, limit int) *lines {
	return &lines{src: src, limit: limit, buf: make([]byte, smallBuffer)}
}

// next returns the next line without its end; it is valid until the next
// call. With an error there may be a last line.
func (l *lines) next() ([]byte, error) {
	searched := l.start
	for {
		if n := bytes.IndexByte(l.buf[searched:l.end], '\n'); n >= 0 {
			line := l.buf[l.start : searched+n]
			l.start = searched + n + 1
			return line, nil
		}
		searched = l.end
		if l.end-l.start > l.limit {
			return nil, l.skip()
		}
		if l.end == len(l.buf) {
			l.makeRoom()
			searched = l.end
		}
		n, err := l.src.Read(l.buf[l.end:])
		l.end += n
		if err != nil && n == 0 {
			line := l.buf[l.start:l.end]
			l.start = l.end
			return line, err
		}
	}
}

// makeRoom moves what is unread to the front of a buffer with room behind it.
func (l *lines) makeRoom() {
	unread := l.buf[l.start:l.end]
	switch {
	case len(unread) <= smallBuffer/2 && len(l.buf) > smallBuffer:
		l.spare.Put(l.buf)
		l.buf = make([]byte, smallBuffer)
	case len(unread) > len(l.buf)/2:
		old := l.buf
		l.buf = l.spare.Get(min(2*len(old), l.limit+smallBuffer))
		if len(old) > smallBuffer {
			defer l.spare.Put(old)
		}
	}
	l.end = copy(l.buf, unread)
	l.start = 0
}

// lend gives the buffer with the last line away, until release is called.
// What follows the line in the buffer moves on.
func (l *lines) lend() (release func()) {
	rest, lent := l.buf[l.start:l.end], l.buf
	if len(rest) < smallBuffer {
		l.buf = make([]byte, smallBuffer)
	} else {
		l.buf = l.spare.Get(2 * len(rest))
	}
	l.start, l.end = 0, copy(l.buf, rest)
	return func() { l.spare.Put(lent) }
}

// skip reads to the end of a line that is too long, keeping its ends.
func (l *lines) skip() error {
	l.head = append(l.head[:0], l.buf[l.start:min(l.start+edge, l.end)]...)
	l.skipped = l.end - l.start
	l.tail = append(l.tail[:0], l.buf[max(l.start, l.end-edge):l.end]...)
	l.buf = make([]byte, smallBuffer)
	l.start, l.end = 0, 0
	for {
		n, err := l.src.Read(l.buf)
		part := l.buf[:n]
		if i := bytes.IndexByte(part, '\n'); i >= 0 {
			l.start, l.end = i+1, n
			part = part[:i]
			n = -1
		}
		l.skipped += len(part)
		l.tail = append(l.tail, part...)
		l.tail = append(l.tail[:0], l.tail[max(0, len(l.tail)-edge):]...)
		if n < 0 || err != nil {
			return errTooLong
		}
	}
}
