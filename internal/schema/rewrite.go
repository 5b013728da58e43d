package schema

// This file has the passes over one schema and the schemas in it (rules 4 to 10).
// What is as it should be they leave as it is.

import (
	"slices"
	"strconv"
	"strings"
)

// A rewriter is one run over one schema. Widened, here and in all passes, means that a
// schema accepts more than the one it stands for. That is all that a pass may do to
// the whole, since the server checks the arguments anyway; a schema that accepted less
// would keep the model from what the server takes.
type rewriter struct {
	*meter
	doc    document
	clean  func(string) string
	names  *renaming // nil when all names are legal
	quiet  bool
	cut    bool    // the root lost what is not for a root, and nothing else is to be done about that
	left   int     // bytes that may still be copied; references become generic when none are left
	active []*node // the targets of the references that are being expanded
	notes  map[*node]*note
}

// fix makes n normal. It reports whether n then accepts more than before. The order
// matters: older forms are rewritten before what is of a wrong kind is dropped, or
// they would be dropped as such; what becomes items or additionalProperties does so
// before the schemas inside are gone over, and what is cut off or misplaced needs no
// going over; a false property is gone before required looks for its name; values are
// looked at when the types are known; and names change at last, since all else
// compares them as they were.
func (w *rewriter) fix(n *node, level, inPlace int) (widened bool) {
	w.step(2 + len(n.members))
	widened = n.widened
	allowed, proper := n.proper()
	if !proper || w.doc.old {
		widened = w.oldDrafts(n) || widened
		allowed = w.typesOf(n.get(kwType))
		widened = w.kinds(n) || widened
	}
	if n.seen&^described == 0 && allowed&isArray == 0 {
		w.flush(n)
		return widened // as most properties
	}
	widened = w.unevaluated(n) || widened
	if n.get(kwItems).is('f') {
		w.closedArrays(n)
	}
	if level >= maxLevels || inPlace >= maxInPlace {
		widened = w.cutOff(n, level, inPlace) || widened
	}
	misplaced(n, allowed)
	if n.seen&holders != 0 {
		widened = w.children(n, level, inPlace) || widened
	}
	w.openArrays(n, allowed)
	if n.seen&valued != 0 {
		widened = w.required(n) || widened
		widened = w.values(n, allowed) || widened
		widened = w.pattern(n) || widened
	}
	widened = w.keys(n) || widened
	w.flush(n)
	return widened
}

// proper reports whether each keyword has a value of the kind that it wants, as in
// most schemas, so that there is no older form to rewrite and nothing wrong to drop,
// and which types n then allows. It is one look at each member, and spares most
// schemas the passes of oldDrafts and kinds.
func (n *node) proper() (allowed types, ok bool) {
	allowed, ok = anyType, true
	for i := range n.members {
		m := &n.members[i]
		switch want := rules[m.k].want; want {
		case wantAny:
		case wantString:
			ok = m.value.plain
		case wantTypes:
			allowed = typesWritten(m.value)
			ok = allowed != 0
		default:
			ok = want.takes(m.value)
		}
		if !ok {
			return 0, false
		}
	}
	return allowed, true
}

// described are the keywords that need no more than their kind of value.
const described = 1<<kwType | 1<<kwTitle | 1<<kwDescription

// valued are the keywords whose values are looked at when all else is done.
const valued = 1<<kwRequired | 1<<kwDefault | 1<<kwConst | 1<<kwEnum | 1<<kwPattern

// drop removes a keyword and says so.
func (w *rewriter) drop(n *node, k keyword) (widened bool) {
	w.say(n, w.dropped(k, n.take(k)))
	return true
}

