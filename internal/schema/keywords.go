package schema

// This file knows the keywords of JSON Schema: which value each takes, and
// which of their values are schemas themselves.

import (
	"strconv"
	"strings"
)

type keyword uint8

const (
	kwUnknown keyword = iota
	kwSchema          // the dialect of the root
	kwID              // draft-06 on; the id of draft-04 is a name like any other
	kwComment         // draft-07 on
	kwAnchor          // 2019-09 on
	kwRef
	kwDefs            // 2019-09 on
	kwDefinitions     // to draft-07, and written long after
	kwDynamicRef      // 2020-12
	kwDynamicAnchor   // 2020-12
	kwRecursiveRef    // 2019-09 alone
	kwRecursiveAnchor // 2019-09 alone
	kwVocabulary      // 2019-09 on; of metaschemas
	kwTitle
	kwDescription
	kwDefault
	kwExamples   // draft-06 on
	kwDeprecated // 2019-09 on
	kwReadOnly   // draft-07 on
	kwWriteOnly  // draft-07 on
	kwType
	kwEnum
	kwConst // draft-06 on
	kwMultipleOf
	kwMinimum
	kwMaximum
	kwExclusiveMinimum // a boolean in draft-04, a bound since
	kwExclusiveMaximum // the same
	kwMinLength
	kwMaxLength
	kwPattern
	kwFormat
	kwPrefixItems // 2020-12; a list in items before
	kwItems
	kwAdditionalItems // to 2019-09; items since
	kwMinItems
	kwMaxItems
	kwUniqueItems
	kwContains         // draft-06 on
	kwMinContains      // 2019-09 on
	kwMaxContains      // 2019-09 on
	kwUnevaluatedItems // 2019-09 on
	kwMinProperties
	kwMaxProperties
	kwRequired          // a boolean in a property of draft-03
	kwDependentRequired // 2019-09 on
	kwProperties
	kwPatternProperties
	kwAdditionalProperties
	kwPropertyNames         // draft-06 on
	kwUnevaluatedProperties // 2019-09 on
	kwDependencies          // to draft-07
	kwAllOf
	kwAnyOf
	kwOneOf
	kwNot
	kwIf // draft-07 on, as then and else
	kwThen
	kwElse
	kwDependentSchemas // 2019-09 on
	kwContentEncoding  // draft-07 on
	kwContentMediaType // draft-07 on
	kwContentSchema    // 2019-09 on
	kwNullable         // OpenAPI 3.0, never JSON Schema
	keywords           // how many there are; a set of them is a uint64
)

// A rule is all that is known of one keyword.
type rule struct {
	name  string
	want  want
	holds holds
	are   traits
}

