package schema

// This file knows the keywords of JSON Schema: which value each takes, and
// which of their values are schemas themselves.

import (
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
)

type keyword uint8

const (
	kwUnknown keyword = iota
	kwSchema
	kwID
	kwComment
	kwAnchor
	kwRef
	kwDefs
	kwDefinitions
	kwDynamicRef
	kwDynamicAnchor
	kwRecursiveRef
	kwRecursiveAnchor
	kwVocabulary
	kwTitle
	kwDescription
	kwDefault
	kwExamples
	kwDeprecated
	kwReadOnly
	kwWriteOnly
	kwType
	kwEnum
	kwConst
	kwMultipleOf
	kwMinimum
	kwMaximum
	kwExclusiveMinimum
	kwExclusiveMaximum
	kwMinLength
	kwMaxLength
	kwPattern
	kwFormat
	kwPrefixItems
	kwItems
	kwAdditionalItems
	kwMinItems
	kwMaxItems
	kwUniqueItems
	kwContains
	kwMinContains
	kwMaxContains
	kwUnevaluatedItems
	kwMinProperties
	kwMaxProperties
	kwRequired
	kwDependentRequired
	kwProperties
	kwPatternProperties
	kwAdditionalProperties
	kwPropertyNames
	kwUnevaluatedProperties
	kwDependencies
	kwAllOf
	kwAnyOf
	kwOneOf
	kwNot
	kwIf
	kwThen
	kwElse
	kwDependentSchemas
	kwContentEncoding
	kwContentMediaType
	kwContentSchema
	kwNullable
	keywords // how many there are; a set of them is a uint64
)

var keywordNames = [keywords]string{
	kwSchema: "$schema", kwID: "$id", kwComment: "$comment", kwAnchor: "$anchor", kwRef: "$ref", kwDefs: "$defs",
	kwDefinitions: "definitions", kwDynamicRef: "$dynamicRef", kwDynamicAnchor: "$dynamicAnchor", kwRecursiveRef: "$recursiveRef",
	kwRecursiveAnchor: "$recursiveAnchor", kwVocabulary: "$vocabulary", kwTitle: "title", kwDescription: "description",
	kwDefault: "default", kwExamples: "examples", kwDeprecated: "deprecated", kwReadOnly: "readOnly", kwWriteOnly: "writeOnly",
	kwType: "type", kwEnum: "enum", kwConst: "const", kwMultipleOf: "multipleOf", kwMinimum: "minimum", kwMaximum: "maximum",
	kwExclusiveMinimum: "exclusiveMinimum", kwExclusiveMaximum: "exclusiveMaximum", kwMinLength: "minLength",
	kwMaxLength: "maxLength", kwPattern: "pattern", kwFormat: "format", kwPrefixItems: "prefixItems", kwItems: "items",
	kwAdditionalItems: "additionalItems", kwMinItems: "minItems", kwMaxItems: "maxItems", kwUniqueItems: "uniqueItems",
	kwContains: "contains", kwMinContains: "minContains", kwMaxContains: "maxContains", kwUnevaluatedItems: "unevaluatedItems",
	kwMinProperties: "minProperties", kwMaxProperties: "maxProperties", kwRequired: "required",
	kwDependentRequired: "dependentRequired", kwProperties: "properties", kwPatternProperties: "patternProperties",
	kwAdditionalProperties: "additionalProperties", kwPropertyNames: "propertyNames",
	kwUnevaluatedProperties: "unevaluatedProperties", kwDependencies: "dependencies", kwAllOf: "allOf", kwAnyOf: "anyOf",
	kwOneOf: "oneOf", kwNot: "not", kwIf: "if", kwThen: "then", kwElse: "else", kwDependentSchemas: "dependentSchemas",
	kwContentEncoding: "contentEncoding", kwContentMediaType: "contentMediaType", kwContentSchema: "contentSchema",
	kwNullable: "nullable",
}

var keywordsByName = func() map[string]keyword {
	byName := make(map[string]keyword, keywords)
	for k, name := range keywordNames[1:] {
		byName[name] = keyword(k + 1)
	}
	return byName
}()

func keywordOf(name string) keyword {
	switch name { // most are one of these
	case "type":
		return kwType
	case "description":
		return kwDescription
	case "properties":
		return kwProperties
	case "required":
		return kwRequired
	case "items":
		return kwItems
	}
	return keywordsByName[name]
}

