package result

// This file decodes the images and other files of results.

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/text"
)

// located returns a part with its data where the specification has it, wherever
// the server has it.
func (p part) located() part {
	switch {
	case !raw.Null(p.data): // as in the specification
	case !raw.Null(p.blob):
		p.data = p.blob
	case len(p.source) > 0 && p.source[0] == '{': // as in Anthropic's Messages
		whole := p.whole
		p = readPart(raw.Read(p.source))
		p.whole = whole
	}
	return p
}

// image takes an image part. One image that a provider does not take fails
// every later turn of a conversation, so the bytes decide, not the label.
func (c *contents) image(p part) {
	// Nothing is fetched: an address of the server's choice could be one that only
	// this machine can reach.
	p = p.located()
	label := c.brief(p.mimeType)
	if address := c.address(p); address != "" {
		c.note("image not shown (it is not fetched)", address, label)
		return
	}
	switch {
	case raw.Null(p.data) && p.other:
		c.note("image not shown (no data)", c.excerpt(p.whole))
	case raw.Null(p.data), string(p.data) == `""`:
		c.note("image not shown (no data)", label, text.Count(0, "byte"))
	case !c.data(p.data):
		c.note("image not shown (broken data)", label, text.Count(len(p.data)-len(`""`), "byte"))
	default:
		c.picture(label, c.parts[c.at].Data)
	}
}

// data decodes the file of the part at hand, and reports whether there is one.
func (c *contents) data(value []byte) bool {
	data, err := decodeBase64(value)
	if err != nil {
		return false
	}
	c.parts[c.at].Data, c.payload = data, value
	return true
}

// maxSide bounds the width and the height of an image, in pixels: a provider
// that is given a larger one refuses the conversation from then on.
const maxSide = 8000

// picture adds an image if it is one that providers take.
func (c *contents) picture(label string, data []byte) {
	// Providers look at the bytes as well, and refuse a label that says otherwise.
	// A header that cannot be read is one that they cannot read either.
	kind := sniff(data)
	width, height := size(kind, data)
	bytes := text.Count(len(data), "byte")
	if kind != "" {
		label, c.parts[c.at].MIMEType = kind, kind
	}
	switch most, mostBytes := c.limits.MaxImages, c.limits.MaxImageBytes; {
	case !isPicture(kind):
		c.note("image not shown (unsupported format)", label, bytes)
	case width <= 0 || height <= 0:
		c.note("image not shown (broken header)", label, bytes)
	case width > maxSide || height > maxSide:
		c.note(fmt.Sprintf("image left out (more than %d pixels on a side)", maxSide), label, fmt.Sprintf("%d by %d", width, height), bytes)
	case most > 0 && len(c.images) >= most:
		c.note(fmt.Sprintf("image left out (more than %d)", most), label, bytes)
	case mostBytes > 0 && len(data) > mostBytes:
		c.note(fmt.Sprintf("image left out (larger than %s)", text.Count(mostBytes, "byte")), label, bytes)
	default:
		c.images = append(c.images, Image{MIMEType: kind, Data: data})
		c.places = append(c.places, len(c.texts))
	}
}

// audio notes a recording.
func (c *contents) audio(p part) {
	if !c.data(p.data) && !raw.Null(p.data) && c.address(p) == "" {
		c.note("audio that cannot be decoded", c.brief(p.mimeType), text.Count(len(p.data)-len(`""`), "byte"))
		return
	}
	c.file("audio", p)
}

// file notes a file for which a model has no place.
func (c *contents) file(what string, p part) {
	size := ""
	if data := c.parts[c.at].Data; data != nil {
		size = text.Count(len(data), "byte")
	}
	c.note(what, c.address(p), c.brief(p.mimeType), size)
}

// address returns the URL that a part has in place of data. Base64 has no
// colon.
func (c *contents) address(p part) string {
	switch {
	case !raw.Null(p.data):
		if bytes.IndexByte(p.data[:min(len(p.data), 40)], ':') < 0 || isDataURI(p.data[1:]) {
			return ""
		}
		return c.brief(p.data)
	case !raw.Null(p.url):
		return c.brief(p.url)
	}
	return c.brief(p.uri)
}

func isDataURI(s []byte) bool {
	const scheme = "data:"
	return len(s) >= len(scheme) && strings.EqualFold(string(s[:len(scheme)]), scheme)
}

// decodeBase64 decodes the base64 text in a JSON string, in any usual form:
// padded or not, URL-safe, with line breaks, as a data URI.
func decodeBase64(value []byte) ([]byte, error) {
	if !raw.IsString(value) {
		return nil, errors.New("the data is not a string")
	}
	in := value[1 : len(value)-1]
	// Some writers of JSON escape each slash, which is a digit of base64.
	if bytes.IndexByte(in, '\\') >= 0 {
		in = raw.AppendString(make([]byte, 0, len(value)), value)
	}
	// RFC 2397: without the word base64, the data is text with percent escapes.
	if isDataURI(in) {
		header, body, ok := bytes.Cut(in, []byte(","))
		if !ok {
			return nil, errors.New("the data URI has no data")
		}
		in = body
		if bytes.IndexByte(in, '%') >= 0 {
			unescaped, err := url.PathUnescape(text.Bytes(in))
			if err != nil {
				return nil, err
			}
			in = []byte(unescaped)
		}
		if !bytes.HasSuffix(bytes.ToLower(header), []byte(";base64")) {
			return bytes.Clone(in), nil
		}
	}
	// Most data is as the specification says, and is decoded in one go; only where
	// that fails is it brought to the one form. Line breaks the standard library
	// passes by itself.
	out := make([]byte, base64.RawStdEncoding.DecodedLen(len(in)))
	n, err := base64.StdEncoding.Decode(out, in)
	if err != nil {
		n, err = base64.RawStdEncoding.Decode(out, standard(in))
	}
	return out[:n], err
}

// standard returns base64 text in the standard alphabet, without padding and white
// space. Padding in the middle stays, and is an error then: two files were joined.
func standard(in []byte) []byte {
	out := make([]byte, 0, len(in))
	for _, c := range in {
		switch c {
		case ' ', '\t', '\r', '\n':
		case '-':
			out = append(out, '+')
		case '_':
			out = append(out, '/')
		default:
			out = append(out, c)
		}
	}
	return bytes.TrimRight(out, "=")
}
