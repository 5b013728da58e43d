package listing

// This file reads the entries of a list of tools.

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"strings"
	"time"

	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/schema"
	"github.com/seed94b59a13/mcp/internal/text"
)

// A Tool is what a list says of one tool. Config.Take gets it. What it has of the
// server's is a copy: pages are lent.
type Tool struct {
	Reused int // the index in the last list of the tool that this is, unchanged; -1 for a new one. A reused one has nothing else

	Name        string // that the model sees
	ServerTool  string // the server's own
	Title       string
	Description string
	// ServerDescription is the end of Description, what the server itself says.
	ServerDescription string

	InputSchema  json.RawMessage
	ServerSchema json.RawMessage // nil where there is none
	OutputSchema json.RawMessage // nil where there is none
	Annotations  *Annotations    // nil where there are none
	Fingerprint  string
	Plan         *schema.Plan // for the arguments
}

// Annotations are what a server says of a tool; nil means that it does not say.
// They are hints, and nothing in the protocol holds a server to them.
type Annotations struct {
	ReadOnly    *bool
	Destructive *bool
	Idempotent  *bool
	OpenWorld   *bool
}

// A reader collects the tools of all pages.
type reader struct {
	Config
	list *List
	tool Tool // at hand

	budget  *schema.Budget
	last    *List             // the one before, or an empty one
	next    int               // the index there of the tool that is expected next
	known   map[entry]int     // the indexes there, by entry; nil before it is needed
	unknown int               // entries in a row that are not there
	index   int               // of the next entry
	names   map[string]string // by Tool.Name, the server's names of the tools kept
	matched map[string]bool   // the entries of Keep and Leave that matched
	more    int               // warnings left out
	full    bool              // maxTools are there
	hidden  int               // characters that were removed from the tool at hand
	scratch []byte            // for what is put together
}

func newReader(config Config, last *List, budget *schema.Budget) *reader {
	return &reader{Config: config, list: &List{}, last: last, budget: budget}
}

// grow makes room for about as many tools as there were last time, or as a page
// of so many bytes has where each has a kilobyte.
func (l *reader) grow(page int) {
	size := max(len(l.last.entries), min(page>>10, maxTools))
	l.Begin(size)
	l.list.entries = make([]entry, 0, size)
	l.names = make(map[string]string, size)
	l.matched = map[string]bool{}
}

// maxUnknown is how many entries in a row may be new before all that follow are
// taken to be.
const maxUnknown = 64

// maxQuoted bounds what a warning quotes of a name or a reason, in bytes.
const maxQuoted = 128

// maxText bounds a name in a description, a title and a description, in bytes. No
// model is given as much, and no context ends the cleaning of one text.
const maxText = 1 << 20

// shorten returns a text of the tool, in JSON, without what is beyond the bound.
func (l *reader) shorten(tool, what string, given []byte) []byte {
	if len(given) <= maxText || !raw.IsString(given) {
		return given
	}
	l.warn("the "+what+" of tool %q has %d bytes, more than %d: the rest is left out", tool, len(given), maxText)
	return append(given[:maxText-1:maxText-1], '"')
}

// warn adds a warning. Texts and errors among args are quoted.
func (l *reader) warn(format string, args ...any) {
	if len(l.list.Warnings) == maxWarnings {
		l.more++
		return
	}
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			args[i] = l.Quoter.Quote(arg, maxQuoted)
		case error:
			args[i] = l.Quoter.Quote(arg.Error(), 4*maxQuoted)
		}
	}
	l.list.Warnings = append(l.list.Warnings, fmt.Sprintf(format, args...))
}

// clean returns what the server says without what a model must not see.
func (l *reader) clean(s string) string {
	s, n := text.Prompt(s)
	l.hidden += n
	return s
}

// page takes the tools of one page and returns the cursor of the next.
func (l *reader) page(result []byte) (next string) {
	var cursor []byte
	tools := false
	if !raw.Null(result) {
		c := raw.Read(result)
		// Some servers answer with the list alone.
		if tools = c.Kind() == '['; tools {
			l.take(c) // the list itself
		}
		for name := range c.Object() {
			switch {
			case raw.Named(name, "tools"):
				tools = true
				l.take(c)
			case raw.Named(name, "nextCursor"):
				cursor = c.Value()
			case string(name) == "ttlMs": // protocol 2026-07-28
				ms, _ := raw.Whole(c.Value())
				l.list.Fresh = time.Duration(min(ms, maxFresh.Milliseconds())) * time.Millisecond
			}
		}
	}
	if !tools {
		l.warn("a page of the list of tools has no list in it")
	}
	next, ok := raw.String(cursor)
	if !ok && !raw.Empty(cursor) {
		l.warn("the list of tools goes on after a cursor that is not a text: the rest is left out")
	}
	return next
}

