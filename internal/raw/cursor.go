package raw

// This file walks over values.

import (
	"bytes"
	"iter"
	"math"
)

// A Cursor goes over JSON that passed [Scan], value by value. What a loop over
// members or elements does not take, the loop passes. In a text that did not
// pass, it goes no further than to the fault.
type Cursor struct {
	data  []byte
	at    int
	plain int   // up to here, no backslash follows
	err   error // what is wrong with the text
}

// Read returns a cursor on the value at the start of data.
func Read(data []byte) *Cursor {
	c := &Cursor{data: data}
	c.at, _ = c.peek(0)
	return c
}

// Kind returns the first byte of the value at hand, 0 where there is none.
func (c *Cursor) Kind() byte { return c.byteAt(c.at) }

// Value passes the value at hand and returns it.
func (c *Cursor) Value() []byte {
	start := c.at
	c.pass(MaxDepth)
	return c.Since(start)
}

// Since returns what the cursor has passed since it stood at a value, which is that
// value if it is passed. It aliases the text. Its capacity ends with it, so that
// nobody who appends to it writes over what follows.
func (c *Cursor) Since(start int) []byte { return c.data[start:c.at:c.at] }

// At returns where the cursor stands, for [Cursor.Since].
func (c *Cursor) At() int { return c.at }

// Rest returns the text from the value at hand on.
func (c *Cursor) Rest() []byte { return c.data[c.at:] }

// Move goes on, or back, to the start or the end of a value. What was known of
// backslashes is known of the text ahead alone.
func (c *Cursor) Move(to int) { c.at, c.plain = to, 0 }

// Object yields the names of the object at hand, each with the cursor on its
// value. It yields nothing for any other value.
func (c *Cursor) Object() iter.Seq[[]byte] { return c.object(math.MaxInt) }

// object is Object that decodes names up to most bytes.
func (c *Cursor) object(most int) iter.Seq[[]byte] {
	return func(yield func(name []byte) bool) {
		for more := c.enter('{', '}'); more; {
			if c.Kind() != '"' {
				c.fail(c.at)
				return
			}
			end := c.text(c.at + 1)
			if end < 0 {
				return
			}
			name := c.data[c.at+1 : end-1]
			// Without an escape the name is a slice of the text, and costs nothing.
			if len(name) <= most && bytes.IndexByte(name, '\\') >= 0 {
				name = AppendText(make([]byte, 0, len(name)), name)
			}
			colon, b := c.peek(end)
			if b != ':' {
				c.fail(colon)
				return
			}
			c.at, _ = c.peek(colon + 1)
			start := c.at
			if !yield(name) {
				return
			}
			more = c.next(start, '}')
		}
	}
}

// Array steps through the elements of the array at hand. It yields nothing for
// any other value.
func (c *Cursor) Array() iter.Seq[int] {
	return func(yield func(i int) bool) {
		more := c.enter('[', ']')
		for i := 0; more; i++ {
			if c.Kind() == 0 {
				c.fail(c.at)
				return
			}
			start := c.at
			if !yield(i) {
				return
			}
			more = c.next(start, ']')
		}
	}
}

// enter goes to the first member or element of a value of the kind, and reports
// whether there is one. It passes an empty value. No member or element is looked
// at: whoever takes the first one checks it.
func (c *Cursor) enter(kind, closing byte) bool {
	if c.err != nil || c.Kind() != kind {
		return false
	}
	var b byte
	if c.at, b = c.peek(c.at + 1); b == closing {
		c.at++
		return false
	}
	return true
}

// next passes the value at start, unless that was done, goes to the next member
// or element, and reports whether there is one.
func (c *Cursor) next(start int, closing byte) bool {
	if c.at == start {
		c.pass(MaxDepth)
	}
	if c.err != nil {
		return false
	}
	at, b := c.peek(c.at)
	switch b {
	case ',':
		c.at, _ = c.peek(at + 1)
		return true
	case closing:
		c.at = at + 1
	default:
		c.fail(at)
	}
	return false
}
