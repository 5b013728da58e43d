// Package raw reads JSON text in place: it finds values without decoding them.
//
// Messages of a server are read once, leniently, and mostly not at all: a
// result of a megabyte is one string in a small envelope. The functions here
// walk over such text at memory speed, allocate only what they return, never
// recurse, and keep the bytes of numbers and the order of members.
//
// Three things that the grammar forbids are accepted, since servers send them:
// control characters inside strings, bytes that are not UTF-8, and NaN, Infinity
// and -Infinity as values. [String] and [Repair] give text without them.
package raw

import (
	"bytes"
	"encoding/binary"
	"errors"
	"iter"
	"math/bits"
)

// MaxDepth bounds how deeply arrays and objects may nest, and so what is noted
// about it. It is far more than a reader that recurses may be given: such a
// reader counts, or has the text checked by [ScanUpTo], so that one value in a
// message that nests too deeply costs only itself.
const MaxDepth = 100_000

// maxName bounds the names that [Object] decodes, in bytes: of those of a
// message, each that is known is short.
const maxName = 1 << 10

// Errors of [Scan].
var (
	ErrShort  = errors.New("the JSON text ends too early") // more input may complete it
	ErrSyntax = errors.New("the text is not JSON")
	ErrDepth  = errors.New("the JSON text nests too deeply")
)

// Scan checks the JSON value at the start of data, after white space, and
// returns where it ends. What follows the value is not looked at.
func Scan(data []byte) (end int, err error) { return ScanUpTo(data, MaxDepth) }

// ScanUpTo is Scan for a value that nests less than most levels.
func ScanUpTo(data []byte, most int) (end int, err error) {
	var (
		few     [16]uint64
		objects = few[:] // bit d: the container at depth d is an object
		depth   int
		object  bool // the innermost container is one
		i       = skipSpace(data, 0)
	)
	for {
		// A value starts at i.
		if i >= len(data) {
			return i, ErrShort
		}
		opened := false
		switch c := data[i]; c {
		case '"':
			i, err = scanString(data, i)
		case '{', '[':
			if depth++; depth >= most {
				return i, ErrDepth
			}
			if depth/64 == len(objects) {
				objects = append(objects, 0)
			}
			if object = c == '{'; object {
				objects[depth/64] |= 1 << (depth % 64)
			} else {
				objects[depth/64] &^= 1 << (depth % 64)
			}
			i, opened = skipSpace(data, i+1), true
		case 't':
			i, err = scanWord(data, i, "true")
		case 'f':
			i, err = scanWord(data, i, "false")
		case 'n':
			i, err = scanWord(data, i, "null")
		case 'N':
			i, err = scanWord(data, i, "NaN")
		case 'I':
			i, err = scanWord(data, i, "Infinity")
		default:
			i, err = scanNumber(data, i)
		}
		if err != nil {
			return i, err
		}
		// Close what ends here, then step to the next value.
		for {
			if depth == 0 {
				return i, nil
			}
			if !opened && i < len(data) && data[i] <= ' ' {
				i = skipSpace(data, i)
			}
			if i >= len(data) {
				return i, ErrShort
			}
			if c := data[i]; object && c == '}' || !object && c == ']' {
				i, depth, opened = i+1, depth-1, false
				object = objects[depth/64]&(1<<(depth%64)) != 0
				continue
			}
			if !opened {
				if data[i] != ',' {
					return i, ErrSyntax
				}
				if i++; i < len(data) && data[i] <= ' ' {
					i = skipSpace(data, i)
				}
			}
			break
		}
		if object {
			if i >= len(data) {
				return i, ErrShort
			}
			if data[i] != '"' {
				return i, ErrSyntax
			}
			if i, err = scanString(data, i); err != nil {
				return i, err
			}
			if i < len(data) && data[i] <= ' ' {
				i = skipSpace(data, i)
			}
			if i >= len(data) {
				return i, ErrShort
			}
			if data[i] != ':' {
				return i, ErrSyntax
			}
			if i++; i < len(data) && data[i] <= ' ' {
				i = skipSpace(data, i)
			}
		}
	}
}

// Valid reports whether data is one JSON value and nothing else.
func Valid(data []byte) bool {
	end, err := Scan(data)
	return err == nil && skipSpace(data, end) == len(data)
}

