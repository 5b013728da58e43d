package secret

// This file finds secrets in a text, however an encoder has written them.
//
// A list of spellings would never be complete: JSON alone lets each character
// be written in three ways, and a text may have passed several encoders. So
// both the text and the secrets are decoded step by step, and compared after
// each step: what was encoded is found where as many steps have undone it, and
// what looks like an escape within a secret becomes the same on both sides.
// Each step is one pass over the text, whatever a server puts there.

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	steps = 8 // of decoding; encoders of one kind on top of each other take one
	few   = 8 // bytes of a secret that the end of a text may show
)

// kind says which bytes of a secret and a text are the same.
type kind int

const (
	plain  kind = iota // a space is any white space
	base               // base64: of either alphabet, perhaps broken into lines
	digits             // hex: of either case, perhaps with something between the bytes
	kinds              // how many there are
)

// A matcher finds the secrets.
type matcher struct {
	patterns [kinds][]pattern
	longest  int
}

// A pattern is what a decoded text is compared with.
type pattern struct {
	text string
	open int // bytes at its start that say little, such as https://

	// What of the secret is not in text: an escape that began before it, or that
	// ends behind it, has taken that.
	left, right string

	wide bool // it shares the characters at its ends with its neighbours
}

// newMatcher makes the patterns of the secrets. Those that are too short to be told
// from other text have none.
func newMatcher(secrets []string) *matcher {
	m := &matcher{}
	for _, s := range secrets {
		if len(s) < shortest {
			continue
		}
		// As a cleaned text has it; as it is where it was escaped, with what no
		// screen shows; and as forms write it, each space as a plus sign. Of each
		// also what decoding makes of it: a secret may look like an escape.
		for _, s := range []string{clean(s, false), s, strings.ReplaceAll(s, " ", "+")} {
			for r := range decodings(read(s), false) {
				m.add(plain, r)
			}
		}
		m.add(digits, read(hex.EncodeToString([]byte(s))))
		// Where it stands in a longer text that was encoded, as a password in
		// credentials does, it begins at any of three places. The characters at
		// its ends say something of its neighbours, too.
		for before := range 3 {
			all := base64.RawStdEncoding.EncodeToString([]byte("xx"[:before] + s))
			m.add(base, read(all[(8*before+5)/6:8*(before+len(s))/6]))
		}
	}
	return m
}

// mayEnd matches what the escapes end with that have taken the start of a secret.
var mayEnd = regexp.MustCompile(`^([ntrbfvauUx]?[0-9a-fA-F]{0,4}|#?\w{0,30};)$`)

// add adds the patterns of a secret in one spelling. Hex and base64 have no
// characters that an escape would take.
func (m *matcher) add(k kind, r reading) {
	p := pattern{text: strings.TrimSpace(string(r.as(k, reading{}).text)), wide: k == base}
	m.addPattern(k, p)
	if k != plain {
		return
	}
	end := len(p.text) - len(mayBegin.FindString(p.text))
	for begin := range min(end, longestEscape) {
		if mayEnd.MatchString(p.text[:begin]) {
			m.addPattern(k, pattern{text: p.text[begin:], left: p.text[:begin]})
			if end-begin >= few/2 { // since of right only the first byte is looked for
				m.addPattern(k, pattern{text: p.text[begin:end], left: p.text[:begin], right: p.text[end:]})
			}
		}
	}
}

// addPattern adds a pattern that is not there yet: most spellings of most secrets
// are the same, and each pattern is one more pass over the text.
func (m *matcher) addPattern(k kind, p pattern) {
	if i := strings.Index(p.text, "://"); i > 0 && i < 20 {
		p.open = i + 3
	}
	m.longest = max(m.longest, len(p.text))
	if p.text != "" && !slices.Contains(m.patterns[k], p) {
		m.patterns[k] = append(m.patterns[k], p)
	}
}

