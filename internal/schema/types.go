package schema

// This file knows the types of JSON Schema.

import "strings"

// Types of JSON values, as a set. An integral number is an isInteger, any other an
// isNumber; the schema type number allows both. That 3.0 is an integer is so since
// draft-06, and models write it.
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

// typeWritten is what the text of a schema type allows, 0 where it is not the plain
// name of one. A name with escapes is not one here: [rewriter.typeNames] then writes
// it plainly.
func typeWritten(n *node) types {
	if n.kind != '"' {
		return 0
	}
	return typeNamed(n.text[1 : len(n.text)-1])
}

// typesWritten is the same for a list of types that have nothing in common, too. An
// overlap, as of number and integer, sends the list to [rewriter.typeNames].
func typesWritten(n *node) (all types) {
	for i := range n.list('[') {
		t := typeWritten(n.members[i].value)
		if t == 0 || t&all != 0 {
			return 0
		}
		all |= t
	}
	return all | typeWritten(n)
}

// words are the names of the schema types that allow what t has. A number has no name
// for what is not integral alone, so integer is not said beside it.
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

// meant are words of programming languages for types. Servers that make schemas of
// signatures by hand write those.
var meant = map[string]string{
	"int": "integer", "long": "integer", "float": "number", "double": "number", "bool": "boolean", "str": "string", "dict": "object", "list": "array",
}

// properType is the JSON Schema name that a server means by one that is near:
// another case, or the word of a programming language. It is empty when unknown.
func properType(name string) string {
	if typeNamed(name) != 0 {
		return name
	}
	// No word here is longer, and lower case is a copy.
	if len(name) > len("integer") {
		return ""
	}
	name = strings.ToLower(name)
	if typeNamed(name) == 0 {
		return meant[name]
	}
	return name
}

// typesOf is what a schema's type keyword allows: everything where it is missing
// or says nothing that is understood.
func (m *meter) typesOf(t *node) (all types) {
	if !t.is('[') {
		all = typeNamed(properType(m.string(t)))
	}
	for _, word := range t.list('[') {
		m.step(1)
		one := typeNamed(properType(m.string(word.value)))
		// One unknown type among known ones may allow anything: a guess would narrow.
		if one == 0 {
			return anyType
		}
		all |= one
	}
	if all == 0 {
		return anyType
	}
	return all
}

// typeOf is the type of a value: of its kind, and for numbers its text. A number with
// an exponent counts as integral and as not, since its text does not tell. Working
// 1e999999999 out would take a number of as many digits.
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
	// Without an exponent, zeros alone behind the point make it integral.
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
