package result

// This file reads the parts of a result's content.

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/text"
)

// few is a number of parts that is not worth being counted.
const few = 16

// takeAll takes the parts of the content. Of several contents the last one
// counts, as in every reader of JSON. A string or one object is meant as a list of
// it: servers that are written by hand forget the list.
func (c *contents) takeAll(content *raw.Cursor) {
	*c = contents{limits: c.limits, lent: c.lent, shown: shown{texts: c.texts[:0]}, parts: c.parts[:0]}
	switch content.Kind() {
	case '[':
		// Room for the parts is made once; most large results have only few.
		rest := content.Rest()
		for i := range content.Array() {
			if i == 0 && !c.lent || i == few {
				c.parts = slices.Grow(c.parts, min(count(rest), maxParts))
			}
			c.take(readPart(content))
		}
	case 'n':
		content.Value()
	default:
		c.take(readPart(content))
	}
}

// count returns the length of the list at the start of data. It passes over the
// elements and keeps nothing of them.
func count(data []byte) (n int) {
	for range raw.Read(data).Array() {
		n++
	}
	return n
}

// take takes a part of the content. What is for the user is kept apart.
func (c *contents) take(p part) {
	// What is left out is still counted, for the note.
	if c.number++; c.number > maxParts {
		return
	}
	if !c.begin(&p) {
		c.add(p)
		return
	}
	c.userOnly++
	// All that adds a text adds it to shown: the two change places for this part.
	c.shown, c.forUser = c.forUser, c.shown
	c.add(p)
	c.shown, c.forUser = c.forUser, c.shown
}

// maxAudience bounds for how many roles a part is: there are two.
const maxAudience = 8

// begin adds a part with what is the same for all kinds, and reports whether
// the server means it for the user and not for a model.
func (c *contents) begin(p *part) (userOnly bool) {
	c.at, c.payload = len(c.parts), nil
	c.parts = append(c.parts, Part{Type: c.kind(p.kind), MIMEType: c.quietly(p.mimeType), URI: c.quietly(p.uri)})
	part := &c.parts[c.at]
	// A part is for the user alone if all of its roles are "user"; one role that
	// is unknown may well be a model's.
	for role := range raw.Elements(raw.Member(p.annotations, "audience")) {
		if userOnly = string(role) == `"user"` && (userOnly || part.Audience == nil); len(part.Audience) == maxAudience {
			continue
		}
		switch string(role) {
		case `"user"`:
			part.Audience = append(part.Audience, "user")
		case `"assistant"`:
			part.Audience = append(part.Audience, "assistant")
		default:
			s, _ := raw.String(role)
			part.Audience = append(part.Audience, s)
		}
	}
	return userOnly
}

// kinds are the types of parts as the specification writes them, and as names
// that a server may write in another way.
var kinds = [...][2]string{{"text", "text"}, {"image", "image"}, {"audio", "audio"}, {"resource", "resource"}, {"resource_link", "resourceLink"}}

// standardKind is the type of a part as the specification writes it. One that is
// not known stays as it is, for a note.
func standardKind(kind string) string {
	const longest = 20
	for _, known := range kinds {
		if kind == known[0] || len(kind) < longest && raw.Named([]byte(kind), known[1]) {
			return known[0]
		}
	}
	return kind
}

// kind is the type of a part. The known ones need no memory of their own.
func (c *contents) kind(value []byte) string {
	for _, known := range kinds {
		if raw.IsString(value) && string(value[1:len(value)-1]) == known[0] {
			return known[0]
		}
	}
	return c.quietly(value)
}

