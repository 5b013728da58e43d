// Package oauth authorizes the requests of package mcp with access tokens, as
// the MCP specification describes it: OAuth 2.1 with discovery of the
// authorization server, for a person or for the program itself.
//
// A program on the machine of its user opens a browser:
//
//	auth := &oauth.Client{Open: oauth.OpenBrowser, Store: oauth.FileStore(dir)}
//	connection, err := mcp.Connect(ctx, mcp.Server{Name: "linear", URL: "https://mcp.linear.app/mcp", Auth: auth})
//
// A service acts for itself, with a secret, a private key, or a token of the
// platform that it runs on:
//
//	auth := &oauth.Client{ID: "reports", Issuer: "https://login.example.com", Key: key}
//	auth := &oauth.Client{Issuer: "https://login.example.com", Assertion: platformToken}
//
// A web application sends each user away and has them come back:
//
//	auth := &oauth.Client{ID: "https://app.example.com/client.json", RedirectURL: "https://app.example.com/callback", Store: tokensOf(user)}
//	connection, err := mcp.Connect(ctx, mcp.Server{Name: "linear", URL: url, Auth: auth})
//	var login *oauth.LoginRequired
//	if errors.As(err, &login) {
//		http.Redirect(w, r, login.URL, http.StatusFound) // and in /callback: auth.FinishLogin(ctx, url, r.URL.String())
//	}
//
// # Logins
//
// A person is asked once for all calls that wait, those of all processes that
// share a [FileStore], and their time counts neither for the start of a
// connection nor for CallTimeout. A login that failed is not
// begun again by a call, nor is one after [Client.Logout]: calls then fail with
// a [*LoginRequired] that says why, until [Client.Login]. A renewal that fails
// for a while, since the authorization server is down, deletes nothing and asks
// nobody.
//
// # Security
//
// A token goes to the server that it is for and nowhere else, a refresh token
// and a secret to the authorization server that they are from. What a server
// says of its authorization server is checked before it is used: addresses are
// https, or on this machine if the server is, too; the issuer and the resource
// must be the ones that were asked for. No error shows a secret.
//
// # Limits
//
// There is no device grant (RFC 8628): a program without a browser shows the
// URL and takes back the one that the person ends up at, see Client.Open. There
// is no store in the keyring of a system: a [FileStore] is not encrypted.
package oauth

import (
	"context"
	"crypto"
	"net/http"
	"strings"
	"sync/atomic"
)

// A Client is a program towards authorization servers. It implements
// mcp.Authorizer: it finds the authorization server of an MCP server, gets
// tokens there, and renews them when they expire, are refused, or do not go far
// enough. Requests that need the same token wait for one that gets it.
//
// One Client may serve any number of servers and connections of one user, at
// the same time. It keeps what belongs to different servers apart, by their
// URLs without query. The fields must not be changed once it is in use, and it
// must not be copied.
//
// Which grant is used follows from the fields: Assertion if that is set; the
// program's own if there is a Secret or Key, and neither Open nor RedirectURL;
// else a person's.
type Client struct {
	// ID is the client identifier: what the authorization server of Issuer has
	// given out, or the https URL of a client ID metadata document. Where an
	// authorization server does not take such documents, and where ID is empty,
	// the Client registers itself.
	ID string
	// Secret, or else Key, proves who the program is. Key signs assertions
	// (private_key_jwt): ECDSA, RSA or Ed25519, by the first algorithm of such a
	// key that the authorization server names, or RS256 for RSA if it names none;
	// KeyID is its name, if it needs one.
	Secret string
	Key    crypto.Signer
	KeyID  string
	// Issuer is the authorization server that ID, Secret, Key and Assertion are
	// for; another one gets none of them. Empty means the one that the server
	// names at first; then the Client serves only one server.
	Issuer string
	// Name is shown to the person who is asked for consent, where the Client
	// registers itself; empty means the name of the program's file.
	Name string

	// Open sends a person to a URL: it opens a browser, or shows the URL. It
	// returns "" to wait for the browser to come back to this machine, or, where
	// it cannot, the URL that the person was sent to in the end, for example
	// pasted from the address bar. Its context ends when the login does, which
	// is after 10 minutes, or when no caller waits for it any more. An error ends
	// the login, and so does a panic.
	//
	// Nil means that nobody can be asked while a request waits: it fails with a
	// *LoginRequired.
	//
	// Open is called for one login of a server at a time. Once a login has
	// failed, it is not called again for that server but by Login: nobody wants
	// a new tab for each call.
	Open func(ctx context.Context, url string) (callback string, err error)
	// RedirectURL is where the authorization server sends the person back to:
	// an https URL of the program's own, which calls FinishLogin, or one on
	// this machine. Empty means http://127.0.0.1/callback. With Open, the Client
	// listens at one on this machine, while a login runs and no longer; without
	// a port in it, at a free one.
	RedirectURL string

	// Assertion returns a JWT that stands for the program or its user (RFC 7523,
	// section 2.1): the token of a workload, or an ID-JAG, see Enterprise. The
	// audience is the issuer of the authorization server, the resource that of
	// the MCP server.
	Assertion func(ctx context.Context, audience, resource string) (string, error)

	// Scopes are asked for at first, in place of those that the server names.
	Scopes []string
	// Params are added to what is sent to authorization servers for consent and
	// tokens, such as access_type=offline for Google. An empty value leaves a
	// parameter out, such as resource for Microsoft Entra.
	Params map[string]string
	// Store keeps tokens and registrations; nil means that they live as long as
	// the Client.
	Store Store
	// HTTPTransport sends the requests to authorization servers, and those for
	// the metadata of servers. Nil means http.DefaultTransport's behaviour. One
	// for URLs that users may choose should refuse to dial private addresses.
	HTTPTransport http.RoundTripper

	state atomic.Value // of *state; a Value, so that methods that print may take a copy
}