// A want is the kind of value that a keyword takes.
type want uint8

const (
	wantAny          want = iota
	wantGone              // the keyword is in no output
	wantString            // and so on
	wantBool              //
	wantNumber            //
	wantPositive          // a number
	wantCount             // an integer that fits in 31 bits
	wantArray             //
	wantNames             // an object of lists of strings
	wantTypes             // see [typeMask]
	wantEnum              //
	wantRequired          //
	wantPattern           //
	wantSchema            // an object
	wantSchemas           // a list of objects that is not empty
	wantSchemaMap         // an object of objects
	wantSchemaOrBool      //
)

var wants = [keywords]want{
	kwSchema: wantGone, kwID: wantGone, kwAnchor: wantGone, kwRef: wantGone, kwDefs: wantGone, kwDefinitions: wantGone,
	kwDynamicRef: wantGone, kwDynamicAnchor: wantGone, kwRecursiveRef: wantGone, kwRecursiveAnchor: wantGone,
	kwVocabulary: wantGone, kwAdditionalItems: wantGone, kwDependencies: wantGone, kwNullable: wantGone,
	kwUnevaluatedItems: wantGone, kwUnevaluatedProperties: wantGone,
	kwComment: wantString, kwTitle: wantString, kwDescription: wantString, kwFormat: wantString,
	kwContentEncoding: wantString, kwContentMediaType: wantString,
	kwDeprecated: wantBool, kwReadOnly: wantBool, kwWriteOnly: wantBool, kwUniqueItems: wantBool,
	kwMultipleOf: wantPositive, kwMinimum: wantNumber, kwMaximum: wantNumber,
	kwExclusiveMinimum: wantNumber, kwExclusiveMaximum: wantNumber,
	kwMinLength: wantCount, kwMaxLength: wantCount, kwMinItems: wantCount, kwMaxItems: wantCount,
	kwMinContains: wantCount, kwMaxContains: wantCount, kwMinProperties: wantCount, kwMaxProperties: wantCount,
	kwExamples: wantArray, kwDependentRequired: wantNames, kwType: wantTypes, kwEnum: wantEnum,
	kwRequired: wantRequired, kwPattern: wantPattern,
	kwItems: wantSchema, kwContains: wantSchema, kwPropertyNames: wantSchema, kwContentSchema: wantSchema,
	kwNot: wantSchema, kwIf: wantSchema, kwThen: wantSchema, kwElse: wantSchema,
	kwPrefixItems: wantSchemas, kwAllOf: wantSchemas, kwAnyOf: wantSchemas, kwOneOf: wantSchemas,
	kwProperties: wantSchemaMap, kwPatternProperties: wantSchemaMap, kwDependentSchemas: wantSchemaMap,
	kwAdditionalProperties: wantSchemaOrBool,
}

// holds says how many schemas a value holds.
type holds uint8

const (
	noSchema holds = iota
	oneSchema
	listOfSchemas
	namedSchemas
)

// schemasIn is what the keyword's value v holds, for v of any draft and kind.
func schemasIn(k keyword, v *node) holds {
	switch wants[k] {
	case wantSchema, wantSchemaOrBool:
		if k != kwItems || v.kind != '[' {
			return oneSchema
		}
		return listOfSchemas
	case wantSchemas:
		if v.kind == '[' {
			return listOfSchemas
		}
	case wantSchemaMap:
		if v.kind == '{' {
			return namedSchemas
		}
	}
	switch {
	case k == kwUnevaluatedItems, k == kwUnevaluatedProperties, k == kwAdditionalItems:
		return oneSchema
	case k == kwDependencies && v.kind == '{':
		return namedSchemas
	}
	return noSchema
}

// schemas yields the schemas in n with their keywords, under the names of a map
// of them.
func (n *node) schemas(yield func(k keyword, sub member) bool) {
	for _, m := range n.list('{') {
		k := keywordOf(m.name)
		subs := m.value.members
		switch schemasIn(k, m.value) {
		case noSchema:
			continue
		case oneSchema:
			subs = []member{{"", m.value}}
		}
		for _, sub := range subs {
			if !yield(k, sub) {
				return
			}
		}
	}
}

