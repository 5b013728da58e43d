package schema

// This file gives the root its form (rules 1 and 2): an object schema without
// any other schema in place.

import (
	"errors"
	"strconv"
	"strings"
)

// errNoObject is for schemas that accept no object, as arguments always are.
var errNoObject = errors.New("its input schema accepts no object")

// A lowering collects what one schema says about an object in the members of
// one that has no other schema in place.
type lowering struct {
	*rewriter
	out     *node
	all     index              // of out
	inside  map[keyword]*index // of its properties and patternProperties
	clauses []string
	said    map[string]bool // the clauses
	length  int             // of the clauses
	joined  map[*node]int   // how many schemas were put into one, for those that were
	open    bool            // a part that may evaluate more properties is gone
}

func (w *rewriter) lowering() *lowering {
	w.room(256)
	out := w.object()
	return &lowering{rewriter: w, out: out, all: index{of: out}}
}

// root makes the root of n, in which references are expanded. OpenAI and Anthropic
// refuse a root with anyOf, oneOf or allOf, OpenAI one with enum or not as well, and
// nearly all providers one of another type than object. Nested ones are fine, and
// stay.
func (w *rewriter) root(n *node) (*node, error) {
	if n.seen&rootChanges == 0 && n.get(kwType).is('"') && n.get(kwType).text == `"object"` && n.get(kwProperties).is('{') &&
		(!has(n.seen, kwRequired) || n.get(kwRequired).is('[')) && (!has(n.seen, kwPatternProperties) || n.get(kwPatternProperties).is('{')) {
		// What is not for a root goes; all else is as it should be.
		if n.seen&cuts != 0 {
			// The cut alone needs no further pass, so it does not count as a change.
			changed := n.changed
			n.keep(^cuts)
			w.cut, n.changed = true, changed
		}
		return n, nil
	}
	l := w.lowering()
	if err := l.lower(n, 0); err != nil {
		return nil, err
	}
	out := l.out
	if out.get(kwType) == nil {
		out.insert(0, kwType, w.quoted("object"))
	}
	if !out.get(kwProperties).is('{') {
		out.take(kwProperties)
		out.insert(out.index(kwType)+1, kwProperties, w.object())
	}
	// They come at last: the description of out may be one that was merged.
	for _, clause := range l.clauses {
		w.say(out, clause)
	}
	if l.length > maxClauses {
		w.say(out, clauseMore)
	}
	return out, nil
}

// maxClauses bounds the clauses that are kept of one schema; fewer are said.
const maxClauses = 4 * maxSaid

// clause keeps what is to be said of the root, once each: a thousand branches often say the
// same.
func (l *lowering) clause(text string) {
	l.room(len(text) + 32)
	if l.said == nil {
		l.said = map[string]bool{}
	}
	if l.length > maxClauses || !l.first(l.said, text) {
		return
	}
	l.length += len(text)
	l.clauses = append(l.clauses, text)
}

// get is the value of the member of out, nil where there is none.
func (l *lowering) get(k keyword) *node { return l.value(&l.all, rules[k].name) }

// set sets the member of out.
func (l *lowering) set(k keyword, value *node) { l.put(&l.all, k.with(value)) }

