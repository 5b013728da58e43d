package result

// This file decodes the images of results.

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/seed94b59a13/mcp/internal/raw"
)

// image takes an image part. One image that a provider does not take fails
// every later turn of a conversation, so the bytes decide, not the label.
func (c *contents) image(p part) {
	if raw.Null(p.data) {
		switch {
		case !raw.Null(p.blob):
			p.data = p.blob
		case len(p.source) > 0 && p.source[0] == '{':
			whole := p.whole
			p = readPart(raw.Read(p.source))
			p.whole = whole
		}
	}
	label := c.brief(p.mimeType)
	if address := c.address(p); address != "" {
		c.note("image not shown (it is not fetched)", address, label)
		return
	}
	data, err := decodeBase64(p.data)
	kind := sniff(data)
	switch {
	case raw.Null(p.data) && p.other:
		c.note("image not shown (no data)", c.excerpt(p.whole))
	case raw.Null(p.data), string(p.data) == `""`:
		c.note("image not shown (no data)", label, Count(0, "byte"))
	case err != nil:
		c.note("image not shown (broken data)", label, Count(len(p.data)-len(`""`), "byte"))
	case isPicture(kind):
		c.picture(kind, data)
	case kind != "":
		c.note("image not shown (unsupported format)", kind, Count(len(data), "byte"))
	default:
		c.note("image not shown (unsupported format)", label, Count(len(data), "byte"))
	}
}

// picture adds an image of a format that providers take.
func (c *contents) picture(mimeType string, data []byte) {
	switch number, size := c.limits.MaxImages, c.limits.MaxImageBytes; {
	case number > 0 && len(c.images) >= number:
		c.note(fmt.Sprintf("image left out (more than %d)", number), mimeType, Count(len(data), "byte"))
	case size > 0 && len(data) > size:
		c.note(fmt.Sprintf("image left out (larger than %s)", Count(size, "byte")), mimeType, Count(len(data), "byte"))
	default:
		c.images = append(c.images, Image{MIMEType: mimeType, Data: data})
	}
}

// audio takes an audio part, for which results have no place.
func (c *contents) audio(p part) {
	size := ""
	if data, err := decodeBase64(p.data); err == nil {
		size = Count(len(data), "byte")
	}
	c.note("audio", c.address(p), c.brief(p.mimeType), size)
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
		return nil, errors.New("the data is no string")
	}
	in := value[1 : len(value)-1]
	if bytes.IndexByte(in, '\\') >= 0 {
		in = raw.AppendString(nil, value)
	}
	if isDataURI(in) {
		header, body, ok := bytes.Cut(in, []byte(","))
		if !ok {
			return nil, errors.New("the data URI has no data")
		}
		in = body
		if bytes.IndexByte(in, '%') >= 0 {
			unescaped, err := url.PathUnescape(string(in))
			if err != nil {
				return nil, err
			}
			in = []byte(unescaped)
		}
		if !bytes.HasSuffix(bytes.ToLower(header), []byte(";base64")) {
			return bytes.Clone(in), nil
		}
	}
	out := make([]byte, base64.RawStdEncoding.DecodedLen(len(in)))
	n, err := base64.StdEncoding.Decode(out, in)
	if err != nil {
		n, err = base64.RawStdEncoding.Decode(out, standard(in))
	}
	return out[:n], err
}

// standard returns base64 text in the standard alphabet, without padding and
// white space.
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

// isPicture reports whether providers take images of the type.
func isPicture(mimeType string) bool {
	switch mimeType {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// sniff returns the type of an image by its first bytes, "" where they are not
// known. Types that providers do not take are known so that a note is right.
func sniff(data []byte) string {
	from := func(i int, s string) bool { return len(data) >= i && bytes.HasPrefix(data[i:], []byte(s)) }
	switch {
	case from(0, "\x89PNG\r\n\x1a\n"):
		return "image/png"
	case from(0, "\xff\xd8\xff"):
		return "image/jpeg"
	case from(0, "GIF87a"), from(0, "GIF89a"):
		return "image/gif"
	case from(0, "RIFF") && from(8, "WEBP"):
		return "image/webp"
	case from(0, "BM"):
		return "image/bmp"
	case from(0, "II*\x00"), from(0, "MM\x00*"):
		return "image/tiff"
	case from(4, "ftypavif"):
		return "image/avif"
	case from(4, "ftyphei"), from(4, "ftyphev"), from(4, "ftypmif1"):
		return "image/heic"
	case from(0, "<svg"):
		return "image/svg+xml"
	}
	return ""
}
