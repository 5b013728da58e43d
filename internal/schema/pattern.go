package schema

// This file knows which regular expressions may stand in a schema (rule 9), and
// what it costs to look at them: a short one may make a large program.

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

const (
	// maxPattern keeps the work that a pattern makes for its readers in bounds.
	maxPattern = 4096
	// maxProgram bounds the instructions of a pattern that is matched here.
	maxProgram = 10_000
)

// takenPattern reports whether every provider's engine takes the pattern: it
// is one of RE2, and no class of it holds a bracket that some engines read as
// the start of a nested class, or starts with one that they read as its end.
func (w *rewriter) takenPattern(pattern string) bool {
	// One pass over the bytes is enough: what it looks for is ASCII, which no byte of a longer
	// character is.
	inClass := false
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
			if i < len(pattern) && strings.IndexByte("QECzAZ", pattern[i]) >= 0 {
				return false // RE2's own, and something else elsewhere
			}
		case '[':
			// JavaScript with the v flag and Java read a class in a class.
			if inClass {
				return false
			}
			// JavaScript reads [] as a class of nothing, and [^] as one of everything.
			if inClass = true; strings.HasPrefix(pattern[i+1:], "]") || strings.HasPrefix(pattern[i+1:], "^]") {
				return false
			}
		case ']':
			inClass = false
		case '(':
			// (?P<name>) is Python's and RE2's, (?<name>) JavaScript's; lookaround, (?= and
			// (?!, is in neither RE2 nor the strict mode of OpenAI.
			if !inClass && strings.HasPrefix(pattern[i+1:], "?") && !strings.HasPrefix(pattern[i+1:], "?:") {
				return false // named groups and flags differ between engines
			}
		}
	}
	return w.parsePattern(pattern) != nil
}

// parsePattern returns nil for what is not a pattern of RE2. What costs more than its
// length are names of classes of Unicode, which stand for hundreds of ranges, and
// ranges in which cases are the same, which are gone through. The steps are counted
// before the work, which cannot be stopped once it runs.
func (m *meter) parsePattern(pattern string) *syntax.Regexp {
	if len(pattern) > maxPattern {
		return nil
	}
	cost := 64 + 8*len(pattern)
	// \pL alone has more than 600 ranges.
	cost += 1500 * (strings.Count(pattern, `\p`) + strings.Count(pattern, `\P`))
	if strings.Count(pattern, "(?") > strings.Count(pattern, "(?:") { // there are flags
		cost += foldCost(pattern)
	}
	m.step(cost)
	m.room(4 * cost)
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	return parsed
}

// foldCost is what the ranges of a pattern with flags may cost: as many steps as
// the range has characters, of which few have cases.
func foldCost(pattern string) (cost int) {
	const most = 0x1e943 // the last character with cases
	for i := 1; i+1 < len(pattern); i++ {
		switch {
		case pattern[i] != '-':
		// Both ends are in ASCII for certain; an escape may stand for anything.
		case pattern[i-1] < 0x80 && pattern[i+1] < 0x80 && pattern[i-1] != '}' && pattern[i+1] != '\\':
			cost += 0x80
		default:
			cost += most
		}
	}
	return cost
}

// programSize is about how many instructions a parsed pattern has: repetitions
// are written out. It stops counting above [maxProgram].
func programSize(re *syntax.Regexp, times int) (size int) {
	switch re.Op {
	// Those within one another multiply.
	case syntax.OpRepeat:
		times *= max(re.Min, re.Max, 1)
	case syntax.OpLiteral:
		size = len(re.Rune) * times
	case syntax.OpCharClass:
		size = (1 + len(re.Rune)/8) * times
	default:
		size = times
	}
	for _, sub := range re.Sub {
		if size > maxProgram || times > maxProgram {
			return maxProgram + 1
		}
		size += programSize(sub, times)
	}
	return size
}

// matcher returns what matches the parsed pattern, nil where that is too large.
func (m *meter) matcher(pattern string, parsed *syntax.Regexp) *regexp.Regexp {
	// Repetitions are written out: each a{1000} of a few bytes makes a thousand
	// instructions, and parsing bounds only those within one another.
	size := programSize(parsed, 1)
	if size > maxProgram {
		return nil
	}
	m.step(500 + 20*size)
	m.room(2000 + 200*size)
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil
	}
	return re
}
