package schema

// This file tells in one pass over the text whether a schema already has the
// form that [Normalizer.Normalize] gives. Most servers' schemas do, and a
// listing may hold thousands of them, so no tree is built for this.
//
// It states the same rules as the passes over the tree, read the other way
// round: Normalize runs it over its own output, so a rule that is missing in
// one of the two shows at once.

import (
	"bytes"
	"strings"

	"github.com/seed94b59a13/mcp/internal/raw"
)

// A checker reads text that [raw.Scan] accepted.
//
// What only the root may not have, and what most roots have, is no reason to
// build a tree either: those members are noted, and cut out of the text.
type checker struct {
	data    []byte
	at      int
	spaced  bool // white space was seen
	clean   func(string) string
	names   [][]byte // of the property objects that are open, innermost last
	unknown [][]byte // the same for unknown keywords
	seen    uint64   // keywords, anywhere
	old     bool     // the root's $schema is that of an older draft
	cuts    [4]span  // members of the root to cut, in order
	cut     int      // how many
}

type span struct{ start, end int }

// rootOnly are the keywords that are cut.
const rootOnly = 1<<kwSchema | 1<<kwID | 1<<kwAnchor | 1<<kwComment

// asNormal returns schema in the normal form when that is a matter of cutting
// members of the root and white space, and nil when it is not. A schema that
// has the form already is returned as it is.
func (z Normalizer) asNormal(schema []byte) []byte {
	room := make([][]byte, 2*fewNames) // for most schemas
	c := checker{data: schema, clean: z.Clean, names: room[:0:fewNames], unknown: room[fewNames:fewNames]}
	if c.peek() != '{' || !c.schema(1, 0) || c.peek() != 0 || c.old && c.seen&since2019 != 0 {
		return nil
	}
	if c.cut > 0 {
		out := make([]byte, 0, len(schema))
		at := 0
		for _, s := range c.cuts[:c.cut] {
			out = append(out, schema[at:s.start]...)
			at = s.end
		}
		schema = append(out, schema[at:]...)
	}
	if c.spaced {
		schema = compact(schema)
	}
	return schema
}

// member passes a member of the root that is to be cut. It starts at start, and
// the last one that stays ends at kept.
func (c *checker) member(k keyword, start, kept int) bool {
	value := c.skip()
	if len(value) == 0 || value[0] != '"' || c.cut == len(c.cuts) {
		return false
	}
	c.old = c.old || k == kwSchema && bytes.Contains(value, []byte("/draft-0"))
	end := c.at
	if c.peek() == ',' {
		end = c.at + 1
	} else { // the last one takes the comma before it, and those that went before
		for start = kept; c.cut > 0 && c.cuts[c.cut-1].start >= start; c.cut-- {
		}
	}
	c.cuts[c.cut] = span{start, end}
	c.cut++
	return true
}

// peek skips white space and returns the next byte, 0 at the end.
func (c *checker) peek() byte {
	for ; c.at < len(c.data); c.at++ {
		if b := c.data[c.at]; b != ' ' && b != '\n' && b != '\t' && b != '\r' {
			return b
		}
		c.spaced = true
	}
	return 0
}

// skip passes the value at hand and returns its text.
func (c *checker) skip() []byte {
	c.peek()
	start := c.at
	for depth := 0; c.at < len(c.data); {
		switch c.data[c.at] {
		case '"':
			c.text()
		case '{', '[':
			depth++
			c.at++
		case '}', ']':
			if depth == 0 {
				return c.data[start:c.at]
			}
			depth--
			c.at++
		case ',':
			if depth == 0 {
				return c.data[start:c.at]
			}
			c.at++
		case ' ', '\n', '\t', '\r':
			c.spaced = true
			if depth == 0 {
				return c.data[start:c.at]
			}
			c.at++
		default:
			c.at++
		}
		if depth == 0 && c.at > start && strings.IndexByte(`"}]`, c.data[c.at-1]) >= 0 {
			break
		}
	}
	return c.data[start:c.at]
}

// text passes the string at hand and returns what is between its quotes, still
// escaped.
func (c *checker) text() []byte {
	c.at++
	start := c.at
	for c.at < len(c.data) && c.data[c.at] != '"' {
		if c.data[c.at] == '\\' {
			c.at++
		}
		c.at++
	}
	end := min(c.at, len(c.data))
	c.at = end + 1
	return c.data[start:end]
}

// name passes a member's name and its colon.
func (c *checker) name() []byte {
	c.peek()
	start := c.at
	name := c.text()
	if bytes.IndexByte(name, '\\') >= 0 {
		name = raw.AppendString(nil, c.data[start:c.at])
	}
	c.peek()
	c.at++ // the colon
	c.peek()
	return name
}

// next steps over a comma and reports whether another item follows.
func (c *checker) next(first bool, closer byte) bool {
	b := c.peek()
	if b == closer || b == 0 {
		c.at++
		return false
	}
	if !first {
		c.at++
		c.peek()
	}
	return true
}