// Object calls member for the names and values of the object at the start of
// data, in order, until it returns false, and checks what it passes like
// [Scan]. It fails with ErrSyntax for what is not an object. Names are decoded
// up to a length that none which anybody looks for has; values are the text
// between the separators. Both slices alias data, but for a name with escapes.
func Object(data []byte, member func(name, value []byte) bool) (end int, err error) {
	i := skipSpace(data, 0)
	at := func(c byte) bool {
		if i >= len(data) {
			err = ErrShort
		} else if data[i] != c {
			err = ErrSyntax
		}
		return err == nil
	}
	if !at('{') {
		return i, err
	}
	i = skipSpace(data, i+1)
	if i < len(data) && data[i] == '}' {
		return i + 1, nil
	}
	for {
		if !at('"') {
			return i, err
		}
		start := i + 1
		if i, err = scanString(data, i); err != nil {
			return i, err
		}
		name := data[start : i-1]
		if len(name) <= maxName && bytes.IndexByte(name, '\\') >= 0 {
			name = appendText(nil, name)
		}
		if i = skipSpace(data, i); !at(':') {
			return i, err
		}
		i = skipSpace(data, i+1)
		var n int
		if n, err = Scan(data[i:]); err != nil {
			return i + n, err
		}
		if !member(name, data[i:i+n:i+n]) {
			return i + n, nil
		}
		if i = skipSpace(data, i+n); i < len(data) && data[i] == '}' {
			return i + 1, nil
		}
		if !at(',') {
			return i, err
		}
		i = skipSpace(data, i+1)
	}
}

// A Cursor goes over JSON that passed [Scan], value by value. What a loop over
// members or elements does not take, the loop passes.
type Cursor struct {
	data []byte
	at   int
}

// Read returns a cursor on the value at the start of data.
func Read(data []byte) *Cursor { return &Cursor{data, skipSpace(data, 0)} }

// Kind returns the first byte of the value at hand, 0 where there is none.
func (c *Cursor) Kind() byte {
	if c.at < len(c.data) {
		return c.data[c.at]
	}
	return 0
}

// Value passes the value at hand and returns it.
func (c *Cursor) Value() []byte {
	start := c.at
	c.at = skip(c.data, start)
	return c.data[start:c.at:c.at]
}

// Since returns what the cursor has passed since it stood at a value, which is
// that value if it is passed.
func (c *Cursor) Since(start int) []byte { return c.data[start:c.at:c.at] }

// At returns where the cursor stands, for [Cursor.Since].
func (c *Cursor) At() int { return c.at }

// Rest returns the text from the value at hand on.
func (c *Cursor) Rest() []byte { return c.data[c.at:] }

// Back returns to a value.
func (c *Cursor) Back(start int) { c.at = start }

// Object yields the names of the object at hand, each with the cursor on its
// value. It yields nothing for any other value.
func (c *Cursor) Object() iter.Seq[[]byte] {
	return func(yield func(name []byte) bool) {
		if c.Kind() != '{' {
			return
		}
		for c.at = skipSpace(c.data, c.at+1); c.at < len(c.data) && c.data[c.at] == '"'; c.at = skipSpace(c.data, c.at+1) {
			end := skipString(c.data, c.at)
			name := c.data[c.at+1 : end-1]
			if bytes.IndexByte(name, '\\') >= 0 {
				name = appendText(nil, name)
			}
			c.at = skipSpace(c.data, skipSpace(c.data, end)+1)
			if !c.rest(yield(name), c.at) {
				return
			}
			if c.at >= len(c.data) || c.data[c.at] != ',' {
				break
			}
		}
		c.at = min(c.at+1, len(c.data))
	}
}

// Array steps through the elements of the array at hand. It yields nothing for
// any other value.
func (c *Cursor) Array() iter.Seq[int] {
	return func(yield func(i int) bool) {
		if c.Kind() != '[' {
			return
		}
		i := 0
		for c.at = skipSpace(c.data, c.at+1); c.at < len(c.data) && c.data[c.at] != ']'; c.at = skipSpace(c.data, c.at+1) {
			if !c.rest(yield(i), c.at) {
				return
			}
			if i++; c.at >= len(c.data) || c.data[c.at] != ',' {
				break
			}
		}
		c.at = min(c.at+1, len(c.data))
	}
}

// rest passes the value at start unless that was done.
func (c *Cursor) rest(more bool, start int) bool {
	if more && c.at == start {
		c.at = skip(c.data, start)
	}
	c.at = skipSpace(c.data, c.at)
	return more
}

// Skip returns the length of the value that data, which was checked before,
// starts with.
func Skip(data []byte) int { return skip(data, 0) }

// Members yields the names and values of an object as [Object] does. The
// object must have passed [Scan]; it yields nothing for any other value.
func Members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		c := Read(object)
		for name := range c.Object() {
			if !yield(name, c.Value()) {
				return
			}
		}
	}
}

// Elements yields the elements of an array, in order, as [Members] does.
func Elements(array []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		c := Read(array)
		for range c.Array() {
			if !yield(c.Value()) {
				return
			}
		}
	}
}

