package schema

// This file is the JSON tree: it keeps the order of members and the text of
// scalars, so what no rule touches is written as it was read.

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed94b59a13/mcp/internal/raw"
)

// A node is one JSON value. Nodes that are no schemas (the value of an enum,
// of a default) are shared between copies and never changed in place.
type node struct {
	kind    byte     // '{', '[', '"', '0' for a number, 't', 'f' or 'n'
	widened bool     // it accepts more than what it stands for
	said    int      // bytes of clauses in its description
	text    string   // a scalar's JSON text
	members []member // of an object, or the nameless ones of an array
}

type member struct {
	name  string
	value *node
}

func newObject(members ...member) *node { return &node{kind: '{', members: members} }
func newArray(members ...member) *node  { return &node{kind: '[', members: members} }
func newString(s string) *node {
	return &node{kind: '"', text: string(raw.AppendQuote(nil, s))}
}

// parse reads data, which [raw.Scan] has accepted, so that the recursion is
// bounded. Of members with one name the last value counts, in the place of the
// first.
func parse(data []byte) *node {
	p := parser{data: data, text: string(data)}
	return p.value()
}

type parser struct {
	data  []byte
	text  string // the same
	at    int
	nodes []node // room for the next ones: they are made many at a time
}

func (p *parser) space() byte {
	for ; p.at < len(p.text); p.at++ {
		if c := p.text[p.at]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
	}
	return 0
}

// scalar passes a scalar and returns its text.
func (p *parser) scalar() string {
	start := p.at
	n, _ := raw.Scan(p.data[start:])
	p.at += n
	return p.text[start:p.at]
}

func (p *parser) value() *node {
	if len(p.nodes) == 0 {
		p.nodes = make([]node, min(64, 1+(len(p.text)-p.at)/8))
	}
	n := &p.nodes[0]
	p.nodes = p.nodes[1:]
	n.kind = p.space()
	if n.kind != '{' && n.kind != '[' {
		if n.text = p.scalar(); n.kind == '-' || n.kind >= '0' && n.kind <= '9' {
			n.kind = '0'
		}
		return n
	}
	p.at++
	for c := p.space(); c != '}' && c != ']' && c != 0; c = p.space() {
		var m member
		if c == ',' {
			p.at++
			continue
		}
		if n.kind == '{' {
			m.name = unquote(p.scalar())
			p.space()
			p.at++
		}
		m.value = p.value()
		if n.members == nil {
			n.members = make([]member, 0, 4)
		}
		n.members = append(n.members, m)
	}
	p.at++
	n.lastWins()
	return n
}

// unquote decodes a JSON string. What needs no decoding is not copied.
func unquote(text string) string {
	if strings.IndexByte(text, '\\') < 0 && utf8.ValidString(text) {
		return text[1 : len(text)-1]
	}
	s, _ := raw.String([]byte(text))
	return s
}

// lastWins leaves one member of each name of an object.
func (n *node) lastWins() {
	if n.kind != '{' || len(n.members) <= fewNames && n.distinct() {
		return
	}
	first := make(map[string]int, len(n.members))
	kept := n.members[:0]
	for _, m := range n.members {
		if i, ok := first[m.name]; ok {
			kept[i].value = m.value
			continue
		}
		first[m.name] = len(kept)
		kept = append(kept, m)
	}
	n.members = kept
}

// fewNames is how many names are compared in pairs; more of them go in a map.
const fewNames = 16

func (n *node) distinct() bool {
	for i, m := range n.members {
		if n.index(m.name) < i {
			return false
		}
	}
	return true
}

func (n *node) append(dst []byte) []byte { return n.appendUpTo(dst, math.MaxInt) }

// appendUpTo stops soon after dst has more than limit bytes.
func (n *node) appendUpTo(dst []byte, limit int) []byte {
	if n.kind != '{' && n.kind != '[' {
		return append(dst, n.text[:min(len(n.text), max(limit-len(dst), 0))]...)
	}
	dst = append(dst, n.kind)
	for i, m := range n.members {
		if len(dst) > limit {
			return dst
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		if n.kind == '{' {
			dst = append(raw.AppendQuote(dst, m.name), ':')
		}
		dst = m.value.appendUpTo(dst, limit)
	}
	return append(dst, n.kind+2) // the closing bracket, in ASCII
}

// key is text that two equal values share: names in order, numbers as written.
func (n *node) key() string {
	if n.kind == '"' {
		return string(raw.AppendQuote(nil, n.string()))
	}
	return string(n.append(nil))
}

// brief is the text of n for a description, cut after about limit bytes.
func (n *node) brief(limit int) string {
	return briefly(string(n.appendUpTo(nil, limit+1)), limit)
}

// string is the decoded text of a string, and empty for anything else.
func (n *node) string() string {
	if n == nil || n.kind != '"' {
		return ""
	}
	return unquote(n.text)
}

// strings yields the strings in a list.
func (n *node) strings(yield func(string) bool) {
	for _, m := range n.list('[') {
		if m.value.is('"') && !yield(m.value.string()) {
			return
		}
	}
}

// list is the members of a value of the kind, none for another.
func (n *node) list(kind byte) []member {
	if !n.is(kind) {
		return nil
	}
	return n.members
}

// is reports whether n is there and of the kind.
func (n *node) is(kind byte) bool { return n != nil && n.kind == kind }

func (n *node) index(name string) int {
	if n == nil || n.kind != '{' {
		return -1
	}
	return slices.IndexFunc(n.members, func(m member) bool { return m.name == name })
}

// get returns the member's value, nil where there is none.
func (n *node) get(name string) *node {
	if i := n.index(name); i >= 0 {
		return n.members[i].value
	}
	return nil
}

// set replaces the member in its place, or appends it.
func (n *node) set(name string, value *node) {
	if i := n.index(name); i >= 0 {
		n.members[i].value = value
		return
	}
	n.members = append(n.members, member{name, value})
}

// take removes the member and returns its value.
func (n *node) take(name string) *node {
	i := n.index(name)
	if i < 0 {
		return nil
	}
	value := n.members[i].value
	n.members = slices.Delete(n.members, i, i+1)
	return value
}
