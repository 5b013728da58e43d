package result

// This file reads the parts of a result's content.

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/seed94b59a13/mcp/internal/raw"
)

// takeAll takes the parts of the content. Of several contents the last one
// counts. A string or one object is meant as a list of it.
func (c *contents) takeAll(content *raw.Cursor) {
	*c = contents{limits: c.limits, texts: c.texts[:0]}
	switch content.Kind() {
	case '[':
		for range content.Array() {
			c.take(content)
		}
	case 'n':
		content.Value()
	default:
		c.take(content)
	}
}

// take takes a part of the content, unless it is for the user.
func (c *contents) take(content *raw.Cursor) {
	p := readPart(content)
	if c.parts++; c.parts > maxParts {
		return
	}
	if p.isForUser() {
		c.forUser = append(c.forUser, p)
	} else {
		c.add(p)
	}
}

// add reads one part of the content. A member of a wrong type counts as
// absent: it must not cost the part.
func (c *contents) add(p part) {
	if raw.IsString(p.whole) {
		c.write(c.string(p.whole))
		return
	}
	switch kind := c.string(p.kind); {
	case kind == "text" && raw.Null(p.text) && p.other:
		c.note("text without text", c.excerpt(p.whole))
	case kind == "text", kind == "" && p.text != nil:
		c.write(c.shown(p.text))
	case kind == "image":
		c.image(p)
	case kind == "audio":
		c.audio(p)
	case kind == "resource_link":
		if raw.Null(p.uri) && len(p.resource) > 0 && p.resource[0] == '{' {
			p = readPart(raw.Read(p.resource))
		}
		name := c.brief(p.name)
		if name == "" {
			name = c.brief(p.title)
		}
		size := ""
		if n, ok := raw.Whole(p.size); ok {
			size = Count(int(n), "byte")
		}
		c.note("resource link", c.brief(p.uri), name, c.brief(p.mimeType), size, c.brief(p.description))
	case kind == "resource":
		c.resource(p)
	case kind != "" && raw.IsString(p.text):
		c.write(fmt.Sprintf("[unknown content %q: %s]", kind, c.string(p.text)))
	default:
		if raw.Empty(p.whole) {
			c.blank++
		}
		c.note("unknown content", c.excerpt(p.whole))
	}
}

// A part is one part of the content, its members as they came.
type part struct {
	whole []byte

	kind, text, data, mimeType, uri, url, name, title, description, size, resource, annotations []byte

	blob, source, contents []byte // of an embedded resource, or where other protocols have the data

	other bool // there are members besides those of the first line
}

// readPart reads a part.
func readPart(c *raw.Cursor) (p part) {
	start := c.At()
	if c.Kind() != '{' {
		c.Value()
	}
	for name := range c.Object() {
		p.member(name, c.Value())
	}
	p.whole = c.Since(start)
	return p
}

func (p *part) member(name, value []byte) {
	switch string(name) {
	case "type":
		p.kind = value
	case "text":
		p.text = value
	case "data":
		p.data = value
	case "mimeType", "media_type":
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
	case "blob":
		p.blob, p.other = value, true
	case "source":
		p.source, p.other = value, true
	case "contents":
		p.contents, p.other = value, true
	case "_meta":
	default:
		p.other = true
	}
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
// that. Some servers leave out the object around the members, or have a list
// of such objects, as the answer to resources/read does.
func (c *contents) resource(p part) {
	r := p
	if len(p.resource) > 0 && p.resource[0] == '{' {
		r = readPart(raw.Read(p.resource))
	}
	for _, list := range [][]byte{p.resource, r.contents} {
		if len(list) > 0 && list[0] == '[' {
			for value := range raw.Elements(list) {
				if c.parts++; c.parts <= maxParts {
					c.embedded(readPart(raw.Read(value)), value)
				}
			}
			return
		}
	}
	c.embedded(r, p.whole)
}

// embedded takes the members of an embedded resource. whole is shown if none
// is of use.
func (c *contents) embedded(r part, whole []byte) {
	uri, mimeType := c.brief(r.uri), c.brief(r.mimeType)
	if !raw.Null(r.text) && (string(r.text) != `""` || raw.Null(r.blob)) {
		c.document(uri, c.shown(r.text))
		return
	}
	if raw.Null(r.blob) {
		if r.other || raw.IsString(r.resource) || whole[0] != '{' {
			c.note("resource without content", c.excerpt(whole))
		} else {
			c.note("resource without content", uri, mimeType)
		}
		return
	}
	data, err := decodeBase64(r.blob)
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
