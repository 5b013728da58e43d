// Package text cleans the text of servers before a model reads it.
//
// What a person cannot see on a screen can still steer a model, and some bytes
// make providers and databases refuse a whole conversation. The functions here
// remove both and leave everything else byte for byte: a result may be a file.
//
// Always removed are control characters but tab, newline and the pair CR LF,
// ANSI escape sequences, and the Unicode tag block outside of flags. A control
// character that separates two words, as CR, form feed or NUL do, becomes a line
// end or a space, so that removing it does not make them one. Bytes
// that are not UTF-8 become U+FFFD, each of them. Joiners (U+200C, U+200D),
// directional marks and variation selectors stay: emoji and scripts need them.
//
// Only the characters without a look of their own are counted, since their
// removal may change what is said. Control characters and escape sequences say
// nothing to a reader of text, so that nobody has to be told.
package text

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/seed94b59a13/mcp/internal/raw"
)

// Result cleans text that may have to match a file byte for byte. It returns s
// itself where there is nothing to clean, and how many hidden characters it
// removed.
func Result(s string) (clean string, hidden int) { return valid(s, forFile) }

// Prompt cleans text that a model reads as a description, where nobody needs
// invisible formatting: it also removes bidirectional embeddings, overrides
// and isolates, the zero-width space and the word joiner.
func Prompt(s string) (clean string, hidden int) { return valid(s, forPrompt) }

// Bare is Prompt without anything in place of what it removes: whoever looks for
// a secret must find one that has control characters in it.
func Bare(s string) string {
	s, _ = valid(s, forMask)
	return s
}

// A mode says what a text is cleaned for.
type mode int

const (
	forFile mode = iota
	forPrompt
	forMask
)

const (
	escape = 0x1b
	csi    = 0x9b // the control character for ESC [
)

// isTag reports whether r is in the tag block, an invisible copy of ASCII.
func isTag(r rune) bool { return r >= 0xe0000 && r <= 0xe007f }

// isFormatting reports whether r is one of the invisible characters that only
// a file may need.
func isFormatting(r rune) bool {
	switch {
	case r == 0x200b, r == 0x2060, r == 0xfeff: // zero-width space, word joiner and its old form
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // embeddings, overrides, isolates and their ends
		return true
	}
	return false
}

// Decode is [Result] for a JSON string, in one go: the text may be most of a
// large message. ok is false where value is not a string.
func Decode(value []byte) (clean string, hidden int, ok bool) {
	if !raw.IsString(value) {
		return "", 0, false
	}
	in := value[1 : len(value)-1]
	out := uncleared(len(in))
	if bytes.IndexByte(in, '\\') < 0 {
		// Each block is copied while it is in the cache.
		const block = 8 << 10
		for len(in) > 0 && printable(in[:min(block, len(in))]) {
			out, in = append(out, in[:min(block, len(in))]...), in[min(block, len(in)):]
		}
		n := len(out)
		if len(in) == 0 {
			return Bytes(out), 0, true
		}
		if utf8.Valid(in) {
			clean, hidden = remove(Bytes(append(out, in...)), n, forFile)
			return clean, hidden, true
		}
	}
	// Lines of ASCII, as most texts are, are decoded here. The rest of any
	// other text takes two looks.
	for len(in) > 0 {
		n := bytes.IndexByte(in, '\\')
		if n < 0 {
			n = len(in)
		}
		if !printable(in[:n]) {
			break
		}
		out, in = append(out, in[:n]...), in[n:]
		if n = simpleEscape(in); n == 0 {
			break
		}
		switch in[1] {
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, "\r\n"...)
		default:
			out = append(out, in[1])
		}
		in = in[n:]
	}
	n := len(out)
	if len(in) > 0 {
		out = raw.AppendText(out, in)
	}
	clean, hidden = remove(Bytes(out), n, forFile)
	return clean, hidden, true
}

// View is Decode for a value whose bytes never change: a text in which nothing
// is to be decoded or removed is not copied.
func View(value []byte) (clean string, hidden int, ok bool) {
	if !raw.IsString(value) {
		return "", 0, false
	}
	in := value[1 : len(value)-1]
	if bytes.IndexByte(in, '\\') >= 0 || !utf8.Valid(in) {
		return Decode(value)
	}
	clean, hidden = remove(Bytes(in), 0, forFile)
	return clean, hidden, true
}

