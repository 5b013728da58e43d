package text

// This file finds names that are spelled alike.

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// maxSpelling bounds what is compared of a name, in bytes: the names of tools
// are not longer, and the time of a comparison grows with the square.
const maxSpelling = 64

// Nearest returns at most most of the names: those that are spelled most like
// name, the nearest first, and none of which half would have to be written
// anew. A name that has the other one in it is near: models leave prefixes out,
// also of a name that they misspell.
func Nearest(name string, names iter.Seq[string], most int) []string {
	type candidate struct {
		name     string
		distance int
	}
	var near []candidate
	spelled := spelling(name)
	for other := range names {
		s := spelling(other)
		long := max(len(s), len(spelled))
		d := distance(spelled, s)
		if short := min(len(s), len(spelled)); short > 2 && (strings.Contains(s, spelled) || strings.Contains(spelled, s)) {
			d = min(d, 1+(long-short)/8)
		}
		if tail := s[strings.LastIndex(s, "__")+1:]; !strings.Contains(spelled, "__") && len(tail) > 1 {
			tail = tail[1:]
			if t := distance(spelled, tail); 4*t <= max(len(tail), len(spelled)) {
				d = min(d, 1+t) // prefixes left out, and a slip of the pen
			}
		}
		if 2*d > long || slices.ContainsFunc(near, func(c candidate) bool { return c.name == other }) {
			continue
		}
		at, _ := slices.BinarySearchFunc(near, d, func(c candidate, d int) int {
			return cmp.Or(cmp.Compare(c.distance, d), -1) // behind its equals
		})
		if at < most {
			near = slices.Insert(near, at, candidate{other, d})
			near = near[:min(len(near), most)]
		}
	}
	var found []string
	for _, c := range near {
		found = append(found, c.name)
	}
	return found
}

// spelling is what is compared of a name: models mix up case and separators.
func spelling(name string) string {
	return strings.ReplaceAll(strings.ToLower(name[:min(len(name), maxSpelling)]), "-", "_")
}

// distance is how many bytes must be added, removed or replaced to make b of a.
func distance(a, b string) int {
	var row [2*maxSpelling + 1]int // lower case may take more bytes
	a, b = a[:min(len(a), 2*maxSpelling)], b[:min(len(b), 2*maxSpelling)]
	for j := range len(b) + 1 {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0] // of the row above, one to the left
		row[0] = i + 1
		for j := range len(b) {
			d := before
			if a[i] != b[j] {
				d = 1 + min(before, row[j], row[j+1])
			}
			before, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}
