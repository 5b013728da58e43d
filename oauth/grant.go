package oauth

// This file keeps what belongs to one MCP server, in the Store and here.

import (
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
)

// early is how long before its end a token is renewed: it has to last until the
// server has looked at it. One that does not live that long has half of its life.
const early = 10 * time.Second

// How a token was got.
const (
	renewed = "renewed"
	granted = "granted"
)

// saved is what a Store keeps of a server, as JSON.
type saved struct {
	Version int    `json:"version"`
	Server  string `json:"server"` // the key

	Issuer        string       `json:"issuer,omitempty"`
	Resource      string       `json:"resource,omitempty"`
	TokenURL      string       `json:"token_endpoint,omitempty"`
	RevocationURL string       `json:"revocation_endpoint,omitempty"`
	Client        registration `json:"client"`

	Token    string    `json:"access_token,omitempty"`
	Refresh  string    `json:"refresh_token,omitempty"`
	Issued   time.Time `json:"issued,omitzero"`
	Expiry   time.Time `json:"expiry,omitzero"`
	Granted  time.Time `json:"granted,omitzero"` // when the grant began that the token is of
	Scopes   []string  `json:"scopes,omitempty"` // that were asked for, so far
	ProofKey []byte    `json:"dpop_key,omitempty"`

	Logins  []*login `json:"logins,omitempty"`  // that have begun
	Failure string   `json:"failure,omitempty"` // of the last login that nobody waited for
}

// A registration says who the program is to one authorization server.
type registration struct {
	ID          string    `json:"client_id,omitempty"`
	Secret      string    `json:"client_secret,omitempty"` // of a dynamic one: what is configured is not stored
	Method      string    `json:"method,omitempty"`        // of authentication
	Issuer      string    `json:"issuer,omitempty"`
	RedirectURL string    `json:"redirect_uri,omitempty"`
	Expires     time.Time `json:"expires,omitzero"`
	Dynamic     bool      `json:"dynamic,omitempty"`
	Tried       bool      `json:"tried,omitempty"` // a login with it has begun and not ended well
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

func (s *saved) dropTokens() {
	s.Token, s.Refresh, s.Scopes, s.ProofKey, s.Failure = "", "", nil, nil, ""
	s.Expiry, s.Issued, s.Granted = time.Time{}, time.Time{}, time.Time{}
}

// begin takes the first token of a grant.
func (s *saved) begin(a tokenAnswer, client registration, scopes []string, key []byte) {
	s.dropTokens()
	s.Client, s.Scopes, s.ProofKey, s.Granted = client, scopes, key, time.Now()
	s.take(a)
}

// take keeps what a token request brought.
func (s *saved) take(a tokenAnswer) {
	s.Token, s.Issued, s.Expiry = a.token, time.Now(), a.expiry
	if a.refresh != "" {
		s.Refresh = a.refresh
	}
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

// A grant is what a Client has for one server.
type grant struct {
	key string

	mu     sync.Mutex
	loaded bool
	saved  saved
	dirty  bool   // saved could not be stored
	how    string // the token was got, if by this Client
	proof  *prover
	nonce  string         // of the MCP server, for proofs
	failed *LoginRequired // why no login begins by itself
	work   *work          // under way
}

// key is the server's URL in a form of its own: without query, user and
// trailing slash.
func key(u *url.URL) string {
	port := u.Port()
	if u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" {
		port = ""
	}
	host := strings.ToLower(u.Hostname())
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port != "" {
		host += ":" + port
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

func (c *Client) grantOf(server string) (*url.URL, *grant, error) {
	u, err := url.Parse(server)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, nil, errors.New("oauth: the server's URL cannot be used")
	}
	g, err := c.grant(u)
	return u, g, err
}

func (g *grant) snapshot() saved {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.saved
}

// origin tells how the token was got, if by this Client.
func (g *grant) origin() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.how
}

// isFresh reports whether the token is that of a new grant.
func (g *grant) isFresh(token string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return token != "" && token == g.saved.Token && g.how == granted
}

// fail makes calls fail in place of asking a person.
func (g *grant) fail(why error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failed = &LoginRequired{Server: g.key, Issuer: g.saved.Issuer, Scopes: g.saved.Scopes, Err: why, next: "call Login to ask again"}
}

func (g *grant) forgive() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failed = nil
}

