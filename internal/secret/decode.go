package secret

// This file undoes what encoders do to a text.

import (
	"html"
	"iter"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// longestEscape bounds the bytes of one escape, but for what encoders of the same
// kind have made of its first byte.
const longestEscape = 32

// mayBegin finds at the end of a text what may be the start of an escape.
var mayBegin = regexp.MustCompile(`([\\]+[uUx]?[0-9a-fA-F]{0,3}|%(25)*[0-9a-fA-F]?|&(amp;)*#?\w{0,31}|=[0-9A-F]?)$`)

// A decoder appends to dst what the escape at the start of s stands for, and
// returns its length, 0 if there is none.
type decoder func(dst []byte, s string) ([]byte, int)

// outer are encodings that may have been the last of several, and then may have
// torn the escapes of others, as &amp%3B is.
var outer = []decoder{quotedPrintable, percent}

// decodings yields a text, then what one step of decoding makes of it, and so on
// until there is nothing to decode. Of a text that is cut, what may be the start of
// an escape at its end is left out.
func decodings(r reading, cut bool) iter.Seq[reading] {
	return func(yield func(reading) bool) {
		for range steps {
			if n := len(r.text); cut {
				r = r.part(0, n-len(mayBegin.Find(r.text[max(0, n-longestEscape):])))
			}
			next, changed := r.decoded(escape)
			if !yield(r) || !changed {
				return
			}
			r = next
		}
	}
}

// decoded returns the text with what a decoder makes of it.
func (r reading) decoded(decode decoder) (out reading, changed bool) {
	s := view(r.text)
	if !strings.ContainsAny(s, `%=&\`) {
		return r, false
	}
	out = reading{make([]byte, 0, len(s)), make([]span, 0, len(s))}
	var buf [utf8.UTFMax]byte
	for i := 0; i < len(s); {
		text, n := decode(buf[:0], s[i:])
		if changed = changed || n > 0; n == 0 {
			text, n = append(text, s[i]), 1
		}
		out.add(span{r.spans[i].from, r.spans[i+n-1].to}, text...)
		i += n
	}
	return out, changed
}

// escape is the decoder for all that is not [outer] alone.
func escape(dst []byte, s string) ([]byte, int) {
	switch s[0] {
	case '\\':
		return backslash(dst, s)
	case '%':
		return percent(dst, s)
	case '&':
		return entity(dst, s)
	}
	return dst, 0
}

// quotedPrintable decodes what mail is written in. Behind an equals sign many
// other texts have two digits as well.
func quotedPrintable(dst []byte, s string) ([]byte, int) {
	if s[0] != '=' || len(s) < 2 {
		return dst, 0
	}
	if isSpace(s[1]) {
		return dst, 2 // a line that goes on
	}
	if n, ok := number(s[1:], 2, 16); ok {
		return append(dst, byte(n)), 3
	}
	return dst, 0
}

// backslash decodes JSON, and languages like it. Each encoder of several doubles
// the backslashes of the one before, so they are not counted.
func backslash(dst []byte, s string) ([]byte, int) {
	rest := strings.TrimLeft(s, `\`)
	n := len(s) - len(rest)
	if char, multibyte, tail, err := strconv.UnquoteChar(s[n-1:], 0); err == nil && multibyte {
		return utf8.AppendRune(dst, char), len(s) - len(tail)
	} else if err == nil {
		return append(dst, byte(char)), len(s) - len(tail)
	}
	if rest == "" {
		return dst, n
	}
	if braced, ok := strings.CutPrefix(rest, "u{"); ok {
		end := strings.IndexByte(braced[:min(len(braced), longestEscape)], '}')
		if v, ok := number(braced, end, 16); ok {
			return utf8.AppendRune(dst, rune(v)), len(s) - len(braced) + end + 1
		}
	}
	// One of the two halves of a character beyond the first 65,536.
	if high, ok := number(rest[1:], 4, 16); ok && rest[0] == 'u' {
		second := strings.TrimLeft(rest[5:], `\`)
		if low, ok := number(strings.TrimPrefix(second, "u"), 4, 16); ok && second[0] == 'u' {
			return utf8.AppendRune(dst, utf16.DecodeRune(rune(high), rune(low))), len(s) - len(second) + 5
		}
	}
	return append(dst, rest[0]), n + 1
}

// percent decodes URLs, of whose escapes each encoder makes one longer
// by 25.
func percent(dst []byte, s string) ([]byte, int) {
	if s[0] != '%' {
		return dst, 0
	}
	n := 1
	for strings.HasPrefix(s[n:], "25") { // each of them is the sign of one encoder
		n += 2
	}
	if v, ok := number(s[n:], 2, 16); ok {
		return append(dst, byte(v)), n + 2
	}
	if n > 1 { // a percent sign in the secret itself
		return append(dst, '%'), n
	}
	if strings.HasPrefix(s, "%u") {
		if v, ok := number(s[2:], 4, 16); ok {
			return utf8.AppendRune(dst, rune(v)), 6
		}
	}
	return dst, 0
}

// entity decodes HTML, of whose escapes each encoder makes one longer by "amp;". The
// semicolon at its end may be missing.
func entity(dst []byte, s string) ([]byte, int) {
	n := 1
	for strings.HasPrefix(s[n:], "amp;") {
		n += len("amp;")
	}
	end := n
	for end < len(s) && end < n+longestEscape && (s[end] == '#' && end == n || isWord(s[end])) {
		end++
	}
	if end < len(s) && s[end] == ';' {
		end++
	}
	// What package html leaves of the name is text: it knows the names that need
	// no semicolon.
	if end > n {
		name := "&" + s[n:end]
		text := html.UnescapeString(name)
		_, size := utf8.DecodeRuneInString(text)
		if rest := text[size:]; text != name && strings.HasSuffix(name, rest) {
			return append(dst, text[:size]...), end - len(rest)
		}
	}
	if n > 1 {
		return append(dst, '&'), n
	}
	return dst, 0
}

// number reads n digits.
func number(s string, n, base int) (uint64, bool) {
	if n < 0 || len(s) < n {
		return 0, false
	}
	// It takes neither a sign nor, with a base, an underscore.
	v, err := strconv.ParseUint(s[:n], base, 32)
	return v, err == nil
}
