package oauth

// This file gets a token that was not there before: from a person, or from what
// the program has itself.

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

const (
	// loginTime is how long a person has.
	loginTime = 10 * time.Minute
	// pendingTime is how long a login that nobody waits for can be finished.
	pendingTime = time.Hour
	// sameTime is how long the URL of such a login is given out again.
	sameTime = 10 * time.Minute
	// maxLogins is how many of them may be open.
	maxLogins = 8
)

// A login is an authorization request.
type login struct {
	URL           string       `json:"url"`
	State         string       `json:"state"`
	Verifier      string       `json:"verifier"`
	Issuer        string       `json:"issuer"`
	IssRequired   bool         `json:"iss_required,omitempty"`
	TokenURL      string       `json:"token_endpoint"`
	RevocationURL string       `json:"revocation_endpoint,omitempty"`
	Resource      string       `json:"resource"`
	Scopes        []string     `json:"scopes,omitempty"`
	Client        registration `json:"client"`
	ProofKey      []byte       `json:"dpop_key,omitempty"`
	Begun         time.Time    `json:"begun"`
}

// obtain gets a token anew, for what a server has refused.
func (c *Client) obtain(ctx context.Context, g *grant, r refusal) error {
	// A failure that the Store has is of a login that nobody waits for: whoever
	// is sent to the next one decides.
	if failed := g.lastFailure(); failed != nil && c.asks() && c.Open != nil {
		return failed
	}
	s := g.snapshot()
	d, err := c.discover(ctx, r.server, r.challenge, s.Issuer)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return fmt.Errorf("finding the authorization server: %w", err)
	}
	scopes := c.scopes(s, d, r)
	switch {
	case !c.asks():
		return c.ownToken(ctx, g, d, scopes)
	case c.Open == nil:
		return c.begin(ctx, g, d, scopes)
	}
	return c.ask(ctx, g, d, scopes)
}

// scopes returns what to ask for: what the server says that it takes, and what
// was there before.
func (c *Client) scopes(s saved, d discovery, r refusal) []string {
	switch {
	case r.status == http.StatusForbidden:
		return union(s.Scopes, r.scopes)
	case len(c.Scopes) > 0:
		return union(c.Scopes, s.Scopes) // those of a step-up stay
	case len(r.scopes) > 0:
		return union(s.Scopes, r.scopes)
	}
	return union(s.Scopes, d.scopes)
}

// ownToken gets a token for the program itself.
func (c *Client) ownToken(ctx context.Context, g *grant, d discovery, scopes []string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tokenTime)
	defer cancel()
	client, err := c.identity(ctx, d, registration{}, "")
	if err != nil {
		return err
	}
	t := tokenRequest{url: string(d.server.Token), issuer: string(d.server.Issuer), client: client, resource: d.resource}
	if d.proof {
		if t.key, err = newProofKey(); err != nil {
			return err
		}
	}
	if err := c.own(ctx, &t, scopes); err != nil {
		return err
	}
	answer, err := c.request(ctx, t)
	if err != nil {
		return fmt.Errorf("getting a token: %w", err)
	}
	return c.update(ctx, g, func(s *saved) string {
		s.Issuer, s.Resource, s.TokenURL, s.RevocationURL = t.issuer, t.resource, t.url, string(d.server.Revoke)
		s.begin(answer, client, scopes, t.key)
		return granted
	})
}

// newLogin prepares the request for consent.
func (c *Client) newLogin(d discovery, client registration, scopes []string) (*login, error) {
	if d.server.Authorize == "" {
		return nil, errors.New("the authorization server has no authorization endpoint")
	}
	// Who configured the issuer has decided; an absent list says nothing then.
	if !slices.Contains(d.server.PKCE, "S256") && !(len(d.server.PKCE) == 0 && c.Issuer != "") {
		return nil, errors.New("the authorization server does not say that it supports PKCE with S256, without which a login is not safe")
	}
	if slices.Contains(d.server.Scopes, "offline_access") && len(c.Scopes) == 0 {
		scopes = union(scopes, []string{"offline_access"})
	}
	l := &login{
		State: rand.Text(), Verifier: oauth2.GenerateVerifier(), Issuer: string(d.server.Issuer), IssRequired: bool(d.server.IssRequired),
		TokenURL: string(d.server.Token), RevocationURL: string(d.server.Revoke), Resource: d.resource, Scopes: scopes, Client: client, Begun: time.Now(),
	}
	if d.proof {
		var err error
		if l.ProofKey, err = newProofKey(); err != nil {
			return nil, err
		}
	}
	params := url.Values{"resource": {d.resource}, "scope": {strings.Join(scopes, " ")}}
	if len(scopes) == 0 {
		params.Del("scope")
	}
	c.addParams(params)
	options := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(l.Verifier)}
	for name := range params {
		options = append(options, oauth2.SetAuthURLParam(name, params.Get(name)))
	}
	config := oauth2.Config{ClientID: client.ID, RedirectURL: client.RedirectURL, Endpoint: oauth2.Endpoint{AuthURL: string(d.server.Authorize)}}
	l.URL = config.AuthCodeURL(l.State, options...)
	return l, nil
}

