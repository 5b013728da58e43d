package elicit

// This file checks what was filled into a field. The server checks it as well, but
// what it says then goes to a model, and the person who has to mend the answer is
// gone. What is not certain passes.

import (
	"errors"
	"fmt"
	"math"
	"net/mail"
	"net/url"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed94b59a13/mcp/internal/raw"
)

// A field takes a text, a number, a yes or no, or some of a list of texts. Its
// schema is what the person sees; the rest is what an answer is checked by.
type field struct {
	name     string
	required bool
	schema   []byte          // for the person who asks
	kind     string          // one of kinds
	choices  map[string]bool // that a text or the texts of a list are of; nil for any
	value    []byte          // the default; nil without one
	bounds   []bound
	format   string
	pattern  *regexp.Regexp // nil for none that is checked here
	unique   bool           // of the elements of a list
}

// A bound is a keyword with a limit, and what is said of a value beyond it: of a
// number, of a text by its characters, and of a list by its elements.
type bound struct {
	keyword string
	beyond  func(n, limit float64) bool
	said    string
	limit   float64 // of a field
}

// kinds are the types that a form has. The specification knows one kind of list,
// of texts to choose from (2025-11-25), and no objects.
var kinds = map[string][]bound{
	"string":  {{"minLength", less, "has fewer than %v characters", 0}, {"maxLength", more, "has more than %v characters", 0}},
	"array":   {{"minItems", less, "has fewer than %v elements", 0}, {"maxItems", more, "has more than %v elements", 0}},
	"number":  numeric,
	"integer": numeric,
	"boolean": nil,
}

// numeric are the bounds of both kinds of numbers (JSON Schema Validation, section
// 6.2).
var numeric = []bound{
	{"minimum", less, "is less than %v", 0}, {"maximum", more, "is more than %v", 0},
	{"exclusiveMinimum", func(n, limit float64) bool { return n <= limit }, "is not more than %v", 0},
	{"exclusiveMaximum", func(n, limit float64) bool { return n >= limit }, "is not less than %v", 0},
}

func less(n, limit float64) bool { return n < limit }

func more(n, limit float64) bool { return n > limit }

const (
	// A pattern is checked up to so many bytes, so many states of the automaton
	// that it becomes, and a text of so many bytes: a match takes as many steps as
	// the last two multiplied.
	maxPattern = 512
	maxStates  = 2000
	maxMatched = 8 << 10
	maxClasses = 4 // by the names of Unicode, each of which is hundreds of ranges
)

// compile returns the automaton of a pattern; nil for one that is too large, or of
// another dialect: it is the server's to check then. Flags, which JSON Schema does
// not have, make ranges that are slow to read. Go's automata never go back in a
// text: what a hostile pattern can waste is the making of one, and its memory.
func compile(pattern string) *regexp.Regexp {
	flags := strings.Count(pattern, "(?") > strings.Count(pattern, "(?:")
	classes := strings.Count(pattern, `\p`) + strings.Count(pattern, `\P`)
	if pattern == "" || len(pattern) > maxPattern || flags || classes > maxClasses {
		return nil
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil || states(parsed, 1) > maxStates {
		return nil
	}
	re, _ := regexp.Compile(pattern)
	return re
}

// states is about how many states a part of a pattern has that is repeated so many
// times: repetitions are written out. Its depth is bounded by the parser.
func states(re *syntax.Regexp, times int) int {
	if re.Op == syntax.OpRepeat {
		times *= max(re.Min, re.Max, 1)
	}
	n := times * (1 + len(re.Rune)/8)
	for _, sub := range re.Sub {
		n += states(sub, times)
	}
	return n
}

// check says why a value does not fit the field. It does not show the value: that
// is a person's. To JSON Schema, 1.0 is a whole number.
func (f *field) check(value []byte) error {
	var n float64 // what the bounds are about
	var err error
	switch f.kind {
	case "boolean":
		if s := string(value); s != "true" && s != "false" {
			err = errors.New("is neither true nor false")
		}
	case "array":
		n, err = f.checkList(value)
	case "string":
		s, ok := raw.String(value)
		// Lengths count characters, not bytes (JSON Schema Validation, section
		// 6.3).
		if n = float64(utf8.RuneCountInString(s)); !ok {
			err = errors.New("is not a text")
		} else if f.choices != nil && !f.choices[s] {
			err = errors.New("is not one of the choices")
		}
	default:
		if n, err = strconv.ParseFloat(string(value), 64); err != nil {
			err = errors.New("is not a number")
		} else if f.kind == "integer" && n != math.Trunc(n) {
			err = errors.New("is not a whole number")
		}
	}
	if err != nil {
		return err
	}
	for _, b := range f.bounds {
		if b.beyond(n, b.limit) {
			return fmt.Errorf(b.said, b.limit)
		}
	}
	if f.kind == "string" {
		s, _ := raw.String(value)
		return f.checkText(s)
	}
	return nil
}

// checkList returns how many elements a list has. Elements are told apart by what
// they say and not by how it is escaped.
func (f *field) checkList(value []byte) (n float64, err error) {
	if value[0] != '[' {
		return 0, errors.New("is not a list")
	}
	seen := map[string]bool{}
	for element := range raw.Elements(value) {
		s, ok := raw.String(element)
		switch n++; {
		case !ok:
			return 0, errors.New("has an element that is not a text")
		case f.choices != nil && !f.choices[s]:
			return 0, errors.New("has an element that is not one of the choices")
		case f.unique && seen[s]:
			return 0, errors.New("has an element twice")
		}
		seen[s] = true
	}
	return n, nil
}

// checkText checks a text by its pattern and format. A pattern of JSON Schema may
// match anywhere in the text, as that of Go does.
func (f *field) checkText(s string) error {
	if f.pattern != nil && len(s) <= maxMatched && !f.pattern.MatchString(s) {
		return errors.New("does not match the pattern")
	}
	fits := true
	switch f.format { // those of the specification; any other is the server's to check
	case "email": // without a name beside the address
		a, err := mail.ParseAddress(s)
		fits = err == nil && a.Address == s
	case "uri":
		u, err := url.Parse(s)
		fits = err == nil && u.IsAbs()
	case "date":
		_, err := time.Parse(time.DateOnly, s)
		fits = err == nil
	case "date-time":
		_, err := time.Parse(time.RFC3339Nano, s)
		fits = err == nil
	}
	if !fits {
		return fmt.Errorf("is not of the format %s", f.format)
	}
	return nil
}
