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
	URL         string `json:"url"`
	State       string `json:"state"`
	Verifier    string `json:"verifier"`
	IssRequired bool   `json:"iss_required,omitempty"`
	terms
	Begun time.Time `json:"begun"`
}

// obtain gets a token anew, for what a server has refused.
func (c *Client) obtain(ctx context.Context, g *grant, r refusal) error {
	now := g.now()
	// A failure that the Store has is of a login that nobody waits for: whoever
	// is sent to the next one decides.
	if now.failed != nil && c.opens() {
		return now.failed
	}
	d, err := c.discover(ctx, r.server, r.challenge, now.Issuer)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return fmt.Errorf("finding the authorization server: %w", err)
	}
	scopes := c.scopes(now.saved, d, r)
	switch {
	case !c.asks():
		return c.ownToken(ctx, g, d, scopes)
	case c.Open == nil:
		return c.begin(ctx, g, d, scopes)
	}
	return c.alone(ctx, g, now, scopes, func() error { return c.ask(ctx, g, d, scopes) })
}

// scopes returns what to ask for: what the server says that it takes, and what
// was there before.
func (c *Client) scopes(s saved, d discovery, r refusal) []string {
	switch {
	case len(c.Scopes) > 0 && r.status != http.StatusForbidden:
		return union(c.Scopes, s.Scopes) // those of a step-up stay
	case len(r.scopes) > 0 || r.status == http.StatusForbidden:
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
	t, err := d.terms(client, scopes)
	if err != nil {
		return err
	}
	form, err := c.own(ctx, t)
	if err != nil {
		return err
	}
	return c.take(ctx, g, t, form)
}

// take makes the token request that begins a grant, and keeps the answer. It
// does not mind the end of the context, whose token request may bring the only
// token that there will be.
func (c *Client) take(ctx context.Context, g *grant, t terms, form url.Values) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tokenTime)
	defer cancel()
	answer, err := c.request(ctx, t, form)
	if err != nil {
		return fmt.Errorf("getting a token: %w", err)
	}
	return c.update(ctx, g, func(s *saved) { s.begin(answer, t) })
}

// newLogin prepares the request for consent, and keeps what of it must not be
// lost. Where a login could not be safe, the program is not even registered.
func (c *Client) newLogin(ctx context.Context, g *grant, d discovery, redirect string, scopes []string) (*login, error) {
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
	client, err := c.identity(ctx, d, g.now().Client, redirect)
	if err != nil {
		return nil, err
	}
	t, err := d.terms(client, scopes)
	if err != nil {
		return nil, err
	}
	l := &login{State: rand.Text(), Verifier: oauth2.GenerateVerifier(), IssRequired: bool(d.server.IssRequired), terms: t, Begun: time.Now()}
	params := url.Values{"resource": {d.resource}}
	if len(scopes) > 0 {
		params.Set("scope", strings.Join(scopes, " "))
	}
	c.addParams(params)
	options := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(l.Verifier)}
	for name := range params {
		options = append(options, oauth2.SetAuthURLParam(name, params.Get(name)))
	}
	config := oauth2.Config{ClientID: client.ID, RedirectURL: client.RedirectURL, Endpoint: oauth2.Endpoint{AuthURL: string(d.server.Authorize)}}
	l.URL = config.AuthCodeURL(l.State, options...)
	return l, c.update(ctx, g, func(s *saved) {
		s.tried(client)
		if c.Open == nil { // it ends in another call, or another process
			s.takeLogin("") // the old ones
			s.Logins = append(slices.Clone(s.Logins), l)
			s.Logins = s.Logins[max(0, len(s.Logins)-maxLogins):]
		}
	})
}

