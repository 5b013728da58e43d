package streamable

// This file sends one request and reads what comes back.

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/rpc"
)

const (
	maxRedirects = 5
	maxStale     = 3 // attempts that met a connection the server had closed
	// Of attempts to resume a stream that brought nothing new, so many may be
	// in a row: those that failed, and those that were answered by a stream.
	maxFailed, maxEmpty = 5, 100
	// The wait before an attempt to resume doubles with each; the server may
	// ask for more.
	firstWait, lastWait = 100 * time.Millisecond, 5 * time.Second
	maxWait             = time.Minute
)

// A request is one message and, for a call, where its answer goes.
type request struct {
	method  string
	version string // that a request of the handshake asks for
	after   string // the id of the event after which a stream is to go on
	id      int64
	body    []byte
	call    *rpc.Call // nil for what is no call

	delivery  *delivery          // the last attempt to send it
	cancel    context.CancelFunc // ends the request's context
	session   string             // the session id of the answer
	noVersion bool               // the server speaks no version that we do
	draining  bool               // a goroutine reads the rest of the answer
}

// send sends a request, follows redirects within the origin, and sends it again
// where it was refused for want of a credential that the Authorizer then gets.
func (c *Conn) send(ctx context.Context, method string, s session, r *request) (*http.Response, error) {
	target, refusals := c.URL, 0
	var refusal *http.Response // that the request is sent again after
	for redirects := 0; ; {
		req := &http.Request{
			Method: method, URL: target, Host: target.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: c.header(method, s, r), Response: refusal,
		}
		if c.Auth != nil {
			req = req.WithContext(ctx)
			if err := c.authorize(req); err != nil {
				return nil, err
			}
		}
		traced, content := c.content(ctx, r)
		signed := req
		req = req.WithContext(traced)
		req.Body, req.ContentLength = content, int64(len(r.body))
		resp, err := c.roundTrip(req)
		if err != nil {
			return nil, c.clean(err)
		}
		if resp == nil || resp.Body == nil {
			return nil, errors.New("the HTTP transport returned neither an answer nor an error")
		}
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
		if resp.StatusCode < 300 || resp.StatusCode > 399 {
			return resp, nil
		}
		if target, err = c.redirect(target, resp); err == nil && redirects == maxRedirects {
			err = c.StatusError(resp.StatusCode, "", fmt.Sprintf("more than %d redirects", maxRedirects))
		}
		redirects++
		resp.Body.Close()
		if err != nil {
			return nil, err
		}
	}
}