// Bytes returns as a text bytes that never change.
func Bytes(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// uncleared returns an empty slice with room for n bytes. To write zeros there
// first, as make does, would be a tenth of the work on a large text.
func uncleared(n int) []byte {
	var b strings.Builder
	b.Grow(n + 1)
	b.WriteByte(0)
	return unsafe.Slice(unsafe.StringData(b.String()), n)[:0]
}

// simpleEscape returns the length of the escape at the start of s if nobody
// has to look at what it stands for, else 0.
func simpleEscape(s []byte) int {
	if len(s) < 2 || s[0] != '\\' {
		return 0
	}
	switch s[1] {
	case 'n', 't', '"', '\\', '/':
		return 2
	case 'r':
		if len(s) >= 4 && s[2] == '\\' && s[3] == 'n' {
			return 4
		}
	}
	return 0
}

// valid cleans s, of which nobody knows yet whether it is UTF-8.
func valid(s string, m mode) (string, int) {
	i := plain(s)
	if i < len(s) && !utf8.ValidString(s[i:]) {
		s = replaced(s)
	}
	return remove(s, i, m)
}

// replaced returns s with U+FFFD for each byte that is not UTF-8.
func replaced(s string) string {
	n := 0
	for _, r := range s {
		n += utf8.RuneLen(r)
	}
	var b strings.Builder
	b.Grow(n)
	for _, r := range s {
		b.WriteRune(r)
	}
	return b.String()
}

// remove cleans s, which is valid and plain up to s[i].
func remove(s string, i int, m mode) (string, int) {
	var (
		out    strings.Builder
		from   int  // s[from:i] is clean but not in out yet
		left   byte // stands for what separated the text before from that behind
		hidden int
	)
	// What separates is written only between two texts that would become one word
	// without it, so that none is left at the ends or beside white space.
	write := func(text string) {
		if left != 0 && text != "" {
			if before := out.String(); before != "" && !isSpace(before[len(before)-1]) && !isSpace(text[0]) {
				out.WriteByte(left)
			}
			left = 0
		}
		out.WriteString(text)
	}
	for i = skip(s, i, m); i < len(s); i = skip(s, i, m) {
		keep, drop, isHidden := look(s, i, m)
		i += keep
		if drop == 0 {
			continue
		}
		if out.Cap() == 0 {
			out.Grow(len(s))
		}
		write(s[from:i])
		if separator := separates(s, i); m != forMask && left != '\n' && separator != 0 {
			left = separator
		}
		i += drop
		from = i
		if isHidden {
			hidden++
		}
	}
	if from == 0 {
		return s, 0
	}
	write(s[from:])
	return out.String(), hidden
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// separates returns what a reader has to see in place of the character at s[i],
// which is removed: a line end or a space for one that separates lines, records
// or fields, 0 for any other.
func separates(s string, i int) byte {
	switch s[i] {
	case '\r', '\v', '\f', 0x1c, 0x1d, 0x1e: // as after a page, a record, a line of old systems
		return '\n'
	case 0x1f: // between fields
		return ' '
	case 0: // between file names; but every other byte of UTF-16 is one
		null := func(i int) bool { return i >= 0 && i < len(s) && s[i] == 0 }
		if null(i-2) && (null(i-4) || null(i+2)) || null(i+2) && null(i+4) {
			return 0
		}
		return '\n'
	case 0xc2:
		if strings.HasPrefix(s[i:], "\u0085") { // next line
			return '\n'
		}
	}
	return 0
}

// look decides about the character at s[i], which is not plain: how many bytes
// stay and how many behind those go.
func look(s string, i int, m mode) (keep, drop int, hidden bool) {
	switch c := s[i]; {
	case c == '\r' && strings.HasPrefix(s[i+1:], "\n"):
		return 2, 0, false
	case c == escape:
		return 0, escapeSequence(s[i:]), false
	case c < ' ' || c == 0x7f:
		return 0, 1, false
	}
	r, size := utf8.DecodeRuneInString(s[i:])
	switch {
	case r == csi:
		return 0, controlSequence(s[i:], size), false
	case r < 0xa0:
		return 0, size, false
	case m != forFile && isFormatting(r):
		return 0, size, true
	case !isTag(r):
		return size, 0, false
	}
	if strings.HasSuffix(s[:i], "\U0001f3f4") {
		if n := flag(s[i:]); n > 0 {
			return n, 0, false
		}
	}
	return 0, size, true
}

// flag returns the length of the tags that make the flag of a region, such as
// that of Scotland, out of a black flag before them; 0 if s does not start
// with such tags. Their number is bounded, so that a flag carries no message.
func flag(s string) int {
	const shortest, longest, end = 3, 7, 0xe007f
	n := 0
	for i, r := range s {
		switch c := r - 0xe0000; {
		case r == end && n >= shortest:
			return i + utf8.RuneLen(end)
		case n == longest, (c < '0' || c > '9') && (c < 'a' || c > 'z'):
			return 0
		}
		n++
	}
	return 0
}

// escapeSequence returns the length of the ANSI escape sequence at the start
// of s. An escape character that begins none is taken alone: what follows it
// is text.
func escapeSequence(s string) int {
	if len(s) < 2 {
		return 1
	}
	switch c := s[1]; { // by ECMA-48, section 5: what follows says how long it is
	case c == '[':
		return controlSequence(s, 2)
	case c == ']', c == 'P', c == 'X', c == '^', c == '_':
		return controlString(s)
	case c >= ' ' && c < '0':
		i := 2
		for i < len(s) && s[i] >= ' ' && s[i] < '0' {
			i++
		}
		if i == len(s) {
			return i
		}
		if s[i] < 0x7f && s[i] >= '0' {
			return i + 1
		}
	case c >= '0' && c < 0x7f:
		return 2
	}
	return 1
}

// controlSequence returns the length of a sequence such as ESC [ 31 m whose
// introducer has the given length. The introducer of one character counts only
// with a parameter: it is also a quotation mark in a wrong character set.
func controlSequence(s string, introducer int) int {
	i := introducer
	for i < len(s) && s[i] >= '0' && s[i] <= '?' {
		i++
	}
	alone := 1
	if s[0] != escape {
		if alone = introducer; i == introducer {
			return alone
		}
	}
	for i < len(s) && s[i] >= ' ' && s[i] < '0' {
		i++
	}
	switch {
	case i == len(s):
		return i // cut off
	case s[i] >= '@' && s[i] < 0x7f:
		return i + 1
	}
	return alone
}

// controlString returns the length of a sequence with a text in it, such as a
// link (OSC 8). One without an end is not a sequence.
func controlString(s string) int {
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\a':
			return i + 1
		case c == escape && strings.HasPrefix(s[i+1:], `\`):
			return i + 2
		case c == 0xc2 && strings.HasPrefix(s[i+1:], "\x9c"): // U+009C, string terminator
			return i + 2
		case c < ' ' && c != '\t':
			return 1
		}
	}
	return 1
}

// plain returns the length of the ASCII text at the start of s that holds
// nothing to remove, or a little less.
func plain(s string) int {
	in := view(s)
	for len(in) >= 32 {
		w := in[:32]
		if (foreign(word(w))|foreign(word(w[8:]))|foreign(word(w[16:]))|foreign(word(w[24:])))&highest != 0 {
			break
		}
		in = in[32:]
	}
	return len(s) - len(in)
}

// printable reports whether s is ASCII without control characters. It is what
// plain texts are copied at the speed of.
func printable(s []byte) bool {
	for len(s) >= 32 {
		w := s[:32]
		a, b, c, d := word(w), word(w[8:]), word(w[16:]), word(w[24:])
		// Bytes below the space and above 0x7e, without carries: the first
		// such byte is found whatever those behind it do.
		if ((a-' '*each)|(a+each)|(b-' '*each)|(b+each)|(c-' '*each)|(c+each)|(d-' '*each)|(d+each))&highest != 0 {
			return false
		}
		s = s[32:]
	}
	for len(s) >= 8 {
		if w := word(s); (w|(w-' '*each)|(w+each))&highest != 0 {
			return false
		}
		s = s[8:]
	}
	for _, c := range s {
		if c < ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}

// skip returns where the next character is, from s[i] on, that look has to
// decide about.
func skip(s string, i int, m mode) int {
	for in := view(s)[i:]; ; {
		for ; len(in) >= 8; in = in[8:] {
			w := word(in)
			found := foreign(w)&^w | equal(w, 0xc2) | equal(w, 0xf3) // the first bytes of what goes
			if m != forFile {
				found |= equal(w, 0xe2) | equal(w, 0xef)
			}
			if found &= highest; found != 0 {
				in = in[bits.TrailingZeros64(found)/8:]
				break
			}
		}
		if len(in) < 8 {
			for len(in) > 0 && isPlain(in[0]) {
				in = in[1:]
			}
		}
		if len(in) < 2 || in[0] != '\r' || in[1] != '\n' {
			return len(s) - len(in)
		}
		in = in[2:]
	}
}

func isPlain(c byte) bool { return c >= ' ' && c < 0x7f || c == '\n' || c == '\t' }

// view returns the bytes of s, which must not be changed.
func view(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// word returns the first 8 bytes of b, the first one lowest.
func word(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

const (
	each    = 0x0101010101010101
	highest = 0x80 * each
)

// foreign sets the highest bit of each byte of w that is a control character
// other than tab and newline, or not ASCII. Adding 0x80-n to a byte without
// its highest bit sets that bit if the byte is at least n, and carries nothing
// into the next byte.
func foreign(w uint64) uint64 {
	low := w &^ highest
	control := ^(low + (0x80-' ')*each) & (^(low + (0x80-'\t')*each) | (low + (0x80-'\v')*each))
	return w | control | (low + (0x80-0x7f)*each)
}

// equal sets the highest bit of the first byte of w that is b; of those behind
// it nothing can be said.
func equal(w uint64, b uint64) uint64 {
	w ^= b * each
	return (w - each) &^ w
}
