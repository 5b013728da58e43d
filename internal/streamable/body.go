package streamable

// This file reads whole bodies, into buffers that are used again.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/seed94b59a13/mcp/internal/lines"
)

const (
	smallBuffer = lines.Small
	lendSize    = 32 << 10 // a message from here on is lent to its call, not copied
	// failureTime and maxPage bound reading what is most likely not an answer:
	// some of it never ends, and all of it is searched for one.
	failureTime = time.Second
	maxPage     = 1 << 20
)

var errTooLong = errors.New("the server's answer is longer than allowed")

// tooLong says what was allowed.
func tooLong(limit int) error { return fmt.Errorf("%w: %d bytes", errTooLong, limit) }

// buffers are those of a connection that no answer needs at the moment.
type buffers struct{ lines.Pool }

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
// negative. upon is told what the body is, and returns how much of it is read: of
// 0, what was read by then is returned. Of a body that breaks off the start is.
func (b *buffers) readAll(body io.Reader, size int64, limit int, upon func(form) (limit int)) (t text, err error) {
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
		buf = b.Get(room)
	}
	for {
		m, err := body.Read(buf[n:])
		n += m
		if t.form == formUnclear {
			for looked < n && strings.IndexByte(" \t\r\n\x00\xef\xbb\xbf", buf[looked]) >= 0 {
				looked++
			}
			t.form = formOf(buf[looked:n])
			if t.form != formUnclear {
				limit = upon(t.form)
			}
			if limit == 0 {
				t.data = bytes.Clone(buf[:n]) // all of it: the rest is read by others
				b.Put(buf)
				return t, nil
			}
		}
		switch {
		case n > limit:
			t.data = b.start(buf[:n])
			return t, tooLong(limit)
		case errors.Is(err, io.EOF):
			switch {
			case own:
				t.data, t.owned = buf[:n], true
			case n < lendSize:
				t.data, t.owned = bytes.Clone(buf[:n]), true
				b.Put(buf)
			default:
				lent := buf
				t.data, t.release = buf[:n], func() { b.Put(lent) }
			}
			return t, nil
		case err != nil:
			t.data = b.start(buf[:n])
			return t, fmt.Errorf("reading the answer: %w", err)
		case n == len(buf):
			larger := b.Get(min(2*len(buf), limit+1))
			copy(larger, buf)
			b.Put(buf)
			buf, own = larger, false
		}
	}
}

// start returns the start of what is in a buffer, which it gives back.
func (b *buffers) start(buf []byte) []byte {
	defer b.Put(buf)
	return bytes.Clone(buf[:min(len(buf), maxRead)])
}

// readBody reads a body and closes it, but leaves events to be read unless they
// are wanted as a text.
//
// What may be the answer is waited for as long as the call may take, and read as
// far as a message may go: whether a call is sent again must not depend on how
// long its answer is or takes. A page or plain words are not waited for, unless
// they were promised to be more.
func (c *Conn) readBody(resp *http.Response, promised, events bool) (t text, err error) {
	size := resp.ContentLength
	if !promised && size > int64(c.Limit) {
		size = -1
	}
	done := func() bool { return false }
	t, err = c.buffers.readAll(resp.Body, size, c.Limit, func(f form) int {
		switch {
		case f == formEvents && !events:
			return 0
		case f == formJSON || promised:
			return c.Limit
		}
		done = hurry(resp.Body)
		return min(maxPage, c.Limit)
	})
	done()
	if t.form != formEvents || events {
		resp.Body.Close()
	}
	return t, err
}

// readText reads the start of what is certainly not an answer, and closes the
// body.
func readText(resp *http.Response) []byte {
	defer hurry(resp.Body)()
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxRead)) // what there is of it
	return text
}

// hurry ends a body that takes longer than failureTime, unless done is called
// before.
func hurry(body io.Closer) (done func() bool) {
	return time.AfterFunc(failureTime, func() { body.Close() }).Stop
}

// buffer reads a refusal and closes its network connection; the body can be read
// again. It reports whether the request's answer is in it, or may be.
func (c *Conn) buffer(r *request, resp *http.Response) (answers bool) {
	t, err := c.readBody(resp, false, true)
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(t.data)), int64(len(t.data))
	var f failure
	f.find(r.id, t.data)
	return f.answer != nil || f.partial || err != nil && resp.StatusCode < 400
}

// A rejoined is a body of which the start has been read.
type rejoined struct {
	io.Reader
	io.Closer
}