// mask returns the clean text s with [Masked] for each secret. headless tells
// that s may begin, and endless that it may end, within one.
func (m *matcher) mask(s string, headless, endless bool) string {
	if len(m.patterns[plain]) == 0 {
		return s
	}
	f := finder{matcher: m, whole: s, headless: headless, endless: endless}
	whole := read(s)
	f.look(whole)
	for _, decode := range outer {
		if r, changed := whole.decoded(decode); changed {
			f.look(r)
		}
	}
	slices.SortFunc(f.found, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var b strings.Builder
	from := 0 // s[from:] is not in b yet
	for i, at := range f.found {
		if i+1 < len(f.found) && f.found[i+1].from <= at.to { // two that overlap are one
			f.found[i+1] = span{at.from, max(at.to, f.found[i+1].to)}
			continue
		}
		b.WriteString(s[from:at.from] + Masked)
		from = int(at.to)
	}
	if from == 0 {
		return s
	}
	b.WriteString(s[from:])
	return b.String()
}

// A finder looks through one text, and collects what to mask in it. Whatever it
// reads, found has places in the whole text, so that escapes are masked with what
// they stand for.
type finder struct {
	*matcher
	whole             string
	headless, endless bool
	found             []span
	room              reading // for each text in turn
}

// look finds the secrets in a text and in what it decodes to, whole ones and those
// that its ends have a part of.
func (f *finder) look(r reading) {
	size, reach := len(r.text), f.longest*longestEscape/2
	f.each(decodings(r, false), f.search)
	f.each(decodings(r.part(max(0, size-reach), size), true), f.end)
	if f.headless {
		f.each(decodings(r.part(0, min(reach, size)), true), f.head)
	}
}

// each calls find for the patterns of each kind, with what is compared with them.
func (f *finder) each(texts iter.Seq[reading], find func(p pattern, r reading)) {
	for r := range texts {
		for k := range kinds {
			f.room = r.as(k, f.room)
			for _, p := range f.patterns[k] {
				find(p, f.room)
			}
		}
	}
}

// search finds each place of a pattern.
func (f *finder) search(p pattern, r reading) {
	// Places of one pattern that overlap are one: a secret of one letter, in a
	// text of that letter, would be found as often as the text has bytes.
	first := len(f.found)
	for from := 0; ; from++ {
		i := strings.Index(view(r.text[from:]), p.text)
		if i < 0 {
			return
		}
		from += i
		begin, end := from, from+len(p.text)
		if p.wide {
			begin, end = widened(r, begin, end)
		}
		at := span{r.spans[begin].from, r.spans[end-1].to}
		before, behind := f.whole[:at.from], f.whole[at.to:]
		if !strings.HasSuffix(before, p.left) || p.right != "" && !strings.HasPrefix(behind, p.right[:1]) {
			continue
		}
		at.from -= int32(len(p.left))
		at.to += int32(min(len(p.right), len(behind)))
		if last := len(f.found) - 1; last >= first && f.found[last].to >= at.from {
			f.found[last].to = at.to
		} else {
			f.found = append(f.found, at)
		}
	}
}

// widened takes the characters at the ends that a base64 text shares with its
// neighbours, and the padding.
func widened(r reading, begin, end int) (int, int) {
	joined := func(i int) bool { // and no white space between
		return i > 0 && i < len(r.text) && r.spans[i-1].to == r.spans[i].from
	}
	if joined(begin) && isBase(r.text[begin-1]) {
		begin--
	}
	if joined(end) && isBase(r.text[end]) {
		end++
	}
	for joined(end) && r.text[end] == '=' {
		end++
	}
	return begin, end
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isBase(c byte) bool { return c == '+' || c == '/' || isWord(c) }

func isWord(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// end finds the start of a pattern that the text ends with.
func (f *finder) end(p pattern, r reading) {
	// Fewer bytes say little, and other texts begin in the same way.
	enough := min(p.open+few, len(p.text))
	if f.endless {
		enough = 1
	}
	tail := view(r.text[max(0, len(r.text)-len(p.text)):])
	if !strings.Contains(tail, p.text[:enough]) {
		return
	}
	if n := overlap(tail, p.text); n >= enough {
		f.found = append(f.found, span{r.spans[len(r.text)-n].from, int32(len(f.whole))})
	}
}

// head finds the end of a pattern that the text begins with, behind the rest of
// an escape. All of the text may be within the pattern.
func (f *finder) head(p pattern, r reading) {
	const enough = few / 2 // any text ends with a byte or two of a secret
	if p.left+p.right != "" {
		return // the whole secret is a pattern, too
	}
	for skip := 0; skip <= longestEscape/2 && skip+enough <= len(r.text); skip++ {
		switch n := overlap(p.text, view(r.text[skip:])); {
		case strings.Contains(p.text, view(r.text[skip:])):
			f.found = append(f.found, span{0, int32(len(f.whole))})
		case n >= enough:
			f.found = append(f.found, span{0, r.spans[skip+n-1].to})
		}
	}
}

// overlap returns how many bytes at the end of a are the start of b (Knuth,
// Morris and Pratt: the end of a may nearly be the start of b many times over).
func overlap(a, b string) (n int) {
	b = b[:min(len(a), len(b))]
	a = a[len(a)-len(b):]
	borders := make([]int, len(b)) // for each start of b, the longest shorter one that it ends with
	next := func(n int, c byte) int {
		for n > 0 && (n == len(b) || b[n] != c) {
			n = borders[n-1]
		}
		if n < len(b) && b[n] == c {
			n++
		}
		return n
	}
	for i := 1; i < len(b); i++ {
		borders[i] = next(borders[i-1], b[i])
	}
	for i := range len(a) {
		n = next(n, a[i])
	}
	return n
}

// A reading is a text as a decoder leaves it, and where in the first text each
// byte of it stands.
type reading struct {
	text  []byte
	spans []span
}

type span struct{ from, to int32 } // what is quoted is never as long as that

// read returns a text as it is.
func read(s string) reading {
	r := reading{[]byte(s), make([]span, len(s))}
	for i := range int32(len(s)) {
		r.spans[i] = span{i, i + 1}
	}
	return r
}

// part returns the bytes of a reading between two places.
func (r reading) part(from, to int) reading { return reading{r.text[from:to], r.spans[from:to]} }

// add appends bytes that all stand at one place.
func (r *reading) add(at span, text ...byte) {
	for _, c := range text {
		r.text, r.spans = append(r.text, c), append(r.spans, at)
	}
}

// as returns what a reading says to those who compare texts of the kind. It is
// made in the room of another.
func (r reading) as(k kind, room reading) reading {
	out := reading{slices.Grow(room.text[:0], len(r.text)), slices.Grow(room.spans[:0], len(r.text))}
	// Plain text keeps one space for each gap, for a secret of several lines. In
	// hex and base64 a line end is an encoder's, and stands for nothing.
	for i := 0; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case k == plain && c > ' ' && c < 0x7f:
			out.add(r.spans[i], c)
		case k == plain:
			char, size := utf8.DecodeRune(r.text[i:])
			switch last := len(out.text) - 1; {
			case unicode.IsSpace(char):
				if last < 0 || out.text[last] != ' ' {
					out.add(r.spans[i], ' ')
				}
			case char == utf8.RuneError:
				out.add(r.spans[i], []byte("\ufffd")...) // as cleaning makes of it
			case isPrintable(char):
				for j := range size {
					out.add(r.spans[i+j], r.text[i+j])
				}
			}
			i += size - 1
		case isSpace(c):
		case k == base:
			out.add(r.spans[i], fold(c, "-_", "+/"))
		case c == ':', c == '-', c == ',':
		case c == '0' && i+1 < len(r.text) && r.text[i+1] == 'x':
			i++
		default:
			out.add(r.spans[i], fold(c, "ABCDEF", "abcdef"))
		}
	}
	return out
}

// fold returns the byte of to that stands where c does in from, or c itself.
func fold(c byte, from, to string) byte {
	if i := strings.IndexByte(from, c); i >= 0 {
		return to[i]
	}
	return c
}
