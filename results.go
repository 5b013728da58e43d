package mcp

// This file calls tools and turns raw results into what a model can read.

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/tap"
)

// nothing is the Content of a result that has none: providers refuse an empty
// tool message.
const nothing = "[the tool returned nothing]"

// handler returns the Handler of a tool.
func (c *Connection) handler(tool Tool) func(context.Context, json.RawMessage) (ToolResult, error) {
	what := fmt.Sprintf("calling tool %q", tool.ServerTool)
	var mirrors []mirror
	if c.mirrors() {
		mirrors, _ = mirrorsOf(tool.ServerSchema)
	}
	return func(ctx context.Context, arguments json.RawMessage) (ToolResult, error) {
		arguments, err := readArguments(arguments)
		if err != nil {
			return ToolResult{Content: err.Error(), IsError: true}, nil
		}
		slot := tap.NewSlot()
		if len(mirrors) > 0 {
			slot.Header = headerOf(mirrors, arguments)
		}
		answer, err := c.call(ctx, slot, what, func(ctx context.Context) error {
			_, err := c.session.CallTool(ctx, &sdk.CallToolParams{Name: tool.ServerTool, Arguments: arguments})
			return err
		})
		if err != nil {
			return ToolResult{}, err
		}
		defer answer.Release()
		if answer.Error != nil {
			return ToolResult{Content: "[error] " + errorText(tap.ParseError(answer.Error)), IsError: true}, nil
		}
		return readResult(answer.Result), nil
	}
}

// readArguments checks what a model wrote.
func readArguments(arguments json.RawMessage) (json.RawMessage, error) {
	arguments = bytes.TrimSpace(arguments)
	if raw.Null(arguments) {
		return json.RawMessage("{}"), nil
	}
	if arguments[0] != '{' {
		return nil, fmt.Errorf("the arguments must be a JSON object")
	}
	if end, err := raw.Scan(arguments); err != nil {
		return nil, fmt.Errorf("the arguments are not valid JSON: %w", err)
	} else if end != len(arguments) {
		return nil, fmt.Errorf("the arguments are not valid JSON: something follows the object")
	}
	return arguments, nil
}

// readResult reads the result of a tools/call. It keeps nothing of result.
func readResult(result []byte) ToolResult {
	var (
		r          ToolResult
		c          contents
		content    []byte
		structured []byte
		other      []byte
	)
	if result == nil || result[0] != '{' {
		other = result
	}
	for name, value := range raw.Members(result) {
		switch string(name) {
		case "content":
			content = value
		case "structuredContent":
			structured = value
		case "isError":
			r.IsError = string(value) == "true" || string(value) == `"true"`
		case "_meta", "resultType":
		default:
			other = result
		}
	}
	switch {
	case raw.Null(content):
	case content[0] == '[':
		for part := range raw.Elements(content) {
			c.add(part)
		}
	default:
		c.add(content) // a string or one part, meant as a list of it
	}
	if !raw.Null(structured) {
		r.Structured = bytes.Clone(raw.Repair(structured))
	}
	r.Images = c.images
	r.Content = strings.Join(c.texts, "\n")
	if strings.TrimSpace(r.Content) != "" || len(r.Images) > 0 {
		return r
	}
	switch {
	case r.Structured != nil:
		r.Content = string(r.Structured)
	case !raw.Null(other):
		// Very old servers wrap the answer in toolResult; others invent names.
		if inner := raw.Member(other, "toolResult"); len(inner) > 0 && inner[0] == '{' && other[0] == '{' {
			isError := r.IsError
			r = readResult(inner)
			r.IsError = r.IsError || isError
			return r
		}
		c.note("unknown result", other)
		r.Content = strings.Join(c.texts, "\n")
	case r.IsError:
		r.Content = "[the tool failed without a message]"
	default:
		r.Content = nothing
	}
	return r
}

// contents collects the parts of a result.
type contents struct {
	texts  []string
	images []Image
}

func (c *contents) text(s string) {
	if s != "" {
		c.texts = append(c.texts, s)
	}
}

// maxNote bounds the JSON or text of a part that is shown as a note.
const maxNote = 2 << 10

