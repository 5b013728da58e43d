package streamable

// This file sends one request and reads what comes back.

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed94b59a13/mcp/internal/protocol"
	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/rpc"
	"github.com/seed94b59a13/mcp/internal/secret"
)

const (
	maxRedirects = 5
	maxStale     = 3 // attempts that met a connection the server had closed
)

// A request is one message and, for a call, where its answer goes.
type request struct {
	method string
	after  string // the id of the event after which a stream is to go on
	id     int64
	body   []byte
	call   *rpc.Call // nil for what is not a call

	delivery *delivery          // the last attempt to send it
	cancel   context.CancelFunc // ends the request's context
	session  string             // the session id of the answer
	heard    atomic.Int64       // messages in what comes back

	draining    bool // a goroutine reads the rest of the answer
	noVersion   bool // the server speaks no version that we do
	adopts      bool // an error without an id in what comes back is this request's
	refused     bool // the answer was that the session is not known
	renewed     bool // it has been sent again in another session
	reversioned bool // it has been sent again with another version
}

// version returns the version that a request of the handshake asks for.
func (r *request) version() string {
	asked := raw.Member(r.call.Params, "protocolVersion")
	if r.method == rpc.MethodDiscover {
		asked = raw.Member(raw.Member(r.call.Params, "_meta"), sdk.MetaKeyProtocolVersion)
	}
	version, _ := raw.String(asked)
	return version
}

// send sends a request, follows redirects within the origin, and sends it again
// where it was refused for want of a credential that the Authorizer then gets.
func (c *Conn) send(ctx context.Context, method string, s session, r *request) (*http.Response, error) {
	target, refusals := c.URL, 0
	var refusal *http.Response // that the request is sent again after
	for redirects := 0; ; {
		plain := http.Request{
			Method: method, URL: target, Host: target.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: c.header(method, s, r), Response: refusal,
		}
		var signed *http.Request
		if c.Auth != nil {
			signed = plain.WithContext(ctx)
			if err := c.authorize(signed); err != nil {
				return nil, err
			}
			plain.Header = signed.Header
		}
		c.cookies.add(target, plain.Header)
		traced, content := c.content(ctx, r)
		req := plain.WithContext(traced)
		req.Body, req.ContentLength = content, int64(len(r.body))
		resp, err := c.roundTrip(req)
		if err != nil {
			return nil, c.clean(err)
		}
		if resp == nil || resp.Body == nil {
			return nil, errors.New("the HTTP transport returned neither an answer nor an error")
		}
		c.cookies.keep(target, resp, c.Quoter.Learn)
		if c.asks(method, r, resp) {
			resp.Request = signed
			again, err := c.askAgain(ctx, r, resp)
			if err != nil {
				return nil, err
			}
			if again && refusals < maxRefusals {
				refusal, refusals = resp, refusals+1
				continue
			}
		}
		// The answer to a tool call may come with the status of a redirect; then
		// there is nothing to follow.
		if resp.StatusCode < 300 || resp.StatusCode > 399 || r.method == rpc.MethodCallTool && c.buffer(r, resp) {
			return resp, nil
		}
		if target, err = c.redirect(target, resp); err == nil && redirects == maxRedirects {
			err = c.statusError(resp, nil, fmt.Sprintf("more than %d redirects", maxRedirects))
		}
		redirects++
		resp.Body.Close()
		if err != nil {
			return nil, err
		}
	}
}

// redirect returns where a redirect leads, if a request may follow it there.
// Any other origin must not see the credentials, nor what a model writes.
func (c *Conn) redirect(from *url.URL, resp *http.Response) (*url.URL, error) {
	status, location := statusText(resp.StatusCode), resp.Header.Get("Location")
	to, err := from.Parse(location)
	if location == "" || err != nil {
		return nil, c.statusError(resp, nil, fmt.Sprintf("the server answered %s without a usable target", status))
	}
	to.User, to.Fragment, to.RawFragment = nil, "", ""
	bare := c.line(secret.BareURL(to))
	switch {
	case origin(to) != origin(c.URL):
		return nil, c.statusError(resp, nil, fmt.Sprintf("the server answered %s to another origin, %s, which is not followed", status, bare))
	case resp.StatusCode != http.StatusTemporaryRedirect && resp.StatusCode != http.StatusPermanentRedirect:
		// The others turn a POST into a GET.
		return nil, c.statusError(resp, nil, fmt.Sprintf("the server answered %s to %s, which is not followed: set the URL to that", status, bare))
	}
	return to, nil
}

