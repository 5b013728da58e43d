package oauth

// This file finds the authorization server of an MCP server, and checks what
// is said of it.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	maxMetadata  = 1 << 20          // bytes of a document
	maxRedirects = 5                // of a request for a document
	oneTime      = 10 * time.Second // for one document
	discoverTime = time.Minute      // for all
	maxIssuers   = 4                // authorization servers that are tried
)

// A discovery is what is known of an authorization server and the resource.
type discovery struct {
	resource string
	scopes   []string // of the resource
	proof    bool     // tokens have to be bound to a key
	local    bool     // addresses on this machine are good
	server   metadata
}

// Documents are read leniently: a member of the wrong type is as good as none,
// and costs no other.
type (
	word  string
	words []string
	flag  bool
)

func (w *word) UnmarshalJSON(text []byte) error {
	*w = ""
	json.Unmarshal(text, (*string)(w)) // or leave it
	return nil
}

func (w *words) UnmarshalJSON(text []byte) error {
	*w = nil
	var list []word
	var one string
	if json.Unmarshal(text, &list) == nil {
		for _, s := range list {
			if s != "" {
				*w = append(*w, string(s))
			}
		}
	} else if json.Unmarshal(text, &one) == nil {
		*w = strings.Fields(one)
	}
	return nil
}

func (f *flag) UnmarshalJSON(text []byte) error {
	*f = string(text) == "true"
	return nil
}

type resourceMetadata struct {
	Resource             word  `json:"resource"`
	AuthorizationServers words `json:"authorization_servers"`
	Scopes               words `json:"scopes_supported"`
	Proof                flag  `json:"dpop_bound_access_tokens_required"`
}

type metadata struct {
	Issuer      word  `json:"issuer"`
	Authorize   word  `json:"authorization_endpoint"`
	Token       word  `json:"token_endpoint"`
	Register    word  `json:"registration_endpoint"`
	Revoke      word  `json:"revocation_endpoint"`
	Scopes      words `json:"scopes_supported"`
	Methods     words `json:"token_endpoint_auth_methods_supported"`
	PKCE        words `json:"code_challenge_methods_supported"`
	Documents   flag  `json:"client_id_metadata_document_supported"`
	IssRequired flag  `json:"authorization_response_iss_parameter_supported"`
}

// discover finds the authorization server. issuer is the one that is known
// already, or empty.
func (c *Client) discover(ctx context.Context, server *url.URL, challenge challenge, issuer string) (discovery, error) {
	ctx, cancel := context.WithTimeout(ctx, discoverTime)
	defer cancel()
	d := discovery{local: isLocal(server.Hostname()), proof: challenge.proof}
	resource, failure := c.resource(ctx, server, challenge, d.local)
	if failure != nil && (ctx.Err() != nil || errors.Is(failure, errForeign)) {
		return d, failure
	}
	origin := server.Scheme + "://" + server.Host
	d.resource = key(server)
	issuers := []string{origin} // 2025-03-26: the server is its own
	if resource != nil {
		d.resource, d.scopes, d.proof = string(resource.Resource), fields(strings.Join(resource.Scopes, " ")), d.proof || bool(resource.Proof)
		if len(resource.AuthorizationServers) > 0 {
			issuers = resource.AuthorizationServers
		}
	}
	want := issuer
	if c.Issuer != "" {
		want = c.Issuer
	}
	if i := slices.IndexFunc(issuers, func(s string) bool { return sameIssuer(s, want) }); i >= 0 {
		issuers = issuers[i : i+1]
	} else if want != "" && (c.Issuer != "" || c.bound()) {
		return d, fmt.Errorf("the server names %q as its authorization server, not %q, which the client's ID is for", shorten(strings.Join(issuers, " ")), want)
	}
	var errs []error
	for _, issuer := range issuers[:min(len(issuers), maxIssuers)] {
		found, err := c.authorizationServer(ctx, issuer, d.local)
		if err == nil {
			d.server = *found
			return d, nil
		}
		errs = append(errs, err)
	}
	switch _, err := checkURL(origin, d.local); {
	case resource != nil || !errors.Is(errs[0], errNone):
		return d, errors.Join(errs...)
	case failure != nil:
		return d, failure // it may have metadata, which cannot be had now
	case err != nil:
		return d, fmt.Errorf("the server does not say which authorization server it has, and cannot be its own: %w", err)
	case !c.asks():
		return d, errors.New("the server does not say which authorization server it has")
	}
	// 2025-03-26: without any metadata, these are the endpoints.
	at := func(path string) word { return word(origin + path) }
	d.server = metadata{Issuer: word(origin), Authorize: at("/authorize"), Token: at("/token"), Register: at("/register"), PKCE: words{"S256"}}
	return d, nil
}

