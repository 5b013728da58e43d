package schema

// This file resolves references (rule 3).

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A document is a parsed schema that references point into.
type document struct {
	root  *node
	old   bool                 // draft-07 or older: only annotations count beside a $ref
	found map[string]*resolved // what references from the root's own resource lead to
	ids   map[string]*node     // the root's definitions with an $id; nil until one is looked for

	// places has the members of large objects by name, for pointers into them.
	places map[*node]map[string]int

	// holders are unknown members of the root that references lead into, as
	// those of OpenAPI do into components.
	holders []string
}

// resolved is a schema and the resource it belongs to: the nearest schema
// around it that has an $id, which references starting with # are relative to.
type resolved struct{ target, base *node }

func newDocument(root *node) *document {
	return &document{
		root:  root,
		old:   strings.Contains(root.get("$schema").string(), oldDrafts),
		found: map[string]*resolved{},
	}
}

// oldDrafts is in the $schema of all drafts before 2019-09.
const oldDrafts = "/draft-0"

// find follows a reference. The target is nil where it leads nowhere, or to
// another document: nothing is ever fetched.
func (d *document) find(ref string, base *node) (target, targetBase *node) {
	if base != d.root {
		return d.lookUp(ref, base)
	}
	r, ok := d.found[ref]
	if !ok {
		r = &resolved{}
		r.target, r.base = d.lookUp(ref, base)
		d.found[ref] = r
	}
	return r.target, r.base
}

func (d *document) lookUp(ref string, base *node) (target, targetBase *node) {
	uri, fragment, _ := strings.Cut(ref, "#")
	if uri != "" && uri != resourceID(base) {
		if base = d.root; uri != resourceID(base) {
			base = d.byID(uri)
		}
	}
	if base == nil || fragment == "" {
		return base, base
	}
	if fragment[0] != '/' {
		named := func(s *node) bool {
			return s.get("$anchor").string() == fragment || s.get("$dynamicAnchor").string() == fragment ||
				s.get("$id").string() == "#"+fragment
		}
		if named(base) {
			return base, base
		}
		return definition(base, named), base
	}
	pointer, err := url.PathUnescape(fragment[1:])
	if err != nil {
		return nil, nil
	}
	target = base
	holder := ""
	for token := range strings.SplitSeq(pointer, "/") {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		switch target.kind {
		case '{':
			if target == d.root && keywordOf(token) == kwUnknown {
				holder = token
			}
			target = d.member(target, token)
		case '[':
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(target.members) {
				return nil, nil
			}
			target = target.members[i].value
		default:
			return nil, nil
		}
		if target == nil {
			return nil, nil
		}
		base = baseOf(target, base)
	}
	if target.kind != '{' && target.kind != 't' && target.kind != 'f' {
		return nil, nil
	}
	if holder != "" && !slices.Contains(d.holders, holder) {
		d.holders = append(d.holders, holder)
	}
	return target, base
}

// byID is the definition of the root with the $id, nil when there is none.
func (d *document) byID(id string) *node {
	if d.ids == nil {
		d.ids = map[string]*node{}
		definition(d.root, func(s *node) bool {
			if id := resourceID(s); id != "" && d.ids[id] == nil {
				d.ids[id] = s
			}
			return false
		})
	}
	return d.ids[id]
}

// member is [node.get] for objects that are asked often.
func (d *document) member(n *node, name string) *node {
	if len(n.members) <= fewNames {
		return n.get(name)
	}
	places := d.places[n]
	if places == nil {
		if d.places == nil {
			d.places = map[*node]map[string]int{}
		}
		places = n.indexes()
		d.places[n] = places
	}
	if i, ok := places[name]; ok {
		return n.members[i].value
	}
	return nil
}

// definition is the first of the resource's definitions that fits.
func definition(base *node, fits func(*node) bool) *node {
	for _, name := range []string{"$defs", "definitions"} {
		if defs := base.get(name); defs.is('{') {
			for _, m := range defs.members {
				if m.value.is('{') && fits(m.value) {
					return m.value
				}
			}
		}
	}
	return nil
}

func resourceID(s *node) string {
	id, _, _ := strings.Cut(s.get("$id").string(), "#")
	return id
}

func baseOf(s, outer *node) *node {
	if resourceID(s) != "" {
		return s
	}
	return outer
}

// reference is the schema's $ref. ok is false where it has none.
func reference(s *node) (ref string, ok bool) {
	value := s.get("$ref")
	return value.string(), value.is('"')
}

