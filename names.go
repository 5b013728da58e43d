package mcp

// This file makes the names under which a model sees tools.

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// A tool name is at most 64 characters of [A-Za-z0-9_-] and starts with a
// letter: the intersection of what the providers take.
const (
	namePrefix    = "mcp__"
	maxName       = 64
	maxServerName = 32
	hashLength    = 10 // hex digits behind an underscore
)

// ToolName returns the name under which a model sees the tool of a server:
// mcp__<server>__<tool>, at most 64 characters of A-Z, a-z, 0-9, _ and -.
//
// Where that does not fit, every other character becomes an underscore, the
// name is cut, and a hash of server and tool is appended. The result depends
// on the two names alone, so it is the same in every list and after a restart,
// and two tools do not share it: a name that could be mistaken for one with a
// hash gets a hash too. It is never parsed back: [Tool] carries both names.
// Names that no server may have, and the empty one, give a tool name as well.
func ToolName(server, tool string) string {
	name := namePrefix + server + "__" + tool
	if len(name) <= maxName && isServerName(server) && isNameText(tool) && !endsInHash(tool) {
		return name
	}
	sum := sha256.Sum256([]byte(server + "\x00" + tool))
	name = namePrefix + cmp.Or(clean(server, maxServerName), "_") + "__" + clean(tool, maxName)
	return name[:min(len(name), maxName-1-hashLength)] + "_" + hex.EncodeToString(sum[:])[:hashLength]
}

// IsToolName reports whether name has the form that [ToolName] gives: it says
// nothing about whether such a tool exists.
func IsToolName(name string) bool {
	rest, ok := strings.CutPrefix(name, namePrefix)
	if !ok || len(name) > maxName || !isNameText(rest) {
		return false
	}
	// A server name has no underscore, but what stands for an invalid one may.
	separator := strings.Index(rest[min(1, len(rest)):], "__")
	return separator >= 0 && 1+separator+len("__") < len(rest)
}

func isServerName(s string) bool {
	return len(s) <= maxServerName && isNameText(s) && !strings.Contains(s, "_")
}

func isNameText(s string) bool {
	for i := range len(s) {
		if !isNameByte(s[i]) {
			return false
		}
	}
	return s != ""
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

func endsInHash(s string) bool {
	at := len(s) - hashLength
	if at < 1 || s[at-1] != '_' {
		return false
	}
	return strings.Trim(s[at:], "0123456789abcdef") == ""
}

// clean replaces each character that a name may not have, and each byte that
// is not a character, by an underscore. It stops after limit characters.
func clean(s string, limit int) string {
	var b strings.Builder
	for len(s) > 0 && b.Len() < limit {
		_, size := utf8.DecodeRuneInString(s)
		if size == 1 && isNameByte(s[0]) {
			b.WriteByte(s[0])
		} else {
			b.WriteByte('_')
		}
		s = s[size:]
	}
	return b.String()
}