// oldDrafts is rule 5.
func (w *rewriter) oldDrafts(n *node) (widened bool) {
	if w.doc.old && n.seen&newerKeywords != 0 {
		for _, m := range slices.Clone(n.members) {
			if has(newerKeywords, m.k) {
				w.drop(n, m.k) // no reader of that draft minds it
			}
		}
	}
	if has(n.seen, kwType) {
		widened = w.typeNames(n)
	}
	exclusive(n, kwExclusiveMinimum, kwMinimum)
	exclusive(n, kwExclusiveMaximum, kwMaximum)
	widened = w.tuple(n) || widened
	if has(n.seen, kwDependencies) {
		widened = w.dependencies(n) || widened
	}
	if required := n.get(kwRequired); required.is('t') || required.is('f') {
		n.take(kwRequired)
		// Draft-03, in a property; which object requires it is for the plan to know.
		if required.is('t') {
			w.say(n, "Required.")
		}
	}
	w.listOfOne(n)
	if has(n.seen, kwNullable) && n.take(kwNullable).is('t') {
		w.nullable(n)
	}
	return widened
}

// listOfOne makes lists of what some servers write as their only element.
func (w *rewriter) listOfOne(n *node) {
	// A string that is not a property is left to rule 8: it says nothing for certain.
	if v := n.get(kwRequired); v.is('"') && n.get(kwProperties).property(w.string(v)) != nil {
		n.set(kwRequired, w.array(item(v)))
	}
	if n.seen&unions == 0 {
		return
	}
	for _, k := range []keyword{kwAllOf, kwAnyOf, kwOneOf} {
		if v := n.get(k); v != nil && aloneInList(k, v) {
			n.set(k, w.array(item(v)))
		}
	}
}

// typeNames leaves the names of types that JSON Schema has, each once. A type that
// is not understood at all goes with a word about it, unless the word would say
// that anything is allowed.
func (w *rewriter) typeNames(n *node) (widened bool) {
	t := n.get(kwType)
	list := t.list('[')
	if !t.is('[') {
		if t.is('"') && typeNamed(w.string(t)) != 0 {
			return false
		}
		list = []member{item(t)}
	}
	var names []string
	proper := len(list) > 0 // all are as they should be
	for _, m := range list {
		w.step(1)
		name := properType(w.string(m.value))
		if name == "" {
			names = nil
			break
		}
		if slices.Contains(names, name) {
			proper = false
			continue
		}
		proper = proper && len(m.value.text) == len(name)+2 && m.value.text[1:len(name)+1] == name
		names = append(names, name) // seven at most
	}
	if names == nil {
		n.take(kwType)
		if text := w.string(t); !t.is('n') && (!t.is('"') || text != "" && !strings.EqualFold(text, "any")) {
			w.say(n, w.dropped(kwType, t))
		}
		return true
	}
	if proper {
		return false
	}
	words := w.array()
	for _, name := range names {
		words.members = append(words.members, item(w.quoted(name)))
	}
	if t.is('[') {
		n.set(kwType, words)
	} else {
		n.set(kwType, words.members[0].value)
	}
	return false
}

// exclusive makes the exclusive bounds of draft-04, where they are booleans beside
// the bounds, those of later drafts, where they are the bounds.
func exclusive(n *node, k, inclusive keyword) {
	value := n.get(k)
	if !value.is('t') && !value.is('f') {
		return
	}
	if bound := n.get(inclusive); value.is('t') && bound.is('0') {
		n.set(k, bound)
		n.take(inclusive)
		return
	}
	n.take(k)
}

// tuple makes the list of items of older drafts the prefixItems of 2020-12, and
// what they call additionalItems its items. Where both forms are there, the newer
// one is what a server meant that has moved on.
func (w *rewriter) tuple(n *node) (widened bool) {
	additional := n.take(kwAdditionalItems)
	if !n.get(kwItems).is('[') {
		return false
	}
	switch {
	case n.get(kwPrefixItems) != nil:
		return w.drop(n, kwItems)
	// An empty list says nothing of any item.
	case len(n.get(kwItems).members) == 0:
		n.take(kwItems)
	default:
		n.become(kwItems, kwPrefixItems)
	}
	// True is what stands for no keyword.
	if additional != nil && !additional.is('t') {
		n.set(kwItems, additional)
	}
	return false
}