// end adds the last of the texts that were written for the part at hand, unless
// it is a picture that is shown, and the part as it came. In a result that is
// lent, its text or its file is left out there: it would be in memory twice, and
// is most of the result.
func (c *contents) end(texts, images int, whole []byte) {
	part := &c.parts[c.at]
	if len(c.texts) > texts && len(c.images) == images {
		part.Text = c.texts[len(c.texts)-1]
	}
	switch {
	case part.Raw != nil:
		return
	case !c.lent || len(whole) == 0:
		part.Raw = raw.Repair(whole)
		return
	}
	before, after := whole, []byte(nil)
	if len(c.payload) > len("null") {
		// Both are in one buffer. What payload holds is a value within whole, at
		// whatever depth, and the distance of the two is where it starts there.
		start := int(uintptr(unsafe.Pointer(&c.payload[0])) - uintptr(unsafe.Pointer(&whole[0])))
		before, after = whole[:start], whole[start+len(c.payload):]
	}
	kept := append(make([]byte, 0, len(before)+len("null")+len(after)), before...)
	if len(before) < len(whole) {
		kept = append(append(kept, "null"...), after...)
	}
	part.Raw = raw.Repair(kept)
}

// add reads one part of the content. A member of a wrong type counts as absent: it
// must not cost the part. Only what is empty leaves nothing: of all else there is a
// text, an image or a note, so that no part disappears silently.
func (c *contents) add(p part) {
	texts, images := len(c.texts), len(c.images)
	switch kind := standardKind(c.parts[c.at].Type); {
	case raw.IsString(p.whole): // meant as the text of a part
		c.write(c.payloadText(p.whole))
	case kind == "text" && raw.Null(p.text) && p.other:
		c.note("text without text", c.whole(p.whole))
	case kind == "text", kind == "" && p.text != nil:
		c.write(c.payloadText(p.text))
	case kind == "image":
		c.image(p)
		c.write(c.string(p.text)) // as a caption
	case kind == "audio":
		c.audio(p.located())
		c.write(c.string(p.text)) // as a transcript
	case kind == "resource_link":
		c.link(p)
		c.write(c.string(p.text))
	case kind == "resource":
		if c.resources(p) {
			return
		}
	// A type of a later version, or of the server's own. Where a text is all that
	// it has besides, that is what a model can use; else nothing of it is left out.
	case kind != "" && raw.IsString(p.text) && !p.other:
		s := c.payloadText(p.text)
		c.write(fmt.Sprintf("[unknown content %q: %s]", text.Start(kind, maxNote), s))
		texts = len(c.texts)
		c.parts[c.at].Text = s
	case kind != "" && raw.IsString(p.mimeType) && (c.data(p.blob) || c.data(p.data)):
		c.file(text.Start(kind, maxNote), p)
	default:
		if raw.Empty(p.whole) {
			c.blank++
		}
		json := c.keep(p.whole)
		c.parts[c.at].Raw = json
		c.note("unknown content", c.clean(text.Bytes(json)))
	}
	c.end(texts, images, p.whole)
}

// link takes a link to a resource. Some have the resource's file as well.
func (c *contents) link(p part) {
	if raw.Null(p.uri) && len(p.resource) > 0 && p.resource[0] == '{' {
		p = readPart(raw.Read(p.resource))
		c.parts[c.at].MIMEType, c.parts[c.at].URI = c.quietly(p.mimeType), c.quietly(p.uri)
	}
	if !c.data(p.blob) {
		c.data(p.data)
	}
	// A model asks for a resource by its address, and refers to it by its name.
	name := c.brief(p.name)
	if name == "" {
		name = c.brief(p.title)
	}
	size := ""
	if n, ok := raw.Whole(p.size); ok {
		size = text.Count(int(n), "byte")
	}
	address := c.brief(p.uri)
	if address == "" {
		address = c.brief(p.url)
	}
	if address == "" && (p.other || !raw.Null(p.uri)) {
		address = c.excerpt(p.whole)
	}
	c.note("resource link", address, name, c.brief(p.mimeType), size, c.brief(p.description))
}

// A part is one part of the content, its members as they came.
type part struct {
	whole []byte

	kind, text, data, mimeType, uri, url, name, title, description, size, resource, annotations []byte

	blob, source, contents []byte // of an embedded resource, or where other protocols have the data

	other bool // there are members besides those of the first line
}

