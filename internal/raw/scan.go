package raw

// This file passes over values, and checks them.

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
)

// pass passes the value at hand, which nests less than most levels. What is open is
// a bit for each level, not a call: the deepest text that is taken needs some
// kilobytes for them, and no text can exhaust the stack.
func (c *Cursor) pass(most int) {
	var (
		i     = c.at
		b     byte
		depth int
		kinds uint64   // of the innermost 64 containers: bit 0 says that the innermost one is an object
		outer []uint64 // those of the others, 64 each
	)
	for {
		// The white space and the separators between tokens are looked at byte by
		// byte: mostly there is one of them.
		if kinds&1 != 0 { // a name comes first
			if i, b = c.peek(i); b != '"' {
				c.fail(i)
				return
			}
			if i = c.text(i + 1); i < 0 {
				return
			}
			if i, b = c.peek(i); b != ':' {
				c.fail(i)
				return
			}
			i++
		}
		switch i, b = c.peek(i); b {
		case '"':
			i = c.text(i + 1)
		case '{', '[':
			if depth++; depth >= most {
				c.at, c.err = i, ErrDepth
				return
			}
			if depth%64 == 0 {
				outer = append(outer, kinds)
			}
			kinds <<= 1
			closing := byte(']')
			if b == '{' {
				kinds |= 1
				closing = '}'
			}
			if i, b = c.peek(i + 1); b != closing {
				continue
			}
		default:
			i = c.scalar(i, b)
		}
		if i < 0 {
			return
		}
		// Close what ends here, then step to the next value.
		for {
			if depth == 0 {
				c.at = i
				return
			}
			if i, b = c.peek(i); b == ',' {
				i++
				break
			}
			if object := kinds&1 != 0; object && b != '}' || !object && b != ']' {
				c.fail(i)
				return
			}
			i++
			if kinds >>= 1; depth%64 == 0 {
				kinds, outer = outer[len(outer)-1], outer[:len(outer)-1]
			}
			depth--
		}
	}
}

// fail notes that the text cannot go on as it does at i, and returns -1.
func (c *Cursor) fail(i int) int {
	c.at, c.err = i, ErrSyntax
	if i >= len(c.data) {
		c.err = ErrShort
	}
	return -1
}

// peek returns where the white space at i ends, and the byte that is there, 0 at
// the end of the text. White space is what RFC 8259, section 2, has: four
// characters, and none of the others of Unicode.
func (c *Cursor) peek(i int) (int, byte) {
	for ; i < len(c.data); i++ {
		if b := c.data[i]; b > ' ' || b != ' ' && b != '\n' && b != '\t' && b != '\r' {
			return i, b
		}
	}
	return i, 0
}

// Constants for eight bytes that are looked at together. A byte of x is zero
// where x-ones borrows and x had no high bit; of all that then borrow, only the
// lowest counts.
const (
	ones = 0x0101010101010101
	high = 0x8080808080808080
)

// text returns the end of the string whose inside starts at i, -1 after a
// failure. Most strings are short, and have no escapes.
func (c *Cursor) text(i int) int {
	// There is no backslash before plain, so that the first quote ends the string.
	// Eight bytes at a time are for short strings; for long ones the standard
	// library is faster.
	for near := min(i+128, c.plain-7); i < near; i += 8 {
		x := binary.LittleEndian.Uint64(c.data[i:]) ^ ones*'"'
		if found := (x - ones) &^ x & high; found != 0 {
			return i + bits.TrailingZeros64(found)/8 + 1
		}
	}
	return c.farText(i)
}

// pastText returns the end of the string at i of a checked value.
func (c *Cursor) pastText(i int) int {
	if end := c.text(i + 1); end >= 0 {
		return end
	}
	return len(c.data)
}

// lookAhead is how far behind a string is looked for the next backslash: far
// enough to be rare, and not so far that many small texts make it long.
const lookAhead = 512