// note shows what cannot be read as it was meant.
func (c *contents) note(what string, value []byte) {
	shown := strings.ToValidUTF8(string(raw.Repair(value[:min(len(value), maxNote)])), "")
	if len(value) > maxNote {
		shown += fmt.Sprintf("… (%d bytes)", len(value))
	}
	c.texts = append(c.texts, fmt.Sprintf("[%s: %s]", what, shown))
}

// add takes one part of the content.
func (c *contents) add(part []byte) {
	if s, ok := raw.String(part); ok {
		c.text(s)
		return
	}
	if part[0] != '{' {
		c.note("unknown content", part)
		return
	}
	var kind, text, data, mimeType, uri, name, title, description, size, resource []byte
	for member, value := range raw.Members(part) {
		switch string(member) {
		case "type":
			kind = value
		case "text":
			text = value
		case "data":
			data = value
		case "mimeType":
			mimeType = value
		case "uri":
			uri = value
		case "name":
			name = value
		case "title":
			title = value
		case "description":
			description = value
		case "size":
			size = value
		case "resource":
			resource = value
		}
	}
	kindName, _ := raw.String(kind)
	switch {
	case kindName == "text", kindName == "" && text != nil:
		if s, ok := raw.String(text); ok {
			c.text(s)
		} else if !raw.Null(text) {
			c.text(string(raw.Repair(text)))
		}
	case kindName == "image":
		mime, _ := raw.String(mimeType)
		decoded, err := decodeBase64(data)
		if err != nil || len(decoded) == 0 {
			c.texts = append(c.texts, fmt.Sprintf("[image that cannot be decoded%s]", details("", mime, len(decoded), "")))
			return
		}
		c.images = append(c.images, Image{MIMEType: mime, Data: decoded})
	case kindName == "audio":
		mime, _ := raw.String(mimeType)
		c.texts = append(c.texts, fmt.Sprintf("[audio%s]", details("", mime, decodedSize(data), "")))
	case kindName == "resource_link":
		mime, _ := raw.String(mimeType)
		link, _ := raw.String(uri)
		label, _ := raw.String(name)
		if label == "" {
			label, _ = raw.String(title)
		}
		about, _ := raw.String(description)
		bytes := 0
		if raw.Valid(size) && !raw.IsString(size) {
			fmt.Sscan(string(size), &bytes)
		}
		c.texts = append(c.texts, fmt.Sprintf("[resource link: %s%s]", link, details(label, mime, bytes, about)))
	case kindName == "resource":
		c.resource(resource)
	default:
		c.note("unknown content", part)
	}
}

// resource takes an embedded resource.
func (c *contents) resource(resource []byte) {
	if s, ok := raw.String(raw.Member(resource, "text")); ok {
		c.text(s)
		return
	}
	uri, _ := raw.String(raw.Member(resource, "uri"))
	mime, _ := raw.String(raw.Member(resource, "mimeType"))
	c.texts = append(c.texts, fmt.Sprintf("[resource: %s%s]", uri, details("", mime, decodedSize(raw.Member(resource, "blob")), "")))
}

// details lists what is known of a part, for its note.
func details(name, mime string, size int, description string) string {
	var b strings.Builder
	for _, known := range []string{name, mime} {
		if known != "" {
			fmt.Fprintf(&b, ", %s", known)
		}
	}
	if size > 0 {
		fmt.Fprintf(&b, ", %d bytes", size)
	}
	if description != "" {
		fmt.Fprintf(&b, ", %s", description)
	}
	return b.String()
}

func decodedSize(value []byte) int {
	if !raw.IsString(value) {
		return 0
	}
	return base64.RawStdEncoding.DecodedLen(len(bytes.TrimRight(value[1:len(value)-1], "=")))
}

// decodeBase64 decodes the base64 text in a JSON string.
func decodeBase64(value []byte) ([]byte, error) {
	if !raw.IsString(value) {
		return nil, fmt.Errorf("the data is no string")
	}
	text := value[1 : len(value)-1]
	if bytes.IndexByte(text, '\\') >= 0 || !utf8.Valid(text) {
		text = raw.AppendString(nil, value)
	}
	out := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(out, text)
	return out[:n], err
}