// lower adds what n says to l.
func (l *lowering) lower(n *node, inPlace int) error {
	if n.kind == 'f' {
		return errNoObject
	}
	if n.kind != '{' {
		return nil
	}
	l.step(1 + len(n.members))
	// The members of n are about to be merged with those of others, which must be written in
	// the same draft.
	l.oldDrafts(n)
	l.flush(n)
	if l.typesOf(n.get(kwType))&isObject == 0 {
		// Only of the root itself is this worth telling; a branch is one of several.
		if t := n.get(kwType); inPlace == 0 && t.is('"') {
			return errors.New("its input schema has the type " + briefly(properType(l.string(t)), 32))
		}
		return errNoObject
	}
	for _, m := range n.members {
		l.member(n, m)
	}
	for _, m := range n.members {
		// Unions after all else: what they add depends on the properties that are there.
		if !has(unions, m.k) || !m.value.is('[') {
			continue
		}
		if inPlace >= maxInPlace {
			l.open = true
			l.clause(l.dropped(m.k, m.value))
			continue
		}
		if m.k != kwAllOf {
			if err := l.lowerUnion(m.value.members, inPlace+1); err != nil {
				return err
			}
			continue
		}
		for _, branch := range m.value.members {
			if err := l.lower(branch.value, inPlace+1); err != nil {
				return err
			}
		}
	}
	switch unevaluated := n.get(kwUnevaluatedProperties); {
	case unevaluated == nil || unevaluated.is('t'):
	// All that evaluates properties is in out by now.
	case unevaluated.is('f') && !l.open:
		if l.get(kwAdditionalProperties) == nil {
			l.set(kwAdditionalProperties, unevaluated)
		}
	default:
		l.clause(l.dropped(kwUnevaluatedProperties, unevaluated))
	}
	return nil
}

// member adds what the member m of n says, all that is in place apart.
func (l *lowering) member(n *node, m member) {
	v := m.value
	switch m.k {
	case kwComment, kwUnevaluatedProperties:
	case kwType:
		// The types beside object are of values that arguments never are.
		l.set(m.k, l.quoted("object"))
	case kwProperties:
		l.add(m.k, v)
		l.unread(m, '{')
	case kwRequired:
		if v.is('[') {
			l.require(v.members)
		}
		l.unread(m, '[')
	case kwAllOf, kwAnyOf, kwOneOf: // when the members beside them are known
		l.unread(m, '[')
	case kwIf, kwThen, kwElse, kwDependentSchemas:
		// Which properties a condition evaluates is known when there are arguments.
		l.open = true
		if m.k != kwThen && m.k != kwElse {
			l.clause(l.conditional(n, m.k))
		}
	case kwNot, kwEnum, kwConst:
		l.clause(l.dropped(m.k, v))
	case kwAdditionalProperties:
		// The stricter one holds, since all of them do. Each is about what its own
		// schema does not name; about what none of them names, it refuses less.
		switch old := l.get(m.k); {
		case old == nil || v.is('f') || !old.is('{') && !old.is('f'):
			l.set(m.k, v)
		case old.is('{') && v.is('{'):
			l.set(m.k, l.allOf(old, v))
		}
	case kwPatternProperties:
		if v.is('{') {
			l.add(m.k, v)
		}
	default:
		switch old := l.value(&l.all, m.name); {
		case old == nil:
			l.put(&l.all, m)
		// The first one stays, and a clause tells the other: each keyword would need its own
		// rule to merge two.
		case !has(annotations, m.k) && !l.equal(old, v):
			l.clause(l.dropped(m.k, v))
		}
	}
}

// object is the value of one of the two keywords that name schemas, which is
// changed in place.
func (l *lowering) object(k keyword) *index {
	value := l.get(k)
	if value == nil {
		value = l.meter.object()
		l.set(k, value)
	}
	if l.inside == nil {
		l.inside = map[keyword]*index{}
	}
	if l.inside[k] == nil {
		l.inside[k] = &index{of: value}
	}
	return l.inside[k]
}

// add puts the named schemas of v under the keyword, beside those there.
func (l *lowering) add(k keyword, v *node) {
	to := l.object(k)
	for _, m := range v.list('{') {
		if old := l.value(to, m.name); old == nil {
			l.put(to, m)
		} else if !l.equal(old, m.value) {
			l.put(to, named(m.name, l.allOf(old, m.value)))
		}
	}
}

// unread says what a member holds that is of a wrong kind, unless that is next to
// nothing. Without members a null, a number or the [] of PHP demands nothing that
// could be told.
func (l *lowering) unread(m member, kind byte) {
	if v := m.value; v.kind != kind && (len(v.members) > 0 || kind == '[' && v.is('"')) {
		l.clause(l.dropped(m.k, v))
	}
}

// require appends without a look: the pass over required leaves each name once.
func (l *lowering) require(names []member) {
	l.room(memberSize * len(names))
	list := l.get(kwRequired)
	if list == nil {
		list = l.array()
		l.set(kwRequired, list)
	}
	list.members = append(list.members, names...)
}

