package raw

// This file decodes, repairs and writes JSON strings.

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// String decodes a JSON string. Bytes that are not UTF-8 and lone surrogates
// become U+FFFD, so the result is valid; past what makes the text half as long
// again, such bytes become ?. ok is false where value is not a string.
func String(value []byte) (s string, ok bool) {
	text, ok := inner(value)
	if !ok {
		return "", false
	}
	if bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text) {
		return string(text), true
	}
	// The text may be most of a large message: it is not copied again.
	decoded := appendText(make([]byte, 0, len(text)), text)
	return unsafe.String(unsafe.SliceData(decoded), len(decoded)), true
}

// AppendString appends what [String] returns; it appends nothing where value
// is not a string.
func AppendString(dst, value []byte) []byte {
	text, ok := inner(value)
	if !ok {
		return dst
	}
	return appendText(dst, text)
}

// AppendText appends the inside of a JSON string, or an end of it, decoded.
func AppendText(dst, text []byte) []byte { return appendText(dst, text) }

// IsString reports whether value, a checked JSON value, is a string.
func IsString(value []byte) bool {
	return len(value) >= 2 && value[0] == '"'
}

func inner(value []byte) ([]byte, bool) {
	if !IsString(value) || value[len(value)-1] != '"' {
		return nil, false
	}
	return value[1 : len(value)-1], true
}

// appendText appends text, the inside of a JSON string, decoded.
func appendText(dst, text []byte) []byte {
	sized, room := false, 0
	for len(text) > 0 {
		n := bytes.IndexByte(text, '\\')
		if n < 0 {
			n = len(text)
		}
		if plain := text[:n]; utf8.Valid(plain) {
			dst = append(dst, plain...)
		} else {
			if !sized {
				// Once, and no more than needed: it may be most of a message.
				room, sized = len(text)/2+4<<10, true
				if need := len(dst) + len(text) + min(room, 2*invalid(text)); need > cap(dst) {
					dst = append(make([]byte, 0, need), dst...)
				}
			}
			dst, room = appendValid(dst, plain, room)
		}
		if text = text[n:]; len(text) < 2 {
			break
		}
		switch c := text[1]; c {
		case 'u':
			r, size := unicodeEscape(text)
			dst, text = utf8.AppendRune(dst, r), text[size:]
			continue
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		default:
			dst = append(dst, c)
		}
		text = text[2:]
	}
	return dst
}

// appendValid appends text with U+FFFD for each byte that is not UTF-8, or ?
// where the text has become longer by room for it, and returns what is left of
// that.
func appendValid(dst, text []byte, room int) ([]byte, int) {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r != utf8.RuneError || size > 1:
			dst = append(dst, text[:size]...)
		case room < len("\uFFFD"):
			dst = append(dst, '?')
		default:
			dst = append(dst, "\uFFFD"...)
			room -= len("\uFFFD") - 1
		}
		text = text[size:]
	}
	return dst, room
}

// invalid counts the bytes of text that are not UTF-8.
func invalid(text []byte) (n int) {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && size == 1 {
			n++
		}
		text = text[size:]
	}
	return n
}

