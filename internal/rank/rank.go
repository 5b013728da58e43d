// Package rank finds tools by the words that they share with a query.
//
// It is BM25F (Robertson and Zaragoza, 2009): a word counts the more the rarer it
// is, the more often a tool has it, and the shorter the text is that has it. All
// but the English words that queries may do without, or use for one another, is
// the same for every language.
package rank

import (
	"bytes"
	"context"
	"strings"

	"github.com/seed94b59a13/mcp/internal/raw"
)

// A Tool is what is looked at of a tool.
type Tool struct {
	Name        string
	Server      string
	ServerTool  string
	Title       string
	Description string
	Schema      []byte
}

// maxTitle bounds what counts of a title, in bytes: names weigh more than all
// other words.
const maxTitle = 96

func (t *Tool) equal(other *Tool) bool {
	return t.Name == other.Name && t.Server == other.Server && t.ServerTool == other.ServerTool &&
		t.Title == other.Title && t.Description == other.Description && bytes.Equal(t.Schema, other.Schema)
}

// A Catalog finds the tools of a list that changes. It may be used concurrently.
type Catalog struct {
	lock    chan struct{} // has room for one
	index   index
	entries []entry          // by number of the document
	named   map[string]int32 // the document of a name
}

// An entry is what was indexed, so that a change is seen whoever makes it.
type entry struct {
	tool Tool
	twin string // equal for tools that are written differently alone; empty for one that is gone
	at   int    // in the list; -1 where it is not seen yet
}

// is reports whether a tool, not seen yet, is the one that was indexed.
func (e *entry) is(tool *Tool) bool { return e.at < 0 && e.twin != "" && e.tool.equal(tool) }

// NewCatalog returns a catalog of nothing.
func NewCatalog() *Catalog {
	return &Catalog{lock: make(chan struct{}, 1), named: map[string]int32{}}
}

// Find returns the indexes of the tools that fit a query, the best one first,
// limit at most, and how many of them are worth to be shown, most at most: the others
// share words with it in texts that have all kinds of words, or are of one server with
// a better one whose name differs in its writing alone, as getUser and get_user do. at
// returns the n tools there are now; of two with one name the first counts. Those that
// the query names come before all others. An error is that of the context.
func (c *Catalog) Find(ctx context.Context, n int, at func(i int) Tool, query string, most, limit int) (found []int, shown int, err error) {
	select {
	case c.lock <- struct{}{}:
	case <-ctx.Done():
		return nil, 0, context.Cause(ctx)
	}
	defer func() { <-c.lock }()
	if ctx.Err() != nil { // of two that are ready, select takes any
		return nil, 0, context.Cause(ctx)
	}
	if err := c.update(ctx, n, at); err != nil {
		return nil, 0, err
	}
	found, shown = c.find(query, most, limit)
	return found, shown, nil
}

// update makes the index one of the tools there are. What it has done when the
// context ends is not done again.
func (c *Catalog) update(ctx context.Context, n int, at func(i int) Tool) error {
	for i := range c.entries {
		c.entries[i].at = -1
	}
	var number int32 = -1
	for i := range n {
		tool := at(i)
		// Most tools stand behind the one that they stood behind when they were added.
		if number++; int(number) < len(c.entries) && c.entries[number].is(&tool) {
			c.entries[number].at = i
			continue
		}
		var known bool
		number, known = c.named[tool.Name]
		switch {
		case known && c.entries[number].at >= 0: // the first of this name counts
			continue
		case known && c.entries[number].tool.equal(&tool):
			c.entries[number].at = i
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if known {
			c.index.remove(number)
			c.entries[number] = entry{at: -1}
		}
		number = c.index.add([fields]string{tool.Name + " " + tool.Title[:min(len(tool.Title), maxTitle)], tool.Description, stringsOf(tool.Schema)})
		c.named[tool.Name] = number
		c.entries = append(c.entries, entry{tool: tool, twin: tool.Server + "\x00" + list(tool.ServerTool), at: i})
	}
	for i := range c.entries {
		if e := &c.entries[i]; e.at < 0 && e.twin != "" {
			delete(c.named, e.tool.Name)
			c.index.remove(int32(i))
			*e = entry{at: -1}
		}
	}
	numbers := c.index.compact()
	if numbers == nil {
		return nil
	}
	entries := make([]entry, len(c.named))
	for name, number := range c.named {
		c.named[name] = numbers[number]
		entries[numbers[number]] = c.entries[number]
	}
	c.entries = entries
	return nil
}

// find is Find once the index is up to date. What is not shown is behind all that is, in
// the order of the scores: a tool that is not sure, or a twin, is not lost.
func (c *Catalog) find(query string, most, limit int) (found []int, shown int) {
	taken, seen := map[int32]bool{}, map[string]bool{}
	for word := range strings.FieldsSeq(query[:min(len(query), maxText)]) {
		if number, ok := c.named[word]; ok && !taken[number] {
			taken[number] = true
			found = append(found, c.entries[number].at)
		}
	}
	var others []int
	for hit := range c.index.search(query, func(number int32) int { return c.entries[number].at }) {
		e := &c.entries[hit.document]
		switch {
		case taken[hit.document]:
		case hit.sure() && len(found) < most && (e.tool.ServerTool == "" || !seen[e.twin]):
			found = append(found, e.at)
		default:
			others = append(others, e.at)
		}
		seen[e.twin] = true
		if len(found)+len(others) >= limit && (len(found) >= most || !hit.sure()) {
			break
		}
	}
	shown = min(len(found), most)
	found = append(found, others...)
	return found[:min(len(found), limit)], shown
}

// stringsOf returns the start of the keys and strings of a schema: names of parameters,
// what they mean, and the values of enums. Its keywords are among them, and count nothing,
// since all schemas have them.
func stringsOf(schema []byte) string {
	if !raw.Valid(schema) {
		return ""
	}
	var b []byte
	for i := 0; i < len(schema) && len(b) < maxText; i++ {
		if schema[i] == '"' {
			n := raw.Skip(schema[i:])
			b = append(raw.AppendString(b, schema[i:i+n]), ' ')
			i += n - 1
		}
	}
	return string(b)
}