// begin begins a login that nobody waits for. Its error says where to go.
func (c *Client) begin(ctx context.Context, g *grant, d discovery, scopes []string) error {
	now := g.now()
	required := &LoginRequired{Server: g.key, Issuer: string(d.server.Issuer), Scopes: scopes}
	if now.failed != nil {
		required.Err = now.failed.Err
	} else if now.Failure != "" {
		required.Err = fmt.Errorf("the last login failed: %s", now.Failure)
	}
	if c.RedirectURL == "" {
		required.next = "nobody can be asked: set Open or RedirectURL"
		return required
	}
	// A program that tries again and again does not begin again and again.
	for _, l := range slices.Backward(now.Logins) {
		if time.Since(l.Begun) < sameTime && l.Issuer == required.Issuer && l.Resource == d.resource && l.Client.RedirectURL == c.RedirectURL && containsAll(l.Scopes, scopes) {
			required.URL = l.URL
			return required
		}
	}
	l, err := c.newLogin(ctx, g, d, c.RedirectURL, scopes)
	if err != nil {
		return err
	}
	required.URL = l.URL
	return required
}

// alone has one process ask the person, of those that share a FileStore. The
// others wait, and take what that one has got; if it is not enough, or it got
// none, the next one asks. With another Store each process asks: its Update is
// no place to wait for a person.
func (c *Client) alone(ctx context.Context, g *grant, before known, scopes []string, ask func() error) error {
	dir, ok := c.Store.(FileStore)
	if !ok {
		return ask()
	}
	lock, _, err := dir.lock(ctx, g.key+" login")
	if err != nil {
		return fmt.Errorf("%w: %w", errKeeping, err)
	}
	defer lock.Close()
	if err := c.reload(ctx, g); err != nil {
		return err
	}
	if now := g.now(); now.Token != "" && !now.Granted.Equal(before.Granted) && containsAll(now.Scopes, scopes) {
		g.do(func() { g.how = granted }) // there is nothing better to be had here, either
		return nil
	}
	return ask()
}

// ask has a person log in, and waits. Only what goes wrong once they were asked
// makes the login one that failed.
func (c *Client) ask(ctx context.Context, g *grant, d discovery, scopes []string) error {
	redirect := c.RedirectURL
	var back *listener
	if redirect == "" || localRedirect(redirect) {
		var err error
		if back, redirect, err = listen(redirect, g.now().Client.RedirectURL); err != nil {
			return err
		}
		defer back.close()
	}
	l, err := c.newLogin(ctx, g, d, redirect, scopes)
	if err != nil {
		return err
	}
	g.do(func() {
		if g.work != nil {
			g.work.asking = true
		}
	})
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
	return g.fail(l.Issuer, l.Scopes, loginFailed(err))
}

// wait sends the person away, and returns what they come back with: by the
// browser, or by what Open returns.
func (c *Client) wait(ctx context.Context, back *listener, l *login) (url.Values, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, loginTime, fmt.Errorf("nobody came back within %v", loginTime))
	defer cancel()
	var came chan url.Values
	if back != nil {
		came = back.expect(l.State) // before the browser can come back
	}
	open := make(chan error, 1)
	var pasted url.Values // to be read once open was
	go func() {           // ends when Open returns, whose context ends with the login
		err := guarded("calling Open", func() error {
			callback, err := c.Open(ctx, l.URL)
			switch {
			case err == nil && callback != "":
				pasted, err = parseCallback(callback)
			case err == nil && back == nil:
				err = errors.New("no URL came back from Open, and RedirectURL is not on this machine")
			}
			return err
		})
		if err != nil || pasted != nil { // or else it is the browser that comes back
			open <- err
		}
	}()
	select {
	case values := <-came:
		return values, nil
	case err := <-open:
		if ctx.Err() == nil {
			return pasted, err
		}
	case <-ctx.Done():
	}
	return nil, context.Cause(ctx)
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
	iss, ok := values["iss"]
	switch {
	case !ok && l.IssRequired:
		return errors.New("the answer to the login does not say which authorization server it is from")
	case ok && iss[0] != l.Issuer:
		return fmt.Errorf("the answer to the login is from another authorization server than %q", l.Issuer)
	}
	form := url.Values{"grant_type": {"authorization_code"}, "code": {values.Get("code")}, "redirect_uri": {l.Client.RedirectURL}, "code_verifier": {l.Verifier}}
	switch {
	case values.Has("error"):
		return refusedWith(0, values.Get("error"), values.Get("error_description"), hider(form, "", ""))
	case values.Get("code") == "":
		return errors.New("the answer to the login has no code")
	}
	return c.take(ctx, g, l.terms, form)
}