// readPart reads a part. Of members that share a name the last one counts. What is
// not an object has no members, and is whole alone.
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

// member sets a member. Servers write its name in any case, some with separators.
func (p *part) member(name, value []byte) {
	var room [16]byte // more than the longest name has
	folded := room[:0]
	for _, c := range name {
		if c != '_' && c != '-' && len(folded) < len(room) {
			folded = append(folded, c|0x20)
		}
	}
	switch string(folded) {
	case "type":
		p.kind = value
	case "text":
		p.text = value
	case "data":
		p.data = value
	case "mimetype", "mediatype":
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
	case "meta":
		p.other = p.other || string(name) != "_meta" // which says nothing to a model
	default:
		p.other = true
	}
}

// resources takes an embedded resource: a text or a file that came with the
// result. Some servers leave out the object around the members, or have a list
// of such objects, as the answer to resources/read does. Then it reports true:
// each of the list is a part of its own.
func (c *contents) resources(p part) bool {
	r := p
	if len(p.resource) > 0 && p.resource[0] == '{' {
		r = readPart(raw.Read(p.resource))
	}
	for _, list := range [][]byte{p.resource, r.contents} {
		if len(list) < len("[0]") || list[0] != '[' {
			continue
		}
		kind, audience := c.parts[c.at].Type, c.parts[c.at].Audience
		c.parts = slices.Grow(c.parts[:c.at], min(count(list), maxParts))
		// The list takes the place of the part that it is in.
		c.number--
		for value := range raw.Elements(list) {
			if c.number++; c.number > maxParts {
				continue
			}
			texts, images, r := len(c.texts), len(c.images), readPart(raw.Read(value))
			c.begin(&r)
			c.parts[c.at].Type, c.parts[c.at].Audience = kind, audience
			c.resource(r, value)
			c.end(texts, images, value)
		}
		return true
	}
	c.parts[c.at].MIMEType, c.parts[c.at].URI = c.quietly(r.mimeType), c.quietly(r.uri)
	c.resource(r, p.whole)
	return false
}

// resource takes the members of an embedded resource. Its address stands before
// its text, since a model asks for it by that. whole is shown if no member is of
// use.
func (c *contents) resource(r part, whole []byte) {
	if raw.Null(r.blob) && raw.IsString(r.data) {
		r.blob = r.data
	}
	uri, mimeType := c.brief(r.uri), c.brief(r.mimeType)
	// A file of text is shown as a text, with the address as a title and not as a
	// note on something that is missing.
	document := func(body string) {
		if uri != "" {
			c.note("resource", uri)
			c.spoken = len(c.texts)
		}
		c.write(body)
	}
	// Some servers set both, and leave the one empty that does not apply.
	if !raw.Null(r.text) && (string(r.text) != `""` || raw.Null(r.blob)) {
		document(c.payloadText(r.text))
		return
	}
	if raw.Null(r.blob) {
		if r.other || !raw.Empty(r.resource) || whole[0] != '{' {
			c.note("resource without content", c.whole(whole))
		} else {
			c.note("resource without content", uri, mimeType)
		}
		return
	}
	if !c.data(r.blob) {
		c.note("resource that cannot be decoded", uri, mimeType)
		return
	}
	// The bytes decide what is a picture. What is text only its type can tell: any
	// short file may happen to be valid UTF-8.
	data := c.parts[c.at].Data
	switch {
	case isText(mimeType) && utf8.Valid(data):
		document(c.clean(string(data)))
	case isPicture(sniff(data)):
		c.picture(mimeType, data)
	default:
		c.note("resource", uri, mimeType, text.Count(len(data), "byte"))
	}
}

// isText reports whether files of the type are text that a model can read as it
// is. The suffixes are those of RFC 6839 and RFC 9512.
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
