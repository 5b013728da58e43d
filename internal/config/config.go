// Package config reads the configuration files in which other applications keep
// their servers: JSON with comments, the servers by name, variables in their
// values.
package config

// This file reads a file as a whole, and names its servers.

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

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
	Headers map[string]string
	Faults  []string // what the fields above lack, none of it secret

	// Err says that what should hold servers is no object. Nothing else is
	// set then.
	Err error
}

// Read returns the entries in the order of the file, with variables replaced
// by what lookup returns; nil means that none is set. It fails for a text that
// is no object or has no place for servers.
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
		return nil, fmt.Errorf("mcp config is no JSON object: line %d, column %d: %w", 1+bytes.Count(before, []byte("\n")), 1+utf8.RuneCount(line), err)
	}
	if lookup == nil {
		lookup = func(string) (string, bool) { return "", false }
	}
	f := file{lookup: lookup, keys: map[string]string{}}
	for name, value := range raw.Members(json) {
		f.read(string(name), value)
		if string(name) == "mcp" { // the settings of VS Code
			for name, value := range raw.Members(value) {
				f.read(string(name), value)
			}
		}
	}
	if !f.found {
		return nil, errors.New(`mcp config has neither "mcpServers" nor "servers"`)
	}
	return f.entries, nil
}

// A file collects what a file says.
type file struct {
	lookup  func(name string) (string, bool)
	found   bool              // a member with servers
	keys    map[string]string // Entry.Key by Entry.Name
	entries []Entry
}

func (f *file) read(name string, value []byte) {
	if name != "mcpServers" && name != "servers" {
		return
	}
	f.found = true
	if !raw.Null(value) && value[0] != '{' {
		f.entries = append(f.entries, Entry{Err: fmt.Errorf("mcp config: %q must be an object", name)})
	}
	for key, value := range raw.Members(value) {
		f.add(string(key), value)
	}
}

func (f *file) add(key string, value []byte) {
	e := entry{Entry: Entry{Key: key, Name: serverName(key)}, object: value, lookup: f.lookup}
	disabled := e.is("disabled", "true")
	if e.is("enabled", "false") || disabled {
		return
	}
	e.read()
	// An entry with a fault takes its name, too: when the fault is mended, the
	// tools of another server do not change their meaning.
	if other, taken := f.keys[e.Name]; !taken {
		f.keys[e.Name] = key
	} else if other == key {
		e.fault("the name is there twice")
	} else {
		e.fault("its name and that of %q both become %q", other, e.Name)
	}
	f.entries = append(f.entries, e.Entry)
}

const (
	maxName    = 32 // what Server.Name may have
	hashLength = 10 // hex digits behind a hyphen
)

// serverName makes a Server.Name of any text but the empty one.
func serverName(key string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, key)
	if len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(key))
	return name[:maxName-1-hashLength] + "-" + hex.EncodeToString(sum[:])[:hashLength]
}