// origin names those who may see what is sent to a URL (RFC 6454).
func origin(u *url.URL) string { return u.Scheme + "://" + hostPort(u) }

// hostPort is the address that net/http dials for the URL.
func hostPort(u *url.URL) string {
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// header makes the header of a request.
func (c *Conn) header(method string, s session, r *request) http.Header {
	header := make(http.Header, 8)
	for name, values := range c.Header {
		header[name] = values
	}
	values := make([]string, 0, 4)
	set := func(name, value string) {
		values = append(values, value)
		header[name] = values[len(values)-1 : len(values) : len(values)]
	}
	switch method {
	case http.MethodPost:
		set("Content-Type", "application/json")
		set("Accept", "application/json, text/event-stream")
	case http.MethodGet:
		set("Accept", "text/event-stream")
		if r.after != "" {
			set("Last-Event-Id", r.after)
		}
	}
	if s.id != "" {
		set(sessionHeader, s.id)
	}
	if s.version != "" {
		set("Mcp-Protocol-Version", s.version)
	}
	if s.version < protocol.Stateless || r.method == "" {
		return header
	}
	set("Mcp-Method", r.method)
	if r.method == rpc.MethodCallTool {
		name, _ := raw.String(raw.Member(r.call.Params, "name"))
		set("Mcp-Name", HeaderValue(name))
	}
	if r.call != nil {
		for name, values := range r.call.Header {
			header[name] = values
		}
	}
	return header
}

// HeaderValue encodes a text of a message as the value of a header (protocol
// 2026-07-28): as it is, or in base64 where a header cannot carry it or would
// not tell it from base64.
func HeaderValue(s string) string {
	const prefix, suffix = "=?base64?", "?="
	plain := s == strings.Trim(s, " ") && !(strings.HasPrefix(s, prefix) && strings.HasSuffix(s, suffix))
	for i := 0; i < len(s) && plain; i++ {
		plain = s[i] >= ' ' && s[i] <= '~'
	}
	if plain {
		return s
	}
	return prefix + base64.StdEncoding.EncodeToString([]byte(s)) + suffix
}

// exchange sends the request of a call until the call has its answer. It is sent
// again only where the server has certainly refused it before it acted on it.
func (c *Conn) exchange(ctx context.Context, r *request) error {
	defer c.listen(ctx, r)()
	s := c.before(r)
	if s.doubt != known && r.method != rpc.MethodPing {
		var err error
		if s, err = c.settle(ctx, s); err != nil {
			return err
		}
	}
	// Each turn is one attempt. Its outcome is decided in classify, and what may
	// be sent again after it is marked as refused before it is.
	for stale := 0; ; {
		r.call.Generation = s.generation
		resp, err := c.send(ctx, http.MethodPost, s, r)
		if err != nil {
			if isDenial(err) {
				return err
			}
			if r.unwritten(ctx, err) {
				r.call.Refused()
			}
			// net/http keeps connections that the server has closed until it
			// notices. It cannot send the request again, this can.
			// One that was closed is seldom alone, so the others go as well.
			if stale < maxStale && !r.call.Begun() && cut(err) {
				stale++
				if t, ok := c.Transport.(interface{ CloseIdleConnections() }); ok {
					t.CloseIdleConnections()
				}
				continue
			}
			return c.uncertain(r, err)
		}
		f, err := c.read(ctx, s, r, resp)
		if err != nil {
			return err
		}
		switch c.classify(s, r, f) {
		case answered:
			if f != nil {
				c.deliver(s, r, f)
			}
			return nil
		case sessionLost:
			r.call.Refused() // so an error of the renewal is that of a call not sent
			if err := c.renew(ctx, s); err != nil {
				return err
			}
			s, r.renewed, r.refused = c.current(), true, false
		case versionRefused:
			r.call.Refused()
			s = c.useVersion(s, r, f.version)
		case gone:
			// Nothing is claimed about the call: the tool may have run and said so.
			return c.refused(c.failed(r, f))
		case noVersion:
			r.noVersion = true
			return c.failed(r, f)
		case inDoubt:
			// This call may have run, so it fails. The next one asks first.
			c.suspect(s, doubtful)
			return c.uncertain(r, c.failed(r, f))
		case unread:
			return c.failed(r, f)
		case failed:
			return c.uncertain(r, c.failed(r, f))
		}
		f.release()
	}
}