// farText is text for a string that is long or has escapes, and for the first
// one. What it looks for, the standard library finds in many bytes at a time.
func (c *Cursor) farText(i int) int {
	quote := -1
	for {
		if quote < i { // not found yet, or it was an escaped one
			n := bytes.IndexByte(c.data[i:], '"')
			if n < 0 {
				return c.unended(i)
			}
			quote = i + n
		}
		ahead := c.data[i:min(quote+lookAhead, len(c.data))]
		n := bytes.IndexByte(ahead, '\\')
		if n < 0 {
			n = len(ahead)
		}
		if c.plain = i + n; c.plain > quote {
			return quote + 1
		}
		if i = c.escape(i + n); i < 0 {
			return i
		}
	}
}

// escape returns the end of the escape sequence at i, which the quote that ends the
// string follows at the latest. The escapes are those of RFC 8259, section 7.
func (c *Cursor) escape(i int) int {
	switch c.data[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		if i+6 > len(c.data) {
			return c.fail(len(c.data))
		}
		// A surrogate without its other half is for [Repair]: servers cut texts there.
		if _, ok := hex4(c.data[i:]); ok {
			return i + 6
		}
	}
	return c.fail(i)
}

// unended tells a string that was cut from one that could never end well. It has no
// quote from i on. A reader of a stream waits for the rest of the one and gives up
// on the other.
func (c *Cursor) unended(i int) int {
	end := len(c.data)
	c.fail(end)
	for text := c.data[i:]; ; {
		n := bytes.IndexByte(text, '\\')
		if n < 0 || n+1 == len(text) {
			return -1
		}
		if bytes.IndexByte([]byte(`\/bfnrtu`), text[n+1]) < 0 {
			c.err = ErrSyntax
			return -1
		}
		text = text[n+2:]
	}
}

// scalar returns the end of the value at i that is not a string, an array or an
// object, -1 after a failure.
func (c *Cursor) scalar(i int, first byte) int {
	switch first {
	case 't':
		return c.word(i, "true")
	case 'f':
		return c.word(i, "false")
	case 'n':
		return c.word(i, "null")
	case 'N':
		return c.word(i, "NaN")
	case 'I':
		return c.word(i, "Infinity")
	}
	return c.number(i)
}

// word returns the end of the literal that must stand at i. Where the text ends
// within it, the failure is ErrShort, as for all that more text could complete.
func (c *Cursor) word(i int, word string) int {
	end := i + len(word)
	if end <= len(c.data) && string(c.data[i:end]) == word {
		return end
	}
	if rest := string(c.data[i:min(end, len(c.data))]); strings.HasPrefix(word, rest) {
		return c.fail(len(c.data))
	}
	return c.fail(i)
}

// number returns the end of the number at i (RFC 8259, section 6): no plus sign and
// no leading zero, and digits on both sides of a point. Nothing ends a number but
// what follows: at the end of the text it counts as whole.
func (c *Cursor) number(i int) int {
	if c.byteAt(i) == '-' {
		if i++; c.byteAt(i) == 'I' {
			return c.word(i, "Infinity")
		}
	}
	if c.byteAt(i) == '0' {
		i++
	} else if i = c.digits(i); i < 0 {
		return i
	}
	if c.byteAt(i) == '.' {
		if i = c.digits(i + 1); i < 0 {
			return i
		}
	}
	if b := c.byteAt(i); b == 'e' || b == 'E' {
		i++
		if b := c.byteAt(i); b == '+' || b == '-' {
			i++
		}
		return c.digits(i)
	}
	return i
}

// byteAt returns the byte at i, 0 behind the end.
func (c *Cursor) byteAt(i int) byte {
	if i < len(c.data) {
		return c.data[i]
	}
	return 0
}

// digits returns the end of the digits at i, -1 where there are none.
func (c *Cursor) digits(i int) int {
	start := i
	for i < len(c.data) && c.data[i] >= '0' && c.data[i] <= '9' {
		i++
	}
	if i == start {
		return c.fail(i)
	}
	return i
}
