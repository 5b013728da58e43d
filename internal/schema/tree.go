package schema

// This file is the JSON tree: it keeps the order of members and the text of what
// was read, so that what no rule touches is written as it was.

import (
	"iter"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed94b59a13/mcp/internal/raw"
)

// A node is one JSON value. Nodes that are not schemas (the value of an enum, of a
// default) are shared between copies and never changed in place. Changes go up:
// whoever changes a schema marks those around it, and what is not marked is written as
// the text that it was read from, however large.
type node struct {
	kind    byte     // '{', '[', '"', '0' for a number, 't', 'f' or 'n'
	widened bool     // it accepts more than what it stands for
	changed bool     // it, or a schema in it, is not what was read
	respell bool     // a name in it was read in another spelling than is written
	plain   bool     // a string of ASCII without escapes, as it was read
	seen    uint64   // the keywords among the names of an object
	text    string   // as it was read; empty for an object or an array that was made
	members []member // of an object, or the nameless ones of an array
}

// The keyword is found once, when a name is read or made: every look-up is by number.
type member struct {
	name  string
	value *node
	k     keyword // that the name is, where it is one
}

func item(value *node) member             { return member{value: value} }
func named(name string, v *node) member   { return member{name, v, keywordOf(name)} }
func (k keyword) with(value *node) member { return member{rules[k].name, value, k} }

// What nodes and their lists of members take.
const (
	nodeSize      = 56
	memberSize    = 32
	memberAndNode = memberSize + nodeSize
)

func (m *meter) object(members ...member) *node {
	m.room(nodeSize + memberSize*len(members))
	n := &node{kind: '{', changed: true, members: members}
	for i := range members {
		n.seen |= 1 << members[i].k
	}
	return n
}

func (m *meter) array(members ...member) *node {
	m.room(nodeSize + memberSize*len(members))
	return &node{kind: '[', changed: true, members: members}
}

func (m *meter) quoted(s string) *node {
	m.room(nodeSize + len(s))
	return &node{kind: '"', changed: true, text: string(raw.AppendQuote(nil, s))}
}

// list returns a copy of members that more can be appended to.
func (m *meter) list(members []member, more ...member) []member {
	m.room(memberSize * (len(members) + len(more)))
	return slices.Concat(members, more)
}

// unquote decodes a JSON string. What needs no decoding is not copied.
func unquote(text string) string {
	if strings.IndexByte(text, '\\') < 0 && utf8.ValidString(text) {
		return text[1 : len(text)-1]
	}
	s, _ := raw.String([]byte(text))
	return s
}

// fewNames is how many names are compared in pairs; more of them go in a map. There
// are 120 pairs at most, for which a map is not worth its memory.
const fewNames = 16

// lastWins leaves one member of each name of an object: the last value, in the place
// of the first. So do the readers of Go, Python and JavaScript, in which most servers
// are written.
func (n *node) lastWins() {
	if n.kind != '{' || len(n.members) <= fewNames && n.distinct() {
		return
	}
	first := make(map[string]int, len(n.members))
	for i, m := range n.members {
		if _, ok := first[m.name]; !ok {
			first[m.name] = i
		}
	}
	if len(first) == len(n.members) {
		return
	}
	// In place: the parser gave these members to this object alone.
	kept := n.members[:0]
	clear(first)
	for _, m := range n.members {
		if i, ok := first[m.name]; ok {
			kept[i].value = m.value
			continue
		}
		first[m.name] = len(kept)
		kept = append(kept, m)
	}
	n.members, n.changed = kept, true
}

func (n *node) distinct() bool {
	for i := range n.members {
		name := n.members[i].name
		for j := range i {
			// Most names differ in length or in the last byte.
			other := n.members[j].name
			if len(name) == len(other) && (name == "" || name[len(name)-1] == other[len(other)-1] && name == other) {
				return false
			}
		}
	}
	return true
}

func (n *node) append(dst []byte) []byte { return n.appendUpTo(dst, math.MaxInt) }