// rules has a row for each keyword. The sets and the table of names below are made of
// these rows. A set is a uint64, so that 63 keywords fit beside kwUnknown.
var rules = [keywords]rule{
	kwUnknown:               {"", wantAny, noSchema, annotation},
	kwSchema:                {"$schema", wantGone, noSchema, cut},
	kwID:                    {"$id", wantGone, noSchema, cut},
	kwAnchor:                {"$anchor", wantGone, noSchema, cut},
	kwComment:               {"$comment", wantString, noSchema, cut | annotation},
	kwRef:                   {"$ref", wantGone, noSchema, refers},
	kwDynamicRef:            {"$dynamicRef", wantGone, noSchema, refers},
	kwRecursiveRef:          {"$recursiveRef", wantGone, noSchema, refers},
	kwDefs:                  {"$defs", wantGone, noSchema, 0},
	kwDefinitions:           {"definitions", wantGone, noSchema, 0},
	kwDynamicAnchor:         {"$dynamicAnchor", wantGone, noSchema, 0},
	kwRecursiveAnchor:       {"$recursiveAnchor", wantGone, noSchema, 0},
	kwVocabulary:            {"$vocabulary", wantGone, noSchema, 0},
	kwTitle:                 {"title", wantString, noSchema, annotation},
	kwDescription:           {"description", wantString, noSchema, annotation},
	kwDefault:               {"default", wantAny, noSchema, annotation},
	kwExamples:              {"examples", wantList, noSchema, annotation},
	kwDeprecated:            {"deprecated", wantBool, noSchema, annotation},
	kwReadOnly:              {"readOnly", wantBool, noSchema, annotation},
	kwWriteOnly:             {"writeOnly", wantBool, noSchema, annotation},
	kwType:                  {"type", wantTypes, noSchema, ofTypes},
	kwEnum:                  {"enum", wantArray, noSchema, rootless | ofTypes},
	kwConst:                 {"const", wantAny, noSchema, rootless | ofTypes},
	kwNullable:              {"nullable", wantGone, noSchema, ofTypes | lowered},
	kwMultipleOf:            {"multipleOf", wantPositive, noSchema, 0},
	kwMinimum:               {"minimum", wantNumber, noSchema, 0},
	kwMaximum:               {"maximum", wantNumber, noSchema, 0},
	kwExclusiveMinimum:      {"exclusiveMinimum", wantNumber, noSchema, 0},
	kwExclusiveMaximum:      {"exclusiveMaximum", wantNumber, noSchema, 0},
	kwMinLength:             {"minLength", wantCount, noSchema, 0},
	kwMaxLength:             {"maxLength", wantCount, noSchema, 0},
	kwPattern:               {"pattern", wantString, noSchema, 0},
	kwFormat:                {"format", wantString, noSchema, 0},
	kwContentEncoding:       {"contentEncoding", wantString, noSchema, 0},
	kwContentMediaType:      {"contentMediaType", wantString, noSchema, 0},
	kwContentSchema:         {"contentSchema", wantSchema, oneSchema, 0},
	kwPrefixItems:           {"prefixItems", wantSchemas, listOfSchemas, ofArrays | since2019},
	kwItems:                 {"items", wantSchema, oneSchema, ofArrays},
	kwAdditionalItems:       {"additionalItems", wantGone, oneSchema, 0},
	kwContains:              {"contains", wantSchema, oneSchema, ofArrays},
	kwMinContains:           {"minContains", wantCount, noSchema, ofArrays | since2019},
	kwMaxContains:           {"maxContains", wantCount, noSchema, ofArrays | since2019},
	kwMinItems:              {"minItems", wantCount, noSchema, ofArrays},
	kwMaxItems:              {"maxItems", wantCount, noSchema, ofArrays},
	kwUniqueItems:           {"uniqueItems", wantBool, noSchema, ofArrays},
	kwUnevaluatedItems:      {"unevaluatedItems", wantLater, oneSchema, since2019},
	kwMinProperties:         {"minProperties", wantCount, noSchema, ofObjects},
	kwMaxProperties:         {"maxProperties", wantCount, noSchema, ofObjects},
	kwRequired:              {"required", wantArray, noSchema, ofObjects},
	kwDependentRequired:     {"dependentRequired", wantNames, noSchema, ofObjects | since2019},
	kwProperties:            {"properties", wantSchemaMap, namedSchemas, ofObjects},
	kwPatternProperties:     {"patternProperties", wantSchemaMap, namedSchemas, ofObjects},
	kwAdditionalProperties:  {"additionalProperties", wantSchemaOrBool, oneSchema, ofObjects},
	kwPropertyNames:         {"propertyNames", wantSchema, oneSchema, ofObjects},
	kwUnevaluatedProperties: {"unevaluatedProperties", wantLater, oneSchema, since2019 | lowered},
	kwDependencies:          {"dependencies", wantGone, namedSchemas, inPlace | ofTypes},
	kwDependentSchemas:      {"dependentSchemas", wantSchemaMap, namedSchemas, inPlace | ofObjects | since2019},
	kwAllOf:                 {"allOf", wantSchemas, listOfSchemas, inPlace | union},
	kwAnyOf:                 {"anyOf", wantSchemas, listOfSchemas, inPlace | union},
	kwOneOf:                 {"oneOf", wantSchemas, listOfSchemas, inPlace | union},
	kwNot:                   {"not", wantSchema, oneSchema, inPlace},
	kwIf:                    {"if", wantSchema, oneSchema, inPlace},
	kwThen:                  {"then", wantSchema, oneSchema, inPlace | ofTypes},
	kwElse:                  {"else", wantSchema, oneSchema, inPlace | ofTypes},
}

// A want is the kind of value that a keyword takes in a normal schema.
type want uint8