// has reports whether a set of keywords holds k.
func has(set uint64, k keyword) bool { return set>>k&1 != 0 }

// Sets of keywords. A schema in place is about the same value as its parent,
// the others are about a part of that value and so one level deeper.
const (
	unions          = 1<<kwAllOf | 1<<kwAnyOf | 1<<kwOneOf
	inPlaceKeywords = unions | 1<<kwNot | 1<<kwIf | 1<<kwThen | 1<<kwElse |
		1<<kwDependentSchemas | 1<<kwDependencies

	// rootless are those that a root cannot have.
	rootless = inPlaceKeywords | 1<<kwEnum | 1<<kwConst

	objectKeywords = 1<<kwProperties | 1<<kwRequired | 1<<kwPatternProperties | 1<<kwAdditionalProperties |
		1<<kwPropertyNames | 1<<kwDependentRequired | 1<<kwDependentSchemas | 1<<kwMinProperties | 1<<kwMaxProperties
	arrayKeywords = 1<<kwItems | 1<<kwPrefixItems | 1<<kwContains | 1<<kwMinContains | 1<<kwMaxContains |
		1<<kwMinItems | 1<<kwMaxItems | 1<<kwUniqueItems

	annotations = 1<<kwTitle | 1<<kwDescription | 1<<kwDefault | 1<<kwExamples | 1<<kwDeprecated |
		1<<kwReadOnly | 1<<kwWriteOnly | 1<<kwComment | 1<<kwUnknown

	// since2019 are those that older drafts do not know.
	since2019 = 1<<kwDependentRequired | 1<<kwDependentSchemas | 1<<kwMinContains | 1<<kwMaxContains |
		1<<kwPrefixItems | 1<<kwUnevaluatedItems | 1<<kwUnevaluatedProperties
)

// groups are keywords whose meanings depend on each other: two schemas that
// both have one of a group cannot be made one by putting their members together.
var groups = []uint64{
	1<<kwProperties | 1<<kwPatternProperties | 1<<kwAdditionalProperties | 1<<kwUnevaluatedProperties,
	1<<kwItems | 1<<kwPrefixItems | 1<<kwAdditionalItems | 1<<kwUnevaluatedItems | 1<<kwContains | 1<<kwMinContains | 1<<kwMaxContains,
	1<<kwIf | 1<<kwThen | 1<<kwElse,
	1<<kwMinimum | 1<<kwExclusiveMinimum,
	1<<kwMaximum | 1<<kwExclusiveMaximum,
	1<<kwType | 1<<kwNullable,
	1<<kwEnum | 1<<kwNullable,
}

// Types of JSON values, as a set. An integral number is an isInteger, any
// other an isNumber; the schema type number allows both.
type types uint8

const (
	isString types = 1 << iota
	isNumber
	isInteger
	isBoolean
	isArray
	isObject
	isNull
	anyType types = 1<<iota - 1
)

// typeWords are the names of the types, in their order.
var typeWords = [...]string{"string", "number", "integer", "boolean", "array", "object", "null"}

// typeNamed is what a schema type allows, 0 when there is none of the name.
func typeNamed(name string) types {
	switch name {
	case "string":
		return isString
	case "number":
		return isNumber | isInteger
	case "integer":
		return isInteger
	case "boolean":
		return isBoolean
	case "array":
		return isArray
	case "object":
		return isObject
	case "null":
		return isNull
	}
	return 0
}

// words are the names of the schema types that allow what t has.
func (t types) words() (words []string) {
	if t&isNumber != 0 {
		t &^= isInteger
	}
	for i, word := range typeWords {
		if t>>i&1 != 0 {
			words = append(words, word)
		}
	}
	return words
}

// article names the type of a value in a sentence.
func article(t types) string {
	switch {
	case t == isArray:
		return "an array"
	case t&(isInteger|isNumber) != 0:
		return "a number"
	}
	return "a " + t.words()[0]
}

// meant are words of programming languages for types.
var meant = map[string]string{
	"int": "integer", "long": "integer", "float": "number", "double": "number", "bool": "boolean", "str": "string", "dict": "object", "list": "array",
}