// take takes the tools of the list at hand.
func (l *reader) take(c *raw.Cursor) {
	if kind := c.Kind(); kind != '[' && kind != 'n' {
		l.warn("a page of the list of tools has no list in it")
	}
	for range c.Array() {
		if l.budget.Err() != nil {
			break
		}
		l.entry(c)
	}
}

// entry takes one tool of a list. Whatever is wrong with it costs only the
// tool, and a wrong optional member only the member.
func (l *reader) entry(c *raw.Cursor) {
	if len(l.list.entries) == maxTools {
		if !l.full {
			l.full = true
			l.warn("the list has more than %d tools: the rest is left out", maxTools)
		}
		return
	}
	index := l.index
	l.index++
	if len(l.last.entries) > 0 && l.reuse(c) {
		return
	}
	if c.Kind() != '{' {
		l.warn("dropped entry %d of the list of tools: it is not an object", index)
		return
	}
	start, warned := c.At(), len(l.list.Warnings)+l.more
	e := toolEntry{budget: l.budget}
	for name := range c.Object() {
		e.member(name, c)
	}
	name, ok := raw.String(e.values[memberName])
	if !ok || name == "" {
		l.warn("dropped entry %d of the list of tools: it has no name", index)
		return
	}
	if !l.read(name, &e) {
		return
	}
	var kept entry
	// An entry is known by its bytes, as it stands in the list.
	if len(l.list.Warnings)+l.more == warned {
		text := c.Since(start)
		kept = entry{maphash.Bytes(l.Seed, text), len(text)}
	}
	l.list.entries = append(l.list.entries, kept)
	l.Take(&l.tool)
}

// reuse takes the tool at hand over from the last listing, if there was one with
// the same entry: of a long list that has changed, most has not. It goes no
// further where it does not.
func (l *reader) reuse(c *raw.Cursor) bool {
	start, at := c.At(), l.next
	l.next++ // this may be the one that has changed
	if !l.expected(c, at) {
		if l.known == nil {
			l.known = make(map[entry]int, len(l.last.entries))
			for i, e := range l.last.entries {
				l.known[e] = i
			}
		}
		// A tool was added, removed or moved: the others are as before.
		text := c.Value()
		var ok bool
		if at, ok = l.known[entry{maphash.Bytes(l.Seed, text), len(text)}]; !ok {
			if l.unknown++; l.unknown == maxUnknown {
				l.last = &List{} // another list: looking on would take longer than it saves
			}
			c.Move(start)
			return false
		}
	}
	l.unknown = 0
	name, serverTool := l.Last(at)
	if _, ok := l.names[name]; ok || !l.selected(serverTool) {
		c.Move(start)
		return false
	}
	l.next = at + 1
	l.names[name] = serverTool
	l.list.entries = append(l.list.entries, l.last.entries[at])
	l.tool = Tool{Reused: at}
	l.Take(&l.tool)
	return true
}

// expected passes the entry at hand if it is the one of the last list at an
// index. Where it would end is known then: to look for that takes longer than to
// compare.
func (l *reader) expected(c *raw.Cursor, at int) bool {
	if at >= len(l.last.entries) {
		return false
	}
	last, rest := l.last.entries[at], c.Rest()
	if last.size == 0 || last.size > len(rest) || maphash.Bytes(l.Seed, rest[:last.size]) != last.hash {
		return false
	}
	c.Move(c.At() + last.size)
	return true
}

