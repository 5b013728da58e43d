package oauth

// This file finds the authorization server of an MCP server, and checks what
// is said of it.

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	discoverTime = time.Minute // for all documents
	maxIssuers   = 4           // authorization servers that are tried
)

// A discovery is what is known of an authorization server and the resource.
type discovery struct {
	resource string
	scopes   []string // of the resource
	proof    bool     // tokens have to be bound to a key
	bearer   bool     // unless the authorization server knows of none
	local    bool     // addresses on this machine are good
	server   *metadata
}

// resourceMetadata is what RFC 9728 has, and the Client uses.
type resourceMetadata struct {
	Resource             word  `json:"resource"`
	AuthorizationServers words `json:"authorization_servers"`
	Scopes               words `json:"scopes_supported"`
	Proof                flag  `json:"dpop_bound_access_tokens_required"`
}

// metadata is what RFC 8414 and OpenID Connect have, and the Client uses.
type metadata struct {
	Issuer      word  `json:"issuer"`
	Authorize   word  `json:"authorization_endpoint"`
	Token       word  `json:"token_endpoint"`
	Register    word  `json:"registration_endpoint"`
	Revoke      word  `json:"revocation_endpoint"`
	Scopes      words `json:"scopes_supported"`
	Methods     words `json:"token_endpoint_auth_methods_supported"`
	Algorithms  words `json:"token_endpoint_auth_signing_alg_values_supported"`
	PKCE        words `json:"code_challenge_methods_supported"`
	Documents   flag  `json:"client_id_metadata_document_supported"`
	Proofs      words `json:"dpop_signing_alg_values_supported"`
	IssRequired flag  `json:"authorization_response_iss_parameter_supported"`
}

var (
	errNone    = errors.New("there is no metadata")
	errForeign = errors.New("not for this server")
)

// discover finds the authorization server. issuer is the one that is known
// already, or empty.
func (c *Client) discover(ctx context.Context, server *url.URL, challenge challenge, issuer string) (discovery, error) {
	ctx, cancel := context.WithTimeout(ctx, discoverTime)
	defer cancel()
	d := discovery{local: isLocal(server.Hostname()), proof: challenge.proof, bearer: challenge.bearer}
	resource, failure := c.resource(ctx, server, challenge, d.local)
	if failure != nil && (ctx.Err() != nil || errors.Is(failure, errForeign)) {
		return d, failure
	}
	origin := server.Scheme + "://" + server.Host
	d.resource = key(server)
	issuers := []string{origin} // 2025-03-26: the server is its own
	if resource != nil {
		d.resource, d.scopes = string(resource.Resource), fields(strings.Join(resource.Scopes, " "))
		if resource.Proof {
			d.proof, d.bearer = true, false
		}
		if len(resource.AuthorizationServers) > 0 {
			issuers = resource.AuthorizationServers
		}
	}
	issuers, err := c.choose(issuers, issuer)
	if err != nil {
		return d, err
	}
	var errs []error
	for _, issuer := range issuers {
		if d.server, err = c.authorizationServer(ctx, issuer, d.local); err == nil {
			return d, nil
		}
		errs = append(errs, err)
	}
	switch _, err := checkURL(origin, d.local); {
	case resource != nil || !errors.Is(errs[0], errNone):
		return d, errors.Join(errs...)
	case !errors.Is(failure, errNone):
		return d, failure // it may have metadata, which cannot be had now
	case err != nil:
		return d, fmt.Errorf("the server does not say which authorization server it has, and cannot be its own: %w", err)
	case !c.asks():
		return d, errors.New("the server does not say which authorization server it has")
	}
	// 2025-03-26: without any metadata, these are the endpoints.
	at := func(path string) word { return word(origin + path) }
	d.server = &metadata{Issuer: at(""), Authorize: at("/authorize"), Token: at("/token"), Register: at("/register"), PKCE: words{"S256"}}
	return d, nil
}

// choose returns the issuers to try, of those that a server names: the one that
// is configured or known, if it is among them. What belongs to that one goes to
// no other, whatever the server says now.
func (c *Client) choose(issuers []string, known string) ([]string, error) {
	if c.Issuer != "" {
		known = c.Issuer
	}
	if i := slices.IndexFunc(issuers, func(s string) bool { return sameIssuer(s, known) }); i >= 0 {
		return issuers[i : i+1], nil
	}
	if known != "" && (c.Issuer != "" || c.bound()) {
		return nil, fmt.Errorf("the server names %q as its authorization server, not %q, which the client's ID is for", shorten(strings.Join(issuers, " ")), shorten(known))
	}
	return issuers[:min(len(issuers), maxIssuers)], nil
}