// allOf is the schema of what a and b accept. Those that were made here are
// within one another up to the bound of schemas in place; what comes then goes
// beside the others.
func (l *lowering) allOf(a, b *node) *node {
	if !a.is('{') {
		a, b = b, a
	}
	if !b.is('{') {
		if b.is('f') {
			return b
		}
		return a
	}
	l.room(64)
	// A thousand branches with one property would nest a thousand levels of allOf.
	times := l.joined[a] + 1
	if times > maxInPlace {
		list := a.members[0].value
		list.members = append(list.members, item(b))
		return a
	}
	all := l.meter.object(kwAllOf.with(l.array(item(a), item(b))))
	if l.joined == nil {
		l.joined = map[*node]int{}
	}
	l.joined[all] = times
	return all
}

// A variant is a property of a union's alternatives, with all schemas that it
// has there.
type variant struct {
	name    string
	schemas []member
	known   map[string]bool
	naming  int // how many alternatives have it
}

// A joint is what the alternatives of a union say together.
type joint struct {
	order    []*variant
	named    map[string]*variant
	demanded map[string]int  // how many require the name
	common   []member        // what all require
	closed   bool            // all refuse other properties
	patterns *node           // for the names that any of them lets in by pattern
	told     strings.Builder // the clause about them
}

// lowerUnion adds what all branches have in common, and each property that one of them
// has with all the schemas that it has. The model may then mix the properties of two
// branches, which the server refuses: a clause tells which go together.
func (l *lowering) lowerUnion(branches []member, inPlace int) error {
	if len(branches) == 0 {
		return nil
	}
	var alternatives []*lowering
	for _, branch := range branches {
		a := l.lowering()
		// A branch that no object matches cannot be the one that arguments match.
		if a.lower(branch.value, inPlace) == nil {
			alternatives = append(alternatives, a)
		}
	}
	switch len(alternatives) {
	case 0:
		return errNoObject
	case 1:
		// A union with one branch that an object can be is that branch, as in "these
		// parameters, or null".
		l.open = l.open || alternatives[0].open
		for _, clause := range alternatives[0].clauses {
			l.clause(clause)
		}
		return l.lower(alternatives[0].out, inPlace)
	}
	j := joint{named: map[string]*variant{}, demanded: map[string]int{}, closed: true, patterns: l.meter.object()}
	for i, a := range alternatives {
		l.join(&j, a, len(alternatives))
		// Up to there alone: a union may have thousands of branches, and the clause is cut.
		if j.told.Len() < maxTold {
			if i > 0 {
				j.told.WriteString("; ")
			}
			l.tell(&j.told, a)
		}
	}
	props := l.object(kwProperties)
	for _, v := range j.order {
		value := v.schemas[0].value
		if len(v.schemas) > 1 {
			value = l.meter.object(kwAnyOf.with(l.array(v.schemas...)))
		}
		switch old := l.value(props, v.name); {
		case old == nil:
			l.put(props, named(v.name, value))
		case v.naming == len(alternatives) && !l.equal(old, value):
			// A property that some alternatives do not name may be anything there, so what
			// the others say of it must not narrow what is beside the union.
			if old.is('{') && value.is('{') && len(v.schemas) > 1 && old.get(kwAnyOf) == nil {
				old.set(kwAnyOf, value.get(kwAnyOf))
			} else {
				l.put(props, named(v.name, l.allOf(old, value)))
			}
		}
	}
	if len(j.common) > 0 {
		l.require(j.common)
	}
	// One open branch lets any name in, so all must be closed for the union to be.
	if j.closed && l.get(kwAdditionalProperties) == nil {
		if len(j.patterns.members) > 0 {
			l.add(kwPatternProperties, j.patterns)
		}
		l.set(kwAdditionalProperties, &node{kind: 'f', text: "false"})
	}
	l.clause("Alternatives: " + briefly(j.told.String(), maxTold) + ".")
	return nil
}