const (
	wantAny          want = iota
	wantGone              // the keyword is in no output
	wantLater             // nor here, but what it says goes elsewhere
	wantString            // and so on
	wantBool              //
	wantNumber            //
	wantPositive          // a number
	wantCount             // an integer that fits in 31 bits
	wantArray             //
	wantList              // an array, which other values are put in
	wantNames             // an object of lists of strings
	wantTypes             // see [meter.typesOf]
	wantSchema            // an object
	wantSchemas           // a list of objects that is not empty
	wantSchemaMap         // an object of objects
	wantSchemaOrBool      //
)

// holds says how many schemas a keyword's value holds.
type holds uint8

const (
	noSchema  holds = iota
	oneSchema       // the value, if it is a schema or a boolean
	listOfSchemas
	namedSchemas
)

// traits are what keywords have in common.
type traits uint16

const (
	annotation traits = 1 << iota // accepts everything
	cut                           // the root must not have it, and nothing changes without it
	refers                        // a reference
	since2019                     // older drafts do not know it
	inPlace                       // a schema about the same value as its parent; others are about a part and so one level deeper
	union                         // a list of such
	rootless                      // a root cannot have it, nor what is in place
	lowered                       // a root has it in another form
	ofObjects                     // says something about objects alone
	ofArrays                      //
	ofTypes                       // says something about types or names
)

// setOf is the set of all keywords that have one of the traits.
func setOf(any traits) (set uint64) {
	for k, r := range rules {
		if r.are&any != 0 {
			set |= 1 << k
		}
	}
	return set
}

// has reports whether a set of keywords holds k.
func has(set uint64, k keyword) bool { return set>>k&1 != 0 }

// Sets of keywords.
var (
	annotations     = setOf(annotation) // may stand beside anything
	cuts            = setOf(cut)
	references      = setOf(refers)    // a text without one has nothing to expand
	newerKeywords   = setOf(since2019) // nothing to a reader of an old dialect
	unions          = setOf(union)
	inPlaceKeywords = setOf(inPlace)
	rootChanges     = setOf(rootless | inPlace | lowered)   // a root with one of them gets another form
	objectKeywords  = setOf(ofObjects)                      // nothing to say of other values
	arrayKeywords   = setOf(ofArrays)                       // the same
	telling         = setOf(ofObjects | ofArrays | ofTypes) // what a plan can learn from
	holders         = func() (set uint64) {
		for k, r := range rules {
			if r.holds != noSchema {
				set |= 1 << k
			}
		}
		return set
	}()
)

// groups are keywords whose meanings depend on each other: two schemas that
// both have one of a group cannot be made one by putting their members together.
var groups = []uint64{
	// additional is what the others do not name
	1<<kwProperties | 1<<kwPatternProperties | 1<<kwAdditionalProperties | 1<<kwUnevaluatedProperties,
	1<<kwItems | 1<<kwPrefixItems | 1<<kwAdditionalItems | 1<<kwUnevaluatedItems | 1<<kwContains | 1<<kwMinContains | 1<<kwMaxContains,
	1<<kwIf | 1<<kwThen | 1<<kwElse,      // then and else belong to their own if
	1<<kwMinimum | 1<<kwExclusiveMinimum, // draft-04 has a boolean in one for the other
	1<<kwMaximum | 1<<kwExclusiveMaximum,
	1<<kwType | 1<<kwNullable, // null is let in for that type
	1<<kwEnum | 1<<kwNullable, // and for that list
}

// places has the keywords by a hash of their names, those that share one in the
// places that follow.
var places = func() (table [256]place) {
	for k := kwUnknown + 1; k < keywords; k++ {
		name := rules[k].name
		at := hash(wordOf(name), name)
		for table[at].k != kwUnknown {
			at++
		}
		table[at] = place{wordOf(name), uint8(len(name)), k}
	}
	return table
}()

// A place is where a keyword is found: most differ in their first eight bytes.
type place struct {
	word uint64
	size uint8
	k    keyword
}

// wordOf has the first eight bytes of a name, or all of a shorter one.
func wordOf(name string) (word uint64) {
	for i := range min(len(name), 8) {
		word |= uint64(name[i]) << (8 * i)
	}
	return word
}

// hash is the place of a name, of which two keywords alone share one.
func hash(word uint64, name string) uint8 {
	return uint8((word + uint64(len(name))) * 0x15c55b44925075c3 >> 56)
}