// lastFailure returns why no login is to begin; nil if one may.
func (g *grant) lastFailure() *LoginRequired {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.failed
}

// set replaces what is known. As long as it is not stored, it counts more than
// what the Store has.
func (g *grant) set(s saved, how string, unstored bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case how == granted || !s.Granted.Equal(g.saved.Granted) && s.Token != "":
		g.failed = nil // a login went well, perhaps another Client's
	case g.loaded && how == "" && g.saved.Token != "" && s.Token == "" && g.failed == nil:
		g.failed = &LoginRequired{Server: g.key, Issuer: s.Issuer, Scopes: s.Scopes, Err: errLogout, next: "call Login to ask again"}
	}
	if how != "" || s.Token != g.saved.Token {
		g.how = how
	}
	g.saved, g.loaded, g.dirty = s, true, unstored
}

// useNonce takes a nonce for proofs. It reports whether a request that was
// signed with another is worth sending again: many may be refused for the same.
func (g *grant) useNonce(nonce, sent string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if nonce != "" {
		g.nonce = nonce
	}
	return g.nonce != sent
}

// sign adds the token to a request.
func (g *grant) sign(req *http.Request, s saved) error {
	if s.Token == "" {
		return nil
	}
	if s.ProofKey == nil {
		req.Header.Set("Authorization", "Bearer "+s.Token)
		return nil
	}
	g.mu.Lock()
	nonce, p := g.nonce, g.proof
	g.mu.Unlock()
	if p == nil || string(p.pkcs8) != string(s.ProofKey) {
		var err error
		if p, err = newProver(s.ProofKey); err != nil {
			return err
		}
		g.mu.Lock()
		g.proof = p
		g.mu.Unlock()
	}
	proof, err := p.prove(req.Method, req.URL, nonce, s.Token)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "DPoP "+s.Token)
	req.Header.Set("DPoP", proof)
	return nil
}

func sentToken(req *http.Request) string {
	_, token, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	return token
}

// current returns what is known of the server, from the Store at first.
func (c *Client) current(ctx context.Context, g *grant) (saved, error) {
	g.mu.Lock()
	loaded, s := g.loaded, g.saved
	g.mu.Unlock()
	if loaded {
		return s, nil
	}
	if err := c.update(ctx, g, func(*saved) string { return "" }); err != nil {
		return saved{}, err
	}
	return g.snapshot(), nil
}

func (c *Client) store() Store {
	if c.Store != nil {
		return c.Store
	}
	return &c.ready().memory
}

// update changes what is kept of the server, in the Store and here. Change
// returns how it got a token, if it did.
func (c *Client) update(ctx context.Context, g *grant, change func(*saved) (how string)) error {
	changed := false
	err := c.store().Update(ctx, g.key, func(old []byte) ([]byte, error) {
		s := saved{Version: version, Server: g.key}
		var read saved
		// What cannot be read, or is of another server, is no good.
		if json.Unmarshal(old, &read) == nil && read.Version == version && read.Server == g.key && c.owns(read) {
			s = read
		}
		g.mu.Lock()
		if g.dirty {
			s = g.saved
		}
		g.mu.Unlock()
		g.set(s, "", true) // what another process has done
		how := change(&s)
		g.set(s, how, true)
		changed = true
		if len(old) == 0 && s.empty() {
			return old, nil
		}
		return json.Marshal(s)
	})
	if err != nil {
		return fmt.Errorf("%w: %w", errKeeping, err)
	}
	if changed {
		g.mu.Lock()
		g.dirty = false
		g.mu.Unlock()
	}
	return nil
}

// owns reports whether what was stored is of a client like this: another one
// must not use its registration, nor send a secret to its authorization server.
func (c *Client) owns(s saved) bool {
	return (c.Issuer == "" || s.Issuer == "" || sameIssuer(c.Issuer, s.Issuer)) &&
		(c.ID == "" || c.isDocument() || s.Client.ID == "" || s.Client.ID == c.ID)
}
