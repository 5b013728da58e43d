package result

// This file reads the parts of a result's content.

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/tap"
)

// takeAll takes the parts of the content that rest starts with, and returns its
// length. Of several contents the last one counts.
func (c *contents) takeAll(rest []byte) (n int) {
	*c = contents{limits: c.limits, texts: c.texts[:0]}
	if rest[0] == '[' {
		return raw.WalkArray(rest, c.take)
	}
	// A string or one object is meant as a list of it.
	if n = raw.Skip(rest); !raw.Null(rest[:n]) {
		c.take(rest)
	}
	return n
}

// take takes the part of the content that rest starts with, unless it is for
// the user, and returns its length.
func (c *contents) take(rest []byte) (n int) {
	if c.parts++; c.parts > maxParts {
		return raw.Skip(rest)
	}
	p, n := readPart(rest)
	if p.isForUser() {
		c.forUser = append(c.forUser, p)
	} else {
		c.add(p)
	}
	return n
}

// add reads one part of the content. A member of a wrong type counts as
// absent: it must not cost the part.
func (c *contents) add(p part) {
	if raw.IsString(p.whole) {
		c.write(c.string(p.whole))
		return
	}
	switch kind := c.string(p.kind); {
	case kind == "text" && p.text == nil && p.other:
		c.note("text without text", c.excerpt(p.whole))
	case kind == "text", kind == "" && p.text != nil:
		c.write(c.shown(p.text))
	case kind == "image":
		c.image(p)
	case kind == "audio":
		c.audio(p)
	case kind == "resource_link":
		name := c.brief(p.name)
		if name == "" {
			name = c.brief(p.title)
		}
		size := ""
		if n, ok := tap.ParseID(p.size); ok && n >= 0 {
			size = Count(int(n), "byte")
		}
		c.note("resource link", c.brief(p.uri), name, c.brief(p.mimeType), size, c.brief(p.description))
	case kind == "resource":
		c.resource(p.resource)
	case kind != "" && raw.IsString(p.text):
		c.write(fmt.Sprintf("[unknown content %q: %s]", kind, c.string(p.text)))
	default:
		c.note("unknown content", c.excerpt(p.whole))
	}
}

// A part is one part of the content, its members as they came.
type part struct {
	whole []byte

	kind, text, data, mimeType, uri, url, name, title, description, size, resource, annotations []byte

	other bool // there are more members
}

// readPart reads the part that rest starts with, and returns its length.
func readPart(rest []byte) (p part, n int) {
	if rest[0] == '{' {
		n = raw.WalkObject(rest, p.member)
	} else {
		n = raw.Skip(rest)
	}
	p.whole = rest[:n:n]
	return p, n
}

func (p *part) member(name, rest []byte) (n int) {
	n = raw.Skip(rest)
	value := rest[:n:n]
	switch string(name) {
	case "type":
		p.kind = value
	case "text":
		p.text = value
	case "data":
		p.data = value
	case "mimeType":
		p.mimeType = value
	case "uri":
		p.uri = value
	case "url":
		p.url = value
	case "name":
		p.name = value
	case "title":
		p.title = value
	case "description":
		p.description = value
	case "size":
		p.size = value
	case "resource":
		p.resource = value
	case "annotations":
		p.annotations = value
	case "_meta":
	default:
		p.other = true
	}
	return n
}

// isForUser reports whether the server means the part for the user and not for
// a model.
func (p *part) isForUser() bool {
	user := false
	for role := range raw.Elements(raw.Member(p.annotations, "audience")) {
		if user = string(role) == `"user"`; !user {
			return false
		}
	}
	return user
}

// resource takes an embedded resource: a text or a file that came with the
// result. Its address stands before its text, since a model asks for it by
// that.
func (c *contents) resource(resource []byte) {
	var (
		uri      = c.brief(raw.Member(resource, "uri"))
		mimeType = c.brief(raw.Member(resource, "mimeType"))
		body     = raw.Member(resource, "text")
		blob     = raw.Member(resource, "blob")
	)
	if !raw.Null(body) {
		c.document(uri, c.shown(body))
		return
	}
	if raw.Null(blob) {
		c.note("resource without content", uri, mimeType)
		return
	}
	data, err := decodeBase64(blob)
	switch kind := sniff(data); {
	case err != nil:
		c.note("resource that cannot be decoded", uri, mimeType)
	case isText(mimeType) && utf8.Valid(data):
		c.document(uri, c.clean(string(data)))
	case isPicture(kind):
		c.picture(kind, data)
	default:
		c.note("resource", uri, mimeType, Count(len(data), "byte"))
	}
}

func (c *contents) document(uri, body string) {
	if uri != "" {
		c.note("resource", uri)
	}
	c.write(body)
}

// isText reports whether files of the type are text.
func isText(mimeType string) bool {
	kind, _, _ := strings.Cut(strings.ToLower(mimeType), ";")
	kind = strings.TrimSpace(kind)
	if strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") || strings.HasSuffix(kind, "+yaml") {
		return true
	}
	switch strings.TrimPrefix(strings.TrimPrefix(kind, "application/"), "x-") {
	case "json", "ndjson", "jsonl", "json-seq", "xml", "yaml", "toml", "javascript", "ecmascript", "typescript", "sh", "shellscript",
		"sql", "graphql", "www-form-urlencoded", "csv", "markdown", "tex", "latex", "python", "httpd-php", "pem-file":
		return true
	}
	return false
}
