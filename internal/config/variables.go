package config

// This file replaces the variables in a text.

import "strings"

// expand replaces ${NAME}, and {env:NAME} as opencode writes it. A brace that
// is not closed is text. With bare, $NAME that begins a word is a variable as
// well, if it is set: Gemini CLI and others write that, and elsewhere a dollar
// is a dollar.
func (e *entry) expand(field, s string, bare bool) string {
	var b strings.Builder
	at := 0 // what is before it is in b
	for at < len(s) {
		i := strings.IndexAny(s[at:], "${")
		if i < 0 {
			break
		}
		b.WriteString(s[at : at+i])
		at += i
		if open := e.opener(s[at:]); open != "" {
			inner, _, closed := strings.Cut(s[at+len(open):], "}")
			if !closed {
				break
			}
			b.WriteString(e.variable(field, open, inner))
			at += len(open) + len(inner) + 1
			continue
		}
		value := s[at : at+1]
		if name := bareName(s[at:]); name != "" && (e.file.gemini || bare && (at == 0 || !isWord(s[at-1]))) {
			if found, set := e.file.lookup(name); set {
				value = found
				at += len(name)
			}
		}
		b.WriteString(value)
		at++
	}
	b.WriteString(s[at:])
	return b.String()
}

// opener returns what begins a variable at the start of s, if something does.
// Braces without a dollar are those of opencode alone: elsewhere they may be JSON in
// an argument.
func (e *entry) opener(s string) string {
	for _, open := range []string{"${", "{env:", "{file:"} {
		if strings.HasPrefix(s, open) && (open == "${" || e.from.mcp) {
			return open
		}
	}
	return ""
}

// variable returns the value for what stands in braces. What is not set is a
// fault, since an empty text in its place makes a server that starts and fails
// later: a header "Bearer " gets a 401, and an argument that is empty may mean
// the folder of the host.
func (e *entry) variable(field, open, inner string) string {
	name, fallback, hasDefault := inner, "", false
	switch open {
	case "${": // of Claude Code with a default, of Cursor and VS Code with a kind before the name
		name, fallback, hasDefault = strings.Cut(inner, ":-")
		name = strings.TrimPrefix(name, "env:")
	case "{file:":
		name = "file:" + inner
	}
	value, set := e.file.lookup(name)
	switch {
	case strings.Contains(inner, "${"):
		e.fault("%s: a variable inside of another is not supported", field)
	case !set && !hasDefault:
		e.fault("%s: variable %q is not set", field, short(name))
	case !set:
		return fallback
	}
	return value
}

// bareName returns the name behind the dollar at the start of s, or nothing: $1 and
// $$ are not names of variables.
func bareName(s string) string {
	if s[0] != '$' {
		return ""
	}
	n := 1
	for n < len(s) && (isWord(s[n]) && (n > 1 || s[n] < '0' || s[n] > '9')) {
		n++
	}
	return s[1:n]
}

func isWord(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
