package secret

// This file finds secrets in a text, however an encoder has written them.
//
// A list of spellings would never be complete: JSON alone lets each character
// be written in three ways, and a text may have passed two encoders. So the
// text is decoded while it is compared: at each place, a character may stand
// for itself or begin an escape, and both are followed.

import (
	"encoding/base64"
	"encoding/hex"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	depth      = 3      // encoders that a text has passed, one over the other
	longestEsc = 32     // bytes of an escape
	escapes    = `\%&+` // the first bytes of what may be one
	few        = 8      // bytes of a secret that the end of a text may show
	workPer    = 32     // steps for each byte of a text
	workMin    = 1e5    // steps for any text
)

// A matcher finds the secrets.
type matcher struct {
	patterns []pattern
	starts   [256][]int // the patterns by the bytes that they may begin with
}

// A pattern is what the decoded text is compared with.
type pattern struct {
	text string
	kind kind
	open int // bytes at its start that say little, such as https://
}

// kind says which bytes of a pattern and a text are the same.
type kind int

const (
	plain  kind = iota // a space is any white space
	base               // base64: of either alphabet, perhaps broken into lines
	digits             // hex: of either case
	kinds              // how many there are
)

func newMatcher(secrets []string) *matcher {
	m := &matcher{}
	seen := map[string]bool{}
	for _, s := range secrets {
		if len(s) < shortest || seen[s] {
			continue
		}
		seen[s] = true
		m.add(strings.TrimSpace(clean(s, false)), plain)
		m.add(strings.TrimSpace(s), plain) // as it is where it was escaped
		m.add(hex.EncodeToString([]byte(s)), digits)
		// Where it stands in a longer text that was encoded, as a password in
		// credentials does, it begins at any of three places. The characters at
		// its ends say something of its neighbours, too.
		for before := range 3 {
			all := base64.RawStdEncoding.EncodeToString([]byte("xx"[:before] + s))
			m.add(all[(8*before+5)/6:8*(before+len(s))/6], base)
		}
	}
	return m
}

func (m *matcher) add(text string, k kind) {
	p := pattern{text: text, kind: k}
	if len(text) < shortest || slices.Contains(m.patterns, p) {
		return
	}
	if i := strings.Index(text, "://"); i > 0 && i < 20 {
		p.open = i + 3
	}
	for c := range m.starts {
		if p.same(0, byte(c)) {
			m.starts[c] = append(m.starts[c], len(m.patterns))
		}
	}
	m.patterns = append(m.patterns, p)
}

// same reports whether c may stand for the byte of the pattern at i.
func (p *pattern) same(i int, c byte) bool { return p.kind.fold(p.text[i]) == p.kind.fold(c) }