func (c *checker) schema(level, inPlace int) bool {
	if c.peek() != '{' {
		return false
	}
	c.at++
	var (
		seen           uint64
		unknown        = len(c.unknown)
		names          = len(c.names)
		namesEnd       = names
		required       = -1 // where its value starts
		allowed        = anyType
		listed, preset types // of the enum and of the default
		isObjectType   bool
		kept           = c.at // the end of the last member that stays
		root           = level == 1 && inPlace == 0
	)
	for first := true; c.next(first, '}'); first = false {
		if level > maxLevels || inPlace > maxInPlace {
			return false
		}
		start := c.at
		name := c.name()
		k := keywordsByName[string(name)]
		if root && has(rootOnly, k) {
			if has(seen, k) || !c.member(k, start, kept) {
				return false
			}
			seen |= 1 << k
			continue
		}
		if k == kwUnknown {
			c.unknown = append(c.unknown, name)
		} else if has(seen, k) {
			return false
		}
		seen |= 1 << k
		ok := true
		switch b := c.data[min(c.at, len(c.data)-1)]; wants[k] {
		case wantAny:
			value := c.skip()
			if k == kwDefault && len(value) > 0 {
				preset = typeOfText(value)
			}
		case wantGone:
			return false
		case wantString:
			ok = b == '"' && c.described(k)
		case wantBool:
			ok = b == 't' || b == 'f'
			c.skip()
		case wantNumber:
			ok = b == '-' || b >= '0' && b <= '9'
			ok = isFinite(string(c.skip())) && ok
		case wantCount:
			ok = isCount(string(c.skip()))
		case wantArray:
			ok = b == '['
			c.skip()
		case wantTypes:
			allowed, ok = c.types()
			isObjectType = ok && b == '"' && allowed == isObject
		case wantEnum:
			listed, ok = c.enum()
		case wantRequired:
			required, ok = c.at, b == '['
			c.skip()
		case wantPattern:
			start := c.at
			ok = b == '"'
			c.skip()
			ok = ok && takenPattern(string(raw.AppendString(nil, c.data[start:c.at])))
		case wantNames:
			ok = c.nameLists()
		case wantSchema:
			ok = c.schema(deeper(k, level, inPlace))
		case wantSchemaOrBool:
			if b == 't' || b == 'f' {
				c.skip()
			} else {
				ok = c.schema(level+1, 0)
			}
		case wantSchemas:
			ok = c.schemas(deeper(k, level, inPlace))
		case wantSchemaMap:
			sub, place := deeper(k, level, inPlace)
			ok = c.schemaMap(k, sub, place)
			if k == kwProperties {
				namesEnd = len(c.names)
			}
		}
		if !ok {
			return false
		}
		kept = c.at
	}
	c.seen |= seen
	switch {
	case root && (!isObjectType || !has(seen, kwProperties) || seen&rootless != 0),
		allowed&isObject == 0 && seen&objectKeywords != 0,
		allowed&isArray == 0 && seen&arrayKeywords != 0,
		!has(seen, kwItems) && (has(seen, kwType) && allowed&isArray != 0 || has(seen, kwPrefixItems)),
		listed&^(allowed|isEither) != 0, listed&isEither != 0 && allowed&(isInteger|isNumber) == 0,
		preset != 0 && preset&allowed == 0,
		!distinctTexts(c.unknown[unknown:]),
		required >= 0 && !c.required(required, c.names[names:namesEnd]):
		return false
	}
	c.names, c.unknown = c.names[:names], c.unknown[:unknown]
	return true
}

// isEither marks a number in a list whose text does not tell whether it is integral.
const isEither types = 1 << 7

// typeOfText is [typeOf] for text, of which only numbers are copied.
func typeOfText(value []byte) types {
	if c := value[0]; c != '-' && (c < '0' || c > '9') {
		return typeOf(c, "")
	}
	return typeOf('0', string(value))
}

// deeper is where the schemas in the keyword's value are.
func deeper(k keyword, level, inPlace int) (int, int) {
	if has(inPlaceKeywords, k) {
		return level, inPlace + 1
	}
	return level + 1, 0
}

// described passes a string, of which titles and descriptions may hold nothing
// that the Clean hook would change.
func (c *checker) described(k keyword) bool {
	start := c.at
	text := c.text()
	if c.clean == nil || k != kwTitle && k != kwDescription || !suspect(text) {
		return true
	}
	s, _ := raw.String(c.data[start:c.at])
	return c.clean(s) == s
}

// suspect reports whether text, the inside of a JSON string, may hold anything
// but ASCII letters, digits, signs, spaces, tabs and line ends.
func suspect(text []byte) bool {
	for i := 0; i < len(text); i++ {
		if text[i] >= 0x7f {
			return true
		}
		if text[i] == '\\' {
			if i++; i < len(text) && (text[i] == 'u' || text[i] == 'b' || text[i] == 'f') {
				return true
			}
		}
	}
	return false
}