// roundTrip sends one request. A caller's transport may wait for something of
// its own, such as a token, whatever the request's context: it is left to that.
func (c *Conn) roundTrip(req *http.Request) (*http.Response, error) {
	if c.Own != nil {
		return c.Transport.RoundTrip(req)
	}
	ctx := req.Context()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	type outcome struct {
		resp *http.Response
		err  error
	}
	ended := make(chan outcome)
	c.strays.Go(func() { // ends when the transport returns; shutdown waits for a time
		resp, err := c.Transport.RoundTrip(req)
		select {
		case ended <- outcome{resp, err}:
		case <-ctx.Done():
			if resp != nil && resp.Body != nil {
				resp.Body.Close()
			}
		}
	})
	select {
	case o := <-ended:
		return o.resp, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// redirect returns where a redirect leads, if a request may follow it there.
// Any other origin must not see the credentials, nor what a model writes.
func (c *Conn) redirect(from *url.URL, resp *http.Response) (*url.URL, error) {
	status, location := statusText(resp.StatusCode), resp.Header.Get("Location")
	to, err := from.Parse(location)
	if location == "" || err != nil {
		return nil, c.StatusError(resp.StatusCode, "", fmt.Sprintf("the server answered %s without a usable target", status))
	}
	to.User, to.Fragment, to.RawFragment = nil, "", ""
	bare := c.line(BareURL(to))
	switch {
	case origin(to) != origin(c.URL):
		return nil, c.StatusError(resp.StatusCode, "", fmt.Sprintf("the server answered %s to another origin, %s, which is not followed", status, bare))
	case resp.StatusCode != http.StatusTemporaryRedirect && resp.StatusCode != http.StatusPermanentRedirect:
		// The others turn a POST into a GET.
		return nil, c.StatusError(resp.StatusCode, "", fmt.Sprintf("the server answered %s to %s, which is not followed: set the URL to that", status, bare))
	}
	return to, nil
}

func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

// BareURL returns the URL without user, query and fragment.
func BareURL(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
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
		set("Last-Event-Id", r.after)
	}
	if s.id != "" {
		set(sessionHeader, s.id)
	}
	if s.version != "" {
		set("Mcp-Protocol-Version", s.version)
	}
	if s.version < statelessVersion || r.method == "" {
		return header
	}
	set("Mcp-Method", r.method)
	if r.method == methodCallTool {
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

// exchange sends the request of a call until the call has its answer.
// It is sent again only where the server has refused it unread.
func (c *Conn) exchange(ctx context.Context, r *request) error {
	s := c.before(r)
	renewed, reversioned, stale := false, false, 0
	for {
		r.call.Generation = s.generation
		resp, err := c.send(ctx, http.MethodPost, s, r)
		if isDenial(err) {
			return err
		}
		if err != nil {
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
		if resp.StatusCode >= 200 && resp.StatusCode <= 299 {
			c.known(s)
			return c.answer(ctx, s, r, resp)
		}
		f := c.readFailure(resp)
		if s.id == "" && f.status == http.StatusGone && r.method != methodDiscover {
			return c.gone(r, f)
		}
		if s.id != "" && !renewed && f.sessionLost(r) {
			r.call.Refused()
			if err := c.renew(ctx, s); err != nil {
				return err
			}
			s, renewed = c.current(), true
			continue
		}
		if f.aboutVersion(r) && !reversioned && r.method != methodDiscover {
			version := named(f.body, cmp.Or(s.version, r.version))
			if version == "" {
				r.noVersion = true
				return c.failed(r, f)
			}
			reversioned = true
			if r.method == methodInitialize {
				r.call.Params = bytes.Replace(r.call.Params, quoted(r.version), quoted(version), 1)
				r.body, r.version = r.call.Request(), version
			} else {
				s.version = version
				c.useVersion(s)
			}
			continue
		}
		if renewed && f.sessionLost(r) {
			r.call.Refused()
			return c.failed(r, f)
		}
		if f.answers(r) {
			c.take(s, r, f.message, nil)
			return nil
		}
		return c.failed(r, f)
	}
}

func quoted(version string) []byte { return strconv.AppendQuote(nil, version) }

// gone ends the connection if it was there once.
func (c *Conn) gone(r *request, f *failure) error {
	err := c.failed(r, f)
	c.mu.Lock()
	begun := c.initialize != nil || c.session.version != ""
	c.mu.Unlock()
	if !begun {
		return err
	}
	r.call.Refused()
	return c.refused(err)
}

// answer reads the answer of a call.
func (c *Conn) answer(ctx context.Context, s session, r *request, resp *http.Response) error {
	if r.method == methodInitialize {
		r.session = resp.Header.Get(sessionHeader)
	}
	if resp.StatusCode != http.StatusAccepted && resp.StatusCode != http.StatusNoContent {
		switch mediaType(resp) {
		case "application/json":
			return c.readJSON(s, r, resp)
		case "text/event-stream":
			return c.readStream(ctx, s, r, resp)
		}
	}
	return c.failed(r, c.readFailure(resp))
}

func mediaType(resp *http.Response) string {
	// The parameters may be broken; the type before them counts all the same.
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// readJSON reads an answer that is one JSON text.
func (c *Conn) readJSON(s session, r *request, resp *http.Response) error {
	defer resp.Body.Close()
	text, release, err := c.buffers.readAll(resp.Body, resp.ContentLength, c.Limit)
	if err != nil {
		return c.uncertain(r, err)
	}
	message := rpc.Trim(text)
	m, rest, err := rpc.Parse(message)
	if err == nil && len(rest) == 0 {
		if took := c.take(s, r, m, release); took {
			release = nil
		}
	} else {
		for m, skipped := range rpc.Messages(message) {
			if skipped == nil {
				c.take(s, r, m, nil)
			}
		}
	}
	defer func() {
		if release != nil {
			release()
		}
	}()
	if _, _, ok := r.call.Outcome(); ok {
		return nil
	}
	return c.failed(r, newFailure(resp, bytes.Clone(message[:min(len(message), maxKept+maxSecret)])))
}

// take gives a message that came in the answer of a call to those that wait. A
// server that could not even read the id reports that with none, or a made-up
// one: in this exchange it can only be this call's.
func (c *Conn) take(s session, r *request, m rpc.Message, release func()) (took bool) {
	if m.Method == "" && !raw.Null(m.Error) {
		if _, ok := raw.Whole(m.ID); !ok {
			m.ID = strconv.AppendInt(nil, r.id, 10)
		}
	}
	reply, took := c.Pending.Receive(m, release)
	c.reply(s, reply)
	if id, ok := raw.Whole(m.ID); ok && m.Method == "" && id != r.id {
		c.answered(id)
	}
	return took
}

// answered ends the exchange of a call whose answer came with that of another,
// against the specification: its own stream may stay open.
func (c *Conn) answered(id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for r := range c.running {
		if r.id == id && r.call != nil {
			r.cancel()
		}
	}
}

// readStream reads an event stream until the answer, and the streams that go
// on where it was cut.
func (c *Conn) readStream(ctx context.Context, s session, r *request, resp *http.Response) error {
	var (
		e             = newEvents(&c.buffers, c.Limit)
		last          string
		failed, empty int
		wait          = firstWait
	)
	for {
		e.read(resp.Body)
		err := c.pump(e, s, r)
		if _, _, ok := r.call.Outcome(); ok {
			r.draining = true
			go func() { // ends within drainTime
				defer c.leave(r)
				c.drain(resp, e, r)
			}()
			return nil
		}
		resp.Body.Close()
		if err == nil || errors.Is(err, io.EOF) {
			err = errors.New("the stream ended without the answer")
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if e.lastID == "" || errors.Is(err, errTooLong) {
			e.free()
			return c.uncertain(r, err)
		}
		if e.lastID != last {
			last, failed, empty, wait = e.lastID, 0, 0, firstWait
		} else {
			empty++
		}
		// The answer may wait where the stream was cut.
		for resp = nil; resp == nil; {
			if failed == maxFailed || empty == maxEmpty {
				e.free()
				return c.uncertain(r, fmt.Errorf("%w; giving up resuming it after %d attempts", err, failed+empty))
			}
			if !sleep(ctx, min(max(wait, e.retry), maxWait)) {
				return ctx.Err()
			}
			wait = min(2*wait, lastWait)
			var final bool
			if resp, final, err = c.resume(ctx, s, r, last); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if failed++; final {
					e.free()
					return c.uncertain(r, err)
				}
			}
		}
	}
}

// pump takes the events of a stream until the answer or the end.
func (c *Conn) pump(e *events, s session, r *request) error {
	for {
		data, err := e.next()
		if err != nil {
			return err
		}
		data = rpc.Trim(data)
		m, rest, err := rpc.Parse(data)
		if err != nil || len(rest) > 0 {
			c.odd(e, s, r, data)
		} else {
			var release func()
			if len(data) >= lendSize {
				release = e.lend()
			}
			if took := c.take(s, r, m, release); release != nil && !took {
				release()
			}
		}
		if _, _, ok := r.call.Outcome(); ok {
			return nil
		}
	}
}

// odd takes an event whose data is not one message: several, a batch, or none
// at all.
func (c *Conn) odd(e *events, s session, r *request, data []byte) {
	for m, skipped := range rpc.Messages(data) {
		switch {
		case skipped == nil:
			c.take(s, r, m, nil)
		case e.name == "" || e.name == "message":
			// An event with a name of its own, such as ping, is no message that
			// went wrong.
			c.skipped.Add(skipped, c.line)
		}
	}
}

// resume asks for the rest of a stream. final means that asking again is in
// vain.
func (c *Conn) resume(ctx context.Context, s session, r *request, last string) (_ *http.Response, final bool, err error) {
	resp, err := c.send(ctx, http.MethodGet, s, &request{after: last})
	if err != nil {
		return nil, isDenial(err), fmt.Errorf("resuming the stream: %w", err)
	}
	if resp.StatusCode == http.StatusOK && mediaType(resp) == "text/event-stream" {
		return resp, false, nil
	}
	f := c.readFailure(resp)
	return nil, f.status < 500 && f.status != http.StatusTooManyRequests, fmt.Errorf("resuming the stream: %w", c.failed(r, f))
}

// drain reads what follows an answer, so that its connection can be used
// again, and ends what does not end soon.
func (c *Conn) drain(resp *http.Response, e *events, r *request) {
	defer resp.Body.Close()
	timer := time.AfterFunc(drainTime, r.cancel)
	defer timer.Stop()
	if e == nil {
		io.Copy(io.Discard, resp.Body)
		return
	}
	defer e.free()
	for {
		data, err := e.next()
		if err != nil {
			return
		}
		if m, _, err := rpc.Parse(data); err == nil && m.ID == nil {
			c.Pending.Receive(m, nil)
		}
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