// unicodeEscape decodes the \u escape, or the pair of them, that text starts
// with. A lone surrogate is U+FFFD and takes only its own six bytes.
func unicodeEscape(text []byte) (r rune, size int) {
	r, ok := hex4(text)
	if !ok {
		return utf8.RuneError, min(2, len(text))
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if low, ok := hex4(text[6:]); ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

func hex4(text []byte) (r rune, ok bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	for _, c := range text[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

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
	room := len(value)/2 + 4<<10
	out := make([]byte, 0, len(value)+min(room, growth(value)))
	for i := 0; i < len(value); {
		if value[i] != '"' {
			if n := nan(value[i:]); n > 0 {
				out = append(out, "null"...)
				i += n
				continue
			}
			out = append(out, value[i])
			i++
			continue
		}
		end, err := scanString(value, i)
		if err != nil {
			return append(out, value[i:]...)
		}
		out = append(out, '"')
		for text := value[i+1 : end-1]; len(text) > 0; {
			size := 1
			switch c := text[0]; {
			case c == '\\' && len(text) > 1 && text[1] == 'u':
				var r rune
				if r, size = unicodeEscape(text); r == utf8.RuneError {
					out = append(out, `\ufffd`...)
				} else {
					out = append(out, text[:size]...)
				}
			case c == '\\':
				size = min(2, len(text))
				out = append(out, text[:size]...)
			case c < ' ' && room < len(`\u0000`):
				out = append(out, ' ')
			case c < ' ':
				room += len(out) + 1
				out = appendControl(out, c)
				room -= len(out)
			default:
				var r rune
				if r, size = utf8.DecodeRune(text); r != utf8.RuneError || size > 1 {
					out = append(out, text[:size]...)
				} else if room < len("\uFFFD") {
					out = append(out, '?')
				} else {
					out = append(out, "\uFFFD"...)
					room -= len("\uFFFD") - 1
				}
			}
			text = text[size:]
		}
		out = append(out, '"')
		i = end
	}
	return out
}

// growth bounds by how much a repaired value is longer, so that it has room at
// once: several times a large one, as it grows, would be in memory together.
func growth(value []byte) int {
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
	for i := 0; i < len(value); i++ {
		if value[i] == '"' {
			i = skipString(value, i) - 1
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
		if len(text) >= len(word) && text[0] == word[0] && string(text[:len(word)]) == word {
			return len(word)
		}
	}
	return 0
}

func clean(value []byte) bool {
	if IsPlain(value) {
		return true // mostly
	}
	if !utf8.Valid(value) {
		return false
	}
	if !hasControls(value) && !bytes.Contains(value, []byte(`\u`)) {
		return true // texts with line ends, as most are
	}
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

// hasControls reports whether there are control characters in text. It looks at
// eight bytes at a time, as [IsPlain] does.
func hasControls(text []byte) bool {
	const (
		ones = 0x0101010101010101
		high = 0x8080808080808080
	)
	for ; len(text) >= 8; text = text[8:] {
		x := binary.LittleEndian.Uint64(text)
		if (x-ones*' ')&^x&high != 0 {
			return true
		}
	}
	for _, c := range text {
		if c < ' ' {
			return true
		}
	}
	return false
}

// IsPlain reports whether text is printable ASCII without escapes. It looks at
// eight bytes at a time.
func IsPlain(text []byte) bool {
	const (
		ones    = 0x0101010101010101
		high    = 0x8080808080808080
		escapes = ones * '\\'
	)
	for ; len(text) >= 8; text = text[8:] {
		x := binary.LittleEndian.Uint64(text)
		y := x ^ escapes
		if (x|(x+ones)|(x-ones*' ')|(y-ones)&^y)&high != 0 {
			return false
		}
	}
	for _, c := range text {
		if c < ' ' || c == '\\' || c >= 0x7f {
			return false
		}
	}
	return true
}

// Compact returns a repaired copy of value, a checked JSON value, without the
// white space between its tokens.
func Compact(value []byte) []byte {
	value = Repair(value)
	return AppendCompact(make([]byte, 0, len(value)), value)
}

// AppendCompact appends value, a checked JSON value, without the white space
// between its tokens.
func AppendCompact(dst, value []byte) []byte {
	start := 0
	for i := 0; i < len(value); i++ {
		switch value[i] {
		case '"':
			i = skipString(value, i) - 1
		case ' ', '\n', '\r', '\t':
			dst = append(dst, value[start:i]...)
			start = i + 1
		}
	}
	return append(dst, value[start:]...)
}

func appendControl(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

// AppendQuote appends s as a JSON string. Only what JSON demands is escaped:
// <, > and & stay, since models and servers read the text itself. Bytes that
// are not UTF-8 become U+FFFD.
func AppendQuote(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		r, size := rune(c), 1
		if c >= utf8.RuneSelf {
			if r, size = utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
		}
		dst = append(dst, s[start:i]...)
		switch {
		case r == utf8.RuneError:
			dst = append(dst, "\uFFFD"...)
		case c < ' ':
			dst = appendControl(dst, c)
		default:
			dst = append(dst, '\\', c)
		}
		i += size
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}

// AppendMember appends a member of an object, whose value is JSON, and before it
// a comma if there are members already.
func AppendMember(members []byte, name string, value []byte) []byte {
	if len(members) > 0 {
		members = append(members, ',')
	}
	return append(append(AppendQuote(members, name), ':'), value...)
}
