package secret

// This file quotes: it cleans, masks and cuts, in this order.

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unsafe"

	"github.com/seed94b59a13/mcp/internal/text"
)

// A Quoter quotes what one server says. Its methods may be called concurrently,
// and take time for a small multiple of the limit however long a text is. A nil
// Quoter knows no secrets, and cleans and cuts all the same.
type Quoter struct {
	fixed Box[*matcher]

	mu      sync.Mutex
	latest  Box[[]string] // that were learned
	learned Box[*matcher] // of them
}

// maxLearned is how many of the secrets that were learned are still masked. A
// token is set again and again, a proof once: of those there may be as many as
// there are calls in flight.
const maxLearned = 64

// New returns a quoter that masks the secrets, but for those that are too short
// to be told from other text.
func New(secrets ...string) *Quoter {
	return &Quoter{fixed: later(secrets)}
}

// later makes the matcher when it is asked for: most connections never quote
// anything.
func later(secrets []string) Box[*matcher] {
	return Box[*matcher]{sync.OnceValue(func() *matcher { return newMatcher(secrets) })}
}

// Learn makes the quoter mask one more secret, as long as it is among the
// latest 64.
func (q *Quoter) Learn(s string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	latest := q.latest.Open()
	if len(s) < shortest || slices.Contains(latest, s) {
		return
	}
	latest = append(slices.Clone(latest[max(0, len(latest)+1-maxLearned):]), s)
	q.latest, q.learned = Keep(latest), later(latest)
}

// Quote returns the start of s as one line: of printable characters, without
// secrets, of limit bytes at most, and three more where it was cut.
func (q *Quoter) Quote(s string, limit int) string {
	cut := len(s) > window(limit)
	if cut {
		s = s[:window(limit)]
	}
	return q.start(clean(s, false), cut, limit)
}

// QuoteBytes is [Quoter.Quote] for bytes.
func (q *Quoter) QuoteBytes(b []byte, limit int) string {
	return q.Quote(view(b[:min(len(b), window(limit)+1)]), limit)
}

// Text is [Quoter.QuoteBytes] for a text that is kept as it is as far as it can
// be: white space stays, and nothing tells where it was cut.
func (q *Quoter) Text(b []byte, limit int) string {
	cut := len(b) > window(limit)
	s := q.mask(clean(view(b[:min(len(b), window(limit))]), true), false, cut)
	return strings.Clone(text.Head(s, limit))
}

// End returns the end of a text whose line ends and tabs stay, limit bytes at
// most behind the sign that something was left out. Where that is so it begins
// with a whole line, if there is one. cut tells that b is itself the end of
// something longer: it may begin within a secret.
func (q *Quoter) End(b []byte, cut bool, limit int) string {
	if from := len(b) - window(limit); from > 0 {
		b, cut = b[from:], true
	}
	s := clean(view(b), true)
	s = q.mask(s, cut, false)
	if from := len(s) - limit; from > 0 {
		s, cut = strings.ToValidUTF8(s[from:], ""), true
	}
	if s = strings.TrimSpace(s); !cut {
		return s
	}
	if _, after, ok := strings.Cut(s, "\n"); ok {
		s = after
	}
	return "… " + s
}

// start masks a clean text and cuts it.
func (q *Quoter) start(s string, cut bool, limit int) string {
	s = strings.TrimSpace(q.mask(s, false, cut))
	if h := text.Head(s, limit); cut || len(h) < len(s) {
		return h + "…"
	}
	// A copy: what is short may lie in a buffer that is about to be reused.
	return strings.Clone(s)
}

func (q *Quoter) mask(s string, headless, endless bool) string {
	if q == nil {
		return s
	}
	q.mu.Lock()
	learned := q.learned
	q.mu.Unlock()
	if m := learned.Open(); m != nil {
		s = m.mask(s, headless, endless)
	}
	return q.fixed.Open().mask(s, headless, endless)
}

// window is how much of a text is looked at to quote limit bytes of it. What
// is cleaned away and what is masked makes a text shorter; past this, a quote
// is shorter than it might be.
func window(limit int) int { return 4*limit + 512 }

// clean returns the printable characters of s. White space becomes one space
// each time, or stays where lines are to stay.
func clean(s string, lines bool) string {
	if strings.ContainsAny(s, "\r\v\f") { // between two words, often
		s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", " ", "\f", " ").Replace(s)
	}
	s = text.Bare(s)
	var b strings.Builder
	b.Grow(len(s))
	space := false
	for _, r := range s {
		switch {
		case lines && (r == '\n' || r == '\t'):
			b.WriteRune(r)
		case unicode.IsSpace(r):
			if space = !lines; lines {
				b.WriteByte(' ')
			}
		case isPrintable(r):
			if space && b.Len() > 0 {
				b.WriteByte(' ')
			}
			space = false
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isPrintable reports whether a reader sees the character.
func isPrintable(r rune) bool {
	if r < 0x7f {
		return r >= ' '
	}
	return unicode.IsPrint(r) && r != 0x2800 && // a blank that is counted among the symbols
		!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// view returns the bytes as a string. Both must not outlive the call.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
