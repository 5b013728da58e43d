package schema

// This file resolves references (rule 3).

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// maxChain bounds references that lead to one another. It is far more than people
// write, and few enough for the recursion over them.
const maxChain = 32

// A document is a parsed schema that references point into.
type document struct {
	*meter
	root *node
	old  bool // draft-07 or older: only annotations count beside a $ref

	// What was looked for is kept, so that each reference is followed once and
	// each list of definitions gone over once.
	found     map[link]resolved
	resources map[*node]*resource
	ids       map[string]*node // the root's definitions with an $id; nil until one is looked for

	indexes map[*node]*index // of large objects that pointers lead into

	// inside has what the references inside of targets lead to.
	inside map[*node][]resolved
	cycles map[*node]int // see [document.cycleOf]; nil before it is asked

	// holders are unknown members of the root that references lead into, as
	// those of OpenAPI do into components.
	holders map[string]bool
}

// A link is a reference in a resource.
type link struct {
	ref  string
	base *node
}

// resolved is a schema and the resource it belongs to: the nearest schema
// around it that has an $id, which references starting with # are relative to.
type resolved struct{ target, base *node }

// A resource has the definitions of one schema by their anchors.
type resource struct{ anchors map[string]*node }

// isOld reports whether the root's $schema is that of a draft before 2019-09. Without
// a $schema a root counts as new, as MCP has it: 2020-12.
func (m *meter) isOld(root *node) bool {
	return strings.Contains(m.string(root.get(kwSchema)), "/draft-0")
}

// find follows a reference. The target is nil where it leads nowhere, or to another
// document: nothing is ever fetched. A fetch would let a server choose what the host
// connects to.
func (d *document) find(ref string, base *node) (target, targetBase *node) {
	d.step(8 + len(ref)/8)
	at := link{ref, base}
	r, ok := d.found[at]
	if !ok {
		if d.found == nil {
			d.found = map[link]resolved{}
		}
		d.room(128 + 2*len(ref))
		r.target, r.base = d.lookUp(ref, base)
		d.found[at] = r
	}
	return r.target, r.base
}

