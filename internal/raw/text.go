package raw

// This file decodes and writes JSON strings.

import (
	"bytes"
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
	// The text may be most of a large message: it is not copied again. Nobody else
	// has its memory, and nobody writes to it again.
	decoded := AppendText(make([]byte, 0, len(text)), text)
	return unsafe.String(unsafe.SliceData(decoded), len(decoded)), true
}

// AppendString appends what [String] returns; it appends nothing where value
// is not a string.
func AppendString(dst, value []byte) []byte {
	text, ok := inner(value)
	if !ok {
		return dst
	}
	return AppendText(dst, text)
}

// IsString reports whether value, a checked JSON value, is a string.
func IsString(value []byte) bool {
	return len(value) >= 2 && value[0] == '"'
}

// inner returns what is between the quotes of a string, its escapes as they are. It
// aliases value.
func inner(value []byte) ([]byte, bool) {
	if !IsString(value) || value[len(value)-1] != '"' {
		return nil, false
	}
	return value[1 : len(value)-1], true
}

// unescaped has what the letter after a backslash stands for, where that is not
// the letter itself.
var unescaped = [256]byte{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// AppendText appends the inside of a JSON string, or an end of it, decoded. A
// backslash at the very end is left out: the text was cut there.
func AppendText(dst, text []byte) []byte {
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
				room, sized = growth(text), true
				if need := len(dst) + len(text) + min(room, 2*invalid(text)); need > cap(dst) {
					dst = append(make([]byte, 0, need), dst...)
				}
			}
			dst, room = appendValid(dst, plain, room)
		}
		if text = text[n:]; len(text) < 2 {
			break
		}
		c := text[1]
		if c == 'u' {
			r, size := unicodeEscape(text)
			dst, text = utf8.AppendRune(dst, r), text[size:]
			continue
		}
		if other := unescaped[c]; other != 0 {
			c = other
		}
		dst, text = append(dst, c), text[2:]
	}
	return dst
}

// growth bounds by how much a text may become longer where it is made valid. The
// bound is for hostile text, of which each byte would become the three of U+FFFD.
// Texts of some kilobytes may, since that costs nothing.
func growth(text []byte) int { return len(text)/2 + 4<<10 }

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

// hex4 decodes the \u escape at the start of text, of four digits in either case,
// and reports whether there is one. The rune may be a half of a surrogate pair.
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

// appendControl appends the escape of a control character, which RFC 8259, section
// 7, forbids in a string as it is. Those that texts are full of get their short
// form.
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
