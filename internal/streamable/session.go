package streamable

// This file begins sessions and renews the ones that a server has forgotten.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed94b59a13/mcp/internal/patience"
	"github.com/seed94b59a13/mcp/internal/protocol"
	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/rpc"
)

const sessionHeader = "Mcp-Session-Id"

// A session is what the requests of one session have in common.
type session struct {
	id         string // empty if the server gives none
	version    string // as negotiated, empty before that
	generation int    // counts the renewals
	doubt      doubt
}

// A doubt is whether the server still knows a session: a call had an answer that
// may say no, and cannot be sent again, since the tool may have said it. So the
// next request finds out first, with something that may be.
type doubt int

const (
	known     doubt = iota
	doubtful        // a ping finds out
	forgotten       // the server has said so
)

// current returns the session that a new request goes out in.
func (c *Conn) current() session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// before returns the session that a request goes out in. The two that begin
// one have none yet.
func (c *Conn) before(r *request) session {
	switch r.method {
	case rpc.MethodDiscover:
		return session{version: r.version()}
	case rpc.MethodInitialize:
		return session{}
	}
	return c.current()
}

// began records the session that an answer of the handshake began.
func (c *Conn) began(r *request, answer rpc.Response) {
	if answer.Error != nil {
		return
	}
	switch r.method {
	case rpc.MethodDiscover:
		// That version has no sessions. Gateways, and servers that take any
		// first request for the start of one, give an id all the same.
		for version := range raw.Elements(raw.Member(answer.Result, "supportedVersions")) {
			if v, _ := raw.String(version); v == r.version() {
				c.mu.Lock()
				c.session = session{version: v}
				c.mu.Unlock()
			}
		}
	case rpc.MethodInitialize:
		version := protocol.Agreed(answer.Result)
		c.mu.Lock()
		c.session = session{id: r.session, version: version}
		c.initialize = r.call.Params
		c.mu.Unlock()
	}
}

// taken is called when the server has taken a request in the session: one that
// another instance of the server had forgotten, perhaps.
func (c *Conn) taken(s session) {
	if s.id == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session.generation == s.generation {
		c.lost = false
	}
}

// suspect is called when the server may have forgotten the session, and when it
// certainly has.
func (c *Conn) suspect(s session, d doubt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session.generation == s.generation {
		c.session.doubt = max(c.session.doubt, d)
	}
}

// settle returns the session to go on with in place of one that is in doubt. A
// ping harms nothing, however many are sent at a time: where it is refused, it
// begins a new session.
func (c *Conn) settle(ctx context.Context, s session) (session, error) {
	if s.doubt == forgotten {
		err := c.renew(ctx, s)
		return c.current(), err
	}
	c.ping(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session.doubt == doubtful {
		c.session.doubt = known
	}
	return c.session, nil
}

// ping makes sure of the session; whatever goes wrong, the request that follows
// shows it.
func (c *Conn) ping(ctx context.Context) {
	ctx, cancel := patience.WithTimeout(ctx, pingTime) // it may be refused for want of a login
	defer cancel()
	c.do(ctx, &request{method: rpc.MethodPing, call: rpc.NewCall(rpc.MethodPing, nil)})
}

// useVersion takes another version, where a server or a gateway before it
// refuses the one that was asked for or agreed to.
func (c *Conn) useVersion(s session, r *request, version string) session {
	r.reversioned = true
	if r.method == rpc.MethodInitialize {
		r.call.Params = bytes.Replace(r.call.Params, strconv.AppendQuote(nil, r.version()), strconv.AppendQuote(nil, version), 1)
		r.body = r.call.Request()
		return s
	}
	s.version = version
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session.generation == s.generation {
		c.session.version = version
	}
	return s
}

// hasBegun reports whether a session was there once.
func (c *Conn) hasBegun() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.initialize != nil || c.session.version != ""
}

// A renewal is the attempt to begin a new session in place of a lost one.
type renewal struct {
	request request       // stands for it among those that run
	done    chan struct{} // closed at the end; err is set
	err     error
}

// Errors of calls that waited for a renewal.
var (
	errRenewing = errors.New("the server has forgotten the session; beginning a new one")
	errSlow     = fmt.Errorf("the server did not answer within %v", renewTime)
)

// renew returns when the session that was lost has been replaced, by this
// caller or by another. The renewal takes the connection's own time: it helps
// the others when this caller's context ends.
func (c *Conn) renew(ctx context.Context, lost session) error {
	c.mu.Lock()
	if c.session.generation != lost.generation {
		c.mu.Unlock()
		return nil
	}
	c.lost = true
	r := c.renewal
	if r == nil {
		if c.stopped {
			c.mu.Unlock()
			return errStopped
		}
		r = &renewal{done: make(chan struct{})}
		c.renewal = r
		// It ends within renewTime and with the connection.
		go c.runRenewal(c.run(context.WithoutCancel(ctx), &r.request), r)
	}
	c.mu.Unlock()
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// runRenewal does the work of a renewal. The old session stays in place until the
// new one is there: a request without any would have some servers begin one for it.
func (c *Conn) runRenewal(ctx context.Context, r *renewal) {
	defer c.leave(&r.request)
	ctx, cancel := patience.WithTimeout(ctx, renewTime)
	defer cancel()
	s, err := c.beginAnew(ctx)
	c.mu.Lock()
	c.renewal = nil
	if err == nil {
		c.session = session{id: s.id, version: s.version, generation: c.session.generation + 1}
		c.lost, c.next = false, ""
	}
	c.mu.Unlock()
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = errSlow // the caller's context has not ended
	}
	if err != nil && !errors.Is(err, errStopped) {
		err = fmt.Errorf("%w: %w", errRenewing, err)
	}
	r.err = err
	close(r.done)
	if err == nil && c.Pending.ToolsChanged != nil {
		c.Pending.ToolsChanged() // a server that was started again may be another version
	}
}

// beginAnew replays the requests that began the session.
func (c *Conn) beginAnew(ctx context.Context) (session, error) {
	c.mu.Lock()
	first, second := c.initialize, c.initialized
	c.mu.Unlock()
	r := &request{method: rpc.MethodInitialize, call: rpc.NewCall(rpc.MethodInitialize, first)}
	if err := c.do(ctx, r); r.noVersion {
		return session{}, c.refused(err)
	} else if err != nil {
		return session{}, err
	}
	answer, err, _ := r.call.Outcome()
	if err != nil {
		return session{}, err
	}
	if answer.Error != nil {
		e := rpc.ParseError(answer.Error)
		if e.Code == sdk.CodeUnsupportedProtocolVersion {
			return session{}, c.refused(errors.New(c.line(e.Message)))
		}
		return session{}, errors.New(c.line(e.Message))
	}
	version := protocol.Agreed(answer.Result)
	if !protocol.Initializes(version) {
		return session{}, c.refused(fmt.Errorf("unsupported protocol version: %q", c.line(version)))
	}
	s := session{id: r.session, version: version}
	c.mu.Lock()
	c.next = s.id
	c.mu.Unlock()
	<-c.tell(ctx, s, &request{method: rpc.MethodInitialized, body: second}, nil)
	return s, nil
}

// refused ends the connection: the server has said that it will not speak with
// this client again.
func (c *Conn) refused(err error) error {
	c.finish(err)
	return errStopped
}
