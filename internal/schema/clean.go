package schema

// This file tells in one pass over the text whether a schema already has the
// form that [Normalizer.Normalize] gives. Most servers' schemas do, and a
// listing may hold thousands of them, so no tree is built for this.
//
// It states the same rules as the passes over the tree, read the other way
// round. What is rare it leaves to them: to say no to a schema that has the form
// costs time, and nothing else.

import (
	"bytes"
	"encoding/binary"
	"sync"

	"github.com/seed94b59a13/mcp/internal/raw"
)

// A checker reads text that [raw.Scan] accepted, and takes no white space
// between tokens.
//
// What only the root may not have, and what most roots have, is no reason to
// build a tree either: those members are cut out of the text.
type checker struct {
	data []byte
	at   int
	seen uint64   // keywords, anywhere
	old  bool     // the root's $schema is that of an older draft
	kept [24]span // members of the root
	keep int      // how many
	cut  bool     // some are not kept
	told []span   // titles and descriptions, anywhere

	// texts are the names of properties of the schemas around, innermost last,
	// and after them the items of the list at hand.
	texts [][]byte
}

type span struct{ start, end int }

// rootOnly are the keywords that are cut.
const rootOnly = 1<<kwSchema | 1<<kwID | 1<<kwAnchor | 1<<kwComment

// checkers are there to be used again: most of what one takes is room.
var checkers = sync.Pool{New: func() any { return new(checker) }}

// asNormal returns schema in the normal form when that is a matter of cutting
// members of the root, and nil when it is not. A schema that has the form
// already is returned as it is.
func (z Normalizer) asNormal(schema []byte) []byte {
	n, out, _ := z.normal(schema)
	if n < len(schema) || n == 0 {
		return nil
	}
	return out
}

// normal is asNormal for the schema that data starts with. It returns its
// length, 0 for one that would be a matter of more, and whether its text is plain.
func (z Normalizer) normal(data []byte) (n int, out []byte, plain bool) {
	c := checkers.Get().(*checker)
	c.data, c.at, c.seen, c.old, c.keep, c.cut = data, 0, 0, false, 0, false
	defer func() {
		c.data = nil
		clear(c.texts[:cap(c.texts)])
		c.texts, c.told = c.texts[:0], c.told[:0]
		checkers.Put(c)
	}()
	if !c.schema(1, 0) || c.old && c.seen&since2019 != 0 {
		return 0, nil, false
	}
	data = data[:c.at:c.at]
	if plain = raw.IsPlain(data); !plain && z.Clean != nil && !c.isClean(z.Clean) {
		return 0, nil, false
	}
	if !c.cut {
		return c.at, data, plain
	}
	out = make([]byte, 0, c.at)
	for _, member := range c.kept[:c.keep] {
		out = append(append(out, ','), data[member.start:member.end]...)
	}
	out[0] = '{'
	return c.at, append(out, '}'), plain
}

// isClean reports whether clean changes no title and no description.
func (c *checker) isClean(clean func(string) string) bool {
	for _, told := range c.told {
		if text := c.data[told.start:told.end]; suspect(text) {
			if s, _ := raw.String(text); clean(s) != s {
				return false
			}
		}
	}
	return true
}

// peek returns the next byte, 0 at the end.
func (c *checker) peek() byte {
	if c.at < len(c.data) {
		return c.data[c.at]
	}
	return 0
}

// skip passes the value at hand and returns its text, nil where there is none
// or white space in it.
func (c *checker) skip() []byte {
	start := min(c.at, len(c.data))
	if quoted(c.data[start:]) { // mostly without escapes
		if n := bytes.IndexByte(c.data[start+1:], '"'); n >= 0 && c.data[start+n] != '\\' {
			c.at += n + 2
			return c.data[start:c.at]
		}
	}
	n, err := raw.Scan(c.data[start:])
	value := c.data[start : start+n]
	if err != nil || n > len("[]") && (value[0] == '[' || value[0] == '{') && len(raw.Compact(value)) < n {
		return nil
	}
	c.at += n
	return value
}

// word passes a string without escapes and returns its text, nil where there is
// none. For short ones these few steps are the fastest.
func (c *checker) word() []byte {
	if c.peek() != '"' {
		return nil
	}
	rest := c.data[c.at+1:]
	for i, b := range rest {
		if b == '\\' {
			return nil
		}
		if b == '"' {
			c.at += i + len(`""`)
			return rest[:i]
		}
	}
	return nil
}

