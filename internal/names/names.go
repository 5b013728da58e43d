// Package names makes names for tools and servers that every provider takes.
package names

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// A tool name is at most 64 characters of [A-Za-z0-9_-] and starts with a
// letter: the intersection of what the providers take. A server's own part of it
// has no underscore, so that two of them end it.
const (
	prefix     = "mcp__"
	hashLength = 10 // hex digits behind a separator

	// MaxTool and MaxServer are how long names may be.
	MaxTool   = 64
	MaxServer = 32
)

// Tool returns the name of a server's tool. It depends on the two names alone.
// What does not fit is cleaned and cut, and ends in a hash of both; so does what
// could be mistaken for such a name.
func Tool(server, tool string) string {
	name := prefix + server + "__" + tool
	if len(name) <= MaxTool && IsServer(server) && IsText(tool) && !endsInHash(tool, '_') {
		return name
	}
	name = prefix + cmp.Or(clean(server, '_', MaxServer), "_") + "__" + clean(tool, '_', MaxTool)
	return hashed(name, '_', MaxTool, server+"\x00"+tool)
}

// IsTool reports whether name has the form that [Tool] gives.
func IsTool(name string) bool {
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok || len(name) > MaxTool || !IsText(rest) {
		return false
	}
	// A server name has no underscore, but what stands for an invalid one may.
	separator := strings.Index(rest[min(1, len(rest)):], "__")
	return separator >= 0 && 1+separator+len("__") < len(rest)
}

// Server makes the name of a server of any text but the empty one, by the rule
// by which tools get theirs.
func Server(text string) string {
	if text == "" || IsServer(text) && !endsInHash(text, '-') {
		return text
	}
	return hashed(clean(text, '-', MaxServer), '-', MaxServer, text)
}

// IsServer reports whether a server may have the name.
func IsServer(name string) bool {
	return len(name) <= MaxServer && IsText(name) && !strings.Contains(name, "_")
}

// IsText reports whether s has a character, and none that a tool name may not
// have.
func IsText(s string) bool {
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

// hashed cuts a name and appends a hash of what it was made of.
func hashed(name string, separator byte, limit int, of string) string {
	sum := sha256.Sum256([]byte(of))
	return name[:min(len(name), limit-1-hashLength)] + string(separator) + hex.EncodeToString(sum[:])[:hashLength]
}

// endsInHash reports whether a name could be one that hashed has made.
func endsInHash(name string, separator byte) bool {
	at := len(name) - hashLength
	return at >= 1 && name[at-1] == separator && strings.Trim(name[at:], "0123456789abcdef") == ""
}

// clean puts fill in place of each character that a server's name may not have,
// and of each byte that is not a character. It stops after limit characters: a
// name may be megabytes.
func clean(s string, fill byte, limit int) string {
	var b strings.Builder
	for len(s) > 0 && b.Len() < limit {
		_, size := utf8.DecodeRuneInString(s)
		if c := s[0]; size == 1 && isNameByte(c) && c != '_' {
			b.WriteByte(c)
		} else {
			b.WriteByte(fill)
		}
		s = s[size:]
	}
	return b.String()
}
