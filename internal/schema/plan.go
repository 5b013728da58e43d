package schema

// This file makes plans: what a server's own schema says for certain about the
// types of the values in its arguments.

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/seed94b59a13/mcp/internal/raw"
)

// A Plan is how one tool's arguments are repaired. It is made at listing and
// reads the schema at the first call, since most tools are never called. It is
// safe for concurrent use. A nil Plan does what holds for every tool.
type Plan struct {
	mu     sync.Mutex // guards the making
	schema []byte     // the text; nil once it is read
	names  *renaming
	made   atomic.Bool
	root   *shape // once it is made
}

func newPlan(schema []byte, names *renaming) *Plan {
	return &Plan{schema: schema, names: names}
}

// shape reads the schema if that was not done. What would cost more than it may
// is left out: the plan then says nothing about those values. An error is that of
// the context; the next call tries again.
func (p *Plan) shape(ctx context.Context) (*shape, error) {
	if p == nil || p.made.Load() {
		return p.rootShape(), nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	// A longer one was never made normal, so there is nothing to map back.
	if p.schema != nil && len(p.schema) <= maxSchema {
		root, err := compile(ctx, p.schema, p.names)
		if err != nil {
			return nil, err
		}
		p.root = root
	}
	// The shapes are all that calls need; the text may be a MiB.
	p.schema, p.names = nil, nil
	p.made.Store(true)
	return p.root, nil
}

func (p *Plan) rootShape() *shape {
	if p == nil {
		return nil
	}
	return p.root
}

// A shape is what is certain about a value: more types may be in allowed than
// the server takes, never fewer. A nil shape says nothing. Shapes of recursive
// schemas form cycles.
type shape struct {
	allowed types
	props   []property
	index   map[string]int // into props, by name and by alias, when there are many
	rest    *shape         // of other properties
	prefix  []*shape
	items   *shape
}

type property struct {
	name     string
	alias    string // what the model calls it, "" when the same
	required bool   // in some case at least
	shape    *shape
}

// find returns the property that the model calls name, nil when there is none.
func (s *shape) find(name []byte) *property {
	if s.index != nil {
		if i, ok := s.index[string(name)]; ok {
			return &s.props[i]
		}
		return nil
	}
	var found *property
	for i := range s.props {
		p := &s.props[i]
		if p.name == string(name) {
			return p
		}
		if p.alias != "" && p.alias == string(name) {
			found = p
		}
	}
	return found
}

const (
	// Unions beside one another multiply: ten of two branches have a thousand combinations.
	// Beyond a bound nothing is certain of a value, and so nothing is changed in it.
	maxAlternatives = 64
	maxPrefix       = 64
)

// A compiler makes shapes of schemas. A state is what applies to one value: any of
// some alternatives, each of them all of some schemas. States are compiled one after
// the other, so recursion in a schema is none here. What is certain holds in each
// alternative, so that a repair is right whichever one was meant; not, if and what
// depends on them make nothing certain. What may apply is for renamed properties,
// which must get their own names back wherever they are.
type compiler struct {
	*meter
	doc   document
	names *renaming
	ids   map[*node]int
	known map[string]*shape
	types map[*node]types // what schemas allow
	large map[*node]names // of schemas with many members
	queue []pending
}

type pending struct {
	shape *shape
	state
}

type state struct {
	sure [][]located // the alternatives; without any, nothing is certain
	may  []located   // all schemas that may apply, for their names; none where no name is new
}

// located is a schema and the resource it belongs to.
type located struct{ schema, base *node }

const (
	locatedSize  = 16
	shapeSize    = 192
	propertySize = 64
)

// compile returns the shape of what a schema is for. The error is that of the
// context; where the work is too much, some shapes say nothing.
func compile(ctx context.Context, schema []byte, names *renaming) (root *shape, err error) {
	p := begin(ctx, nil, len(schema))
	defer p.release()
	p.steps, p.bytes = p.steps/2, p.bytes/2 // a call waits for this
	c := compiler{meter: &p.meter, names: names, ids: map[*node]int{}, known: map[string]*shape{}, types: map[*node]types{}}
	reason := p.run(func() {
		n := p.read(schema)
		if !n.is('{') {
			return
		}
		c.doc = document{meter: &p.meter, root: n, old: p.isOld(n)}
		at := located{n, n}
		sure, _ := c.closure(at, 0)
		root = c.shape(state{sure, c.reach(nil, map[*node]bool{}, at)})
		// First come the shapes that are near the root: they are the ones that are there if
		// the work becomes too much.
		for len(c.queue) > 0 {
			c.fill(c.queue[0].shape, c.queue[0].state)
			c.queue = c.queue[1:]
		}
	})
	if reason != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	// A shape that was not reached is taken for one of anything: no argument is
	// changed for it.
	for _, left := range c.queue {
		*left.shape = shape{allowed: anyType}
	}
	return root, nil
}

// shape returns the shape of a state, to be filled later.
func (c *compiler) shape(st state) *shape {
	// An alternative without schemas allows everything, and so does a union with it.
	if slices.ContainsFunc(st.sure, func(all []located) bool { return len(all) == 0 }) {
		st.sure = nil
	}
	if len(st.sure)+len(st.may) == 0 {
		return nil
	}
	// States that have the same schemas are the same, so that a recursive schema makes
	// as many as it has, and not one for each depth.
	var key []byte
	for _, all := range append(slices.Clip(st.sure), st.may) {
		c.room(8 * len(all))
		for _, l := range all {
			id, ok := c.ids[l.schema]
			if !ok {
				id = len(c.ids)
				c.ids[l.schema] = id
			}
			key = append(strconv.AppendInt(key, int64(id), 36), ' ')
		}
		key = append(key, '|')
	}
	s, ok := c.known[string(key)]
	if !ok {
		c.room(shapeSize + len(key))
		s = &shape{}
		c.known[string(key)] = s
		c.queue = append(c.queue, pending{s, st})
	}
	return s
}

// reach adds l to the schemas that may apply, and those that then may, too.
// seen has those that are there.
func (c *compiler) reach(all []located, seen map[*node]bool, l located) []located {
	if c.names == nil {
		return nil
	}
	for open := []located{l}; len(open) > 0; {
		l, open = open[len(open)-1], open[:len(open)-1]
		if c.step(8); !l.schema.is('{') || seen[l.schema] {
			continue
		}
		c.room(4*locatedSize + 16*len(l.schema.members))
		seen[l.schema] = true
		l.base = c.baseOf(l.schema, l.base)
		if l.schema.seen&(holders|1<<kwRequired) != 0 { // else it has no names
			all = append(all, l)
		}
		first := len(open)
		if ref, ok := c.reference(l.schema); ok {
			if target, base := c.doc.find(ref, l.base); target != nil {
				open = append(open, located{target, base})
			}
		}
		if l.schema.seen&inPlaceKeywords != 0 {
			open = c.inPlace(open, l)
		}
		slices.Reverse(open[first:]) // the next to be taken is the last
	}
	return all
}

// inPlace appends the schemas in place in l.
func (c *compiler) inPlace(open []located, l located) []located {
	for _, m := range l.schema.members {
		if !has(inPlaceKeywords, m.k) {
			continue
		}
		subs := []member{item(m.value)}
		if schemasIn(m.k, m.value) != oneSchema {
			subs = m.value.members
		}
		c.room(locatedSize * len(subs))
		for _, sub := range subs {
			open = append(open, located{sub.value, l.base})
		}
	}
	return open
}

// closure is the state of a schema with all that apply in place. ok is false where
// that is too much to tell. A schema that refers to itself in place would go on for
// ever: depth ends that.
func (c *compiler) closure(l located, depth int) (state [][]located, ok bool) {
	n := l.schema
	if c.step(4 + len(n.members)); depth > maxChain {
		return nil, false
	}
	// No alternative is left by false. What is not a schema says nothing.
	switch n.kind {
	case 'f':
		return nil, true
	case '{':
	default:
		return [][]located{{}}, true
	}
	base := c.baseOf(n, l.base)
	state = [][]located{{}}
	c.room(4 * locatedSize)
	if n.seen&telling != 0 {
		state = [][]located{{{n, base}}}
	}
	join := func(other [][]located) bool {
		state = c.product(state, other)
		return len(state) <= maxAlternatives
	}
	if ref, isRef := c.reference(n); isRef {
		target, targetBase := c.doc.find(ref, base)
		// To draft-07 what is beside a $ref does not count.
		if c.doc.old {
			state = [][]located{{}}
		}
		if target != nil {
			other, ok := c.closure(located{target, targetBase}, depth+1)
			if !ok || !join(other) {
				return nil, false
			}
		}
		if c.doc.old {
			return state, true
		}
	}
	for _, m := range n.members {
		k := m.k
		branches := m.value.list('[')
		if aloneInList(k, m.value) {
			branches = []member{item(m.value)}
		}
		if !has(unions, k) || len(branches) == 0 {
			continue
		}
		var union [][]located
		for _, branch := range branches {
			other, ok := c.closure(located{branch.value, base}, depth+1)
			if !ok || k == kwAllOf && !join(other) {
				return nil, false
			}
			if union = append(union, other...); len(union) > maxAlternatives {
				return nil, false
			}
		}
		// At least one branch holds, in an anyOf and a oneOf alike.
		if k != kwAllOf && !join(union) {
			return nil, false
		}
	}
	if n.get(kwNullable).is('t') && c.allowed(n)&isNull != 0 {
		// Null is let in beside whatever the schemas in place say.
		state = append(state, []located{{c.object(kwType.with(c.quoted("null"))), base}})
	}
	return state, true
}

// product is what holds where both states do. It takes a over.
func (c *compiler) product(a, b [][]located) [][]located {
	if len(b) == 1 {
		for i := range a {
			c.room(locatedSize * len(b[0]))
			a[i] = append(a[i], b[0]...)
		}
		return a
	}
	var product [][]located
	for _, x := range a {
		for _, y := range b {
			c.room(locatedSize * (2 + len(x) + len(y)))
			product = append(product, slices.Concat(x, y))
		}
	}
	return product
}

// allowed is what the schema's own keywords allow.
func (c *compiler) allowed(n *node) types {
	if allowed, ok := c.types[n]; ok {
		return allowed
	}
	allowed := c.typesOf(n.get(kwType))
	nullable := n.get(kwNullable).is('t')
	if nullable {
		allowed |= isNull
	}
	if list := n.get(kwEnum); list.is('[') && len(list.members) > 0 {
		c.step(len(list.members))
		var listed types
		for _, m := range list.members {
			listed |= typeOf(m.value.kind, m.value.text)
		}
		if nullable {
			listed |= isNull
		}
		// A list of values of other types is a mistake, which makes nothing certain.
		if listed&allowed != 0 {
			allowed &= listed
		}
	}
	if v := n.get(kwConst); v != nil && !nullable {
		if t := typeOf(v.kind, v.text); t&allowed != 0 {
			allowed &= t
		}
	}
	c.room(64)
	c.types[n] = allowed
	return allowed
}

// fill says in s what is certain about the values of the state. What is said of
// properties holds for an object, whatever other alternatives say of strings: those
// drop out before the parts are looked at.
func (c *compiler) fill(s *shape, st state) {
	objects, arrays := state{may: st.may}, state{may: st.may}
	for _, all := range st.sure {
		allowed := anyType
		c.step(4 * len(all))
		for _, l := range all {
			allowed &= c.allowed(l.schema)
		}
		s.allowed |= allowed
		if allowed&isObject != 0 {
			objects.sure = append(objects.sure, all)
		}
		if allowed&isArray != 0 {
			arrays.sure = append(arrays.sure, all)
		}
	}
	// Nothing is certain, or no value is right: neither is a reason to change one.
	if s.allowed == 0 {
		s.allowed = anyType
	}
	c.fillObject(s, objects)
	longest := 0
	for l := range arrays.schemas {
		c.step(2)
		prefix, _ := arrayParts(l.schema)
		longest = max(longest, len(prefix))
	}
	for i := range min(longest, maxPrefix) {
		s.prefix = append(s.prefix, c.part(arrays, step{item: i}))
	}
	// Else nothing is certain of the items behind those that were looked at.
	if longest <= maxPrefix {
		s.items = c.part(arrays, step{item: longest})
	}
}

// schemas yields all schemas of a state.
func (st state) schemas(yield func(located) bool) {
	for _, all := range append(slices.Clip(st.sure), st.may) {
		for _, l := range all {
			if !yield(l) {
				return
			}
		}
	}
}

// fillObject says in s which properties there are, how the model calls them and what is
// certain of each.
func (c *compiler) fillObject(s *shape, objects state) {
	seen, required := map[string]bool{}, map[string]bool{}
	add := func(name string) {
		if !c.first(seen, name) {
			return
		}
		p := property{name: name, shape: c.part(objects, step{name: name, item: -1, named: true})}
		if c.names != nil {
			p.alias = c.names.names[name]
		}
		c.room(propertySize)
		s.props = append(s.props, p)
	}
	visited := map[*node]bool{} // alternatives have schemas in common
	for l := range objects.schemas {
		if c.step(8); visited[l.schema] {
			continue
		}
		visited[l.schema] = true
		c.demanded(required, l.schema, 0)
		for _, m := range l.schema.get(kwProperties).list('{') {
			add(m.name)
		}
	}
	for i := range objects.may { // what is required only has a new name, too
		for name := range c.strings(objects.may[i].schema.get(kwRequired)) {
			if c.names.names[name] != "" {
				add(name)
			}
		}
	}
	s.rest = c.part(objects, step{item: -1})
	if len(s.props) > fewNames {
		c.room(64 * len(s.props))
		s.index = make(map[string]int, len(s.props))
	}
	for i := range s.props {
		p := &s.props[i]
		if p.required = required[p.name]; s.index != nil && p.alias != "" {
			s.index[p.alias] = i
		}
	}
	for i := range s.props {
		if s.index != nil { // a name counts more than an alias
			s.index[s.props[i].name] = i
		}
	}
}

// A step leads from a value to a part of it: an item, or else the property of a
// name, or one that no schema names.
type step struct {
	item  int // -1 for properties
	name  string
	named bool
}

// part is the shape of a part of a value.
func (c *compiler) part(of state, to step) *shape {
	c.step(32)
	var may []located
	if len(of.may) > 0 {
		c.room(64)
		seen := map[*node]bool{}
		for _, l := range of.may {
			for _, sub := range c.may(l.schema, to) {
				may = c.reach(may, seen, located{sub, l.base})
			}
		}
	}
	return c.shape(state{c.surePart(of.sure, to), may})
}

// surePart is what is certain of a part: what all schemas of some alternative say of it. No
// union means that nothing is.
func (c *compiler) surePart(of [][]located, to step) (union [][]located) {
alternatives:
	for _, all := range of {
		c.step(4 + 2*len(all))
		product := [][]located{{}}
		for _, l := range all {
			sub := c.sure(l.schema, to)
			if sub == nil {
				continue
			}
			// The value has this part, so this alternative is not the one.
			if sub.is('f') {
				continue alternatives
			}
			other, ok := c.closure(located{sub, l.base}, 0)
			if !ok || len(other)*len(product) > maxAlternatives {
				return nil
			}
			product = c.product(product, other)
		}
		if union = append(union, product...); len(union) > maxAlternatives {
			return nil
		}
	}
	return union
}

// sure is what n says for certain about a part: nil when nothing, false when it
// cannot be there.
func (c *compiler) sure(n *node, to step) *node {
	if to.item >= 0 {
		c.step(len(n.members) / 4)
		prefix, rest := arrayParts(n)
		if to.item < len(prefix) {
			return prefix[to.item].value
		}
		return rest
	}
	names := c.namesOf(n)
	if to.named && names.properties.is('{') {
		if v := c.doc.member(names.properties, to.name); v != nil {
			return v
		}
	}
	// A name may match one of them, and additionalProperties is then not about it.
	if names.patterns != nil {
		return nil
	}
	return names.additional
}

// names are the keywords of one schema that say something about properties.
type names struct{ properties, patterns, additional *node }

// namesOf goes over the members of a large schema once.
func (c *compiler) namesOf(n *node) names {
	if found, ok := c.large[n]; ok {
		return found
	}
	found := names{n.get(kwProperties), n.get(kwPatternProperties), n.get(kwAdditionalProperties)}
	if len(n.members) > fewNames {
		if c.large == nil {
			c.large = map[*node]names{}
		}
		c.step(len(n.members))
		c.room(96)
		c.large[n] = found
	}
	return found
}

// may is all that n says about a part, if only in some cases.
func (c *compiler) may(n *node, to step) []*node {
	if to.item >= 0 {
		c.step(len(n.members) / 4)
		return []*node{c.sure(n, to), n.get(kwContains), n.get(kwUnevaluatedItems)}
	}
	names := c.namesOf(n)
	c.step(len(n.members) / 4)
	subs := []*node{c.sure(n, to), names.additional, n.get(kwUnevaluatedProperties)}
	patterns := names.patterns.list('{')
	c.room(16 * len(patterns))
	for _, m := range patterns {
		subs = append(subs, m.value)
	}
	return subs
}

// arrayParts is what a schema of any draft says about items: the first ones,
// and those after them.
func arrayParts(n *node) (prefix []member, rest *node) {
	items := n.get(kwItems)
	if prefix = n.get(kwPrefixItems).list('['); len(prefix) > 0 {
		return prefix, items
	}
	if items.is('[') {
		return items.members, n.get(kwAdditionalItems)
	}
	return nil, items
}

// demanded adds the properties that n requires, if only in some cases. Schemas in
// place within one another count up to the depth that a normal schema may have. What
// is required in some case is never left out for being null: to leave it out may be
// what the server refuses.
func (c *compiler) demanded(names map[string]bool, n *node, depth int) {
	if !n.is('{') || depth > maxInPlace {
		return
	}
	c.step(1 + len(n.members))
	for name := range c.strings(n.get(kwRequired)) {
		c.first(names, name)
	}
	if only := n.get(kwRequired); only.is('"') {
		c.first(names, c.string(only))
	}
	for _, k := range []keyword{kwDependentRequired, kwDependencies} {
		for _, dependent := range n.get(k).list('{') {
			c.step(1)
			for name := range c.strings(dependent.value) {
				c.first(names, name)
			}
		}
	}
	var cases uint64 = 1<<kwThen | 1<<kwElse | 1<<kwDependentSchemas | 1<<kwDependencies
	if depth > 0 { // else they are in the state themselves
		cases |= unions
	}
	for k, sub := range n.schemas {
		if c.step(1); has(cases, k) {
			c.demanded(names, sub.value, depth+1)
		}
		// Older drafts have a boolean in the property.
		if k == kwProperties && depth == 0 && sub.value.get(kwRequired).is('t') {
			c.first(names, sub.name)
		}
	}
}

// expected tells a model which parameters there are, in at most about 1 KiB. A name
// may be as long as the schema, and is for a model to read: those that are not plain
// are cut and quoted.
func (s *shape) expected() string {
	if s == nil || len(s.props) == 0 {
		return "expected a JSON object"
	}
	text := []byte("expected a JSON object with ")
	for i, prop := range s.props {
		if i > 0 {
			text = append(text, ", "...)
		}
		if len(text) > 1000 {
			text = append(text, "and more"...)
			break
		}
		name := prop.name
		// The name that the model was told.
		if prop.alias != "" {
			name = prop.alias
		}
		if legalName(name) {
			text = append(text, name...)
		} else {
			text = raw.AppendQuote(text, briefly(name, maxName))
		}
		text = append(text, " ("...)
		if prop.shape == nil || prop.shape.allowed == anyType {
			text = append(text, "any"...)
		} else {
			text = append(text, strings.Join(prop.shape.allowed.words(), " or ")...)
		}
		if prop.required {
			text = append(text, ", required"...)
		}
		text = append(text, ')')
	}
	return string(text)
}
