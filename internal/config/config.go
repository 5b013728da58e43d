// Package config reads the configuration files in which other applications keep
// their servers: JSON with comments, the servers by name, variables in their
// values.
package config

// This file reads a file as a whole, and names its servers.

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed94b59a13/mcp/internal/names"
	"github.com/seed94b59a13/mcp/internal/raw"
)

// An Entry is a server in a file that is not disabled.
type Entry struct {
	Key     string // its name in the file
	Name    string // its name for a Server
	Command string
	Args    []string
	Env     []string // KEY=VALUE
	Dir     string
	URL     string
	Bearer  string // token
	Headers map[string]string

	Tools, ExcludeTools                    []string
	StartTimeout, CallTimeout, StopTimeout time.Duration

	Faults []string // what the fields above lack, none of it secret

	// Err says that what should hold servers is not an object. Nothing else is
	// set then.
	Err error
}

// Read returns the entries in the order of the file, with variables replaced
// by what lookup returns; nil means that none is set. It fails for a text that
// is not an object or has no place for servers.
func Read(text []byte, lookup func(name string) (string, bool)) ([]Entry, error) {
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	json := plain(text)
	at, err := raw.Object(json, func(_, _ []byte) bool { return true })
	if err == nil && len(bytes.TrimSpace(json[at:])) > 0 {
		err = raw.ErrSyntax
	}
	if err != nil {
		before := text[:at]
		line := before[bytes.LastIndexByte(before, '\n')+1:]
		return nil, fmt.Errorf("mcp config is not a JSON object: line %d, column %d: %w", 1+bytes.Count(before, []byte("\n")), 1+utf8.RuneCount(line), err)
	}
	if lookup == nil {
		lookup = func(string) (string, bool) { return "", false }
	}
	f := file{lookup: lookup, keys: map[string]string{}}
	f.restrict(json)
	for name, value := range raw.Members(json) {
		f.place(string(name), value, hosts{})
		if string(name) == "mcp" {
			f.mcp(value)
		}
	}
	if !f.found {
		return nil, errors.New(`mcp config has neither "mcpServers" nor "servers"`)
	}
	return f.entries, nil
}

// A file collects what a file says. Nothing in it is written after Read has
// returned.
type file struct {
	lookup  func(name string) (string, bool)
	found   bool              // a member with servers
	gemini  bool              // $NAME without braces is a variable everywhere
	keys    map[string]string // Entry.Key by Entry.Name
	entries []Entry
	rules   rules
}

// place reads a member of the file, or of its "mcp", if it is one that has
// servers. Settings of an editor have its name before that of the member.
func (f *file) place(name string, value []byte, from hosts) {
	switch {
	case name == "mcpServers", name == "servers", strings.HasSuffix(name, ".mcpServers"), name == "mcp.servers":
	case name == "context_servers", name == "mcp_servers": // Zed; Codex, as JSON
	default:
		return
	}
	f.found = true
	f.servers(name, value, from)
}

// mcp reads the member of that name. VS Code has its settings there, and the
// servers below that; opencode and Crush have the servers themselves.
func (f *file) mcp(object []byte) {
	nested := false
	for name, value := range raw.Members(object) {
		nested = nested || string(name) == "servers" || string(name) == "mcpServers"
		f.place(string(name), value, hosts{mcp: true})
	}
	if nested {
		return
	}
	for key, value := range raw.Members(object) {
		if has(value, "type", "command", "url", "enabled", "disabled") {
			f.found = true
			f.add(string(key), value, hosts{mcp: true, direct: true})
		}
	}
}

// has reports whether an object has one of some members.
func has(object []byte, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return raw.Member(object, name) != nil })
}

// hosts is what the place of an entry says of the application that wrote it.
type hosts struct {
	mcp    bool // opencode, Crush or VS Code
	direct bool // opencode or Crush
}

// servers reads an object with servers, or a list of them.
func (f *file) servers(name string, value []byte, from hosts) {
	// A file is of one application: what one entry tells of it holds for all. Only
	// Gemini CLI and what descends from it write these.
	for _, server := range raw.Members(value) {
		f.gemini = f.gemini || has(server, "httpUrl", "trust", "excludeTools", "authProviderType")
	}
	switch {
	case raw.Null(value):
	case value[0] == '{':
		for key, server := range raw.Members(value) {
			f.add(string(key), server, from)
		}
	case value[0] == '[' && !raw.Empty(value): // each has its name in it
		for server := range raw.Elements(value) {
			key, ok := raw.String(raw.Member(server, "name"))
			if !ok {
				f.fail("each entry of %q must be an object with a name", name)
				continue
			}
			f.add(key, server, from)
		}
	default:
		f.fail("%q must be an object", name)
	}
}

// fail tells of something that is not about one server.
func (f *file) fail(format string, args ...any) {
	f.entries = append(f.entries, Entry{Err: fmt.Errorf("mcp config: "+format, args...)})
}

// add reads one server. It leaves out those that are disabled without a word:
// whoever wrote the file knows.
func (f *file) add(key string, value []byte, from hosts) {
	e := entry{Entry: Entry{Key: key, Name: names.Server(key)}, file: f, from: from, fields: map[string][]byte{}}
	e.collect(value)
	if e.disabled() || f.rules.disabled(key) {
		return
	}
	e.read(value)
	f.rules.apply(&e)
	e.ExcludeTools = unique(e.ExcludeTools)
	// An entry with a fault takes its name, too: when the fault is mended, the
	// tools of another server do not change their meaning.
	if other, taken := f.keys[e.Name]; !taken {
		f.keys[e.Name] = key
	} else if other == key {
		e.fault("the name is there twice")
	} else {
		e.fault("its name and that of %q both become %q", short(other), e.Name)
	}
	if e.more > 0 {
		e.Faults = append(e.Faults, fmt.Sprintf("and %d more faults", e.more))
	}
	f.entries = append(f.entries, e.Entry)
}
