package text

// This file makes texts for people, and long ones fit.

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Count returns a number of things in words.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Shortest is the least number of bytes that [Middle] can cut a text to.
const Shortest = 64

// Middle returns s, or if it is longer than limit bytes, its start and its end
// with a note between them that says how many bytes were left out. The result
// is never longer than limit, which is at least [Shortest], and is cut between
// characters. About three quarters of what is kept are the start.
func Middle(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	note := func(n int) string { return fmt.Sprintf("\n[%d bytes left out]\n", n) }
	room := limit - len(note(len(s)))
	head, tail := Head(s, room-room/4), end(s, room/4)
	return head + note(len(s)-len(head)-len(tail)) + tail
}

// Start returns s, or if it is longer than limit bytes, its start and a clause
// with its length.
func Start(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return StartOf(s, limit, len(s))
}

// StartOf is Start for a text of which s is the start, longer than limit, and
// size the length.
func StartOf(s string, limit, size int) string {
	return fmt.Sprintf("%s… (%d bytes)", Head(s, limit), size)
}

// Head returns the start of s, n bytes at most, cut between characters. Half a flag
// would be hidden text, so none is cut.
func Head(s string, n int) string {
	if n >= len(s) {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	if r, _ := utf8.DecodeRuneInString(s[n:]); isTag(r) {
		return strings.TrimRightFunc(s[:n], isTag)
	}
	return s[:n]
}

// end returns at most n bytes of the end of s.
func end(s string, n int) string {
	i := len(s) - n
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return strings.TrimLeftFunc(s[i:], isTag)
}
