// Package protocol knows the versions of MCP, and the metadata of its requests.
package protocol

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed94b59a13/mcp/internal/raw"
)

const (
	// Stateless is the first version without sessions, whose requests name
	// themselves: in their metadata, over HTTP in headers as well.
	Stateless = "2026-07-28"
	// Newest and Oldest are those of the versions that begin with initialize.
	Newest = "2025-11-25"
	Oldest = "2024-11-05"
	// A server may ask its user to fill in a form since FirstForms, and to open
	// an address since FirstURLs.
	FirstForms = "2025-06-18"
	FirstURLs  = "2025-11-25"
)

var (
	versions = []string{Newest, "2025-06-18", "2025-03-26", Oldest}
	date     = regexp.MustCompile(`\b20\d\d-\d\d-\d\d\b`)
)

// maxWords bounds how much of an error is searched, in bytes.
const maxWords = 16 << 10

// Initializes reports whether the version is known and begins with initialize.
func Initializes(version string) bool { return slices.Contains(versions, version) }

// Agreed returns the version that a result of initialize names, empty for none.
func Agreed(result []byte) (version string) {
	for name, value := range raw.Members(result) {
		if raw.Named(name, "protocolVersion") && raw.IsString(value) {
			version, _ = raw.String(value)
		}
	}
	return version
}

// Named returns the newest version that begins with initialize and that text
// names, besides the refused one; empty for none.
func Named(text []byte, refused string) string {
	i := slices.IndexFunc(versions, func(v string) bool { return v != refused && bytes.Contains(text, []byte(v)) })
	if i < 0 {
		return ""
	}
	return versions[i]
}

// Instead returns which version to begin with in place of one that was refused
// with these words, if that is worth an attempt: the newest that they name, an
// empty version for those without sessions, or where they name none an old one,
// which most servers speak.
func Instead(words []byte, refused string) (version string, ok bool) {
	if version = Named(words, refused); version != "" {
		return version, true
	}
	if bytes.Contains(words, []byte(Stateless)) {
		return "", refused != Stateless
	}
	for _, other := range date.FindAll(words, -1) {
		if string(other) != refused {
			return "", false
		}
	}
	if bytes.Contains(words, []byte(`["`)) { // a list of others
		return "", false
	}
	return Oldest, refused != Oldest
}

// Refused returns the words of an error that initialize was answered with, if
// its version may be the matter. Servers say that in words of their own, beside
// data.supported of the specification.
func Refused(e *jsonrpc.Error, refused string) (words []byte, ok bool) {
	words = append([]byte(e.Message[:min(len(e.Message), maxWords)]+" "), e.Data[:min(len(e.Data), maxWords)]...)
	said := strings.ToLower(string(words))
	return words, e.Code == sdk.CodeUnsupportedProtocolVersion || e.Code == jsonrpc.CodeInvalidParams || Named(words, refused) != "" ||
		strings.Contains(said, "version") && (strings.Contains(said, "protocol") || strings.Contains(said, "support") || strings.Contains(said, refused))
}