// keywordOf is the keyword of a name, kwUnknown for most names. Case counts: a parameter may
// be called Type or ITEMS.
func keywordOf(name string) keyword { return keywordAt(wordOf(name), name) }

// keywordAt is [keywordOf] where the word of the name is known.
func keywordAt(word uint64, name string) keyword {
	for at := hash(word, name); ; at++ {
		switch p := &places[at]; {
		case p.k == kwUnknown:
			return kwUnknown
		case p.word == word && len(name) == int(p.size) && (len(name) <= 8 || rules[p.k].name == name):
			return p.k
		}
	}
}

// schemasIn is what the keyword's value v holds, for v of any draft and kind.
func schemasIn(k keyword, v *node) holds {
	held := rules[k].holds
	switch {
	case held == oneSchema && k == kwItems && v.kind == '[':
		return listOfSchemas
	case held == listOfSchemas && v.kind == '{' && aloneInList(k, v):
		return oneSchema
	case held == listOfSchemas && v.kind != '[', held == namedSchemas && v.kind != '{':
		return noSchema
	}
	return held
}

// aloneInList reports whether the keyword's value v is the only element of a
// list, as which some servers write it.
func aloneInList(k keyword, v *node) bool {
	return has(unions, k) && v.kind == '{' && v.seen&^(1<<kwUnknown) != 0
}

// deeper is where the schemas in the keyword's value are: level counts how deep their
// value is in the arguments, inPlace how many schemas about that value are around
// them. Rule 4 bounds the two apart, since a chain of anyOf makes no level.
func deeper(k keyword, level, inPlace int) (int, int) {
	if has(inPlaceKeywords, k) {
		return level, inPlace + 1
	}
	return level + 1, 0
}

// takes reports whether a keyword of the want takes the value n, as far as that
// is a matter of a scalar or of the kind.
func (w want) takes(n *node) bool {
	switch w {
	case wantGone, wantNames:
		return false
	case wantString:
		return n.kind == '"'
	case wantBool:
		return n.kind == 't' || n.kind == 'f'
	case wantNumber:
		return n.kind == '0' && isFinite(n.text)
	// A multipleOf of 0 or less is an error to a validator (2020-12 validation, 6.2.1).
	case wantPositive:
		f, err := strconv.ParseFloat(n.text, 64)
		return n.kind == '0' && err == nil && f > 0
	case wantCount:
		return n.kind == '0' && isCount(n.text)
	case wantArray, wantList:
		return n.kind == '['
	case wantSchemas:
		return n.kind == '[' && len(n.members) > 0
	case wantSchema, wantSchemaMap:
		return n.kind == '{'
	case wantSchemaOrBool:
		return n.kind == '{' || n.kind == 't' || n.kind == 'f'
	}
	return true
}

// isCount reports whether a number's text is one that readers take for a count. The
// specification lets 3.0 stand for 3; many readers have 32 bits for it, and a larger
// count bounds nothing that a model writes.
func isCount(text string) bool {
	if whole, fraction, ok := strings.Cut(text, "."); ok && strings.Trim(fraction, "0") == "" {
		text = whole
	}
	n, err := strconv.ParseInt(text, 10, 32)
	return err == nil && n >= 0
}

// isFinite reports whether a number's text fits a double.
// 1e999 is JSON, but readers that keep doubles, as those of Gemini do, refuse it or read it as
// infinity, which they cannot write again.
func isFinite(text string) bool {
	// So few digits without an exponent always fit.
	if len(text) < 20 && !strings.ContainsAny(text, "eE") {
		return true
	}
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// legalName reports whether every provider takes name as a property's. Anthropic fails
// a whole request for a key that is not ^[a-zA-Z0-9_.-]{1,64}$; Gemini wants a letter
// or an underscore first.
func legalName[T string | []byte](name T) bool {
	if len(name) == 0 || len(name) > maxName || !inNames[name[0]] || name[0] < 'A' {
		return false
	}
	for i := range len(name) {
		if !inNames[name[i]] {
			return false
		}
	}
	return true
}

const maxName = 64

// inNames are the bytes of legal names, which start with one from 'A' on.
var inNames = func() (legal [256]bool) {
	for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789.-" {
		legal[c] = true
	}
	return legal
}()