// begin begins a login that nobody waits for. Its error says where to go.
func (c *Client) begin(ctx context.Context, g *grant, d discovery, scopes []string) error {
	s := g.snapshot()
	required := &LoginRequired{Server: g.key, Issuer: string(d.server.Issuer), Scopes: scopes}
	if failed := g.lastFailure(); failed != nil {
		required.Err = failed.Err
	} else if s.Failure != "" {
		required.Err = fmt.Errorf("the last login failed: %s", s.Failure)
	}
	if c.RedirectURL == "" {
		required.next = "nobody can be asked: set Open or RedirectURL"
		return required
	}
	// A program that tries again and again does not begin again and again.
	for _, l := range slices.Backward(s.Logins) {
		if time.Since(l.Begun) < sameTime && l.Issuer == required.Issuer && l.Resource == d.resource && l.Client.RedirectURL == c.RedirectURL && containsAll(l.Scopes, scopes) {
			required.URL = l.URL
			return required
		}
	}
	client, err := c.identity(ctx, d, s.Client, c.RedirectURL)
	if err != nil {
		return err
	}
	l, err := c.newLogin(d, client, scopes)
	if err != nil {
		return err
	}
	err = c.update(ctx, g, func(s *saved) string {
		s.tried(client)
		s.takeLogin("") // the old ones
		s.Logins = append(slices.Clone(s.Logins), l)
		s.Logins = s.Logins[max(0, len(s.Logins)-maxLogins):]
		return ""
	})
	if err != nil {
		return err
	}
	required.URL = l.URL
	return required
}

func containsAll(all, some []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

// ask has a person log in, and waits. Only what goes wrong once they were asked
// makes the login one that failed.
func (c *Client) ask(ctx context.Context, g *grant, d discovery, scopes []string) error {
	s := g.snapshot()
	redirect := c.RedirectURL
	var back *listener
	if redirect == "" || localRedirect(redirect) {
		var err error
		if back, redirect, err = listen(redirect, s.Client.RedirectURL); err != nil {
			return err
		}
		defer back.close()
	}
	client, err := c.identity(ctx, d, s.Client, redirect)
	if err != nil {
		return err
	}
	l, err := c.newLogin(d, client, scopes)
	if err != nil {
		return err
	}
	if err := c.update(ctx, g, func(s *saved) string { s.tried(client); return "" }); err != nil {
		return err
	}
	g.beginAsking()
	values, err := c.wait(ctx, back, l)
	if err == nil {
		err = c.finish(ctx, g, l, values)
	}
	switch cause := context.Cause(ctx); {
	case err == nil, errors.Is(err, errKeeping): // which has left the token in memory
		return err
	case cause != nil:
		return cause
	}
	failed := &LoginRequired{Server: g.key, Issuer: l.Issuer, Scopes: l.Scopes, Err: loginFailed(err), next: "call Login to ask again"}
	g.mu.Lock()
	g.failed = failed
	g.mu.Unlock()
	return failed
}

// wait sends the person away, and returns what they come back with: by the
// browser, or by what Open returns.
func (c *Client) wait(ctx context.Context, back *listener, l *login) (url.Values, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	timer := time.NewTimer(loginTime)
	defer timer.Stop()
	type opened struct {
		callback string
		err      error
	}
	var came chan url.Values
	if back != nil {
		came = back.expect(l.State) // before the browser can come back
	}
	open := make(chan opened, 1)
	go func() { // ends when Open returns, whose context ends with the login
		defer func() {
			if p := recover(); p != nil {
				open <- opened{err: fmt.Errorf("calling Open: panic: %v", p)}
			}
		}()
		callback, err := c.Open(ctx, l.URL)
		open <- opened{callback, err}
	}()
	for {
		select {
		case values := <-came:
			return values, nil
		case o := <-open:
			if o.err != nil {
				return nil, o.err
			}
			if o.callback != "" {
				return parseCallback(o.callback)
			}
			if came == nil {
				return nil, errors.New("no URL came back from Open, and RedirectURL is not on this machine")
			}
			open = nil
		case <-timer.C:
			return nil, fmt.Errorf("nobody came back within %v", loginTime)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// parseCallback reads the URL at which a person came back, or its query.
func parseCallback(callback string) (url.Values, error) {
	callback = strings.TrimSpace(callback)
	if _, query, ok := strings.Cut(callback, "?"); ok {
		callback = query
	}
	callback, _, _ = strings.Cut(callback, "#")
	values, err := url.ParseQuery(callback)
	if err != nil {
		return nil, errors.New("the URL of the callback cannot be parsed")
	}
	for _, name := range []string{"state", "code", "iss", "error"} {
		if len(values[name]) > 1 {
			return nil, fmt.Errorf("the URL of the callback has two values of %q", name)
		}
	}
	return values, nil
}

func equal(a, b string) bool {
	return a != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}

// finish turns the answer to a login into a token. Nothing of the answer is
// used, not even an error, before it is known who it is from (RFC 9207).
func (c *Client) finish(ctx context.Context, g *grant, l *login, values url.Values) error {
	if !equal(l.State, values.Get("state")) {
		return errState
	}
	if iss, ok := values["iss"]; ok || l.IssRequired {
		if !ok {
			return errors.New("the answer to the login does not say which authorization server it is from")
		}
		if iss[0] != l.Issuer {
			return fmt.Errorf("the answer to the login is from another authorization server than %q", l.Issuer)
		}
	}
	t := tokenRequest{url: l.TokenURL, issuer: l.Issuer, client: l.Client, resource: l.Resource, key: l.ProofKey}
	t.form = url.Values{"grant_type": {"authorization_code"}, "code": {values.Get("code")}, "redirect_uri": {l.Client.RedirectURL}, "code_verifier": {l.Verifier}}
	if values.Has("error") {
		return refusedWith(values.Get("error"), values.Get("error_description"), hider(t.form, "", ""))
	}
	if values.Get("code") == "" {
		return errors.New("the answer to the login has no code")
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tokenTime)
	defer cancel()
	answer, err := c.request(ctx, t)
	if err != nil {
		return err
	}
	return c.update(ctx, g, func(s *saved) string {
		s.Issuer, s.Resource, s.TokenURL, s.RevocationURL = l.Issuer, l.Resource, l.TokenURL, l.RevocationURL
		s.begin(answer, l.Client, l.Scopes, l.ProofKey)
		return granted
	})
}
