package streamable

// This file authorizes requests, and asks about those that were refused for
// want of authorization.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/seed94b59a13/mcp/internal/patience"
	"github.com/seed94b59a13/mcp/internal/rpc"
)

const (
	// maxRefusals bounds how often one request is sent again after a refusal: a
	// token may have to be refreshed, then a person asked, then asked for more.
	maxRefusals = 3
	// authTime is how long the end of a connection waits for an Authorizer: the
	// answer to a token request may hold the only token that is left.
	authTime = 5 * time.Second
)

// An Authorizer is that of package mcp.
type Authorizer interface {
	Authorize(req *http.Request) error
	Refused(resp *http.Response) (again bool, err error)
}

// A denial is the error of an Authorizer. The request was not sent, or refused
// unread.
type denial struct{ error }

func (d denial) Unwrap() error { return d.error }

func isDenial(err error) bool { return errors.As(err, new(denial)) }

// apart calls an Authorizer. Like a caller's transport it is not waited for
// once the context has ended, except for a time by shutdown.
func (c *Conn) apart(ctx context.Context, call func() (bool, error)) (bool, error) {
	type outcome struct {
		again bool
		err   error
	}
	ended := make(chan outcome, 1)
	c.authorizers.Go(func() { // ends when the Authorizer returns
		defer func() {
			if p := recover(); p != nil {
				ended <- outcome{err: fmt.Errorf("the Authorizer panicked: %v", p)}
			}
		}()
		again, err := call()
		ended <- outcome{again, err}
	})
	select {
	case o := <-ended:
		if o.err != nil {
			return false, denial{c.clean(o.err)}
		}
		return o.again, nil
	case <-ctx.Done():
		return false, denial{ctx.Err()}
	}
}

// authorize lets the Authorizer sign a request, which has neither a body yet nor
// the hooks that tell what was written of it: an Authorizer makes requests of
// its own with the context. One that is late signs what nobody sends any more.
func (c *Conn) authorize(req *http.Request) error {
	_, err := c.apart(req.Context(), func() (bool, error) { return false, c.Auth.Authorize(req) })
	if err != nil {
		return err
	}
	for name, values := range req.Header {
		if _, configured := c.Header[name]; configured || strings.HasPrefix(name, "Mcp-") || slices.Contains(plainHeaders, name) {
			continue
		}
		for _, value := range values {
			if _, token, ok := strings.Cut(value, " "); ok {
				value = token // behind the scheme
			}
			c.Quoter.Learn(value)
		}
	}
	return nil
}

// plainHeaders are those that this package sets.
var plainHeaders = []string{"Accept", "Content-Type", "Last-Event-Id"}

// askAgain asks the Authorizer about a refusal. It is asked about the last one
// of a request, too, after which that is not sent again.
func (c *Conn) askAgain(ctx context.Context, r *request, resp *http.Response) (again bool, err error) {
	// An Authorizer may take its time, the network connection is not kept for it.
	if c.buffer(r, resp) && r.method == rpc.MethodCallTool {
		return false, nil // the server has looked at the call
	}
	defer patience.Pause(ctx)()
	again, err = c.apart(ctx, func() (bool, error) { return c.Auth.Refused(resp) })
	if (again || err != nil) && r.call != nil {
		r.call.Refused()
	}
	return again, err
}

// asks reports whether to ask the Authorizer about an answer: a refusal that
// came before the server looked at what it was sent, which a 403 is not unless
// it says so; and not for a notice, whose call has ended, nor for a goodbye.
func (c *Conn) asks(method string, r *request, resp *http.Response) bool {
	switch {
	case c.Auth == nil:
		return false
	case resp.StatusCode == http.StatusForbidden:
		if !strings.Contains(strings.Join(resp.Header.Values("WWW-Authenticate"), ","), "insufficient_scope") {
			return false
		}
	case resp.StatusCode != http.StatusUnauthorized:
		return false
	}
	return method == http.MethodGet || method == http.MethodPost && (r.call != nil || r.method == rpc.MethodInitialized)
}