// dependencies splits the keyword of draft-07 into the two that came after it. A
// new one that is there already wins: to merge them would need an allOf.
func (w *rewriter) dependencies(n *node) (widened bool) {
	dependencies := n.take(kwDependencies)
	if !dependencies.is('{') {
		return false
	}
	w.room(2 * memberSize * len(dependencies.members))
	names, schemas := w.object(), w.object()
	for _, m := range dependencies.members {
		switch m.value.kind {
		case '[':
			names.add(m)
		// Draft-03 lets one name stand without a list.
		case '"':
			names.add(named(m.name, w.array(item(m.value))))
		default:
			schemas.add(m)
		}
	}
	for _, m := range []member{kwDependentRequired.with(names), kwDependentSchemas.with(schemas)} {
		switch {
		case len(m.value.members) == 0:
		case n.get(m.k) != nil:
			w.say(n, w.dropped(m.k, m.value))
			widened = true
		default:
			n.set(m.k, m.value)
		}
	}
	return widened
}

// nullable lets null in, as the keyword of that name asks.
func (w *rewriter) nullable(n *node) {
	word := item(w.quoted("null"))
	null := item(w.object(kwType.with(word.value)))
	t, enum := n.get(kwType), n.get(kwEnum)
	// Where the type alone decides, null is one more type, which every provider
	// reads. Else null is an alternative to all that the schema says.
	switch {
	case n.seen&(inPlaceKeywords|1<<kwConst) == 0 && (t != nil || enum == nil):
		// Null is let in already.
		if t == nil || w.typesOf(t)&isNull != 0 {
			return
		}
		if t.is('"') {
			t = w.array(item(t))
		}
		n.set(kwType, w.array(w.list(t.members, word)...))
		w.step(len(enum.list('[')))
		if enum.is('[') && !slices.ContainsFunc(enum.members, func(m member) bool { return m.value.is('n') }) {
			n.set(kwEnum, w.array(w.list(enum.members, item(&node{kind: 'n', text: "null"}))...))
		}
	// Where a union is all there is, null is one more alternative of it.
	case n.seen&^annotations == 1<<kwAnyOf && n.get(kwAnyOf).is('['):
		n.set(kwAnyOf, w.array(w.list(n.get(kwAnyOf).members, null)...))
	default:
		// Annotations stay outside, where a model looks for them.
		inner := w.object()
		for _, m := range n.members {
			if !has(annotations, m.k) {
				inner.add(m)
			}
		}
		n.keep(annotations)
		n.set(kwAnyOf, w.array(item(inner), null))
	}
}

// kinds is the end of rule 8, and the end of rule 1 at every depth: copies of inlined
// schemas would share their names. Some providers refuse a whole request for one wrong
// value, as Ollama does for required and Anthropic for what is not a schema of
// 2020-12.
func (w *rewriter) kinds(n *node) (widened bool) {
	end := len(n.members) // clauses may come behind
	for i := 0; i < end; i++ {
		m := n.members[i]
		want := rules[m.k].want
		if want == wantAny || want == wantTypes || want == wantString && m.value.plain {
			continue // most
		}
		ok, silent := w.kindOf(n, m, &widened)
		if ok {
			continue
		}
		n.take(m.k)
		i--
		end--
		if !silent {
			w.say(n, w.dropped(m.k, m.value))
		}
		widened = widened || !has(annotations, m.k) && want != wantGone
	}
	return widened
}

