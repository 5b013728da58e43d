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

// tokenTime bounds getting a token without a person.
const tokenTime = 30 * time.Second

// A refusal is what a request met.
type refusal struct {
	server *url.URL
	status int
	challenge
	sent  string // the token
	again bool   // it was sent again after a refusal
}

// mend gets a token that will do after a refusal, if there can be one.
func (c *Client) mend(ctx context.Context, g *grant, r refusal) error {
	if r.status == http.StatusForbidden {
		return c.widen(ctx, g, r)
	}
	// The second refusal is worth a renewal only if the first brought the token
	// of another process.
	if !r.again || g.origin() == "" {
		if ok, err := c.renew(ctx, g, r.sent); ok || err != nil {
			return err
		}
	}
	return c.obtain(ctx, g, r)
}

// widen gets a token that goes further. A refresh would not.
func (c *Client) widen(ctx context.Context, g *grant, r refusal) error {
	if err := c.update(ctx, g, func(*saved) string { return "" }); err != nil {
		return err
	}
	s := g.snapshot()
	if s.Token != r.sent || containsAll(s.Scopes, r.scopes) {
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
	err = c.update(ctx, g, func(s *saved) string {
		if s.Token != "" && s.Token != sent {
			ok = true // another process was quicker
			return ""
		}
		if !c.renewable(*s) {
			return ""
		}
		failure = c.renewInto(ctx, s)
		if moved(failure) && c.relocate(ctx, s) {
			failure = c.renewInto(ctx, s)
		}
		if failure == nil {
			ok = true
			return renewed
		}
		var refused *Error
		if c.asks() && errors.As(failure, &refused) && refused.final() && (refused.Code != "invalid_client" || s.Client.Dynamic) {
			// The grant is over, or the registration, and a person can give
			// another. A token that has not expired may do all the same.
			if s.Refresh, failure = "", nil; refused.Code == "invalid_client" {
				s.Client = registration{}
			}
		}
		return ""
	})
	if failure != nil {
		return false, fmt.Errorf("renewing the token: %w", failure)
	}
	return ok && err == nil, err
}

// renewInto makes the token request of a renewal.
func (c *Client) renewInto(ctx context.Context, s *saved) error {
	t := tokenRequest{url: s.TokenURL, issuer: s.Issuer, client: s.Client, resource: s.Resource, key: s.ProofKey}
	if c.asks() {
		t.form = url.Values{"grant_type": {"refresh_token"}, "refresh_token": {s.Refresh}}
	} else if err := c.own(ctx, &t, s.Scopes); err != nil {
		return err
	}
	answer, err := c.request(ctx, t)
	if err != nil {
		return err
	}
	s.take(answer)
	return nil
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

// own makes a request the one of the program's own grant.
func (c *Client) own(ctx context.Context, t *tokenRequest, scopes []string) error {
	t.form = url.Values{"grant_type": {"client_credentials"}}
	if c.Assertion != nil {
		assertion, err := c.Assertion(ctx, t.issuer, t.resource)
		if err != nil {
			return fmt.Errorf("getting an assertion: %w", err)
		}
		t.form = url.Values{"grant_type": {jwtBearer}, "assertion": {assertion}}
	}
	if len(scopes) > 0 {
		t.form.Set("scope", strings.Join(scopes, " "))
	}
	return nil
}