// Authorize implements mcp.Authorizer: it signs the request with a token, if
// there is one. A token that has expired is renewed first, where that takes no
// person.
func (c *Client) Authorize(req *http.Request) error {
	g, err := c.grant(req.URL)
	if err != nil {
		return err
	}
	ctx := req.Context()
	now, err := c.current(ctx, g)
	if err == nil && now.stale() && c.renewable(now.saved) {
		now, err = c.freshen(ctx, g, now)
	}
	if err != nil {
		return err
	}
	return g.sign(req, now)
}

// Refused implements mcp.Authorizer: it gets a token that will do, if it can.
func (c *Client) Refused(resp *http.Response) (again bool, err error) {
	req := resp.Request
	ctx := req.Context()
	g, err := c.grant(req.URL)
	if err != nil {
		return false, err
	}
	now, err := c.current(ctx, g)
	if err != nil {
		return false, err
	}
	r := refusal{server: req.URL, status: resp.StatusCode, challenge: parseChallenge(resp.Header), again: req.Response != nil}
	_, r.sent, _ = strings.Cut(req.Header.Get("Authorization"), " ")
	wider := r.status == http.StatusForbidden && r.err == "insufficient_scope"
	switch {
	case r.err == "use_dpop_nonce" && req.Header.Get("DPoP") != "":
		return g.useNonce(resp.Header.Get("DPoP-Nonce"), sentNonce(req)), nil
	case r.again && r.sent != "" && r.sent == now.Token && now.how == granted && (!wider || req.Response.StatusCode == http.StatusForbidden):
		// Nothing better is to be had: not by the program's own grant, and a
		// person is not asked twice. Only what a new token lacks may be asked for
		// then, and not once more after that: a server could go on for ever.
		if c.asks() {
			g.fail(now.Issuer, now.Scopes, errFresh)
		}
		return false, nil
	case resends(req) == maxResends, r.status == http.StatusForbidden && !wider:
		return false, nil // it is not sent again whatever there is
	}
	w := want{sent: r.sent, person: c.opens()}
	if r.status == http.StatusForbidden {
		w.scopes = r.scopes
	}
	err = c.share(ctx, g, w, func(ctx context.Context) error { return c.mend(ctx, g, r) })
	now = g.now()
	return err == nil && now.Token != "" && now.Token != r.sent, err
}

// maxResends is how often package mcp sends a request again.
const maxResends = 3

// resends counts the refusals that a request was sent again after.
func resends(req *http.Request) (n int) {
	for before := req.Response; before != nil && before.Request != nil && n < maxResends; before = before.Request.Response {
		n++
	}
	return n
}

// Login has a person log in at the authorization server of an MCP server, also
// if there is a token already, or a login has failed. If a login for that server
// runs, it waits for that. Without Open it returns a *LoginRequired. Once the
// person has come back, a context that ends leaves the last step to itself, for
// 30 seconds at most: its answer may be the only token.
func (c *Client) Login(ctx context.Context, server string) error {
	u, g, err := c.grantOf(server)
	if err != nil {
		return err
	}
	if _, err := c.current(ctx, g); err != nil {
		return err
	}
	return c.share(ctx, g, want{login: true, person: true}, func(ctx context.Context) error {
		challenge, err := c.probe(ctx, u)
		if err != nil {
			return err
		}
		g.do(func() { g.failed = nil })
		return c.obtain(ctx, g, refusal{server: u, challenge: challenge})
	})
}

// FinishLogin ends a login that a *LoginRequired began, perhaps in another
// process with the same Store: callback is the URL at which the person came
// back. It returns an *Error if the authorization server said no, as to a
// person who does not consent. Each login can be finished once. A context that
// ends is heeded as by Login.
func (c *Client) FinishLogin(ctx context.Context, server, callback string) error {
	_, g, err := c.grantOf(server)
	if err != nil {
		return err
	}
	values, err := parseCallback(callback)
	if err != nil {
		return err
	}
	var l *login
	err = c.update(ctx, g, func(s *saved) { l = s.takeLogin(values.Get("state")) })
	switch {
	case err != nil:
		return err
	case l == nil:
		return errState
	}
	return detach(ctx, func(ctx context.Context) error {
		err := c.finish(ctx, g, l, values)
		if err != nil { // for whoever asks next, perhaps in another process
			c.update(ctx, g, func(s *saved) { s.Failure = text(err.Error(), maxWords) })
		}
		return err
	})
}

// Logout forgets the tokens for an MCP server, and asks its authorization
// server to revoke them if that can. They are forgotten also if it returns an
// error. A login that runs ends. Calls do not log in by themselves after it, not
// even those of other processes with the same Store that had a token.
func (c *Client) Logout(ctx context.Context, server string) error {
	_, g, err := c.grantOf(server)
	if err != nil {
		return err
	}
	g.do(func() {
		if g.work != nil {
			g.work.end(errLogout)
		}
	})
	var old saved
	err = c.update(ctx, g, func(s *saved) {
		old = *s
		s.dropTokens()
		s.Logins = nil
	})
	if err != nil {
		return err
	}
	g.fail(old.Issuer, nil, errLogout)
	return c.revoke(ctx, old)
}