// kindOf reports whether a member of n has a value as its keyword wants it, or got
// one, and else whether that is not worth a word. A null is how many languages write a
// field that nobody set, and an empty list how PHP writes an object without members:
// these are quiet, as nothing was demanded.
func (w *rewriter) kindOf(n *node, m member, widened *bool) (ok, silent bool) {
	k, v, want := m.k, m.value, rules[m.k].want
	ok, silent = want.takes(v), v.is('n') || want == wantGone
	switch want {
	case wantTypes: // rule 5
		return true, false
	case wantList:
		if !ok {
			n.set(k, w.array(item(v)))
		}
		return true, false
	case wantNames:
		if ok = v.is('{'); ok {
			*widened = w.nameLists(n, m) || *widened
		}
	case wantSchema: // a boolean becomes one
		ok = ok || v.is('t') || v.is('f')
	// A list that is not taken is an empty one, which 2020-12 does not allow (core, 10.2.1).
	case wantSchemas:
		silent = silent || v.is('[')
	case wantSchemaMap:
		silent = silent || v.is('[') && len(v.members) == 0
	}
	if k == kwTitle || k == kwDescription {
		w.told(n, k)
	}
	return ok, silent || k == kwTitle || k == kwDescription || k == kwComment
}

// told cleans a title or description.
func (w *rewriter) told(n *node, k keyword) {
	// Clauses that were said already are written first: a new description would lose them.
	if k == kwDescription {
		w.flush(n)
	}
	if v := n.get(k); v.is('"') && w.clean != nil && suspect(v.text) {
		old := w.string(v)
		w.step(len(old))
		if text := w.clean(old); text != old {
			n.set(k, w.quoted(text))
		}
	}
}

// nameLists leaves what is a list of distinct strings in a dependentRequired.
func (w *rewriter) nameLists(n *node, m member) (widened bool) {
	out, repeated := w.object(), false
	w.room(memberSize * len(m.value.members))
	for _, list := range m.value.members {
		if !list.value.is('[') {
			widened = true
			continue
		}
		names := w.array()
		w.room(memberSize * len(list.value.members))
		seen := map[string]bool{}
		for _, name := range list.value.members {
			switch text := w.string(name.value); {
			case !name.value.is('"'):
				widened = true
			case !w.first(seen, text):
				repeated = true
			default:
				names.members = append(names.members, name)
			}
		}
		out.add(named(list.name, names))
	}
	if widened || repeated {
		n.set(m.k, out)
	}
	if widened {
		w.say(n, w.dropped(m.k, m.value))
	}
	return widened
}

// unevaluated makes the keywords of that kind the additional ones where both
// mean the same, and drops them where other schemas in place evaluate too: what
// is dropped there would make them refuse more.
func (w *rewriter) unevaluated(n *node) (widened bool) {
	const both = 1<<kwUnevaluatedProperties | 1<<kwUnevaluatedItems
	if n.seen&both == 0 {
		return false
	}
	for _, pair := range [][2]keyword{{kwUnevaluatedProperties, kwAdditionalProperties}, {kwUnevaluatedItems, kwItems}} {
		value := n.get(pair[0])
		if value == nil {
			continue
		}
		switch {
		// True restricts nothing, and beside the additional keyword nothing is left that is
		// not evaluated.
		case !value.is('f') && !value.is('{'), n.get(pair[1]) != nil:
			n.take(pair[0])
		// Contains evaluates items as well, in 2020-12.
		case n.seen&(inPlaceKeywords|1<<kwContains) == 0:
			n.become(pair[0], pair[1])
		default:
			widened = w.drop(n, pair[0])
		}
	}
	return widened
}

// closedArrays says with maxItems what items did that are false (rule 6).
func (w *rewriter) closedArrays(n *node) {
	n.set(kwItems, w.object())
	most := len(n.get(kwPrefixItems).list('['))
	if old := n.get(kwMaxItems); old != nil {
		// A bound of the server that is lower stays.
		if bound, err := strconv.Atoi(old.text); err == nil && bound <= most {
			return
		}
	}
	n.set(kwMaxItems, &node{kind: '0', text: strconv.Itoa(most)})
}

// cutOff is rule 4. The type and the annotations stay: they hold no schemas, and a
// model that reads them can still write a good value, which the server checks.
func (w *rewriter) cutOff(n *node, level, inPlace int) (widened bool) {
	// Only a schema that says something is too deep: an empty one is generic already,
	// and most that end at the bound are.
	deep := false
	for k, sub := range n.schemas {
		level, inPlace := deeper(k, level, inPlace)
		if deep = (level > maxLevels || inPlace > maxInPlace) && len(sub.value.members) > 0; deep {
			break
		}
		w.step(1)
	}
	if !deep {
		return false
	}
	n.keep(annotations | 1<<kwType)
	w.say(n, clauseDeep)
	return true
}