// expand copies a schema with the targets of references in their places.
func (w *rewriter) expand(n, base *node, level, inPlace int) *node {
	if n.kind != '{' {
		return n
	}
	if len(n.members) == 0 {
		return newObject()
	}
	if level > maxLevels || inPlace > maxInPlace {
		out := w.generic(n, base)
		w.say(out, clauseDeep)
		return out
	}
	base = baseOf(n, base)
	ref, isRef := reference(n)
	out := newObject()
	out.members = make([]member, 0, len(n.members))
	out.widened = n.widened
	for _, m := range n.members {
		k := keywordOf(m.name)
		switch {
		case k == kwRef, k == kwDefs, k == kwDefinitions, isRef && w.doc.old && !has(annotations, k):
			continue
		case k == kwDynamicRef, k == kwRecursiveRef:
			out.widened = true // which target it has depends on who refers to this schema
			continue
		}
		w.left -= len(m.name) + len(m.value.text) + 4
		sub, place := deeper(k, level, inPlace)
		out.members = append(out.members, member{m.name, w.expandIn(k, m.value, base, sub, place)})
	}
	if !isRef {
		return out
	}
	target, targetBase := w.doc.find(ref, base)
	switch {
	case target == nil:
		out.widened = true
		return out
	case slices.Contains(w.active, target):
		out = both(w.generic(target, targetBase), out)
		w.say(out, "Its structure repeats that of "+refName(ref)+".")
	case w.left <= 0 || len(w.active) >= maxChain:
		out = both(w.generic(target, targetBase), out)
		w.say(out, clauseDeep)
	default:
		w.active = append(w.active, target)
		expanded := w.expand(target, targetBase, level, inPlace)
		w.active = w.active[:len(w.active)-1]
		out = both(expanded, out)
	}
	return out
}

func refName(ref string) string {
	name := ref[strings.LastIndexByte(ref, '/')+1:]
	if name == "" || name == "#" {
		return "all parameters"
	}
	return briefly(name, 64)
}

// expandIn expands the schemas that a keyword's value is or holds.
func (w *rewriter) expandIn(k keyword, v, base *node, level, inPlace int) *node {
	switch schemasIn(k, v) {
	case noSchema:
		return v
	case oneSchema:
		return w.expand(v, base, level, inPlace)
	}
	out := &node{kind: v.kind, members: make([]member, len(v.members))}
	for i, m := range v.members {
		w.left -= len(m.name) + len(m.value.text) + 4
		out.members[i] = member{m.name, w.expand(m.value, base, level, inPlace)}
	}
	return out
}

// generic stands for a schema whose inside is left out: it says the type, as
// far as that is certain.
func (w *rewriter) generic(n, base *node) *node {
	out := newObject()
	out.widened = true
	for range maxChain { // the type may be behind more references
		ref, ok := reference(n)
		if !ok || n.get("type") != nil && !w.doc.old {
			break
		}
		if n, base = w.doc.find(ref, base); n == nil {
			break
		}
	}
	if t := n.get("type"); t != nil && typeMask(t) != anyType {
		out.set("type", t)
		if nullable := n.get("nullable"); nullable != nil {
			out.set("nullable", nullable)
		}
	}
	return out
}

// both accepts what a and b accept, both of them: their members are put
// together where that means the same, and in an allOf elsewhere. What b says
// about itself replaces what a says. Its unevaluated keywords stay beside the
// allOf, where they see what a evaluates.
func both(a, b *node) *node {
	switch {
	case a.kind == 't' || a.kind == '{' && len(a.members) == 0:
		b.widened = b.widened || a.widened
		return b
	case len(b.members) == 0 && !b.widened:
		return a
	case !compatible(a, b):
		out := newObject()
		for _, name := range []string{"title", "description", "default", "unevaluatedProperties", "unevaluatedItems"} {
			if value := b.take(name); value != nil {
				out.set(name, value)
			}
		}
		if len(b.members) == 0 && !b.widened {
			out.members = append(out.members, member{"allOf", newArray(member{"", a})})
		} else {
			out.members = append(out.members, member{"allOf", newArray(member{"", a}, member{"", b})})
		}
		return out
	}
	out := newObject(slices.Clone(a.members)...)
	out.widened = a.widened || b.widened
	for _, m := range b.members {
		out.set(m.name, m.value)
	}
	return out
}

func compatible(a, b *node) bool {
	if a.kind != '{' || b.kind != '{' {
		return false
	}
	inA := keywordsIn(a)
	var inB uint64
	for _, m := range b.members {
		k := keywordOf(m.name)
		if k == kwType && !has(inA, kwNullable) && has(inA, kwType) && m.value.key() == a.get("type").key() {
			continue // the same in both
		}
		if has(inA, k) && !has(annotations, k) {
			return false
		}
		inB |= 1 << k
	}
	const unevaluated = 1<<kwUnevaluatedItems | 1<<kwUnevaluatedProperties
	if (inA|inB)&unevaluated != 0 {
		return false
	}
	for _, g := range groups {
		if inA&g != 0 && inB&g != 0 {
			return false
		}
	}
	return true
}

func keywordsIn(n *node) (set uint64) {
	for _, m := range n.members {
		set |= 1 << keywordOf(m.name)
	}
	return set
}
