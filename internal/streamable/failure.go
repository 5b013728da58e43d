package streamable

// This file turns what is not an answer into an error that says what came instead.

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/rpc"
)

const (
	maxKept  = 64 << 10         // bytes of a body that is not an answer
	maxRead  = maxKept + 16<<10 // since what is masked and cleaned away makes it less
	maxShown = 512              // bytes of it in an error text
)

// A failure is an HTTP answer that does not answer the call, or with the status
// of an error.
type failure struct {
	resp    *http.Response
	status  int
	body    []byte       // its start
	message rpc.Message  // what the body is, if it is a JSON-RPC message
	answer  *rpc.Message // what in it has the call's own id
	said    string       // the server's own words, if the body is JSON with some
	partial bool         // the call's id may be in what was not read or understood, or the tool has begun
	free    func()       // gives the body back; nil for none
	version string       // the one to speak instead
}

// newFailure makes a failure of a body, or its start, which must not change any
// more. Whether the call's answer is in it is for find.
func newFailure(resp *http.Response, body []byte) *failure {
	f := &failure{resp: resp, status: resp.StatusCode, body: body[:min(len(body), maxRead)]}
	text := rpc.Trim(body)
	if len(text) == 0 || text[0] != '{' || !raw.Valid(text) {
		return f
	}
	f.message, _, _ = rpc.Parse(text)
	f.said = words(text)
	return f
}

// find looks for the answer to the call with the id in a body. What names
// JSON-RPC without being a message may be the answer in some wrapping, and what a
// server tells besides it tells once the tool has begun.
func (f *failure) find(id int64, body []byte) {
	broken := false
	for m, skipped := range rpc.Messages(body) {
		switch {
		case skipped != nil:
			got, ok := rpc.FindID(skipped, skipped)
			broken = broken || ok && got == id || !ok && namesJSONRPC(skipped)
		case m.Method != "":
			broken = true
		default:
			if got, ok := raw.Whole(m.ID); ok && got == id {
				f.answer = &rpc.Message{}
				*f.answer = m
			}
		}
	}
	f.partial = broken && f.answer == nil
}

// namesJSONRPC reports whether a text names the protocol, as all of its messages
// do, also in a spelling or an encoding that is not read.
func namesJSONRPC(text []byte) bool {
	const name = "jsonrpc"
	for i := range text[:max(0, len(text)-len(name)+1)] {
		if text[i]|0x20 == name[0] && bytes.EqualFold(text[i:i+len(name)], []byte(name)) {
			return true
		}
	}
	return false
}

// release gives the body back, which nothing of f may be used after. It may be nil.
func (f *failure) release() {
	if f != nil && f.free != nil {
		f.free()
	}
}

// words returns the message in an error object, as servers and gateways name
// it, or its start.
func words(object []byte) string {
	for _, name := range []string{"message", "msg", "error_description", "error", "detail"} {
		value := raw.Member(object, name)
		if len(value) > 0 && value[0] == '{' {
			value = raw.Member(value, "message")
		}
		if raw.IsString(value) && len(value) > 2 {
			return string(raw.AppendText(nil, value[1:min(len(value)-1, maxWords)]))
		}
	}
	return ""
}

// failed makes the error for the call.
func (c *Conn) failed(r *request, f *failure) error {
	var b strings.Builder
	b.WriteString("the server answered " + statusText(f.status))
	said := f.said
	if said == "" && isText(f.body) {
		said = string(f.body)
	}
	said = c.line(said)
	switch f.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		b.WriteString(" (" + c.credential(f.resp) + ")")
		switch reason := c.challenge(f.resp.Header); {
		case strings.Contains(said, reason): // or there is none
		case strings.Contains(reason, said):
			said = reason
		default:
			b.WriteString(": " + reason)
		}
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		if after := f.resp.Header.Get("Retry-After"); after != "" {
			b.WriteString(", to be tried again after " + c.line(after))
			if isDigits(after) {
				b.WriteString(" s")
			}
		}
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		if r.method == rpc.MethodInitialize {
			b.WriteString(": it may speak only the older HTTP+SSE transport, which is not supported, or the URL's path is wrong")
		}
	}
	if f.status >= 200 && f.status <= 299 {
		switch kind := mediaType(f.resp); {
		case f.status == http.StatusAccepted, f.status == http.StatusNoContent:
			b.WriteString(", which is not an answer to a request")
		case kind == "":
			b.WriteString(" without a content type")
		case kind != "application/json":
			b.WriteString(" with the content type " + c.line(f.resp.Header.Get("Content-Type")))
		case f.message.ID != nil && f.message.Method == "":
			b.WriteString(" with the answer to another request")
		case len(f.body) == 0:
			b.WriteString(" with an empty body")
		default:
			b.WriteString(" with what is not a JSON-RPC message")
		}
	}
	// net/http takes off what it has asked for, which is gzip.
	if encoding := c.line(f.resp.Header.Get("Content-Encoding")); encoding != "" && encoding != "identity" {
		b.WriteString(" with the content encoding " + encoding + ", which was not asked for")
	}
	if said != "" {
		b.WriteString(": " + said)
	}
	return c.statusError(f.resp, f.body, b.String())
}

