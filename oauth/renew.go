package oauth

// This file gets a token in place of one that is old or was refused.

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	// tokenTime bounds getting a token without a person.
	tokenTime = 30 * time.Second
	// graceTime is how long a call with a token that still does waits for another.
	graceTime = 2 * time.Second
)

// A refusal is what a request met.
type refusal struct {
	server *url.URL
	status int
	challenge
	sent  string // the token
	again bool   // it was sent again after a refusal
}

// freshen renews a token that is about to expire, or has. One that still does is
// used all the same if the authorization server cannot be reached.
func (c *Client) freshen(ctx context.Context, g *grant, old known) (known, error) {
	w := want{sent: old.Token}
	if old.valid() {
		w.grace = graceTime
	}
	renew := func(ctx context.Context) error {
		_, err := c.renew(ctx, g, old.Token)
		return err
	}
	err := c.share(ctx, g, w, renew)
	now := g.now()
	if errors.Is(err, errSlow) && !now.valid() { // it has ended meanwhile
		w.grace = 0
		err = c.share(ctx, g, w, renew)
		now = g.now()
	}
	switch {
	case ctx.Err() != nil:
		return known{}, ctx.Err()
	case err != nil && !now.valid():
		return known{}, err
	}
	return now, nil
}

// mend gets a token that will do after a refusal, if there can be one.
func (c *Client) mend(ctx context.Context, g *grant, r refusal) error {
	if r.status == http.StatusForbidden {
		return c.widen(ctx, g, r)
	}
	// The second refusal is worth a renewal only if the first brought the token
	// of another process.
	if now := g.now(); !r.again || now.how == "" {
		if ok, err := c.renew(ctx, g, r.sent); ok || err != nil {
			return err
		}
	}
	return c.obtain(ctx, g, r)
}

// widen gets a token that goes further. A refresh would not.
func (c *Client) widen(ctx context.Context, g *grant, r refusal) error {
	if err := c.reload(ctx, g); err != nil {
		return err
	}
	if now := g.now(); now.Token != r.sent || containsAll(now.Scopes, r.scopes) {
		return nil // another process was quicker, or it has what the server asks for
	}
	return c.obtain(ctx, g, r)
}

// renewable reports whether a token can be had without a person.
func (c *Client) renewable(s saved) bool {
	return s.Refresh != "" || s.TokenURL != "" && !c.asks()
}

// renew gets a token in place of the one that was sent, if that takes no person.
// Once it has begun it does not mind the end of the context: the answer may hold
// the only refresh token that is left. The Store is held meanwhile, so that no
// other process uses the old one a second time.
func (c *Client) renew(ctx context.Context, g *grant, sent string) (ok bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tokenTime)
	defer cancel()
	var failure error
	err = c.update(ctx, g, func(s *saved) {
		if s.Token != "" && s.Token != sent {
			ok = true // another process was quicker
			return
		}
		if !c.renewable(*s) {
			return
		}
		failure = c.renewInto(ctx, s)
		if moved(failure) && c.relocate(ctx, s) {
			failure = c.renewInto(ctx, s)
		}
		ok = failure == nil
		var refused *Error
		if c.asks() && errors.As(failure, &refused) && refused.final() && (!refused.ofClient() || s.Client.Dynamic) {
			// The grant is over, or the registration, and a person can give
			// another. A token that has not expired may do all the same.
			s.Refresh, s.Failure, failure = "", text("it could not be renewed: "+refused.Error(), maxWords), nil
			if refused.ofClient() {
				s.Client = registration{}
			}
		}
	})
	if failure != nil {
		return false, fmt.Errorf("renewing the token: %w", failure)
	}
	return ok && err == nil, err
}

// renewInto makes the token request of a renewal.
func (c *Client) renewInto(ctx context.Context, s *saved) (err error) {
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {s.Refresh}}
	if !c.asks() {
		if form, err = c.own(ctx, s.terms); err != nil {
			return err
		}
	}
	answer, err := c.request(ctx, s.terms, form)
	if err == nil {
		s.take(answer, "renewed")
	}
	return err
}

// moved reports whether a failure may mean that the endpoint is elsewhere now.
func moved(err error) bool {
	var status statusError
	if errors.As(err, &status) {
		switch status {
		case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone:
			return true
		}
		return status >= 300 && status <= 399 // which is not followed, but looked up
	}
	var dns *net.DNSError
	return errors.As(err, &dns) && dns.IsNotFound
}

// relocate looks up the endpoints anew. It reports whether they are others. The
// issuer stays: it decides where secrets go.
func (c *Client) relocate(ctx context.Context, s *saved) bool {
	server, err := url.Parse(s.Server)
	if err != nil {
		return false
	}
	m, err := c.authorizationServer(ctx, s.Issuer, isLocal(server.Hostname()))
	if err != nil || string(m.Token) == s.TokenURL {
		return false
	}
	s.TokenURL, s.RevocationURL = string(m.Token), string(m.Revoke)
	return true
}

// own returns the request of the program's own grant.
func (c *Client) own(ctx context.Context, t terms) (url.Values, error) {
	form := url.Values{"grant_type": {"client_credentials"}}
	if c.Assertion != nil {
		assertion, err := c.Assertion(ctx, t.Issuer, t.Resource)
		if err != nil {
			return nil, fmt.Errorf("getting an assertion: %w", err)
		}
		form = url.Values{"grant_type": {jwtBearer}, "assertion": {assertion}}
	}
	if len(t.Scopes) > 0 {
		form.Set("scope", strings.Join(t.Scopes, " "))
	}
	return form, nil
}