// misplaced removes what says nothing about values of the declared types. Validators
// do not mind them, but Gemini refuses properties and required beside another type
// than object. It is quiet, since they say nothing about values of the type.
func misplaced(n *node, allowed types) {
	var none uint64
	if allowed&isObject == 0 {
		none |= objectKeywords
	}
	if allowed&isArray == 0 {
		none |= arrayKeywords
	}
	if none&n.seen != 0 {
		n.keep(^none)
	}
}

// children fixes the schemas in n, and drops those that may not be widened and
// were.
func (w *rewriter) children(n *node, level, inPlace int) (widened bool) {
	// What one of them does to n, such as an allOf that a oneOf becomes, must not be
	// gone over here as well. Room for all that most schemas have, so that none is
	// allocated.
	var room [8]member
	held := room[:0]
	for _, m := range n.members {
		if rules[m.k].holds != noSchema {
			held = append(held, m)
		}
	}
	for _, m := range held {
		sub, place := deeper(m.k, level, inPlace)
		switch schemasIn(m.k, m.value) {
		case oneSchema:
			widened = w.child(n, m, sub, place) || widened
		case listOfSchemas:
			widened = w.schemaList(n, m, sub, place) || widened
		case namedSchemas:
			widened = w.named(n, m.k, m.value, sub, place) || widened
		}
		n.changed = n.changed || m.value.changed
	}
	return widened
}

func (w *rewriter) child(n *node, m member, level, inPlace int) (widened bool) {
	k, v := m.k, m.value
	if n.get(k) != v {
		return false // it went with another
	}
	if !v.is('{') {
		return w.boolean(n, m)
	}
	// To accept more inside one of these is to accept less outside. What was said
	// there is told from before it was changed.
	sensitive := k == kwNot || k == kwIf || k == kwContains
	before := ""
	if sensitive && !w.quiet {
		if before = w.dropped(k, v); k == kwIf {
			before = w.conditional(n, k)
		}
	}
	widened = w.fix(v, level, inPlace)
	if !widened || !sensitive {
		return widened
	}
	n.take(k)
	switch k {
	// Then and else say nothing without the if, nor the counts without contains.
	case kwIf:
		n.take(kwThen)
		n.take(kwElse)
	case kwContains:
		n.take(kwMinContains)
		n.take(kwMaxContains)
	}
	w.say(n, before)
	return true
}

// boolean gives what is true or false in place of a schema a schema's form.
func (w *rewriter) boolean(n *node, m member) (widened bool) {
	switch k, v := m.k, m.value; {
	case k == kwAdditionalProperties:
	case k == kwIf, k == kwThen, k == kwElse:
		// A boolean there has its meaning in a schema's form.
		if v.is('t') {
			n.set(k, w.object())
		} else {
			n.set(k, w.object(kwNot.with(w.object())))
		}
	// Neither of these restricts anything.
	case k == kwNot && v.is('f'), k == kwPropertyNames && v.is('t'):
		n.take(k)
	case v.is('t') && k != kwNot:
		n.set(k, w.object())
	default:
		return w.drop(n, k)
	}
	return false
}