// name passes a member's name and its colon.
func (c *checker) name() []byte {
	text := c.word()
	if text == nil {
		if text = c.skip(); !quoted(text) {
			return nil
		}
		text = raw.AppendString(nil, text)
	}
	if c.peek() != ':' {
		return nil
	}
	c.at++
	return text
}

// each passes an array, or an object, with a call of item at the start of each
// of its items. It reports whether that is what is at hand and item liked all.
func (c *checker) each(opener byte, item func() bool) bool {
	closer := opener + 2 // in ASCII
	if c.peek() != opener {
		return false
	}
	if c.at++; c.peek() == closer {
		c.at++
		return true
	}
	for item() {
		c.at++
		switch c.data[min(c.at, len(c.data))-1] {
		case closer:
			return true
		case ',':
		default:
			return false // white space
		}
	}
	return false
}

// facts are what the members of one schema say about each other.
type facts struct {
	seen           uint64
	allowed        types
	listed, preset types // of the enum and of the default
	fixed          types // of the const
	plainObject    bool  // its type is just that
	names, named   int   // where its properties are in texts
	required       int   // where that list starts, 0 without one
	unknown        int   // keywords
	others         [4][]byte
}

func (c *checker) schema(level, inPlace int) bool {
	root := level == 1 && inPlace == 0
	if level > maxLevels || inPlace > maxInPlace {
		ok := c.peek() == '{'
		return ok && len(c.skip()) == len("{}")
	}
	start := len(c.texts)
	f := facts{allowed: anyType}
	ok := c.each('{', func() bool {
		start := c.at
		name := c.name()
		k := keywordOf(string(name))
		if k != kwUnknown && has(f.seen, k) {
			return false
		}
		f.seen |= 1 << k
		if k == kwUnknown {
			if f.unknown == len(f.others) {
				return false
			}
			f.others[f.unknown] = name
			f.unknown++
		}
		if root && has(rootOnly, k) {
			c.cut = true
			value := c.skip()
			c.old = c.old || k == kwSchema && bytes.Contains(value, []byte(oldDrafts))
			return len(value) > 0
		}
		if !c.member(k, &f, level, inPlace) || root && c.keep == len(c.kept) {
			return false
		}
		if root {
			c.kept[c.keep] = span{start, c.at}
			c.keep++
		}
		return true
	})
	c.seen |= f.seen
	switch {
	case !ok,
		root && (!f.plainObject || !has(f.seen, kwProperties) || f.seen&rootless != 0),
		f.allowed&isObject == 0 && f.seen&objectKeywords != 0,
		f.allowed&isArray == 0 && f.seen&arrayKeywords != 0,
		!has(f.seen, kwItems) && (has(f.seen, kwType) && f.allowed&isArray != 0 || has(f.seen, kwPrefixItems)),
		f.listed&^(f.allowed|isEither) != 0, f.listed&isEither != 0 && f.allowed&(isInteger|isNumber) == 0,
		f.preset != 0 && f.preset&f.allowed == 0,
		f.fixed != 0 && f.fixed&f.allowed == 0,
		repeated(f.others[:f.unknown]) != nil,
		f.required > 0 && !c.required(f.required, c.texts[f.names:f.named]):
		return false
	}
	c.texts = c.texts[:start]
	return true
}