// appendUpTo stops when dst has limit bytes, or one name or bracket more. An output
// may be many times its input before it is found too large; what is cut is not JSON,
// and a caller with a limit has to look at the length.
func (n *node) appendUpTo(dst []byte, limit int) []byte {
	// An unchanged object or list is one copy of its text.
	if n.text != "" && !n.changed && !n.respell || n.kind != '{' && n.kind != '[' {
		return append(dst, n.text[:min(len(n.text), max(limit-len(dst), 0))]...)
	}
	dst = append(dst, n.kind)
	for i := range n.members {
		m := &n.members[i]
		if len(dst) > limit {
			return dst
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		if n.kind == '{' {
			name := m.name
			if room := max(limit-len(dst), 0); len(name) > room {
				name = name[:room]
			}
			dst = append(raw.AppendQuote(dst, name), ':')
		}
		dst = m.value.appendUpTo(dst, limit)
	}
	return append(dst, n.kind+2) // the closing bracket, in ASCII
}

// size is how many bytes the text of n had when it was read.
func (n *node) size() int { return len(n.text) }

// key is text that two equal values share: names in order, numbers as written.
func (m *meter) key(n *node) string {
	if n.kind == '"' {
		if strings.IndexByte(n.text, '\\') < 0 {
			return n.text
		}
		return string(raw.AppendQuote(nil, m.string(n)))
	}
	// No more is made than there is room for, since how much it is shows in the end.
	text := n.appendUpTo(nil, max(m.bytes/4, 0))
	m.room(4 * len(text))
	return string(text)
}

// equal reports whether two values have the same key. It takes no longer than the
// smaller one is large. Members in another order make a difference here, though not in
// JSON: two schemas then stay apart, which is longer and not wrong.
func (m *meter) equal(a, b *node) bool {
	m.step(1)
	switch {
	case a == b:
		return true
	case a.kind != b.kind || len(a.members) != len(b.members):
		return false
	case a.kind == '"' && (!a.plain || !b.plain) && a.text != b.text:
		// Two spellings of one string are equal, as in "a" and "\u0061".
		return m.string(a) == m.string(b)
	case a.kind != '{' && a.kind != '[':
		m.step(min(len(a.text), len(b.text)) / 8)
		return a.text == b.text
	}
	for i := range a.members {
		if a.members[i].name != b.members[i].name || !m.equal(a.members[i].value, b.members[i].value) {
			return false
		}
	}
	return true
}

// brief is the text of n for a description, cut after about limit bytes.
func (n *node) brief(limit int) string {
	return briefly(string(n.appendUpTo(nil, limit+1)), limit)
}

// string is the decoded text of a string, and empty for anything else. It is
// decoded each time, and so counted each time: a server that writes one long name
// with escapes may refer to it often.
func (m *meter) string(n *node) string {
	switch {
	case !n.is('"'):
		return ""
	case n.plain:
		return n.text[1 : len(n.text)-1]
	}
	m.step(len(n.text) / 2)
	m.room(len(n.text))
	return unquote(n.text)
}

// strings yields the strings in a list.
func (m *meter) strings(list *node) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range list.list('[') {
			if v := list.members[i].value; v.is('"') && !yield(m.string(v)) {
				return
			}
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

// index is the place of the keyword, -1 where there is none. The set of seen keywords
// answers most questions: schemas have few of the many.
func (n *node) index(k keyword) int {
	if n == nil || !has(n.seen, k) {
		return -1
	}
	for i := range n.members {
		if n.members[i].k == k {
			return i
		}
	}
	return -1
}

// get returns the keyword's value, nil where there is none.
func (n *node) get(k keyword) *node {
	if i := n.index(k); i >= 0 {
		return n.members[i].value
	}
	return nil
}

// property returns the value of the member with the name, nil where there is none.
func (n *node) property(name string) *node {
	for _, m := range n.list('{') {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// set replaces the keyword's value in its place, or appends it.
func (n *node) set(k keyword, value *node) {
	n.changed = true
	if i := n.index(k); i >= 0 {
		n.members[i].value = value
		return
	}
	n.add(k.with(value))
}

// add appends a member whose name is not there yet.
func (n *node) add(m member) {
	n.members = append(n.members, m)
	n.seen |= 1 << m.k
	n.changed = true
}

// insert puts a keyword that is not there yet in a place.
func (n *node) insert(at int, k keyword, value *node) {
	n.members = slices.Insert(n.members, at, k.with(value))
	n.seen |= 1 << k
	n.changed = true
}

// become gives a keyword's value the name of another, which is not there yet. It keeps
// the place, so that what is read in order is written in order.
func (n *node) become(k, other keyword) {
	i := n.index(k)
	n.members[i] = other.with(n.members[i].value)
	n.seen = n.seen&^(1<<k) | 1<<other
	n.changed = true
}

// take removes the keyword and returns its value.
func (n *node) take(k keyword) *node {
	i := n.index(k)
	if i < 0 {
		return nil
	}
	value := n.members[i].value
	n.members = slices.Delete(n.members, i, i+1)
	n.seen &^= 1 << k
	n.changed = true
	return value
}

// keep removes the members that are not in a set of keywords.
func (n *node) keep(set uint64) {
	before := len(n.members)
	n.members = slices.DeleteFunc(n.members, func(m member) bool { return !has(set, m.k) })
	if len(n.members) < before {
		n.seen &= set
		n.changed = true
	}
}

// drop removes the members with the names. They are unknown keywords, which the set of
// seen ones has one bit for: it stays.
func (n *node) drop(names map[string]bool) {
	if len(names) > 0 {
		n.members = slices.DeleteFunc(n.members, func(m member) bool { return names[m.name] })
		n.changed = true
	}
}

// schemas yields the schemas in n with their keywords, under the names of a map of
// them. Whoever looks for schemas asks [schemasIn], as it does, so that what looks
// like a keyword inside of a default or an enum is never taken for one (rule 11).
func (n *node) schemas(yield func(k keyword, sub member) bool) {
	for _, m := range n.list('{') {
		subs := m.value.members
		switch schemasIn(m.k, m.value) {
		case noSchema:
			continue
		case oneSchema:
			subs = []member{item(m.value)}
		}
		for _, sub := range subs {
			if !yield(m.k, sub) {
				return
			}
		}
	}
}

// An index finds the members of one object by name. It goes over few, and makes
// a map of many when it is first asked, so that none is searched again and again.
type index struct {
	of     *node
	places map[string]int // of the members; nil while they are few
}

// find is the place of the member with the name, -1 where there is none.
func (m *meter) find(x *index, name string) int {
	if x.places == nil && len(x.of.members) > fewNames {
		m.step(8 * len(x.of.members))
		m.room(48 * len(x.of.members))
		x.places = make(map[string]int, len(x.of.members))
		for i := range x.of.members {
			x.places[x.of.members[i].name] = i
		}
	}
	m.step(4)
	if x.places == nil {
		// They are fewNames at most here.
		return slices.IndexFunc(x.of.members, func(other member) bool { return other.name == name })
	}
	if i, ok := x.places[name]; ok {
		return i
	}
	return -1
}

// put sets the value of the member with the name of new, or adds it.
func (m *meter) put(x *index, new member) {
	if i := m.find(x, new.name); i >= 0 {
		x.of.members[i].value = new.value
		return
	}
	m.room(memberSize + 64)
	// What is added beside the index would be lost to it: all of one object goes through here.
	if x.places != nil {
		x.places[new.name] = len(x.of.members)
	}
	x.of.add(new)
}

// value is that of the member with the name, nil where there is none.
func (m *meter) value(x *index, name string) *node {
	if i := m.find(x, name); i >= 0 {
		return x.of.members[i].value
	}
	return nil
}

// first reports whether a name is not in a set yet, and puts it there.
func (m *meter) first(set map[string]bool, name string) bool {
	m.step(8 + len(name)/64)
	if set[name] {
		return false
	}
	m.room(64)
	set[name] = true
	return true
}