// join adds what one of the alternatives says to the joint.
func (l *lowering) join(j *joint, a *lowering, alternatives int) {
	for _, m := range a.out.get(kwProperties).list('{') {
		l.step(8)
		v := j.named[m.name]
		if v == nil {
			l.room(256)
			v = &variant{name: m.name, known: map[string]bool{}}
			j.named[m.name] = v
			j.order = append(j.order, v)
		}
		v.naming++
		if l.first(v.known, l.key(m.value)) {
			l.room(memberSize)
			v.schemas = append(v.schemas, item(m.value))
		}
	}
	seen := map[string]bool{}
	for name := range l.strings(a.out.get(kwRequired)) {
		if !l.first(seen, name) {
			continue
		}
		if j.demanded[name]++; j.demanded[name] == alternatives {
			j.common = append(j.common, item(l.quoted(name)))
		}
	}
	additional := a.out.get(kwAdditionalProperties)
	j.closed = j.closed && additional.is('f')
	l.open = l.open || a.open || additional != nil && !additional.is('f')
	// The patterns of one alternative are open in the union: what else has a name
	// that matches may be from another.
	for _, m := range a.out.get(kwPatternProperties).list('{') {
		l.open = true
		j.patterns.add(named(m.name, l.meter.object()))
	}
}

// maxTold bounds the text that tells a root's alternatives.
const maxTold = 1200

// tell writes which parameters make the alternative: those with one value, and the
// required ones; where there are none, all. A property with one value is what tells
// branches apart in most unions, as kind does in {"kind": {"const": "circle"}}.
func (w *rewriter) tell(to *strings.Builder, a *lowering) {
	start := to.Len()
	item := func(before, name, after string) {
		if w.step(1); to.Len() > maxTold {
			return
		}
		if to.Len() > start {
			to.WriteString(", ")
		}
		to.WriteString(before + briefly(w.rename(name), maxTold) + after)
	}
	props := a.out.get(kwProperties).list('{')
	fixed := map[string]bool{}
	for _, m := range props {
		value := m.value.get(kwConst)
		if list := m.value.get(kwEnum).list('['); len(list) == 1 {
			value = list[0].value
		}
		if value != nil {
			w.room(64)
			fixed[m.name] = true
			item("", m.name, " = "+value.brief(60))
		}
	}
	for name := range w.strings(a.out.get(kwRequired)) {
		if !fixed[name] {
			item("", name, "")
		}
	}
	if to.Len() == start {
		for _, m := range props {
			item("optionally ", m.name, "")
		}
	}
	if to.Len() == start {
		to.WriteString("no more parameters")
	}
	for _, clause := range a.clauses {
		if to.Len() <= maxTold {
			to.WriteString(" (" + strings.TrimSuffix(clause, ".") + ")")
		}
	}
}

// dropped says what a keyword demanded that is gone.
func (m *meter) dropped(k keyword, v *node) string {
	switch k {
	case kwEnum:
		if v.is('[') {
			return "Allowed values: " + strings.Trim(v.brief(maxQuoted), "[]") + "."
		}
	case kwConst:
		return "Allowed value: " + v.brief(maxQuoted) + "."
	case kwPattern:
		return "Must match the regular expression " + briefly(m.string(v), maxQuoted) + "."
	case kwNot:
		return "Must not match " + v.brief(maxQuoted) + "."
	}
	return "Must satisfy " + strconv.Quote(rules[k].name) + ": " + v.brief(maxQuoted) + "."
}

// conditional says what if, then and else, or dependentSchemas, demanded. The three
// are told together, as none of them means anything alone.
func (m *meter) conditional(n *node, k keyword) string {
	if k == kwDependentSchemas {
		return m.dropped(k, n.get(k))
	}
	text := "If it matches " + n.get(kwIf).brief(maxQuoted)
	if then := n.get(kwThen); then != nil {
		text += ", it must match " + then.brief(maxQuoted)
	}
	if other := n.get(kwElse); other != nil {
		text += ", otherwise it must match " + other.brief(maxQuoted)
	}
	return text + "."
}

// maxQuoted bounds a piece of JSON in a clause.
const maxQuoted = 240
