package oauth

// This file sends what is not a token request, and reads JSON as servers write it.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/seed94b59a13/mcp/internal/secret"
)

const (
	maxAnswer    = 1 << 20          // bytes of an answer
	maxAddress   = 4 << 10          // bytes of a URL that a server gives, and of a nonce
	maxRedirects = 5                // of a request for a document
	oneTime      = 10 * time.Second // for one document
)

// Documents are read leniently: a member of the wrong type is as good as none,
// and costs no other.
type (
	word    string
	words   []string
	flag    bool
	seconds int64
)

// UnmarshalJSON takes a text.
func (w *word) UnmarshalJSON(text []byte) error {
	*w = ""
	json.Unmarshal(text, (*string)(w)) // or leave it
	return nil
}

// UnmarshalJSON takes the texts of a list, or the words of one text.
func (w *words) UnmarshalJSON(text []byte) error {
	*w = nil
	var list []word
	var one word
	if json.Unmarshal(text, &list) != nil {
		one.UnmarshalJSON(text)
		*w = strings.Fields(string(one))
	}
	for _, s := range list {
		if s != "" {
			*w = append(*w, string(s))
		}
	}
	return nil
}

// UnmarshalJSON takes a true.
func (f *flag) UnmarshalJSON(text []byte) error {
	*f = string(text) == "true"
	return nil
}

// UnmarshalJSON takes a number, also one in a text or with a fraction; 0 is for
// none, and for what has passed.
func (s *seconds) UnmarshalJSON(text []byte) error {
	*s = 0
	if n, err := strconv.ParseFloat(strings.Trim(string(text), `" `), 64); err == nil && n > 0 {
		*s = seconds(min(n, math.MaxInt32))
	}
	return nil
}

// readBody reads an answer without the mark that some editors put before a text.
func readBody(body io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(body, maxAnswer))
	return bytes.TrimPrefix(text, []byte("\uFEFF")), err
}

var errNotJSON = errors.New("it is not JSON of the right form")

// A message is a request to a server that asks for no token.
type message struct {
	url    string
	kind   string // of the body; empty for none: the message is a GET then
	body   string
	user   *url.Userinfo                              // the client, if it shows its secret in a header
	follow func(*http.Request, []*http.Request) error // whether to follow a redirect; nil means never
	hide   *secret.Quoter                             // knows what is secret of it
}

// fetch sends a message, and decodes the answer if there is a value to decode it
// into. It returns what the answer was also with the error errNotJSON.
func (c *Client) fetch(ctx context.Context, m message, answer any) (*http.Response, error) {
	method, limit := http.MethodGet, oneTime
	if m.kind != "" {
		method, limit = http.MethodPost, tokenTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, m.url, strings.NewReader(m.body))
	if err != nil {
		return nil, m.hide.Error(bare(err), maxSaid)
	}
	req.Header.Set("Accept", "application/json, text/event-stream") // the latter for an MCP server
	if m.kind != "" {
		req.Header.Set("Content-Type", m.kind)
	}
	if password, ok := m.user.Password(); ok {
		req.SetBasicAuth(m.user.Username(), password)
	}
	client := *c.ready().client
	if m.follow != nil {
		client.CheckRedirect = m.follow
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, m.hide.Error(bare(err), maxSaid)
	}
	defer resp.Body.Close()
	if answer == nil {
		return resp, nil
	}
	text, err := readBody(resp.Body)
	if err != nil {
		return nil, m.hide.Error(bare(err), maxSaid)
	}
	if json.NewDecoder(bytes.NewReader(text)).Decode(answer) != nil {
		return resp, errNotJSON
	}
	return resp, nil
}

// document reads a JSON document. The error is errNone where there is none.
func (c *Client) document(ctx context.Context, place string, local bool, v any) error {
	if _, err := checkURL(place, local); err != nil {
		return err
	}
	resp, err := c.fetch(ctx, message{url: place, follow: func(req *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return fmt.Errorf("more than %d redirects", maxRedirects)
		}
		_, err := checkURL(req.URL.String(), local)
		return err
	}}, v)
	switch {
	case resp == nil:
		return err
	case resp.StatusCode >= 400 && resp.StatusCode < 500:
		return errNone
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "text/html" {
		return errNone // the page that stands for every path
	}
	return err
}

// lookUp reads the document at the first place that has one. A place that fails
// does not hide one that works: servers answer for what they do not have with
// pages, redirects and errors. The error wraps errNone if there is none.
func lookUp[T any](ctx context.Context, c *Client, of string, local bool, places ...string) (*T, error) {
	failure := fmt.Errorf("%w of %s", errNone, of)
	for i, place := range places {
		if place == "" || i > 0 && place == places[i-1] {
			continue
		}
		found := new(T)
		err := c.document(ctx, place, local, found)
		if err == nil {
			return found, nil
		}
		if !errors.Is(err, errNone) && errors.Is(failure, errNone) {
			failure = fmt.Errorf("the metadata of %s at %q: %w", of, shorten(place), err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, failure
}

// bare takes the URL out of an error of net/http, and makes its timeouts none
// of the context package: agent loops read those as the end of the whole run.
func bare(err error) error {
	var timeout net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() {
		return fmt.Errorf("no answer in time: %w", os.ErrDeadlineExceeded)
	}
	var network *url.Error
	if errors.As(err, &network) {
		return network.Err
	}
	return err
}

// checkURL parses an address that a server has given. A server elsewhere must
// not make this program speak to this machine, nor to what only a cloud's
// machines can reach.
func checkURL(s string, local bool) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil {
		return nil, errors.New("it cannot be parsed")
	}
	here := isLocal(u.Hostname())
	ip, _ := netip.ParseAddr(u.Hostname())
	ip = ip.Unmap()
	switch {
	case len(s) > maxAddress:
		return nil, errors.New("it is too long")
	case strings.ContainsAny(s, " \"<>\\^`"): // which no URL has, but a command that runs programs of a script
		return nil, errors.New("it cannot be parsed")
	case u.User != nil || u.Fragment != "":
		return nil, errors.New("it has a user or a fragment")
	case u.Hostname() == "":
		return nil, errors.New("it has no host")
	case here && !local:
		return nil, errors.New("it is on this machine, which the server is not")
	case u.Scheme != "https" && !(here && u.Scheme == "http"):
		return nil, errors.New("it is not https")
	case ip.IsLinkLocalUnicast(), ip.IsMulticast(), ip.IsUnspecified():
		return nil, errors.New("its address is not that of a server")
	}
	return u, nil
}

// isLocal reports whether a host is this machine (RFC 6761, section 6.3).
func isLocal(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, _ := netip.ParseAddr(host)
	return ip.Unmap().IsLoopback()
}
