package mcp

// This file reaches a server by its URL.

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/streamable"
)

// An HTTPError is what came over HTTP in place of the answer to a call: an
// error status, a page, an answer to nothing that was asked. Find it with
// errors.As. The connection lives on.
type HTTPError struct {
	StatusCode int
	// Body is the start of the body, 64 KiB at most, the configured secrets
	// masked. A server wrote it: it may be anything.
	Body string

	text string
}

// Error describes the answer, with what the server says about it.
func (e *HTTPError) Error() string { return e.text }

// idleConnections is how many unused connections are kept for the calls to
// come. net/http keeps two by default, so that calls that run side by side
// would open new ones all the time.
const idleConnections = 64

// statelessVersion is the first protocol version whose requests over HTTP
// repeat arguments in headers.
const statelessVersion = "2026-07-28"

// reach prepares the connection to a server with a URL. It sends nothing yet.
func (c *Connection) reach() (transport, error) {
	target, err := url.Parse(c.server.URL)
	if err != nil {
		return nil, fmt.Errorf("%w: URL cannot be parsed", ErrInvalidServer)
	}
	config := streamable.Config{
		URL:       target,
		Header:    http.Header{},
		Transport: c.server.HTTPTransport,
		Limit:     maxMessage,
		Mask:      c.server.mask(),
		OnEnd:     c.end,
		Pending:   c.pending,
		StatusError: func(status int, body, text string) error {
			return &HTTPError{StatusCode: status, Body: body, text: text}
		},
	}
	var names []string
	for name, value := range c.server.Headers {
		config.Header.Set(name, value)
		names = append(names, strconv.Quote(name))
	}
	slices.Sort(names)
	if len(names) > 0 {
		config.Credential = "the headers " + strings.Join(names, ", ")
	}
	if c.server.BearerToken != "" {
		config.Header.Set("Authorization", "Bearer "+c.server.BearerToken)
		config.Credential = "the bearer token"
	}
	if config.Transport == nil {
		config.Transport = http.DefaultTransport
		if standard, ok := http.DefaultTransport.(*http.Transport); ok {
			config.Own = standard.Clone()
			config.Own.MaxIdleConnsPerHost = max(standard.MaxIdleConnsPerHost, idleConnections)
			// Clone takes over that HTTP/2 is offered, but not that it is spoken.
			if own := config.Own; own.TLSClientConfig != nil && len(own.TLSNextProto) == 0 && slices.Contains(own.TLSClientConfig.NextProtos, "h2") {
				own.ForceAttemptHTTP2 = true
			}
			config.Transport = config.Own
		}
	}
	return streamable.New(config), nil
}

// mirrors reports whether calls repeat arguments in headers.
func (c *Connection) mirrors() bool {
	return c.server.URL != "" && c.hello.ProtocolVersion >= statelessVersion
}

// A mirror is an argument that a call repeats in a header, for gateways that
// do not read bodies (x-mcp-header in the tool's schema).
type mirror struct {
	header string
	path   []string // of the argument
}

// mirrorsOf returns the arguments that the schema wants repeated. On an error
// the tool must not be used: the specification says so, since a gateway might
// decide on a header that the server does not mean.
func mirrorsOf(schema []byte) ([]mirror, error) {
	var (
		mirrors []mirror
		seen    = map[string]bool{}
		walk    func(schema []byte, path []string) error
	)
	walk = func(schema []byte, path []string) error {
		for name, property := range raw.Members(raw.Member(schema, "properties")) {
			path := append(slices.Clip(path), string(name))
			if header := raw.Member(property, "x-mcp-header"); header != nil {
				value, _ := raw.String(header)
				switch lower := strings.ToLower(value); {
				case !isHeaderName(value):
					return fmt.Errorf("the x-mcp-header of its property %q is no header name", strings.Join(path, "."))
				case seen[lower]:
					return fmt.Errorf("two of its properties have the x-mcp-header %q", value)
				case !isPrimitive(raw.Member(property, "type")):
					return fmt.Errorf("its property %q has an x-mcp-header but is no string, integer or boolean", strings.Join(path, "."))
				default:
					seen[lower] = true
				}
				mirrors = append(mirrors, mirror{header: http.CanonicalHeaderKey("Mcp-Param-" + value), path: path})
			}
			if err := walk(property, path); err != nil {
				return err
			}
		}
		return nil
	}
	if !bytes.Contains(schema, []byte("x-mcp-header")) {
		return nil, nil
	}
	err := walk(schema, nil)
	return mirrors, err
}

// isPrimitive reports whether a schema's type is one that a header may carry.
// Number is none, since its text is not the same everywhere.
func isPrimitive(kind []byte) bool {
	switch string(kind) {
	case `"string"`, `"integer"`, `"boolean"`:
		return true
	}
	return false
}

// headerOf returns the headers that repeat arguments of one call.
func headerOf(mirrors []mirror, arguments []byte) http.Header {
	header := http.Header{}
	for _, m := range mirrors {
		value := arguments
		for _, name := range m.path {
			value = raw.Member(value, name)
		}
		if text, ok := headerText(value); ok {
			header[m.header] = []string{streamable.HeaderValue(text)}
		}
	}
	return header
}

func headerText(value []byte) (text string, ok bool) {
	if raw.Null(value) {
		return "", false
	}
	switch value[0] {
	case '"':
		return raw.String(value)
	case '{', '[':
		return "", false
	case 't', 'f':
		return string(value), true
	}
	// 1e3 and 1.0 are whole numbers, too, and a server compares them as such.
	const maxSafe = 1<<53 - 1
	if f, err := strconv.ParseFloat(string(value), 64); err == nil && f >= -maxSafe && f <= maxSafe && f == float64(int64(f)) {
		return strconv.FormatInt(int64(f), 10), true
	}
	return string(value), true
}
