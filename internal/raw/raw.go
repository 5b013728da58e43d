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
//
// What other readers of JSON take for the same is in the README of
// internal/bench.
package raw

import (
	"errors"
	"iter"
	"strconv"
)

// MaxDepth bounds how deeply arrays and objects may nest, and so what is noted
// about it. It is far more than a reader that recurses may be given: such a
// reader counts, or has the text checked by [ScanUpTo], so that one value in a
// message that nests too deeply costs only itself.
const MaxDepth = 100_000

// maxName bounds the names that [Object] decodes, in bytes: of those of a
// message, each that is known is short, and a long one would be in memory twice.
const maxName = 1 << 10

// Errors of [Scan].
var (
	ErrShort  = errors.New("the JSON text ends too early") // more input may complete it
	ErrSyntax = errors.New("the text is not JSON")
	ErrDepth  = errors.New("the JSON text nests too deeply")
)

// Scan checks the JSON value at the start of data, after white space, and
// returns where it ends. What follows the value is not looked at. Where it
// fails, end is where the fault is.
func Scan(data []byte) (end int, err error) { return ScanUpTo(data, MaxDepth) }

// ScanUpTo is Scan for a value that nests less than most levels.
func ScanUpTo(data []byte, most int) (end int, err error) {
	c := Read(data)
	c.pass(most)
	return c.at, c.err
}

// Skip returns the length of the value that data, which was checked before, starts
// with. It never reaches beyond data, also where that was not checked.
func Skip(data []byte) int {
	end, err := Scan(data)
	if err != nil {
		return len(data)
	}
	return end
}

// Valid reports whether data is one JSON value and nothing else.
func Valid(data []byte) bool {
	c := Read(data)
	c.pass(MaxDepth)
	end, _ := c.peek(c.at)
	// What follows may only be white space.
	return c.err == nil && end == len(data)
}

// Object calls member for the names and values of the object at the start of
// data, in order, until it returns false, and checks what it passes like
// [Scan]. It fails with ErrSyntax for what is not an object. Names are decoded
// up to a length that none which anybody looks for has; values are the text
// between the separators. Both slices alias data, but for a name with escapes.
func Object(data []byte, member func(name, value []byte) bool) (end int, err error) {
	c := Read(data)
	if c.Kind() != '{' {
		c.fail(c.at)
	}
	for name := range c.object(maxName) {
		value := c.Value()
		if c.err != nil || !member(name, value) {
			break
		}
	}
	return c.at, c.err
}

// Members yields the names and values of an object as [Object] does, all names
// decoded. The object must have passed [Scan]; it yields nothing for any other
// value.
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

// Named reports whether a member's name is want, which is in camelCase, also where
// a server writes it in another case or with underscores. What is more than twice
// as long as want is not read: it would have more separators than letters.
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
		// The bit makes one letter of both cases (ASCII); names of the protocol
		// have letters alone.
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

// Whole reads a value as a whole number that is not negative, such as an id, a
// size or a token. Some servers write 1 as "1" or as 1.0.
func Whole(value []byte) (n int64, ok bool) {
	if IsString(value) {
		value = value[1 : len(value)-1]
	}
	// No int64 has more than 20 characters; the rest is for a fraction of zeros.
	if len(value) == 0 || len(value) > 24 {
		return 0, false
	}
	if n, err := strconv.ParseInt(string(value), 10, 64); err == nil {
		return n, n >= 0
	}
	// Above 2^53, a float64 skips whole numbers: an id would become another one.
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil || f != float64(int64(f)) || f > 1<<53 || f < 0 {
		return 0, false
	}
	return int64(f), true
}