// schemaList fixes the schemas in a list. One that is false is left out of a union,
// cannot be left out of a tuple, where it has a place, and makes an allOf that
// accepts nothing, which no normal form says.
func (w *rewriter) schemaList(n *node, m member, level, inPlace int) (widened bool) {
	// A list of nothing but schemas, as most are, is fixed in its place and not copied.
	out, schemas := m.value, true
	for _, sub := range out.members {
		schemas = schemas && sub.value.is('{')
	}
	if !schemas {
		out = w.array()
		w.room(memberSize * len(m.value.members))
	}
	for i, sub := range m.value.members {
		v := sub.value
		switch {
		case v.is('f') && m.k == kwPrefixItems:
			w.say(n, "Item "+strconv.Itoa(i+1)+" is not allowed.")
			v, widened = w.object(), true
		case v.is('f') && m.k == kwAllOf:
			widened = true
			continue
		case v.is('f'):
			continue
		case !v.is('{'):
			widened = widened || !v.is('t')
			v = w.object()
		default:
			widened = w.fix(v, level, inPlace) || widened
			out.changed = out.changed || v.changed
		}
		if !schemas {
			out.members = append(out.members, item(v))
		}
	}
	switch {
	case len(out.members) == 0:
		n.take(m.k)
		w.say(n, "No value is allowed.")
		return true
	case m.k != kwOneOf || !widened:
		if !schemas {
			n.set(m.k, out)
		}
		return widened
	}
	// Two alternatives that are wider than they were may both match where one did,
	// and a oneOf would then refuse.
	w.say(n, "Exactly one of the alternatives must match.")
	if n.get(kwAnyOf) == nil {
		n.set(kwOneOf, out)
		n.become(kwOneOf, kwAnyOf)
		return true
	}
	n.take(m.k)
	all := item(w.object(kwAnyOf.with(out)))
	if old := n.get(kwAllOf); old.is('[') {
		n.set(kwAllOf, w.array(w.list(old.members, all)...))
	} else {
		n.set(kwAllOf, w.array(all))
	}
	return true
}

// named fixes the schemas in a map of them. A property that is false is no longer
// named, so what additionalProperties says would hold for it; a clause says that
// it is not allowed.
func (w *rewriter) named(n *node, k keyword, of *node, level, inPlace int) (widened bool) {
	// In place: what is kept never comes after what is read.
	kept := of.members[:0]
	for i, m := range of.members {
		switch {
		case k == kwPatternProperties && !w.keepsPattern(m.name):
			// Names that match it would become additional ones.
			w.say(n, "Properties whose names match "+briefly(m.name, maxQuoted)+" must match "+m.value.brief(maxQuoted)+".")
			if additional := n.take(kwAdditionalProperties); additional.is('f') {
				w.say(n, "Other properties are not allowed.")
			}
			widened, of.changed = true, true
			continue
		case m.value.is('f'):
			w.say(n, "Not allowed: "+briefly(w.rename(m.name), maxQuoted)+".")
			widened, of.changed = true, true
			continue
		// It demands nothing when the property is there.
		case m.value.is('t') && k == kwDependentSchemas:
			of.changed = true
			continue
		case !m.value.is('{'):
			widened = widened || !m.value.is('t')
			m.value = w.object()
			of.members[i].value = m.value
		default:
			widened = w.fix(m.value, level, inPlace) || widened
		}
		of.changed = of.changed || m.value.changed
		if len(kept) == i {
			kept = of.members[:i+1] // in its place
		} else {
			kept = append(kept, m)
		}
	}
	of.members = kept
	return widened
}

// openArrays is rule 6. OpenAI and Gemini refuse an array schema without items.
func (w *rewriter) openArrays(n *node, allowed types) {
	if !has(n.seen, kwItems) && (has(n.seen, kwType) && allowed&isArray != 0 || has(n.seen, kwPrefixItems)) {
		n.set(kwItems, w.object())
	}
}

