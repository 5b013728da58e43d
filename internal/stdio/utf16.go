package stdio

// This file reads UTF-16, which is what programs of Windows write, and what
// PowerShell makes of the output that it passes on.

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// A utf16Reader reads its source as UTF-8, also where that is UTF-16 from the
// start.
type utf16Reader struct {
	src     io.Reader
	decided bool
	order   binary.ByteOrder // nil for what is not UTF-16
	in      []byte           // that is not decoded yet
	decoded []byte           // used again and again
	out     []byte           // the end of it, which was not read yet
	err     error            // of src
}

func (r *utf16Reader) Read(p []byte) (int, error) {
	if r.decided && r.order == nil && len(r.in) == 0 {
		return r.src.Read(p) // mostly
	}
	for len(r.out) == 0 && r.err == nil {
		if !r.decided || r.order != nil {
			r.fill()
		}
		if r.decide(); r.decided && r.order == nil {
			r.out, r.in = r.in, nil
			break
		}
		if r.order != nil {
			r.decode()
		}
	}
	n := copy(p, r.out)
	if r.out = r.out[n:]; len(r.out) > 0 {
		return n, nil
	}
	return n, r.err
}

func (r *utf16Reader) fill() {
	const part = 4 << 10
	r.in = slices.Grow(r.in, part)
	n, err := r.src.Read(r.in[len(r.in) : len(r.in)+part])
	r.in, r.err = r.in[:len(r.in)+n], err
}

// marks is how many characters of ASCII stand for a byte-order mark: what a
// message begins with.
const marks = 4

// isASCII reports whether text begins with marks printable characters of ASCII in
// UTF-16, or is shorter and has no others.
func isASCII(text []byte, order binary.ByteOrder) bool {
	text = text[:min(len(text)&^1, 2*marks)]
	for ; len(text) >= 2; text = text[2:] {
		if c := order.Uint16(text); (c < ' ' || c > '~') && c != '\t' && c != '\r' && c != '\n' {
			return false
		}
	}
	return true
}

// decide looks at the first bytes.
func (r *utf16Reader) decide() {
	switch in := r.in; {
	case r.decided || len(in) < 2 && r.err == nil:
		return
	case bytes.HasPrefix(in, []byte{0xff, 0xfe}):
		r.order, r.in = binary.LittleEndian, in[2:]
	case bytes.HasPrefix(in, []byte{0xfe, 0xff}):
		r.order, r.in = binary.BigEndian, in[2:]
	case len(in) >= 2 && (in[0] == 0) != (in[1] == 0):
		if len(in) < 2*marks && r.err == nil {
			return
		}
		order := binary.ByteOrder(binary.LittleEndian)
		if in[0] == 0 {
			order = binary.BigEndian
		}
		if isASCII(in, order) {
			r.order = order
		}
	}
	r.decided = true
}

// decode decodes what is there, but for half a character.
func (r *utf16Reader) decode() {
	n := len(r.in) &^ 1
	if n >= 2 && utf16.IsSurrogate(rune(r.order.Uint16(r.in[n-2:]))) && r.err == nil {
		n -= 2 // the other half may follow
		if n >= 2 && utf16.IsSurrogate(rune(r.order.Uint16(r.in[n-2:]))) {
			n += 2
		}
	}
	r.decoded = appendUTF16(r.decoded[:0], r.in[:n], r.order)
	r.out = r.decoded
	r.in = append(r.in[:0], r.in[n:]...)
}

func appendUTF16(dst, text []byte, order binary.ByteOrder) []byte {
	for ; len(text) >= 2; text = text[2:] {
		c := rune(order.Uint16(text))
		if len(text) >= 4 && utf16.IsSurrogate(c) {
			if pair := utf16.DecodeRune(c, rune(order.Uint16(text[2:]))); pair != utf8.RuneError {
				c, text = pair, text[2:]
			}
		}
		dst = utf8.AppendRune(dst, c) // U+FFFD for a lone surrogate
	}
	return dst
}

// decodeLines returns a text with those of its lines decoded that are UTF-16.
// Standard error has the words of several programs, each in its own encoding.
func decodeLines(text []byte) []byte {
	if bytes.IndexByte(text, 0) < 0 && !bytes.HasPrefix(text, []byte{0xff, 0xfe}) && !bytes.HasPrefix(text, []byte{0xfe, 0xff}) {
		return text // mostly
	}
	var order binary.ByteOrder = binary.LittleEndian // that of Windows
	if bytes.HasPrefix(text, []byte{0xfe, 0xff}) {
		order = binary.BigEndian
	}
	var out []byte
	for line := range bytes.Lines(text) {
		end := line[len(bytes.TrimSuffix(line, []byte{'\n'})):]
		line = line[:len(line)-len(end)]
		for _, mark := range []string{"\xff\xfe", "\xfe\xff"} {
			line = bytes.TrimPrefix(line, []byte(mark))
		}
		if order == binary.LittleEndian {
			line = bytes.TrimPrefix(line, []byte{0}) // of the line feed before
		} else {
			line = bytes.TrimSuffix(line, []byte{0}) // of the line feed behind
		}
		if isUTF16(line, order) {
			out = appendUTF16(out, line, order)
		} else {
			out = append(out, line...)
		}
		out = append(out, end...)
	}
	return out
}

// isUTF16 reports whether a line has a zero in place of every second byte, or
// of some where it is not text otherwise.
func isUTF16(line []byte, order binary.ByteOrder) bool {
	high := 1 // where the zeros of ASCII are
	if order == binary.BigEndian {
		high = 0
	}
	zeros := 0
	for i, c := range line {
		if c == 0 {
			if i%2 != high {
				return false
			}
			zeros++
		}
	}
	return zeros > 0 && (4*zeros >= len(line) || !utf8.Valid(line))
}
