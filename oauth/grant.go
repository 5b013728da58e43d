package oauth

// This file keeps what belongs to one MCP server, in the Store and here.

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"github.com/seed94b59a13/mcp/internal/secret"
)

// early is how long before its end a token is renewed: it has to last until the
// server has looked at it. One that does not live that long has half of its life.
const early = 10 * time.Second

// granted is how a token was got that is not a renewed one: by a login, or by
// the program's own grant. There is nothing better to be had then.
const granted = "granted"

// Terms say for what and where a token was asked for. A renewal asks for the
// same, at the same place: the issuer decides where secrets go.
type terms struct {
	Issuer        string       `json:"issuer,omitempty"`
	Resource      string       `json:"resource,omitempty"`
	TokenURL      string       `json:"token_endpoint,omitempty"`
	RevocationURL string       `json:"revocation_endpoint,omitempty"`
	Client        registration `json:"client"`
	Scopes        []string     `json:"scopes,omitempty"` // that were asked for, so far
	ProofKey      []byte       `json:"dpop_key,omitempty"`
}

// A registration says who the program is to one authorization server. What is
// configured of it is not stored: a Client may be given another Secret.
type registration struct {
	ID          string    `json:"client_id,omitempty"`
	Secret      string    `json:"client_secret,omitempty"` // of a dynamic one
	Method      string    `json:"method,omitempty"`        // of authentication
	Algorithm   string    `json:"algorithm,omitempty"`     // that the Key signs with
	Issuer      string    `json:"issuer,omitempty"`
	RedirectURL string    `json:"redirect_uri,omitempty"`
	Expires     time.Time `json:"expires,omitzero"`
	Dynamic     bool      `json:"dynamic,omitempty"`
	Tried       bool      `json:"tried,omitempty"` // a login with it has begun and not ended well
}

// saved is what a Store keeps of a server, as JSON.
type saved struct {
	Version int    `json:"version"`
	Server  string `json:"server"` // the key
	terms

	Token   string    `json:"access_token,omitempty"`
	Refresh string    `json:"refresh_token,omitempty"`
	Issued  time.Time `json:"issued,omitzero"`
	Expiry  time.Time `json:"expiry,omitzero"`
	Granted time.Time `json:"granted,omitzero"` // when the grant began that the token is of

	Logins  []*login `json:"logins,omitempty"`  // that have begun
	Failure string   `json:"failure,omitempty"` // of the last login, for whoever is asked next

	how string // this Client got the token; empty if another one did
}

const version = 1

// stale reports whether it is time to renew the token.
func (s *saved) stale() bool {
	margin := early
	if life := s.Expiry.Sub(s.Issued); life <= early {
		margin = life / 2
	}
	return s.Token != "" && !s.Expiry.IsZero() && time.Until(s.Expiry) < margin
}

// valid reports whether the token may still do.
func (s *saved) valid() bool {
	return s.Token != "" && (s.Expiry.IsZero() || time.Now().Before(s.Expiry))
}

func (s *saved) empty() bool {
	return s.Issuer == "" && s.Token == "" && s.Client == registration{} && len(s.Logins) == 0 && s.Failure == ""
}

// dropTokens leaves the registration, which outlives a grant.
func (s *saved) dropTokens() {
	s.Token, s.Refresh, s.Scopes, s.ProofKey, s.Failure = "", "", nil, nil, ""
	s.Expiry, s.Issued, s.Granted = time.Time{}, time.Time{}, time.Time{}
}

// begin takes the first token of a grant.
func (s *saved) begin(a *oauth2.Token, t terms) {
	s.dropTokens()
	s.terms, s.Granted = t, time.Now()
	s.take(a, granted)
}

// take keeps what a token request brought. Times are those of the wall clock:
// the other one stands still while a laptop sleeps, and tokens do not.
func (s *saved) take(a *oauth2.Token, how string) {
	s.Token, s.Issued, s.Expiry, s.how = a.AccessToken, time.Now().Round(0), a.Expiry.Round(0), how
	s.Refresh = cmp.Or(a.RefreshToken, s.Refresh) // one that is not rotated stays
}

// takeLogin takes out the login with the state; nil if there is none that is
// not too old.
func (s *saved) takeLogin(state string) *login {
	s.Logins = slices.DeleteFunc(slices.Clone(s.Logins), func(l *login) bool { return time.Since(l.Begun) > pendingTime })
	for i, l := range s.Logins {
		if equal(l.State, state) {
			s.Logins = slices.Delete(s.Logins, i, i+1)
			return l
		}
	}
	return nil
}

// tried marks a registration: authorization servers forget some, and say so
// only to the person. The next login then does not use it.
func (s *saved) tried(client registration) {
	if client.Dynamic {
		s.Client = client
		s.Client.Tried = true
	}
}

// secrets returns what no text may show of it.
func (s *saved) secrets() []string {
	all := []string{s.Token, s.Refresh, s.Client.Secret, string(s.ProofKey)}
	for _, l := range s.Logins {
		all = append(all, l.State, l.Verifier, l.Client.Secret, string(l.ProofKey))
	}
	return all
}

// A grant is what a Client has for one server.
type grant struct {
	key string

	mu sync.Mutex // guards what follows
	known
	proof *prover
	work  *work // under way
}

// known is what is known of a server. A copy of it is safe to read.
type known struct {
	saved
	loaded bool           // from the Store
	dirty  bool           // not all of it could be stored
	nonce  string         // of the MCP server, for proofs
	failed *LoginRequired // why no login begins by itself
}