// skip returns the end of the value at data[i], which was checked before.
func skip(data []byte, i int) int {
	switch data[i] {
	case '"':
		return skipString(data, i)
	case '{', '[':
		for depth := 0; i < len(data); i++ {
			switch data[i] {
			case '"':
				i = skipString(data, i) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
		return len(data)
	}
	for i < len(data) && data[i] != ',' && data[i] != '}' && data[i] != ']' && data[i] > ' ' {
		i++
	}
	return i
}

func skipString(data []byte, i int) int {
	end, err := scanString(data, i)
	if err != nil {
		return len(data)
	}
	return end
}

// Member returns the value of the last member with the name, as most decoders
// do with duplicates, and nil where there is none.
func Member(object []byte, name string) []byte {
	var found []byte
	for key, value := range Members(object) {
		if string(key) == name {
			found = value
		}
	}
	return found
}

// Named reports whether a member's name is want, which is in camelCase, also
// where a server writes it in another case or with underscores.
func Named(name []byte, want string) bool {
	if string(name) == want {
		return true
	}
	if len(name) < len(want) || len(name) > 2*len(want) {
		return false
	}
	for _, c := range name {
		if c == '_' || c == '-' {
			continue
		}
		if want == "" || c|0x20 != want[0]|0x20 {
			return false
		}
		want = want[1:]
	}
	return want == ""
}

// Null reports whether value is absent or the JSON null.
func Null(value []byte) bool {
	return len(value) == 0 || string(value) == "null"
}

// Empty reports whether value is [Null], or what programs write in place of it:
// false, or an object or list without members.
func Empty(value []byte) bool {
	switch string(value) {
	case "false", "{}", "[]":
		return true
	}
	return Null(value)
}

func skipSpace(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\n' || data[i] == '\t' || data[i] == '\r') {
		i++
	}
	return i
}

// scanString returns the end of the string that starts at data[i].
func scanString(data []byte, i int) (int, error) {
	i++
	// Most strings are short: look for a quote or an escape in eight bytes at
	// a time. A byte of x is zero where the bytes are equal; of all that then
	// borrow, only the lowest counts.
	const (
		ones    = 0x0101010101010101
		high    = 0x8080808080808080
		quotes  = ones * '"'
		escapes = ones * '\\'
	)
	for short := min(i+128, len(data)-7); i < short; i += 8 {
		word := binary.LittleEndian.Uint64(data[i:])
		x, y := word^quotes, word^escapes
		if found := ((x-ones)&^x | (y-ones)&^y) & high; found != 0 {
			i += bits.TrailingZeros64(found) / 8
			if data[i] == '"' {
				return i + 1, nil
			}
			break
		}
	}
	quote := -1
	for {
		if quote < i { // not found yet, or it was an escaped one
			n := bytes.IndexByte(data[i:], '"')
			if n < 0 {
				return len(data), shortOrBroken(data[i:])
			}
			quote = i + n
		}
		n := bytes.IndexByte(data[i:quote], '\\')
		if n < 0 {
			return quote + 1, nil
		}
		i += n
		switch data[i+1] { // the quote follows at the latest
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			i += 2
		case 'u':
			if i+6 > len(data) {
				return len(data), ErrShort
			}
			for _, c := range data[i+2 : i+6] {
				if !isHex(c) {
					return i, ErrSyntax
				}
			}
			i += 6
		default:
			return i, ErrSyntax
		}
	}
}

// shortOrBroken tells a string that was cut from one that could never end well.
func shortOrBroken(text []byte) error {
	for i := bytes.IndexByte(text, '\\'); i >= 0 && i+1 < len(text); {
		if bytes.IndexByte([]byte(`"\/bfnrtu`), text[i+1]) < 0 {
			return ErrSyntax
		}
		n := bytes.IndexByte(text[i+2:], '\\')
		if n < 0 {
			break
		}
		i += 2 + n
	}
	return ErrShort
}

func scanWord(data []byte, i int, word string) (int, error) {
	if rest := data[i:]; len(rest) < len(word) {
		if string(rest) == word[:len(rest)] {
			return len(data), ErrShort
		}
		return i, ErrSyntax
	}
	if string(data[i:i+len(word)]) != word {
		return i, ErrSyntax
	}
	return i + len(word), nil
}

func scanNumber(data []byte, i int) (int, error) {
	digits := func() bool {
		start := i
		for i < len(data) && data[i] >= '0' && data[i] <= '9' {
			i++
		}
		return i > start
	}
	failed := func() (int, error) {
		if i >= len(data) {
			return i, ErrShort
		}
		return i, ErrSyntax
	}
	if data[i] == '-' {
		if i++; i < len(data) && data[i] == 'I' {
			return scanWord(data, i, "Infinity")
		}
	}
	if i < len(data) && data[i] == '0' {
		i++
	} else if !digits() {
		return failed()
	}
	if i < len(data) && data[i] == '.' {
		if i++; !digits() {
			return failed()
		}
	}
	if i < len(data) && (data[i] == 'e' || data[i] == 'E') {
		if i++; i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		if !digits() {
			return failed()
		}
	}
	return i, nil
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
