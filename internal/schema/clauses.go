package schema

// This file says in English what schemas cannot.

import (
	"bytes"
	"encoding/binary"
	"strings"

	"github.com/seed94b59a13/mcp/internal/raw"
)

const (
	// maxSaid bounds the clauses of one schema, in bytes, and maxSearched what of
	// its description is gone over to see if they are there already.
	maxSaid     = 4 << 10
	maxSearched = 8 << 20

	// clauseDeep is said where a schema became generic.
	clauseDeep = "Its inner structure is left out."
	// clauseMore is the last clause of a description where not all were said.
	clauseMore = "There are more rules than these."
)

// A note is a description to which clauses are added.
type note struct {
	text     []byte          // the description; nil before it is needed
	known    map[string]bool // the clauses
	said     int             // bytes
	searched int             // bytes
}

// say adds a clause to the schema's description, which [rewriter.flush] then writes. A
// quiet pass says nothing: it is for schemas that became too large with clauses.
func (w *rewriter) say(n *node, clause string) {
	if w.quiet {
		return
	}
	// Few schemas have clauses: a node has no field for them, and most rewriters have no map.
	t := w.notes[n]
	if t == nil {
		if w.notes == nil {
			w.notes = map[*node]*note{}
		}
		w.room(256)
		t = &note{}
		w.notes[n] = t
	}
	w.step(1 + len(clause)/8)
	if t.said > maxSaid || t.known[clause] {
		return
	}
	if t.text == nil {
		description := w.string(n.get(kwDescription))
		w.room(len(description) + len(clause) + 1)
		t.text = append(make([]byte, 0, len(description)+len(clause)+1), description...)
	}
	if t.known == nil {
		t.known = map[string]bool{}
	}
	t.known[clause] = true
	w.step(len(t.text) / 16)
	t.searched += len(t.text)
	// Normalizing again must change nothing, and a server may say it itself.
	if t.searched < maxSearched && bytes.Contains(t.text, []byte(clause)) {
		return
	}
	// Past either bound the last clause says so, and nothing follows it.
	if t.said += len(clause); t.said > maxSaid || t.searched >= maxSearched {
		t.said = maxSaid + 1
		clause = clauseMore
	}
	if len(t.text) > 0 {
		t.text = append(t.text, ' ')
	}
	w.room(2 * len(clause))
	t.text = append(t.text, clause...)
	if d := n.get(kwDescription); d == nil || d.text != "" {
		n.set(kwDescription, &node{kind: '"', changed: true}) // in its place, to be written
	}
}

// flush writes the description of n. Clauses are put together first: to quote the text
// for each would take the square of their length.
func (w *rewriter) flush(n *node) {
	if w.notes == nil {
		return
	}
	t := w.notes[n]
	if t == nil || t.text == nil {
		return
	}
	if d := n.get(kwDescription); d.is('"') && d.text == "" {
		w.room(len(t.text))
		d.text = string(raw.AppendQuote(nil, string(t.text)))
	}
	// A clause that comes later starts from what was written.
	t.text = nil
}

// briefly cuts s to about limit bytes. A character that the cut goes through is left
// out.
func briefly(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

// suspect reports whether text, a JSON string, may hold anything but ASCII letters,
// digits, signs, spaces, tabs and line ends. Invisible characters, in which a server
// hides orders to the model, are among the rest, so the cleaner need not see most
// text. Escapes other than \u, \b and \f stand for plain ASCII.
func suspect(text string) bool {
	for i := 0; i < len(text); i++ {
		for i+8 <= len(text) {
			// Bytes from 0x7f on have the high bit, or get it by 1 more.
			const ones, high, slashes = 0x0101010101010101, 0x8080808080808080, 0x5c5c5c5c5c5c5c5c
			x := binary.LittleEndian.Uint64([]byte(text[i : i+8]))
			slash := x ^ slashes
			if (x|(x+ones)|(slash-ones)&^slash)&high != 0 {
				break
			}
			i += 8
		}
		switch {
		case i >= len(text):
		case text[i] >= 0x7f:
			return true
		case text[i] == '\\':
			if i++; i < len(text) && (text[i] == 'u' || text[i] == 'b' || text[i] == 'f') {
				return true
			}
		}
	}
	return false
}