// member passes the value of a keyword.
func (c *checker) member(k keyword, f *facts, level, inPlace int) (ok bool) {
	start := c.at
	sub, place := deeper(k, level, inPlace)
	switch want := wants[k]; want {
	case wantGone, wantNames:
		return false
	case wantTypes:
		f.allowed, ok = c.types()
		f.plainObject = f.allowed == isObject && c.data[start] == '"'
		return ok
	case wantEnum:
		f.listed, ok = c.enum()
		return ok
	case wantRequired:
		f.required = start
		_, ok = c.items(quoted)
		return ok
	case wantSchema, wantSchemaOrBool:
		if b := c.peek(); want == wantSchemaOrBool && (b == 't' || b == 'f') {
			return c.skip() != nil
		}
		return c.schema(sub, place)
	case wantSchemas:
		return c.each('[', func() bool { return c.schema(sub, place) }) && c.at > start+2
	case wantSchemaMap:
		names := len(c.texts)
		ok = c.each('{', func() bool {
			name := c.name()
			c.texts = append(c.texts, name)
			if k == kwProperties && !legalName(name) || k == kwPatternProperties && compilePattern(string(name)) == nil {
				return false
			}
			return c.schema(sub, place)
		})
		ok = ok && repeated(c.texts[names:]) == nil
		if k == kwProperties {
			f.names, f.named = names, len(c.texts)
		} else {
			c.texts = c.texts[:names]
		}
		return ok
	default:
		value := c.skip()
		if len(value) == 0 || !takes(want, value[0], value) {
			return false
		}
		switch k {
		case kwDefault:
			f.preset = typeOfText(value)
		case kwConst:
			f.fixed = typeOfText(value)
		case kwPattern:
			return takenPattern(string(raw.AppendString(nil, value)))
		case kwTitle, kwDescription:
			c.told = append(c.told, span{start, c.at})
		}
		return true
	}
}

// isEither marks a number in a list whose text does not tell whether it is integral.
const isEither types = 1 << 7

// deeper is where the schemas in the keyword's value are.
func deeper(k keyword, level, inPlace int) (int, int) {
	if has(inPlaceKeywords, k) {
		return level, inPlace + 1
	}
	return level + 1, 0
}

// suspect reports whether text, a JSON string, may hold anything but ASCII
// letters, digits, signs, spaces, tabs and line ends.
func suspect(text []byte) bool {
	for i := 0; i < len(text); i++ {
		for i+8 <= len(text) {
			// Bytes from 0x7f on have the high bit, or get it by 1 more.
			const ones, high, slashes = 0x0101010101010101, 0x8080808080808080, 0x5c5c5c5c5c5c5c5c
			x := binary.LittleEndian.Uint64(text[i:])
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

// items passes a list of distinct items that like takes.
func (c *checker) items(like func(item []byte) bool) (items [][]byte, ok bool) {
	start := len(c.texts)
	ok = c.each('[', func() bool {
		item := c.skip()
		c.texts = append(c.texts, item)
		return item != nil && like(item)
	})
	items = c.texts[start:]
	c.texts = c.texts[:start]
	if !ok || repeated(items) != nil {
		return nil, false
	}
	return items, true
}

func quoted(item []byte) bool { return len(item) > 0 && item[0] == '"' }

func (c *checker) types() (allowed types, ok bool) {
	one := func(word []byte) bool {
		t := typeNamed(string(word))
		allowed |= t
		return t != 0
	}
	if c.peek() == '"' {
		ok = one(c.word())
		return allowed, ok
	}
	_, ok = c.items(func(item []byte) bool { return quoted(item) && one(item[1:len(item)-1]) })
	return allowed, ok && allowed != 0
}

func (c *checker) enum() (listed types, ok bool) {
	items, ok := c.items(func(item []byte) bool {
		if t := typeOfText(item); t == isInteger|isNumber {
			listed |= isEither
		} else {
			listed |= t
		}
		return true
	})
	return listed, ok && len(items) > 0
}

// required reads the list at start: names of properties in plain text, as legal
// names always can be. Mostly they come in the order of the properties; of many
// others it says no.
func (c *checker) required(start int, names [][]byte) bool {
	after := c.at
	defer func() { c.at = after }()
	c.at = start
	items, ok := c.items(quoted)
	at, tries := -1, len(items)+1<<12
	for _, item := range items {
		for n := 0; ; n++ {
			if at++; at >= len(names) {
				at = 0
			}
			if n == len(names) || tries == 0 {
				return false
			}
			if tries--; bytes.Equal(item[1:len(item)-1], names[at]) {
				break
			}
		}
	}
	return ok
}

// repeated returns the first text that is in the list before, nil without one.
func repeated(list [][]byte) []byte {
	if len(list) > fewNames {
		seen := make(map[string]struct{}, len(list))
		for i, text := range list {
			if seen[string(text)] = struct{}{}; len(seen) == i {
				return text
			}
		}
		return nil
	}
	for i, text := range list {
		for _, other := range list[:i] {
			if len(text) == len(other) && (len(text) == 0 || text[len(text)-1] == other[len(text)-1] && bytes.Equal(text, other)) {
				return text
			}
		}
	}
	return nil
}
