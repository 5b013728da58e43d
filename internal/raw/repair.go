package raw

// This file makes of checked values what every JSON reader takes.

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// Repair returns value, a checked JSON value, as text that every JSON reader
// takes: in its strings, bytes that are not UTF-8 and lone surrogates become
// U+FFFD and control characters are escaped; in place of values, NaN and the
// infinities become null. Everything else keeps its bytes, and a value that needs
// nothing is returned as it is. A value that would become half as long again is
// not worth that: what comes then is one byte for one, ? for what is not UTF-8 and
// a space for a control character.
func Repair(value []byte) []byte {
	if clean(value) && !HasNaN(value) {
		return value
	}
	room := growth(value)
	// Several times a large value, as it grows, would be in memory together.
	out := make([]byte, 0, len(value)+min(room, longer(value)))
	c := Cursor{data: value}
	for i := 0; i < len(value); {
		if value[i] == '"' {
			start := i
			i = c.pastText(i)
			out, room = appendRepaired(out, value[start:i], room)
		} else if n := nan(value[i:]); n > 0 {
			out = append(out, "null"...)
			i += n
		} else {
			out = append(out, value[i])
			i++
		}
	}
	return out
}

// appendRepaired appends a string, which may become longer by room for it, and
// returns what is left of that.
func appendRepaired(out, text []byte, room int) ([]byte, int) {
	for len(text) > 0 {
		n := 0
		for n < len(text) && text[n] >= ' ' && text[n] != '\\' {
			n++
		}
		out, room = appendValid(out, text[:n], room)
		if text = text[n:]; len(text) == 0 {
			break
		}
		size := 1
		switch {
		case text[0] == '\\':
			r := rune(0)
			if size = min(2, len(text)); size == 2 && text[1] == 'u' {
				r, size = unicodeEscape(text)
			}
			// This is as long as the escape of the half that it stands for.
			if r == utf8.RuneError {
				out = append(out, `\ufffd`...)
			} else {
				out = append(out, text[:size]...)
			}
		case room < len(`\u0000`):
			out = append(out, ' ')
		default:
			before := len(out)
			out = appendControl(out, text[0])
			room -= len(out) - before - 1
		}
		text = text[size:]
	}
	return out, room
}

// longer bounds by how much a repaired value is longer. It counts an N and a line
// break also where nothing is done to them: to tell them apart would take a second
// walk, and room that is not used does no harm below the bound of growth.
func longer(value []byte) int {
	n := (len("\uFFFD") - 1) * invalid(value)
	for _, c := range value {
		switch {
		case c == 'N', c == '\n', c == '\t', c == '\r':
			n++ // of NaN, or as an escape
		case c < ' ':
			n += len(`\u0000`) - 1
		}
	}
	return n
}

// HasNaN reports whether a value in value, a checked JSON value, is NaN or an
// infinity.
func HasNaN(value []byte) bool {
	if !bytes.Contains(value, []byte("NaN")) && !bytes.Contains(value, []byte("Infinity")) {
		return false // mostly
	}
	// In strings, the words are text.
	c := Cursor{data: value}
	for i := 0; i < len(value); i++ {
		if value[i] == '"' {
			i = c.pastText(i) - 1
		} else if nan(value[i:]) > 0 {
			return true
		}
	}
	return false
}

// nan is the length of the NaN or the infinity that text starts with, 0 where it
// starts with neither.
func nan(text []byte) int {
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		if text[0] == word[0] && bytes.HasPrefix(text, []byte(word)) {
			return len(word)
		}
	}
	return 0
}

// clean reports whether the strings of value need no repair.
func clean(value []byte) bool {
	controls, escapes, others := survey(value)
	if others && !utf8.Valid(value) {
		return false
	}
	if !controls && (!escapes || !bytes.Contains(value, []byte(`\u`))) {
		return true // mostly
	}
	// Line breaks between tokens are control characters as well, and most escapes
	// are fine: only a walk tells which of them are at fault.
	inString := false
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c == '"':
			inString = !inString
		case c == '\\':
			if i++; i < len(value) && value[i] == 'u' {
				r, size := unicodeEscape(value[i-1:])
				if r == utf8.RuneError {
					return false
				}
				i += size - 2
			}
		case c < ' ' && inString:
			return false
		}
	}
	return true
}

// survey reports which characters are in text: below the space, backslashes, and
// any that are not printable ASCII. It looks at eight bytes at a time.
func survey(text []byte) (controls, escapes, others bool) {
	var below, equal, above uint64
	look := func(x uint64) {
		y := x ^ ones*'\\'
		below |= (x - ones*' ') &^ x
		equal |= (y - ones) &^ y
		above |= x | (x + ones)
	}
	for ; len(text) >= 8; text = text[8:] {
		look(binary.LittleEndian.Uint64(text))
	}
	// One byte at a time: the other seven are spaces, of which nothing is reported.
	for _, c := range text {
		look(ones*' ' ^ ' ' ^ uint64(c))
	}
	return below&high != 0, equal&high != 0, above&high != 0
}

// Compact returns a repaired copy of value, a checked JSON value, without the white
// space between its tokens. The copy holds nothing of the message that value came
// in.
func Compact(value []byte) []byte {
	value = Repair(value)
	return AppendCompact(make([]byte, 0, len(value)), value)
}

// AppendCompact appends value, a checked JSON value, without the white space
// between its tokens.
func AppendCompact(dst, value []byte) []byte {
	start := 0
	c := Cursor{data: value}
	for i := 0; i < len(value); i++ {
		switch value[i] {
		case '"':
			i = c.pastText(i) - 1
		case ' ', '\n', '\r', '\t':
			dst = append(dst, value[start:i]...)
			start = i + 1
		}
	}
	return append(dst, value[start:]...)
}
