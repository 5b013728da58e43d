package stdio

// This file reads UTF-16, which is what programs of Windows write, and what
// PowerShell makes of the output that it passes on.

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// marks is how many characters of ASCII stand for a byte-order mark: what a
// message begins with.
const marks = 4

// A utf16Reader reads its source as UTF-8, also where that is UTF-16 from the
// start.
type utf16Reader struct {
	src     *bufio.Reader // so small that it hands large reads on
	decided bool
	order   binary.ByteOrder // nil for what is not UTF-16
	in      []byte           // that is not decoded yet
	decoded []byte           // used again and again
	out     []byte           // the end of it, which was not read yet
	err     error            // of src
}

// newUTF16Reader returns a reader that has not read anything yet.
func newUTF16Reader(src io.Reader) *utf16Reader {
	return &utf16Reader{src: bufio.NewReaderSize(src, 2*marks)}
}

// Read implements [io.Reader]. What is not UTF-16 is not copied, but for its
// first bytes.
func (r *utf16Reader) Read(p []byte) (int, error) {
	if !r.decided {
		r.decided, r.order = true, r.begin()
	}
	if r.order == nil {
		return r.src.Read(p) // mostly
	}
	for len(r.out) == 0 && r.err == nil {
		r.decode()
	}
	n := copy(p, r.out)
	if r.out = r.out[n:]; len(r.out) > 0 {
		return n, nil
	}
	return n, r.err
}

// begin reads a byte-order mark, and returns which order it or the first
// characters stand for. It waits for no more than it takes to tell: a zero in
// one of the first two bytes is not that of a message in UTF-8.
func (r *utf16Reader) begin() binary.ByteOrder {
	order := binary.ByteOrder(binary.LittleEndian)
	switch in, _ := r.src.Peek(2); {
	case len(in) < 2:
		return nil
	case in[0] == 0xff && in[1] == 0xfe:
		r.src.Discard(2)
		return order
	case in[0] == 0xfe && in[1] == 0xff:
		r.src.Discard(2)
		return binary.BigEndian
	case (in[0] == 0) == (in[1] == 0):
		return nil
	case in[0] == 0:
		order = binary.BigEndian
	}
	in, _ := r.src.Peek(2 * marks)
	for ; len(in) >= 2; in = in[2:] {
		if c := order.Uint16(in); (c < ' ' || c > '~') && c != '\t' && c != '\r' && c != '\n' {
			return nil // a zero by chance
		}
	}
	return order
}

// decode reads and decodes a part, but for half a character.
func (r *utf16Reader) decode() {
	const part = 4 << 10
	r.in = slices.Grow(r.in, part)
	var n int
	n, r.err = r.src.Read(r.in[len(r.in) : len(r.in)+part])
	r.in = r.in[:len(r.in)+n]
	n = len(r.in) &^ 1
	if n >= 2 && r.err == nil && r.order.Uint16(r.in[n-2:])&^0x3ff == 0xd800 {
		n -= 2 // the first half of a pair, whose second may follow
	}
	r.decoded = appendUTF16(r.decoded[:0], r.in[:n], r.order)
	r.out = r.decoded
	r.in = append(r.in[:0], r.in[n:]...)
}

// appendUTF16 decodes whole units. The half of a pair alone becomes U+FFFD, as
// everywhere in Go.
func appendUTF16(dst, text []byte, order binary.ByteOrder) []byte {
	for ; len(text) >= 2; text = text[2:] {
		c := rune(order.Uint16(text))
		if len(text) >= 4 && utf16.IsSurrogate(c) {
			if pair := utf16.DecodeRune(c, rune(order.Uint16(text[2:]))); pair != utf8.RuneError {
				c, text = pair, text[2:]
			}
		}
		dst = utf8.AppendRune(dst, c)
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
// of some where it is not text otherwise. A text in Chinese has none: only the
// line end and the digits in it have, so a quarter of the bytes is not asked of
// what is not UTF-8.
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