// read makes the tool at hand of an entry, and reports whether it is kept.
func (l *reader) read(name string, e *toolEntry) bool {
	if !l.selected(name) {
		return false
	}
	if e.hidden() {
		l.warn("left out tool %q: the server means it for its user interface, not for a model", name)
		return false
	}
	// A tool that wants to be a task answers a plain call with an error, always.
	if value, _ := raw.String(raw.Member(e.values[memberExecution], "taskSupport")); value == "required" {
		l.warn("left out tool %q: it can only be called as a task, which is not supported", name)
		return false
	}
	tool := &l.tool
	*tool = Tool{Reused: -1, Name: l.Name(name), ServerTool: name, Plan: e.plan}
	// Of two tools under one name the first one counts: what a model means by the
	// name must not hang on anything that came later.
	if first, ok := l.names[tool.Name]; ok {
		l.warn("dropped tool %q: the list has %q before it, under the same name", name, first)
		return false
	}
	l.hidden = 0
	title := raw.Member(e.values[memberAnnotations], "title")
	e.values[memberTitle], title = l.shorten(name, "title", e.values[memberTitle]), l.shorten(name, "title", title)
	e.values[memberDescription] = l.shorten(name, "description", e.values[memberDescription])
	tool.ServerSchema, tool.InputSchema = e.serverSchema, e.normal
	if e.normal == nil {
		var err error
		if tool.ServerSchema, tool.InputSchema, tool.Plan, err = l.normalize(name, e.values[memberInputSchema]); err != nil {
			l.warn("dropped tool %q: %v", name, err)
			return false
		}
	}
	// Normalizing drops what is not for models, such as which arguments are headers.
	if l.Refuse != nil {
		if err := l.Refuse(tool.ServerSchema); err != nil {
			l.warn("dropped tool %q: %v", name, err)
			return false
		}
	}
	// Callers get it as the server wrote it: models are not shown it.
	if !raw.Null(e.values[memberOutputSchema]) {
		if e.values[memberOutputSchema][0] == '{' {
			tool.OutputSchema = raw.Compact(e.values[memberOutputSchema])
		} else {
			l.warn("left out the output schema of tool %q: it is not an object", name)
		}
	}
	tool.Annotations = e.hints()
	// Until protocol 2025-06-18 the title was one of the annotations.
	for _, title := range [][]byte{e.values[memberTitle], title} {
		if tool.Title == "" {
			title, _ := raw.String(title)
			tool.Title = l.clean(title)
		}
	}
	tool.Description, tool.ServerDescription = l.describe(name, e.values[memberDescription])
	if l.hidden > 0 {
		l.warn("removed %s from what the server says of tool %q", text.Count(l.hidden, "invisible character"), name)
	}
	tool.Fingerprint = l.fingerprint(name, e.values[memberDescription], tool.ServerSchema, tool.OutputSchema, e.values[memberAnnotations])
	l.names[tool.Name] = name
	return true
}

// selected reports whether the Server wants the tool. Exclusion wins. Every entry
// is tried, also behind one that matches: those that match no tool are told at the
// end, since they are mostly misspelled.
func (l *reader) selected(name string) bool {
	matches := func(entries []string) (any bool) {
		for _, entry := range entries {
			if text.Match(entry, name) {
				l.matched[entry], any = true, true
			}
		}
		return any
	}
	keep := matches(l.Keep) || len(l.Keep) == 0
	return !matches(l.Leave) && keep
}

// describe puts a description together. The server's part of it is not a copy. It
// begins with the names of the tool and of the server as people know them: the name
// that a model sees may be changed or cut.
func (l *reader) describe(name string, given []byte) (description, servers string) {
	s := append(l.scratch[:0], "Tool "...)
	s = append(s, name[:min(len(name), maxText)]...)
	s = append(s, " from the MCP server "...)
	s = append(s, l.Server...)
	s = append(s, ". "...)
	start := len(s)
	l.scratch = raw.AppendString(s, given)
	if len(l.scratch) == start {
		return l.clean(string(s[:start-1])), "" // the server says nothing
	}
	whole := string(l.scratch)
	description = l.clean(whole)
	if !strings.HasPrefix(description, whole[:start]) { // the name is not clean
		hidden := l.hidden
		start = len(l.clean(whole[:start]))
		l.hidden = hidden
	}
	return description, description[min(start, len(description)):]
}

// normalize returns the schema as the server gave it, without white space, and
// its normal form.
func (l *reader) normalize(tool string, given []byte) (server, normal json.RawMessage, plan *schema.Plan, err error) {
	warn := func(reason string) { l.warn("the input schema of tool %q %s", tool, reason) }
	if !raw.Null(given) {
		if raw.HasNaN(given) {
			warn("has NaN or Infinity, which are not JSON: they are read as null")
		}
		server = raw.Compact(given) // a copy, since the page is not kept
	}
	normalizer := schema.Normalizer{Clean: l.clean, Budget: l.budget, Warn: warn}
	normal, plan, err = normalizer.Normalize(server)
	if err != nil {
		return nil, nil, nil, err
	}
	return server, normal, plan, nil
}

// finish tells what concerns the list as a whole. Its last warning is beyond their
// bound, since it counts the others.
func (l *reader) finish() {
	for _, field := range []struct {
		name    string
		entries []string
	}{{"Tools", l.Keep}, {"ExcludeTools", l.Leave}} {
		for _, entry := range field.entries {
			if !l.matched[entry] {
				l.warn("the server offers no tool that %q in Server.%s means", entry, field.name)
			}
		}
	}
	if l.more > 0 {
		l.list.Warnings = append(l.list.Warnings, fmt.Sprintf("and %d more warnings about the list of tools", l.more))
	}
	l.list.read = true
}

// The members of an entry that are read.
const (
	memberName = iota
	memberTitle
	memberDescription
	memberInputSchema
	memberOutputSchema
	memberAnnotations
	memberExecution
	memberMeta
	members
)