func (c *checker) types() (allowed types, ok bool) {
	one := func() bool {
		if c.peek() != '"' {
			return false
		}
		name := string(c.text())
		t := typeNamed(name)
		// A list may hold integer and number, but nothing twice.
		if t == 0 || t != isInteger|isNumber && name != "integer" && allowed&t != 0 {
			return false
		}
		allowed |= t
		return true
	}
	if c.peek() != '[' {
		return allowed, one() && allowed != 0
	}
	list := c.at
	c.at++
	for first := true; c.next(first, ']'); first = false {
		if !one() {
			return 0, false
		}
	}
	text := c.data[list:c.at]
	return allowed, allowed != 0 && bytes.Count(text, []byte(`"number"`)) < 2 && bytes.Count(text, []byte(`"integer"`)) < 2
}

func (c *checker) enum() (listed types, ok bool) {
	if c.peek() != '[' {
		return 0, false
	}
	c.at++
	var values [][]byte
	var few [fewNames][]byte
	values = few[:0]
	for first := true; c.next(first, ']'); first = false {
		outer := c.spaced
		c.spaced = false
		value := c.skip()
		if len(value) == 0 || c.spaced && (value[0] == '{' || value[0] == '[') {
			return 0, false // two that are equal may differ in white space
		}
		c.spaced = outer || c.spaced
		values = append(values, value)
		if t := typeOfText(value); t == isInteger|isNumber {
			listed |= isEither
		} else {
			listed |= t
		}
	}
	return listed, len(values) > 0 && distinctTexts(values)
}

func (c *checker) nameLists() bool {
	if c.peek() != '{' {
		return false
	}
	c.at++
	start := len(c.unknown)
	for first := true; c.next(first, '}'); first = false {
		c.unknown = append(c.unknown, c.name())
		if c.peek() != '[' {
			return false
		}
		c.at++
		for first := true; c.next(first, ']'); first = false {
			if c.peek() != '"' {
				return false
			}
			c.text()
		}
	}
	ok := distinctTexts(c.unknown[start:])
	c.unknown = c.unknown[:start]
	return ok
}

func (c *checker) schemas(level, inPlace int) bool {
	if c.peek() != '[' {
		return false
	}
	c.at++
	n := 0
	for ; c.next(n == 0, ']'); n++ {
		if !c.schema(level, inPlace) {
			return false
		}
	}
	return n > 0
}

// schemaMap leaves the names of properties on c.names.
func (c *checker) schemaMap(k keyword, level, inPlace int) bool {
	if c.peek() != '{' {
		return false
	}
	c.at++
	stack := &c.unknown
	if k == kwProperties {
		stack = &c.names
	}
	start := len(*stack)
	for first := true; c.next(first, '}'); first = false {
		name := c.name()
		if k == kwProperties && !legalName(name) || k == kwPatternProperties && compilePattern(string(name)) == nil {
			return false
		}
		*stack = append(*stack, name)
		if !c.schema(level, inPlace) {
			return false
		}
	}
	ok := distinctTexts((*stack)[start:])
	if k != kwProperties {
		*stack = (*stack)[:start]
	}
	return ok
}

// required reads the list at start: distinct names of properties, in plain
// text, as legal names always can be.
func (c *checker) required(start int, names [][]byte) bool {
	after, spaced := c.at, c.spaced
	c.at = start + 1
	found := len(c.unknown)
	ok := true
	for first := true; ok && c.next(first, ']'); first = false {
		if ok = c.peek() == '"'; ok {
			c.unknown = append(c.unknown, c.text())
		}
	}
	if list := c.unknown[found:]; ok && len(list) > 0 {
		ok = distinctTexts(list) && subset(list, names)
	}
	c.unknown = c.unknown[:found]
	c.at, c.spaced = after, spaced
	return ok
}

func distinctTexts(list [][]byte) bool {
	if len(list) > fewNames {
		return distinct(list, func(b []byte) string { return string(b) })
	}
	for i := range list {
		for _, other := range list[:i] {
			if bytes.Equal(list[i], other) {
				return false
			}
		}
	}
	return true
}

func subset(list, of [][]byte) bool {
	if len(list) > fewNames && len(of) > fewNames {
		set := make(map[string]struct{}, len(of))
		for _, name := range of {
			set[string(name)] = struct{}{}
		}
		for _, name := range list {
			if _, ok := set[string(name)]; !ok {
				return false
			}
		}
		return true
	}
	for _, name := range list {
		found := false
		for _, other := range of {
			found = found || bytes.Equal(name, other)
		}
		if !found {
			return false
		}
	}
	return true
}

// compact returns text, which is valid JSON, without the white space between
// its tokens.
func compact(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ' ', '\n', '\t', '\r':
		case '"':
			c := checker{data: text, at: i}
			c.text()
			out = append(out, text[i:min(c.at, len(text))]...)
			i = c.at - 1
		default:
			out = append(out, text[i])
		}
	}
	return out
}