func (d *document) lookUp(ref string, base *node) (target, targetBase *node) {
	// An $id is looked for in members that a server chose the number of.
	if has(base.seen|d.root.seen, kwID) {
		d.step((len(base.members) + len(d.root.members)) / 4) // to find it
	}
	uri, fragment, _ := strings.Cut(ref, "#")
	// Of the resource that the reference is in, of the root, or of a definition of
	// the root: those are where servers put an $id. Whatever else a URI names is not
	// here.
	if uri != "" && uri != d.resourceID(base) {
		if base = d.root; uri != d.resourceID(base) {
			base = d.byID(uri)
		}
	}
	if base == nil || fragment == "" {
		return base, base
	}
	if fragment[0] != '/' {
		return d.resource(base).anchors[fragment], base
	}
	// A JSON Pointer as a URI fragment: RFC 6901, section 6, and 4 for the order of ~1 and ~0.
	pointer, err := url.PathUnescape(fragment[1:])
	if err != nil {
		return nil, nil
	}
	target = base
	holder := ""
	for token := range strings.SplitSeq(pointer, "/") {
		d.step(1)
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		switch target.kind {
		case '{':
			// Only what is not a keyword is there for references alone.
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
		// An $id on the way changes what references inside are relative to.
		base = d.baseOf(target, base)
	}
	// A pointer into the middle of an enum, say, leads to a value that looks like
	// nothing a schema can be.
	if target.kind != '{' && target.kind != 't' && target.kind != 'f' {
		return nil, nil
	}
	if holder != "" {
		if d.holders == nil {
			d.holders = map[string]bool{}
		}
		d.holders[holder] = true
	}
	return target, base
}

// resource returns the anchors of base itself and of its definitions. Of two
// with one name the first counts, and what base calls itself.
func (d *document) resource(base *node) *resource {
	r := d.resources[base]
	if r != nil {
		return r
	}
	r = &resource{anchors: map[string]*node{}}
	note := func(s *node) {
		// Draft-06 and draft-07 write an anchor as an $id that starts with #.
		id, isAnchor := strings.CutPrefix(d.string(s.get(kwID)), "#")
		if !isAnchor {
			id = ""
		}
		for _, name := range []string{d.string(s.get(kwAnchor)), d.string(s.get(kwDynamicAnchor)), id} {
			if name != "" && r.anchors[name] == nil {
				d.room(64)
				r.anchors[name] = s
			}
		}
	}
	note(base)
	d.definitions(base, note)
	if d.resources == nil {
		d.resources = map[*node]*resource{}
	}
	d.resources[base] = r
	return r
}

// byID is the definition of the root with the $id, nil when there is none.
func (d *document) byID(id string) *node {
	if d.ids == nil {
		d.ids = map[string]*node{}
		d.definitions(d.root, func(s *node) {
			if id := d.resourceID(s); id != "" && d.ids[id] == nil {
				d.room(64)
				d.ids[id] = s
			}
		})
	}
	return d.ids[id]
}

// member is the value of the member with the name, nil where there is none.
func (d *document) member(n *node, name string) *node {
	if len(n.members) <= fewNames {
		d.step(len(n.members))
		return n.property(name)
	}
	if d.indexes == nil {
		d.indexes = map[*node]*index{}
	}
	if d.indexes[n] == nil {
		d.indexes[n] = &index{of: n}
	}
	return d.value(d.indexes[n], name)
}

// definitions goes over the definitions of a resource.
func (d *document) definitions(base *node, visit func(*node)) {
	for _, k := range []keyword{kwDefs, kwDefinitions} {
		for _, m := range base.get(k).list('{') {
			d.step(4)
			if m.value.is('{') {
				visit(m.value)
			}
		}
	}
}

// resourceID is the URI of a schema without its fragment: "" where it has no $id, or one that
// is an anchor.
func (m *meter) resourceID(s *node) string {
	id, _, _ := strings.Cut(m.string(s.get(kwID)), "#")
	return id
}

// baseOf is the resource that references in s are relative to: s where it has a URI of its
// own, else the one around it.
func (m *meter) baseOf(s, outer *node) *node {
	if s.kind == '{' && has(s.seen, kwID) && m.resourceID(s) != "" {
		return s
	}
	return outer
}

// reference is the schema's $ref. ok is false where it has none.
func (m *meter) reference(s *node) (ref string, ok bool) {
	value := s.get(kwRef)
	return m.string(value), value.is('"')
}

// expand copies a schema with the targets of references in their places. Each
// reference gets a copy, since what a schema becomes depends on its level. Forty
// definitions that refer to the next one twice would make 2 to the power of 40 of
// them: w.left bounds their bytes, and the levels and chains their depth.
func (w *rewriter) expand(n, base *node, level, inPlace int) *node {
	if n.kind != '{' {
		return n
	}
	// A copy as well: passes change what they get in its place.
	if len(n.members) == 0 {
		return w.object()
	}
	if level > maxLevels || inPlace > maxInPlace {
		out := w.generic(n, base)
		w.say(out, clauseDeep)
		w.flush(out)
		return out
	}
	// The $id counts for the references in n, its own among them.
	base = w.baseOf(n, base)
	ref, isRef := w.reference(n)
	out := w.object()
	w.room(memberSize * len(n.members))
	out.members = make([]member, 0, len(n.members))
	out.widened = n.widened
	for _, m := range n.members {
		switch {
		case m.k == kwRef, m.k == kwDefs, m.k == kwDefinitions, isRef && w.doc.old && !has(annotations, m.k):
			continue
		case m.k == kwDynamicRef, m.k == kwRecursiveRef:
			// Nobody refers to a schema from outside of it here.
			out.widened = true // which target it has depends on who refers to this schema
			continue
		}
		m.value = w.expandIn(m, base, level, inPlace)
		out.add(m)
	}
	if !isRef {
		return out
	}
	target, targetBase := w.doc.find(ref, base)
	switch {
	// What it leads to elsewhere may be anything.
	case target == nil:
		out.widened = true
		return out
	case slices.Contains(w.active, target), w.beside(target):
		// The model has read the structure further up.
		out = w.both(w.generic(target, targetBase), out)
		w.say(out, "Its structure repeats that of "+refName(ref)+".")
	case w.left <= 0 || len(w.active) >= maxChain:
		// The bound on the size, or a chain that makes nothing but depth.
		out = w.both(w.generic(target, targetBase), out)
		w.say(out, clauseDeep)
	default:
		// For beside, which asks for those of active targets alone.
		w.doc.refersTo(resolved{target, targetBase})
		w.active = append(w.active, target)
		expanded := w.expand(target, targetBase, level, inPlace)
		w.active = w.active[:len(w.active)-1]
		out = w.both(expanded, out)
	}
	w.flush(out)
	return out
}

// beside reports whether the structure of a target, which is part of a recursion,
// is written out further up, beside the one that is being expanded. Without that
// each way through the recursion would be written out.
func (w *rewriter) beside(target *node) bool {
	last := w.active[len(w.active)-1]
	for _, above := range w.active[:len(w.active)-1] {
		if slices.ContainsFunc(w.doc.inside[above], func(r resolved) bool { return r.target == target }) {
			return w.doc.cycleOf(target) == w.doc.cycleOf(last)
		}
	}
	return false
}

// refersTo returns what the references inside a schema lead to, not counting those in
// what they lead to. It keeps a list of what to visit, not a stack of calls: the text
// may nest a thousand levels.
func (d *document) refersTo(from resolved) []resolved {
	if found, ok := d.inside[from.target]; ok {
		return found
	}
	var found []resolved
	for open := []resolved{from}; len(open) > 0; {
		n, base := open[len(open)-1].target, open[len(open)-1].base
		open = open[:len(open)-1]
		if d.step(1 + len(n.members)); !n.is('{') {
			continue
		}
		base = d.baseOf(n, base)
		if ref, ok := d.reference(n); ok {
			if target, targetBase := d.find(ref, base); target != nil {
				d.room(16)
				found = append(found, resolved{target, targetBase})
			}
		}
		for _, sub := range n.schemas {
			d.room(16)
			open = append(open, resolved{sub.value, base})
		}
	}
	if d.inside == nil {
		d.inside = map[*node][]resolved{}
	}
	d.room(64)
	d.inside[from.target] = found
	return found
}

// cycleOf numbers what leads to itself and to one another by references, in one
// pass over all that references lead to (Tarjan's, without its recursion).
func (d *document) cycleOf(target *node) int {
	if d.cycles != nil {
		return d.cycles[target]
	}
	// The graph has as many nodes as there are definitions, tens of thousands in 1 MiB: the
	// path is a list, and each reference is gone along once.
	d.cycles = map[*node]int{}
	type visit struct {
		at   resolved
		next int // of the references inside
	}
	order, low := map[*node]int{}, map[*node]int{}
	var open []*node // those whose cycle is not known yet
	for path := []visit{{at: resolved{d.root, d.root}}}; len(path) > 0; {
		v := &path[len(path)-1]
		n, inside := v.at.target, d.refersTo(v.at)
		d.step(16)
		if order[n] == 0 {
			d.room(256)
			order[n] = len(order) + 1
			low[n] = order[n]
			open = append(open, n)
		}
		if v.next < len(inside) {
			r := inside[v.next]
			v.next++
			if order[r.target] == 0 {
				path = append(path, visit{at: r})
			} else if d.cycles[r.target] == 0 {
				low[n] = min(low[n], order[r.target])
			}
			continue
		}
		if path = path[:len(path)-1]; len(path) > 0 {
			up := path[len(path)-1].at.target
			low[up] = min(low[up], low[n])
		}
		for done := low[n] < order[n]; !done; {
			last := open[len(open)-1]
			open = open[:len(open)-1]
			d.cycles[last] = order[n]
			done = last == n
		}
	}
	return d.cycles[target]
}

// refName is the last part of a reference, which is how people call what it leads to.
func refName(ref string) string {
	name := ref[strings.LastIndexByte(ref, '/')+1:]
	if name == "" || name == "#" {
		return "all parameters"
	}
	return briefly(name, 64)
}

// expandIn expands the schemas that a keyword's value is or holds. Values that
// hold none are shared; in the text they are there each time.
func (w *rewriter) expandIn(m member, base *node, level, inPlace int) *node {
	v := m.value
	level, inPlace = deeper(m.k, level, inPlace)
	// The quotes, the colon and the comma.
	w.left -= len(m.name) + 4
	switch schemasIn(m.k, v) {
	case noSchema:
		w.left -= v.size()
		return v
	case oneSchema:
		return w.expand(v, base, level, inPlace)
	}
	w.room(nodeSize + memberSize*len(v.members))
	out := &node{kind: v.kind, changed: true, seen: v.seen, members: make([]member, len(v.members))}
	for i, m := range v.members {
		w.left -= len(m.name) + 4
		out.members[i] = member{m.name, w.expand(m.value, base, level, inPlace), m.k}
	}
	return out
}

// generic stands for a schema whose inside is left out: it says the type, as far as
// that is certain. Its bytes are counted against w.left as well, but it is made even
// when none is left, since something has to stand there.
func (w *rewriter) generic(n, base *node) *node {
	out := w.object()
	out.widened = true
	w.left -= len(clauseDeep)
	for range maxChain { // the type may be behind more references
		w.step(len(n.members))
		ref, ok := w.reference(n)
		if !ok || n.get(kwType) != nil && !w.doc.old {
			break
		}
		if n, base = w.doc.find(ref, base); n == nil {
			break
		}
	}
	if t := n.get(kwType); t != nil && w.typesOf(t) != anyType {
		w.left -= t.size()
		out.set(kwType, t)
		// Rule 5 makes a type of it later.
		if nullable := n.get(kwNullable); nullable != nil {
			out.set(kwNullable, nullable)
		}
	}
	return out
}

// both accepts what a and b accept, both of them: their members are put
// together where that means the same, and in an allOf elsewhere. What b says
// about itself replaces what a says. Its unevaluated keywords stay beside the
// allOf, where they see what a evaluates.
func (w *rewriter) both(a, b *node) *node {
	switch {
	case a.kind == 't' || a.kind == '{' && len(a.members) == 0:
		b.widened = b.widened || a.widened
		return b
	case len(b.members) == 0 && !b.widened:
		return a
	case !w.compatible(a, b):
		// A $ref with siblings, as 2020-12 has it, is both of them. Providers read an
		// allOf less well than one schema, so it is the last resort.
		out := w.object()
		for _, k := range []keyword{kwTitle, kwDescription, kwDefault, kwUnevaluatedProperties, kwUnevaluatedItems} {
			if value := b.take(k); value != nil {
				out.set(k, value)
			}
		}
		parts := w.array(item(a))
		if len(b.members) > 0 || b.widened {
			parts.members = append(parts.members, item(b))
		}
		out.add(kwAllOf.with(parts))
		return out
	}
	out := w.object(w.list(a.members)...)
	out.widened = a.widened || b.widened
	in := &index{of: out}
	for _, m := range b.members {
		w.put(in, m)
	}
	return out
}

// compatible reports whether the members of a and b, put into one schema, accept what both
// accept. Where it is not certain, it is not so.
func (w *rewriter) compatible(a, b *node) bool {
	if a.kind != '{' || b.kind != '{' {
		return false
	}
	inA := a.seen
	var inB uint64
	for _, m := range b.members {
		// Nullable would let null in for the type of the other, too.
		if m.k == kwType && !has(inA, kwNullable) && has(inA, kwType) && w.equal(m.value, a.get(kwType)) {
			continue // the same in both
		}
		if has(inA, m.k) && !has(annotations, m.k) {
			return false
		}
		inB |= 1 << m.k
	}
	const unevaluated = 1<<kwUnevaluatedItems | 1<<kwUnevaluatedProperties
	// They see what is beside them: more members would change what they refuse.
	if (inA|inB)&unevaluated != 0 {
		return false
	}
	// What one of a group says would change what another says.
	for _, g := range groups {
		if inA&g != 0 && inB&g != 0 {
			return false
		}
	}
	return true
}