// do calls f with what is guarded. It must not wait for anything.
func (g *grant) do(f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f()
}

// now returns what is known at this moment.
func (g *grant) now() known {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.known
}

// fail makes calls fail in place of asking a person.
func (g *grant) fail(issuer string, scopes []string, why error) *LoginRequired {
	failed := &LoginRequired{Server: g.key, Issuer: issuer, Scopes: scopes, Err: why, next: "call Login to ask again"}
	g.do(func() { g.failed = failed })
	return failed
}

// set replaces what is known, and sees from that what other Clients have done:
// a login that went well is good for this one, too, and so is a logout. As long
// as it is not stored, it counts more than what the Store has.
func (g *grant) set(s saved) {
	g.mu.Lock()
	was := g.known
	if s.how == "" && s.Token == was.Token {
		s.how = was.how
	}
	g.saved, g.loaded, g.dirty = s, true, true
	if s.Token != "" && !s.Granted.Equal(was.Granted) {
		g.failed = nil
	}
	g.mu.Unlock()
	if was.Token != "" && s.Token == "" && was.failed == nil {
		g.fail(s.Issuer, s.Scopes, errLogout)
	}
}

// useNonce takes a nonce for proofs. It reports whether a request that was
// signed with another is worth sending again: many may be refused for the same.
func (g *grant) useNonce(nonce, sent string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if nonce != "" && len(nonce) <= maxAddress {
		g.nonce = nonce
	}
	return g.nonce != sent
}

// sign adds the token to a request.
func (g *grant) sign(req *http.Request, now known) error {
	switch {
	case now.Token == "":
		return nil
	case now.ProofKey == nil:
		req.Header.Set("Authorization", "Bearer "+now.Token)
		return nil
	}
	p, err := g.prover(now.ProofKey)
	if err != nil {
		return err
	}
	proof, err := p.prove(req.Method, req.URL, now.nonce, now.Token)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "DPoP "+now.Token)
	req.Header.Set("DPoP", proof)
	return nil
}

// prover returns what proves that the key is here. It is made once: reading a
// key takes longer than signing with it.
func (g *grant) prover(key []byte) (p *prover, err error) {
	g.do(func() {
		if g.proof == nil || string(g.proof.pkcs8) != string(key) {
			g.proof, err = newProver(key)
		}
		p = g.proof
	})
	return p, err
}

// key is the server's URL in a form of its own: without query, user, the port
// that goes without saying, and trailing slash.
func key(u *url.URL) string {
	host := strings.TrimSuffix(strings.ToLower(u.Host), ":")
	if u.Scheme == "https" {
		host = strings.TrimSuffix(host, ":443")
	} else {
		host = strings.TrimSuffix(host, ":80")
	}
	return u.Scheme + "://" + host + strings.TrimRight(u.EscapedPath(), "/")
}

// grant returns the grant for a server.
func (c *Client) grant(server *url.URL) (*grant, error) {
	state := c.ready()
	if state.err != nil {
		return nil, state.err
	}
	k := key(server)
	state.mu.Lock()
	defer state.mu.Unlock()
	g := state.grants[k]
	if g == nil {
		if len(state.grants) > 0 && c.Issuer == "" && c.bound() {
			return nil, errors.New("oauth: a Client with an ID, Secret, Key or Assertion needs an Issuer to serve several servers")
		}
		g = &grant{key: k}
		state.grants[k] = g
	}
	return g, nil
}

// grantOf returns the grant for a server that the host names.
func (c *Client) grantOf(server string) (*url.URL, *grant, error) {
	u, err := url.Parse(server)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, nil, errors.New("oauth: the server's URL cannot be used")
	}
	g, err := c.grant(u)
	return u, g, err
}

// current returns what is known of the server, from the Store at first.
func (c *Client) current(ctx context.Context, g *grant) (known, error) {
	if now := g.now(); now.loaded {
		return now, nil
	}
	err := c.reload(ctx, g)
	return g.now(), err
}

// reload looks at what others have stored meanwhile.
func (c *Client) reload(ctx context.Context, g *grant) error {
	return c.update(ctx, g, func(*saved) {})
}

// update changes what is kept of the server, in the Store and here. Of what the
// Store says of its failure nothing is shown that is kept there: a database may
// quote the row that it could not write.
func (c *Client) update(ctx context.Context, g *grant, change func(*saved)) error {
	store := c.Store
	if store == nil {
		store = &c.ready().memory
	}
	err := store.Update(ctx, g.key, func(old []byte) ([]byte, error) {
		s := saved{Version: version, Server: g.key}
		var read saved
		// What cannot be read, or is of another server, is no good.
		if json.Unmarshal(old, &read) == nil && read.Version == version && read.Server == g.key && c.owns(read) {
			s = read
		}
		if now := g.now(); now.dirty {
			s = now.saved
			s.how = ""
		}
		change(&s)
		g.set(s)
		if len(old) == 0 && s.empty() {
			return old, nil
		}
		return json.Marshal(s)
	})
	if err != nil {
		now := g.now()
		return fmt.Errorf("%w: %w", errKeeping, secret.New(now.secrets()...).Error(err, maxWords))
	}
	g.do(func() { g.dirty = false })
	return nil
}

// owns reports whether what was stored is of a client like this: another one
// must not use its registration, nor send a secret to its authorization server.
func (c *Client) owns(s saved) bool {
	return (c.Issuer == "" || s.Issuer == "" || sameIssuer(c.Issuer, s.Issuer)) &&
		(c.ID == "" || c.isDocument() || s.Client.ID == "" || s.Client.ID == c.ID)
}