// statusError makes the error for an answer.
func (c *Conn) statusError(resp *http.Response, body []byte, text string) error {
	return c.StatusError(resp.StatusCode, c.advice(resp.Header), c.Quoter.Text(body, maxKept), text)
}

const (
	maxValues = 8       // of one header that are kept
	maxValue  = 1 << 10 // bytes of one
)

// advice returns the headers of an answer that say what to do about it. The
// others may be credentials, such as cookies and sessions, or are of no use.
func (c *Conn) advice(header http.Header) http.Header {
	kept := http.Header{}
	for _, name := range adviceHeaders {
		for _, value := range header[name][:min(len(header[name]), maxValues)] {
			kept.Add(name, c.Quoter.Quote(value, maxValue))
		}
	}
	return kept
}

// adviceHeaders are canonical names. Those of rate limits are not a standard yet.
var adviceHeaders = []string{
	"Retry-After", "Www-Authenticate", "Proxy-Authenticate", "Allow", "Content-Type", "Date",
	"Ratelimit", "Ratelimit-Limit", "Ratelimit-Policy", "Ratelimit-Remaining", "Ratelimit-Reset",
	"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset", "Request-Id", "X-Request-Id",
}

func statusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}

func isDigits(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

// credential says what a request was sent with, but not its value.
func (c *Conn) credential(resp *http.Response) string {
	switch {
	case c.Credential != "":
		return "sent with " + c.Credential
	case c.Auth != nil && resp.Request != nil && resp.Request.Header.Get("Authorization") != "":
		return "sent with an access token"
	case resp.Request != nil && resp.Request.Header.Get("Authorization") != "":
		return "sent with the Authorization header of HTTPTransport"
	}
	return "sent without a credential"
}

// challenge returns why the credential was refused (RFC 6750, section 3). It is
// quoted before it is taken apart: a quote within a secret would end it.
func (c *Conn) challenge(header http.Header) string {
	for _, value := range header.Values("WWW-Authenticate") {
		value = c.Quoter.Quote(value, maxValue)
		for _, reason := range reasons {
			if m := reason.FindStringSubmatch(value); m != nil {
				if said := c.line(m[1] + m[2]); said != "" {
					return said
				}
			}
		}
	}
	return ""
}

// reasons are parameters of a challenge, the one with most words first.
var reasons = []*regexp.Regexp{
	regexp.MustCompile(`error_description=(?:"([^"]*)|([^,]*))`),
	regexp.MustCompile(`error=(?:"([^"]*)|([^,]*))`),
}

// isText reports whether a body can be shown. The last character may be cut.
func isText(body []byte) bool {
	for i := 0; i < len(body); {
		r, size := utf8.DecodeRune(body[i:])
		if r == 0 || r == utf8.RuneError && size == 1 && utf8.FullRune(body[i:]) {
			return false
		}
		i += size
	}
	return true
}

// line makes a text of a server fit for an error.
func (c *Conn) line(s string) string { return c.Quoter.Quote(s, maxShown) }

// clean makes an error of the HTTP transport fit to be shown. The transport of a
// caller may make requests of its own, for tokens, whose errors show their URLs.
func (c *Conn) clean(err error) error { return c.Quoter.Error(err, maxShown) }
