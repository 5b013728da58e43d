// Package served makes the content of an answer of a result: as the first server sent
// it, where nobody has changed what a model sees of it.
package served

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed94b59a13/mcp/internal/result"
)

// Part and Image are those of a result.
type (
	Part  = result.Part
	Image = result.Image
)

// Contents returns what a client gets of a result: its parts, if content and images
// are what they say, and else these two. preface is a line that may stand before the
// content without being in the parts; it goes along.
func Contents(content string, images []Image, parts []Part, preface string) []sdk.Content {
	// The parts do not have the preface: it goes along as a text of its own.
	rest, prefaced := strings.CutPrefix(content, preface+"\n")
	if len(parts) == 0 || !shown(rest, images, parts) {
		return asShown(content, images)
	}
	contents := make([]sdk.Content, 0, len(parts)+1)
	if prefaced {
		contents = append(contents, &sdk.TextContent{Text: preface})
	}
	for _, p := range parts {
		contents = append(contents, decode(p))
	}
	return contents
}

// asShown returns what a model sees: one text, and the images behind it, which have lost
// the places they had.
func asShown(content string, images []Image) []sdk.Content {
	contents := []sdk.Content{} // never null
	if content != "" {
		contents = append(contents, &sdk.TextContent{Text: content})
	}
	for _, image := range images {
		contents = append(contents, &sdk.ImageContent{MIMEType: image.MIMEType, Data: image.Data})
	}
	return contents
}

// lineOut is a note that stands behind the texts of a result and takes nothing from
// its parts.
var lineOut = regexp.MustCompile(`^\[(left out \d+ parts? meant only for the user|removed \d+ invisible characters?)\]$`)

// shown reports whether content and images are what a model sees of the parts: a cap,
// or whoever stands between, has changed nothing. It reads the content along the parts,
// rather than making it of them once more and comparing: what a host painted over or
// masked must not go out as it was, and all that cannot be told to be the same is other.
func shown(content string, images []Image, parts []Part) bool {
	visible := slices.DeleteFunc(slices.Clone(parts), func(p Part) bool { return len(p.Audience) == 1 && p.Audience[0] == "user" })
	if len(visible) == 0 {
		visible = parts // those for the user are better than nothing
	}
	n := 0
	rest, more := content, content != ""
	for _, p := range visible {
		if p.Text == "" {
			if len(p.Data) == 0 {
				continue // a text of nothing
			}
			if n == len(images) || !bytes.Equal(images[n].Data, p.Data) {
				return false
			}
			n++
			if after, ok := strings.CutPrefix(rest, "[image "+strconv.Itoa(n)+"]"); ok {
				rest, more = next(after)
			}
			continue
		}
		if isPicture(p) {
			return false // a cap has made a note of it
		}
		// A file of text has its address as a title, which is not in the text of
		// the part.
		if line, after, ok := strings.Cut(rest, "\n"); ok && p.Type == "resource" && line != p.Text &&
			strings.HasPrefix(line, "[resource: ") && strings.HasSuffix(line, "]") && strings.Contains(line, p.URI) {
			rest = after // what the text is of
		}
		after, ok := strings.CutPrefix(rest, p.Text)
		if !ok || !more || after != "" && after[0] != '\n' {
			return false
		}
		rest, more = next(after)
	}
	if n < len(images) {
		return false
	}
	// Behind the parts only notes of this module may stand; anything else somebody
	// has added.
	for more {
		var line string
		line, rest, more = strings.Cut(rest, "\n")
		if !lineOut.MatchString(line) {
			return false
		}
	}
	return true
}

// next passes the end of a line, which joins two texts of a result. more is false at the end of the text.
func next(after string) (rest string, more bool) {
	return strings.CutPrefix(after, "\n")
}

// isPicture reports whether a part is an image that a model could see: with MaxImages or
// MaxImageBytes there is a note in its place, and the file is in the part still.
func isPicture(p Part) bool {
	switch p.MIMEType {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return len(p.Data) > 0
	}
	return false
}

// decode returns a part in the form of the SDK, as text where that has none. What
// is in the fields of a part wins over what came: texts are clean there. Its Raw
// goes through the SDK's own decoder, which keeps annotations and metadata that a
// Part has no field for.
func decode(p Part) (content sdk.Content) {
	defer func() {
		if recover() != nil { // the SDK panics over some parts
			content = asText(p)
		}
	}()
	var answer sdk.CallToolResult
	if len(p.Raw) == 0 || json.Unmarshal(slices.Concat([]byte(`{"content":[`), p.Raw, []byte(`]}`)), &answer) != nil || len(answer.Content) != 1 {
		return asText(p)
	}
	// What was masked or cleaned must not come back from the bytes of the server.
	switch c := answer.Content[0].(type) {
	case *sdk.TextContent:
		c.Text = p.Text
	case *sdk.ImageContent:
		if len(p.Data) == 0 {
			return asText(p)
		}
		c.Data = p.Data
	case *sdk.AudioContent:
		if len(p.Data) == 0 {
			return asText(p)
		}
		c.Data = p.Data
	case *sdk.EmbeddedResource:
		switch {
		case c.Resource == nil:
			return asText(p)
		case p.Data != nil:
			c.Resource.Blob, c.Resource.Text = p.Data, ""
		default:
			c.Resource.Text = p.Text
		}
	case *sdk.ResourceLink:
	default:
		return asText(p)
	}
	return answer.Content[0]
}

// asText returns a part as a text, or as the image that somebody made without the form
// of a server.
func asText(p Part) sdk.Content {
	if p.Type == "image" && len(p.Data) > 0 && p.Text == "" {
		return &sdk.ImageContent{MIMEType: p.MIMEType, Data: p.Data}
	}
	return &sdk.TextContent{Text: p.Text}
}