// probe asks a server for a challenge without being refused something.
func (c *Client) probe(ctx context.Context, server *url.URL) (challenge, error) {
	ctx, cancel := context.WithTimeout(ctx, oneTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.String(), nil)
	if err != nil {
		return challenge{}, err
	}
	req.Header.Set("Accept", "text/event-stream")
	resp, err := c.ready().client.Do(req)
	if err != nil {
		return challenge{}, fmt.Errorf("asking the server what it wants: %w", bare(err))
	}
	resp.Body.Close()
	return parseChallenge(resp.Header), nil
}

var (
	errNone    = errors.New("there is no metadata")
	errForeign = errors.New("not for this server")
)

// resource reads the metadata of the server. Without an error there is none if
// it returns nil.
func (c *Client) resource(ctx context.Context, server *url.URL, challenge challenge, local bool) (*resourceMetadata, error) {
	origin := server.Scheme + "://" + server.Host
	path := strings.TrimRight(server.EscapedPath(), "/")
	const wellKnown = "/.well-known/oauth-protected-resource"
	places := []string{origin + wellKnown + path, origin + wellKnown}
	if challenge.metadata != "" {
		places = append([]string{challenge.metadata}, places...)
	}
	var failure error
	for _, place := range slices.Compact(places) {
		var m resourceMetadata
		if err := c.document(ctx, place, local, &m); err != nil {
			if !errors.Is(err, errNone) && failure == nil {
				failure = fmt.Errorf("the metadata of the server at %q: %w", shorten(place), err)
			}
			if ctx.Err() != nil {
				return nil, failure
			}
			continue
		}
		if !fits(string(m.Resource), server) {
			return nil, fmt.Errorf("the metadata of the server is for %q, %w", shorten(string(m.Resource)), errForeign)
		}
		return &m, nil
	}
	return nil, failure
}

// fits reports whether a resource is the server, or a part of its origin that
// the server is in: many publish their origin alone.
func fits(resource string, server *url.URL) bool {
	r, err := url.Parse(resource)
	if err != nil || r.Fragment != "" || r.User != nil || r.Host == "" {
		return false
	}
	r.RawQuery = ""
	whole, part := key(server), key(r)
	return whole == part || strings.HasPrefix(whole, part+"/")
}

// authorizationServer reads the metadata of an issuer (RFC 8414, OpenID Connect
// Discovery 1.0). The error wraps errNone if there is none.
func (c *Client) authorizationServer(ctx context.Context, issuer string, local bool) (*metadata, error) {
	u, err := checkURL(issuer, local)
	if err != nil {
		return nil, fmt.Errorf("the issuer %q cannot be used: %w", shorten(issuer), err)
	}
	origin := u.Scheme + "://" + u.Host
	path := strings.TrimRight(u.EscapedPath(), "/")
	places := []string{origin + "/.well-known/oauth-authorization-server" + path, origin + "/.well-known/openid-configuration" + path}
	if path != "" {
		places = append(places, origin+path+"/.well-known/openid-configuration")
	}
	failure := fmt.Errorf("%w of the issuer %q", errNone, shorten(issuer))
	for _, place := range places {
		var m metadata
		if err := c.document(ctx, place, local, &m); err != nil {
			if !errors.Is(err, errNone) && errors.Is(failure, errNone) {
				failure = fmt.Errorf("the metadata of the issuer %q: %w", shorten(issuer), err)
			}
			if ctx.Err() != nil {
				return nil, failure
			}
			continue
		}
		if err := m.check(issuer, local); err != nil {
			return nil, err
		}
		return &m, nil
	}
	return nil, failure
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

// document reads a JSON document. The error is errNone where there is none.
func (c *Client) document(ctx context.Context, place string, local bool, v any) error {
	if _, err := checkURL(place, local); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, oneTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, place, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	follower := *c.ready().client
	follower.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return fmt.Errorf("more than %d redirects", maxRedirects)
		}
		_, err := checkURL(req.URL.String(), local)
		return err
	}
	resp, err := follower.Do(req)
	if err != nil {
		return bare(err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode >= 400 && resp.StatusCode < 500:
		return errNone
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind == "text/html" {
		return errNone // the page that stands for every path
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxMetadata)).Decode(v); err != nil {
		return errors.New("it is not JSON of the right form")
	}
	return nil
}

// checkURL parses an address that a server has given. A server elsewhere must
// not make this program speak to this machine, nor to what only a cloud's
// machines can reach.
func checkURL(s string, local bool) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return nil, errors.New("it cannot be parsed")
	case u.User != nil || u.Fragment != "":
		return nil, errors.New("it has a user or a fragment")
	case u.Hostname() == "":
		return nil, errors.New("it has no host")
	case isLocal(u.Hostname()):
		if !local {
			return nil, errors.New("it is on this machine, which the server is not")
		}
		if u.Scheme != "http" && u.Scheme != "https" {
			return nil, errors.New("it is neither http nor https")
		}
		return u, nil
	case u.Scheme != "https":
		return nil, errors.New("it is not https")
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil {
		if ip = ip.Unmap(); ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() {
			return nil, errors.New("its address is not that of a server")
		}
	}
	return u, nil
}

// isLocal reports whether a host is this machine (RFC 6761, section 6.3).
func isLocal(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