// memberNames are the names as the specification has them, then others that
// libraries write, such as parameters as the APIs of models do.
var memberNames = [...]struct {
	name   string
	member int
	strict bool // no other spelling is taken for it
}{
	{"name", memberName, false},
	{"title", memberTitle, false},
	{"description", memberDescription, false},
	{"inputSchema", memberInputSchema, false},
	{"outputSchema", memberOutputSchema, false},
	{"annotations", memberAnnotations, false},
	{"execution", memberExecution, true},
	{"_meta", memberMeta, true},
	{"parameters", memberInputSchema, false},
	{"argsSchema", memberInputSchema, false},
	{"schema", memberInputSchema, false},
}

// A toolEntry holds the members of an entry of a list, as they came, and the
// schema where it is already known to be normal.
type toolEntry struct {
	values [members][]byte

	budget               *schema.Budget
	serverSchema, normal json.RawMessage
	plan                 *schema.Plan
}

// member takes a member. Of duplicates the last one counts, of other spellings
// the first one, unless the proper one comes.
func (e *toolEntry) member(name []byte, c *raw.Cursor) {
	for i, m := range memberNames {
		if i < members && string(name) == m.name {
			e.take(m.member, c)
			return
		}
	}
	for _, m := range memberNames {
		if !m.strict && e.values[m.member] == nil && raw.Named(name, m.name) {
			e.take(m.member, c)
			return
		}
	}
}

// A schema that is normal as it stands is recognized in the same walk that passes
// it: most are, and nothing of it has to be built.
func (e *toolEntry) take(member int, c *raw.Cursor) {
	start := c.At()
	if member == memberInputSchema {
		var n int
		plain := schema.Normalizer{Clean: promptText, Budget: e.budget}
		if e.serverSchema, e.normal, e.plan, n = plain.Read(c.Rest()); n > 0 {
			c.Move(start + n)
		}
	}
	if c.At() == start {
		c.Value()
	}
	e.values[member] = c.Since(start)
}

// promptText returns what the server says where there is nothing to count.
func promptText(s string) string {
	s, _ = text.Prompt(s)
	return s
}

// hidden reports whether the tool is for an app in the host's user interface (MCP
// Apps, _meta.ui.visibility). Anything but a list counts as not said.
func (e *toolEntry) hidden() bool {
	visibility := raw.Member(raw.Member(e.values[memberMeta], "ui"), "visibility")
	if len(visibility) == 0 || visibility[0] != '[' {
		return false
	}
	for audience := range raw.Elements(visibility) {
		if string(audience) == `"model"` {
			return false
		}
	}
	return true
}

// hints returns the annotations, nil where there are none. What is not a boolean
// says nothing.
func (e *toolEntry) hints() *Annotations {
	if raw.Null(e.values[memberAnnotations]) {
		return nil // mostly
	}
	var a Annotations
	for name, value := range raw.Members(e.values[memberAnnotations]) {
		if string(value) != "true" && string(value) != "false" {
			continue
		}
		is := value[0] == 't'
		switch string(name) {
		case "readOnlyHint":
			a.ReadOnly = &is
		case "destructiveHint":
			a.Destructive = &is
		case "idempotentHint":
			a.Idempotent = &is
		case "openWorldHint":
			a.OpenWorld = &is
		}
	}
	if a == (Annotations{}) {
		return nil
	}
	return &a
}

// Fingerprint is that of a tool which is not a server's, as it is for one that
// says so; description and annotations are JSON.
func Fingerprint(name string, description, inputSchema, outputSchema, annotations []byte) string {
	return new(reader).fingerprint(name, description, inputSchema, outputSchema, annotations)
}

// fingerprint digests what a server says of a tool. Each part is preceded by its
// length, so that no text can move from one to the next unseen. The version in
// front is to change with whatever is digested: hosts store fingerprints, and
// compare them.
func (l *reader) fingerprint(name string, description, inputSchema, outputSchema, annotations []byte) string {
	if annotations != nil {
		annotations = raw.Compact(annotations)
	}
	b := append(binary.BigEndian.AppendUint64(l.scratch[:0], uint64(len(name))), name...)
	b = append(b, make([]byte, 8)...)
	start := len(b)
	b = raw.AppendString(b, description)
	binary.BigEndian.PutUint64(b[start-8:], uint64(len(b)-start))
	for _, part := range [][]byte{inputSchema, outputSchema, annotations} {
		b = append(binary.BigEndian.AppendUint64(b, uint64(len(part))), part...)
	}
	sum := sha256.Sum256(b)
	l.scratch = hex.AppendEncode(append(b[:0], "v1:"...), sum[:])
	return string(l.scratch)
}
