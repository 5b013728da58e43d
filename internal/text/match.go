package text

// This file matches names with patterns.

import "strings"

// Match reports whether name is what pattern says, where each * stands for
// any characters or none.
func Match(pattern, name string) bool {
	head, rest, wild := strings.Cut(pattern, "*")
	if !wild {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, head)
	for ok && wild {
		head, rest, wild = strings.Cut(rest, "*")
		if !wild {
			return strings.HasSuffix(name, head)
		}
		_, name, ok = strings.Cut(name, head)
	}
	return false
}