// terms returns what a token is to be asked for with. Where the server wants
// tokens that are bound to a key, there is one for each grant. A server that also
// takes others (RFC 9449, section 7.2) gets those where there are no bound ones.
func (d *discovery) terms(client registration, scopes []string) (t terms, err error) {
	t = terms{
		Issuer: string(d.server.Issuer), TokenURL: string(d.server.Token), RevocationURL: string(d.server.Revoke),
		Resource: d.resource, Client: client, Scopes: scopes,
	}
	if d.proof && !(d.bearer && len(d.server.Proofs) == 0) {
		t.ProofKey, err = newProofKey()
	}
	return t, err
}

// probe asks a server for a challenge without being refused something.
func (c *Client) probe(ctx context.Context, server *url.URL) (challenge, error) {
	resp, err := c.fetch(ctx, message{url: server.String()}, nil)
	if err != nil {
		return challenge{}, fmt.Errorf("asking the server what it wants: %w", err)
	}
	return parseChallenge(resp.Header), nil
}

// wellKnown returns where RFC 8414 and those after it put a document: between
// the host and the path.
func wellKnown(u *url.URL, name string) string {
	return u.Scheme + "://" + u.Host + "/.well-known/" + name + strings.TrimRight(u.EscapedPath(), "/")
}

// resource reads the metadata of the server, where its challenge says, or else at
// the places of RFC 9728.
func (c *Client) resource(ctx context.Context, server *url.URL, challenge challenge, local bool) (*resourceMetadata, error) {
	const name = "oauth-protected-resource"
	origin := &url.URL{Scheme: server.Scheme, Host: server.Host}
	m, err := lookUp[resourceMetadata](ctx, c, "the server", local, challenge.metadata, wellKnown(server, name), wellKnown(origin, name))
	if err == nil && !fits(string(m.Resource), server) {
		return nil, fmt.Errorf("the metadata of the server is for %q, %w", shorten(string(m.Resource)), errForeign)
	}
	return m, err
}

// fits reports whether a resource is the server, or a part of its origin that
// the server is in: many publish their origin alone.
func fits(resource string, server *url.URL) bool {
	r, err := url.Parse(resource)
	if err != nil || len(resource) > maxAddress || r.Fragment != "" || r.User != nil || r.Host == "" {
		return false
	}
	whole, part := key(server), key(r)
	return whole == part || strings.HasPrefix(whole, part+"/")
}

// authorizationServer reads the metadata of an issuer (RFC 8414, OpenID Connect
// Discovery 1.0), in the order of the MCP specification. The error wraps errNone
// if there is none.
func (c *Client) authorizationServer(ctx context.Context, issuer string, local bool) (*metadata, error) {
	u, err := checkURL(issuer, local)
	if err != nil {
		return nil, fmt.Errorf("the issuer %q cannot be used: %w", shorten(issuer), err)
	}
	const connect = "openid-configuration"
	m, err := lookUp[metadata](ctx, c, fmt.Sprintf("the issuer %q", shorten(issuer)), local,
		wellKnown(u, "oauth-authorization-server"), wellKnown(u, connect), u.Scheme+"://"+u.Host+strings.TrimRight(u.EscapedPath(), "/")+"/.well-known/"+connect)
	if err != nil {
		return nil, err
	}
	return m, m.check(issuer, local)
}

// check makes sure that the metadata is that of the issuer, and may be used.
func (m *metadata) check(issuer string, local bool) error {
	if !sameIssuer(string(m.Issuer), issuer) {
		return fmt.Errorf("the metadata of the issuer %q is that of %q", shorten(issuer), shorten(string(m.Issuer)))
	}
	if m.Token == "" {
		return fmt.Errorf("the metadata of the issuer %q has no token endpoint", shorten(issuer))
	}
	for _, endpoint := range []struct {
		name string
		url  word
	}{{"authorization", m.Authorize}, {"token", m.Token}, {"registration", m.Register}, {"revocation", m.Revoke}} {
		if _, err := checkURL(string(endpoint.url), local); endpoint.url != "" && err != nil {
			return fmt.Errorf("the %s endpoint of the issuer %q cannot be used: %w", endpoint.name, shorten(issuer), err)
		}
	}
	return nil
}

// sameIssuer allows for a slash at the end, which libraries add and remove.
func sameIssuer(a, b string) bool {
	return a != "" && strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/")
}