// fold returns the byte that stands for all that are the same.
func (k kind) fold(c byte) byte {
	switch {
	case k != digits && isSpace(c):
		return ' '
	case k == digits && c >= 'A' && c <= 'F':
		return c | 0x20
	case k == base && c == '-':
		return '+'
	case k == base && c == '_':
		return '/'
	}
	return c
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// mask returns the clean text s with [Masked] for each secret. headless tells
// that s may begin, and endless that it may end, within one.
func (m *matcher) mask(s string, headless, endless bool) string {
	if len(m.patterns) == 0 {
		return s
	}
	f := finder{matcher: m, text: s, endless: endless, work: workMin + workPer*len(s)}
	var b strings.Builder
	from := 0          // s[from:] is not in b yet
	begin, end := 0, 0 // what is masked next
	if headless {
		end = f.head()
	}
	flush := func() {
		if end > begin {
			b.WriteString(s[from:begin])
			b.WriteString(Masked)
			from = end
		}
	}
	for i := 0; i < len(s) && end < len(s); i++ {
		start, stop := f.at(i, from)
		switch {
		case stop <= end:
		case start <= end && end > begin: // two that overlap are one
			end = stop
		default:
			flush()
			begin, end = max(start, from), stop
		}
	}
	flush()
	if b.Len() == 0 {
		return s
	}
	b.WriteString(s[from:])
	return b.String()
}

// A finder looks through one text.
type finder struct {
	*matcher
	text    string
	endless bool
	work    int // steps that are left
	stack   []state
	units   []unit
}

// A state is a place in the text up to which it is the pattern up to another.
type state struct{ pos, done int }

// at returns the bounds of the longest secret that begins at i; stop is 0 where
// none does.
func (f *finder) at(i, from int) (start, stop int) {
	if f.work < 0 {
		return i, len(f.text) // rather too much is masked than too little
	}
	start = i
	try := func(c byte) {
		for _, n := range f.starts[c] {
			p := &f.patterns[n]
			end := f.match(p, i)
			if end <= stop {
				continue
			}
			start, stop = i, end
			if p.kind == base {
				start, stop = f.widen(i, end, from)
			}
		}
	}
	if c := f.text[i]; strings.IndexByte(escapes, c) < 0 {
		try(c)
		return start, stop
	}
	for _, u := range f.read(nil, i, depth) {
		try(u.bytes[0])
	}
	return start, stop
}

// match returns where the pattern ends, if the text at i is that; 0 if it is
// not. The end of the text may be in the midst of it.
func (f *finder) match(p *pattern, i int) (end int) {
	f.stack = append(f.stack[:0], state{i, 0})
	for len(f.stack) > 0 {
		at := f.stack[len(f.stack)-1]
		f.stack = f.stack[:len(f.stack)-1]
		if f.work--; f.work < 0 {
			return len(f.text)
		}
		if at.done == len(p.text) {
			end = max(end, at.pos)
			continue
		}
		if f.over(p, at) {
			return len(f.text)
		}
		if at.pos == len(f.text) {
			continue
		}
		f.step(p, at)
	}
	return end
}

// over reports whether the text ends within the pattern.
func (f *finder) over(p *pattern, at state) bool {
	enough := p.open + few
	if f.endless {
		enough = 1
	}
	return at.done >= enough && at.pos > len(f.text)-longestEsc && cutEscape.MatchString(f.text[at.pos:])
}

// cutEscape matches nothing, and the start of an escape.
var cutEscape = regexp.MustCompile(`^((\\|%(25)*5[cC])+(u[0-9a-fA-F]{0,3}|x[0-9a-fA-F]?)?|%(25)*[0-9a-fA-F]?|&(amp;)*#?\w*)?$`)

// step adds the states that come after one.
func (f *finder) step(p *pattern, at state) {
	c := f.text[at.pos]
	if strings.IndexByte(escapes, c) < 0 {
		f.advance(p, at, unit{[4]byte{c}, 1, at.pos + 1}, false)
		return
	}
	units := f.read(f.units[:0], at.pos, depth)
	f.units = units
	for n, u := range units {
		f.advance(p, at, u, n > 0)
	}
}

func (f *finder) advance(p *pattern, at state, u unit, escaped bool) {
	n := 0
	for n < u.size && at.done+n < len(p.text) && p.same(at.done+n, u.bytes[n]) {
		n++
	}
	switch {
	case n == u.size:
		f.stack = append(f.stack, state{u.next, at.done + n})
	case at.done == 0:
	case u.size == 1 && isSpace(u.bytes[0]) && (p.kind == base || p.text[at.done-1] == ' '):
		f.stack = append(f.stack, state{u.next, at.done}) // a line end, or the rest of a gap
	case escaped:
		if r, _ := utf8.DecodeRune(u.bytes[:u.size]); r != utf8.RuneError && !isPrintable(r) && !unicode.IsSpace(r) {
			f.stack = append(f.stack, state{u.next, at.done})
		}
	}
}

// widen takes the characters at the ends that a base64 text shares with its
// neighbours, and the padding.
func (f *finder) widen(start, stop, from int) (int, int) {
	isBase := func(c byte) bool {
		return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("+/-_", c) >= 0
	}
	if start > from && isBase(f.text[start-1]) {
		start--
	}
	if stop < len(f.text) && isBase(f.text[stop]) {
		stop++
	}
	for stop < len(f.text) && f.text[stop] == '=' {
		stop++
	}
	return start, stop
}

// head returns the length of what the text begins with that is the rest of a
// secret, behind the rest of an escape. The text is read as it is, and as one
// encoder would have left it: to follow both at each place, from each place of a
// secret, could take for ever.
func (f *finder) head() (end int) {
	for k := range kinds {
		for skip := -1; skip < longestEsc/2; skip++ {
			read, ends := f.decode(k, skip)
			if len(read) == 0 {
				continue
			}
			table := borders(read)
			for _, p := range f.patterns {
				if n := overlap(p, read, table); p.kind == k && n >= few/2 {
					end = max(end, ends[n-1])
				}
			}
		}
	}
	return end
}

// decode reads the text from a place on, as it is from -1, for patterns of the
// kind. It returns where in the text each byte ends.
func (f *finder) decode(k kind, from int) (read []byte, ends []int) {
	for i := max(from, 0); i < len(f.text); {
		u := one(f.text[i], i+1)
		if from >= 0 && strings.IndexByte(escapes, f.text[i]) >= 0 {
			if f.units = f.read(f.units[:0], i, 1); len(f.units) > 1 && (k == plain || f.text[i] != '+') {
				u = f.units[1]
			}
		}
		for _, c := range u.bytes[:u.size] {
			if c = k.fold(c); k != base || c != ' ' {
				read, ends = append(read, c), append(ends, u.next)
			}
		}
		i = u.next
	}
	return read, ends
}

// overlap returns the length of the longest start of read that the pattern ends
// with, or all of it if it is within the pattern (Knuth, Morris and Pratt).
func overlap(p pattern, read []byte, table []int) (n int) {
	for i := 1; i < len(p.text) && n < len(read); i++ {
		c := p.kind.fold(p.text[i])
		for n > 0 && read[n] != c {
			n = table[n-1]
		}
		if read[n] == c {
			n++
		}
	}
	return n
}

// borders returns for each start of text the length of the longest shorter one
// that it ends with.
func borders(text []byte) []int {
	table := make([]int, len(text))
	for i, n := 1, 0; i < len(text); i++ {
		for n > 0 && text[n] != text[i] {
			n = table[n-1]
		}
		if text[n] == text[i] {
			n++
		}
		table[i] = n
	}
	return table
}

// A unit is one way to read what stands in a text.
type unit struct {
	bytes [4]byte
	size  int // of bytes that count
	next  int // where it ends in the text
}

func one(c byte, next int) unit { return unit{[4]byte{c}, 1, next} }

// read appends the ways to read what stands at i: first as it is, then as the
// escape that it begins. What an escape stands for may begin an escape itself.
func (f *finder) read(units []unit, i, depth int) []unit {
	c := f.text[i]
	units = append(units, one(c, i+1))
	if c == '+' {
		return append(units, one(' ', i+1)) // as forms write it
	}
	return f.escape(units, c, i+1, depth)
}

// escape appends what the escape means whose first character is lead, and whose
// others are at i.
func (f *finder) escape(units []unit, lead byte, i, depth int) []unit {
	if depth == 0 {
		return units
	}
	from := len(units)
	switch rest := f.text[i:min(len(f.text), i+longestEsc)]; lead {
	case '%':
		if n, ok := number(rest, 2); ok {
			units = append(units, one(byte(n), i+2))
		}
	case '\\':
		units = backslash(units, rest, i)
	case '&':
		if end := strings.IndexByte(rest, ';'); end > 0 {
			name := "&" + rest[:end+1]
			if s := html.UnescapeString(name); s != name && len(s) <= utf8.UTFMax {
				u := unit{size: len(s), next: i + end + 1}
				copy(u.bytes[:], s)
				units = append(units, u)
			}
		}
	}
	for _, u := range units[from:] {
		switch c := u.bytes[0]; {
		case u.size > 1 || c == lead && c == '\\':
		case c == '+':
			units = append(units, one(' ', u.next))
		case c == '\\' || c == '%' || c == '&':
			units = f.escape(units, c, u.next, depth-1)
		}
	}
	return units
}

// backslash reads what follows a backslash, in JSON or in what is like it. Each
// encoder of several doubles the backslashes of the one before, and adds one
// where that has left a quote; how many of them make one escape is not counted.
func backslash(units []unit, rest string, i int) []unit {
	for n := 1; n < 1<<depth && strings.HasPrefix(rest, `\`); n++ {
		if n&(n+1) == 0 { // one, three, seven behind the first
			units = append(units, one('\\', i+1))
		}
		rest, i = rest[1:], i+1
	}
	if rest == "" {
		return units
	}
	switch c := rest[0]; c {
	case 'u':
		r, ok := number(rest[1:], 4)
		if !ok {
			return units
		}
		size := 5
		if utf16.IsSurrogate(rune(r)) && strings.HasPrefix(rest[5:], `\u`) {
			if low, ok := number(rest[7:], 4); ok {
				r, size = int(utf16.DecodeRune(rune(r), rune(low))), 11
			}
		}
		u := unit{next: i + size}
		u.size = utf8.EncodeRune(u.bytes[:], rune(r))
		return append(units, u)
	case 'x':
		if n, ok := number(rest[1:], 2); ok {
			units = append(units, one(byte(n), i+3))
		}
		return units
	default:
		if n := strings.IndexByte("ntrbfva", c); n >= 0 {
			c = "\n\t\r\b\f\v\a"[n]
		}
		return append(units, one(c, i+1))
	}
}

// number reads n hex digits.
func number(s string, n int) (int, bool) {
	if len(s) < n {
		return 0, false
	}
	v, err := strconv.ParseUint(s[:n], 16, 32)
	return int(v), err == nil
}