// properType is the JSON Schema name that a server means by one that is near:
// another case, or the word of a programming language. It is empty when unknown.
func properType(name string) string {
	name = strings.ToLower(name)
	if typeNamed(name) == 0 {
		return meant[name]
	}
	return name
}

// typeMask is what a schema's type keyword allows: everything where it is
// missing or says nothing that is understood.
func typeMask(value *node) types {
	list := []member{{"", value}}
	if value.is('[') {
		list = value.members
	}
	var all types
	for _, m := range list {
		t := typeNamed(properType(m.value.string()))
		if t == 0 {
			return anyType
		}
		all |= t
	}
	if all == 0 {
		return anyType
	}
	return all
}

// typeOf is the type of a value: of its kind, and for numbers its text. A number with an exponent counts as integral
// and as not, since its text does not tell.
func typeOf(kind byte, text string) types {
	switch kind {
	case '{':
		return isObject
	case '[':
		return isArray
	case '"':
		return isString
	case 't', 'f':
		return isBoolean
	case 'n':
		return isNull
	}
	if strings.ContainsAny(text, "eE") {
		return isInteger | isNumber
	}
	if _, fraction, ok := strings.Cut(text, "."); ok && strings.Trim(fraction, "0") != "" {
		return isNumber
	}
	return isInteger
}

// typeOfText is [typeOf] for text, of which only numbers are copied.
func typeOfText(value []byte) types {
	if c := value[0]; c != '-' && (c < '0' || c > '9') {
		return typeOf(c, "")
	}
	return typeOf('0', string(value))
}

// takes reports whether a keyword of the want takes the value that starts with
// c. Of containers the text may be missing.
func takes[T string | []byte](w want, c byte, text T) bool {
	number := c == '-' || c >= '0' && c <= '9'
	switch w {
	case wantString, wantPattern:
		return c == '"'
	case wantBool:
		return c == 't' || c == 'f'
	case wantNumber:
		return number && isFinite(string(text))
	case wantPositive:
		f, err := strconv.ParseFloat(string(text), 64)
		return number && err == nil && f > 0
	case wantCount:
		return number && isCount(string(text))
	case wantArray, wantEnum, wantRequired:
		return c == '['
	}
	return true
}

// isCount reports whether a number's text is one that readers take for a count.
func isCount(text string) bool {
	if whole, fraction, ok := strings.Cut(text, "."); ok && strings.Trim(fraction, "0") == "" {
		text = whole
	}
	n, err := strconv.ParseInt(text, 10, 32)
	return err == nil && n >= 0
}

// isFinite reports whether a number's text fits a double.
func isFinite(text string) bool {
	if len(text) < 20 && !strings.ContainsAny(text, "eE") {
		return true
	}
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// takenPattern reports whether every provider's engine takes the pattern: it
// is one of RE2, and no class of it holds a bracket that some engines read as
// the start of a nested class, or starts with one that they read as its end.
func takenPattern(pattern string) bool {
	inClass := false
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
			if i < len(pattern) && strings.IndexByte("QECzAZ", pattern[i]) >= 0 {
				return false // RE2's own, and something else elsewhere
			}
		case '[':
			if inClass {
				return false
			}
			if inClass = true; strings.HasPrefix(pattern[i+1:], "]") || strings.HasPrefix(pattern[i+1:], "^]") {
				return false
			}
		case ']':
			inClass = false
		case '(':
			if !inClass && strings.HasPrefix(pattern[i+1:], "?") && !strings.HasPrefix(pattern[i+1:], "?:") {
				return false // named groups and flags differ between engines
			}
		}
	}
	if len(pattern) > maxPattern {
		return false
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	return err == nil && parsed != nil
}

// maxPattern keeps the work that a pattern makes for its readers in bounds.
const maxPattern = 4096

func compilePattern(pattern string) *regexp.Regexp {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil
	}
	return re
}

// legalName reports whether every provider takes name as a property's.
func legalName[T string | []byte](name T) bool {
	if len(name) == 0 || len(name) > maxName {
		return false
	}
	for i := range len(name) {
		c := name[i]
		letter := (c|' ')-'a' < 26 || c == '_' // | ' ' makes it lower case
		if !letter && (i == 0 || c-'0' >= 10 && c != '.' && c != '-') {
			return false
		}
	}
	return true
}

const maxName = 64