// required is rule 7. A required name that is not a property becomes an open one,
// which lets in what additionalProperties kept out. Gemini refuses a required name
// that is not a property. It is not left out instead, since a model would then not
// send what the server insists on.
func (w *rewriter) required(n *node) (widened bool) {
	list, props := n.get(kwRequired), n.get(kwProperties)
	if list == nil || len(list.members) == 0 || w.areProperties(list.members, props.list('{')) {
		return false
	}
	if props == nil {
		props = w.object()
	}
	known := index{of: props}
	var names []member
	w.room(memberSize * len(list.members))
	seen := make(map[string]bool, len(list.members))
	respelled, missing := false, false
	for _, m := range list.members {
		name := w.string(m.value)
		if !m.value.is('"') || !w.first(seen, name) {
			continue
		}
		quoted := w.quoted(name)
		respelled = respelled || quoted.text != m.value.text
		names = append(names, item(quoted))
		if w.find(&known, name) < 0 {
			w.put(&known, named(name, w.object()))
			missing = true
		}
	}
	if len(names) == 0 {
		n.take(kwRequired)
		return false
	}
	if respelled || len(names) < len(list.members) {
		n.set(kwRequired, w.array(names...))
	}
	if !missing {
		return false
	}
	if !has(n.seen, kwProperties) {
		// Before what names them, as most servers write.
		n.insert(n.index(kwRequired), kwProperties, props)
	}
	n.changed = true
	return n.get(kwAdditionalProperties) != nil
}

// areProperties reports whether names are distinct names of properties, written
// plainly. It only sees that where they are few, or in the order of the
// properties, as most are.
func (w *rewriter) areProperties(names, props []member) bool {
	// Names in no order would each be looked for among all properties.
	at, tries := -1, 2*len(props)+fewNames*fewNames
	ordered := true
	for _, m := range names {
		text := m.value.text
		if m.value.kind != '"' || strings.IndexByte(text, '\\') >= 0 {
			return false
		}
		for text = text[1 : len(text)-1]; ; {
			if at++; at >= len(props) {
				at, ordered = 0, false
			}
			if tries--; tries < 0 || len(props) == 0 {
				return false
			}
			if props[at].name == text {
				break
			}
		}
	}
	w.step(len(names))
	return ordered || len(names) <= fewNames && len(w.distinct(names, anyType)) == len(names)
}

// values is rule 8. A value of another type could never be right, so an enum without
// it accepts the same.
func (w *rewriter) values(n *node, allowed types) (widened bool) {
	if v := n.get(kwDefault); v != nil && typeOf(v.kind, v.text)&allowed == 0 {
		n.take(kwDefault)
	}
	if v := n.get(kwConst); v != nil && typeOf(v.kind, v.text)&allowed == 0 {
		if allowed == isNull {
			n.take(kwConst)
			widened = true
		} else {
			widened = w.drop(n, kwConst)
		}
	}
	list := n.get(kwEnum)
	if list == nil {
		return widened
	}
	kept := w.distinct(list.members, allowed)
	switch {
	case len(kept) == len(list.members) && len(kept) > 0:
		return widened
	case len(kept) > 0:
		n.set(kwEnum, w.array(kept...))
		return widened
	case len(list.members) == 0, allowed == isNull:
		// Nothing can be listed for null but itself, which its type says.
		n.take(kwEnum)
		return true
	}
	return w.drop(n, kwEnum)
}

// distinct returns the values of a list that are of the types, each once. It returns
// the list itself where those are all. An enum may have tens of thousands of values:
// they are compared in pairs only while they are few.
func (w *rewriter) distinct(list []member, allowed types) []member {
	var seen map[string]bool
	if len(list) > fewNames {
		w.room(48 * len(list))
		seen = make(map[string]bool, len(list))
	}
	kept, copied := list, false
	for i, m := range list {
		w.step(8)
		ok := typeOf(m.value.kind, m.value.text)&allowed != 0
		if ok && seen != nil {
			key := w.key(m.value)
			ok = !seen[key]
			seen[key] = true
		} else if ok {
			// The list itself serves as the list of those kept until one is left out.
			before := kept
			if !copied {
				before = list[:i]
			}
			ok = !slices.ContainsFunc(before, func(other member) bool { return w.equal(other.value, m.value) })
		}
		switch {
		case !ok && !copied:
			kept, copied = w.list(list[:i]), true
		case ok && copied:
			kept = append(kept, m)
		}
	}
	return kept
}

// pattern is rule 9.
func (w *rewriter) pattern(n *node) (widened bool) {
	if v := n.get(kwPattern); v != nil && !w.takenPattern(w.string(v)) {
		return w.drop(n, kwPattern)
	}
	return false
}
