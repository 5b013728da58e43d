package oauth

// This file decides who the program is to an authorization server.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// A state is what a Client in use has besides its fields.
type state struct {
	err    error // of the fields
	client *http.Client
	memory memory

	mu     sync.Mutex
	grants map[string]*grant // by key
}

// ready returns the state, which the first caller makes.
func (c *Client) ready() *state {
	if s, ok := c.state.Load().(*state); ok {
		return s
	}
	c.state.CompareAndSwap(nil, &state{err: c.check(), client: newHTTPClient(c.HTTPTransport), grants: map[string]*grant{}})
	return c.state.Load().(*state)
}

func newHTTPClient(transport http.RoundTripper) *http.Client {
	if transport == nil {
		transport = http.DefaultTransport
		if standard, ok := transport.(*http.Transport); ok {
			own := standard.Clone()
			own.DisableKeepAlives = true // requests are rare, and nobody closes a Client
			transport = own
		}
	}
	return &http.Client{
		Transport: transport,
		Timeout:   tokenTime,
		// A redirect must not take a secret along.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// check returns what is wrong with the fields.
func (c *Client) check() error {
	var faults []string
	if c.Secret != "" && c.Key != nil {
		faults = append(faults, "Secret and Key exclude each other")
	}
	if c.ID == "" && (c.Secret != "" || c.Key != nil) {
		faults = append(faults, "a Secret or Key needs an ID")
	}
	if c.isDocument() {
		if u, err := url.Parse(c.ID); err != nil || strings.Trim(u.Path, "/") == "" || u.Fragment != "" || u.User != nil {
			faults = append(faults, "an ID that is a URL must have a path, and no fragment or user")
		}
		if c.Secret != "" {
			faults = append(faults, "an ID that is a URL has no Secret")
		}
	}
	if c.RedirectURL != "" {
		if u, err := url.Parse(c.RedirectURL); err != nil || u.Scheme == "" || u.Fragment != "" || u.Scheme == "http" && !isLocal(u.Hostname()) {
			faults = append(faults, "RedirectURL must be https, or on this machine, without a fragment")
		}
	}
	if c.Issuer != "" {
		if _, err := checkURL(c.Issuer, true); err != nil {
			faults = append(faults, "Issuer cannot be used: "+err.Error())
		}
	}
	for name := range c.Params {
		if slices.Contains(reserved, name) {
			faults = append(faults, fmt.Sprintf("Params: %q is set by the protocol", name))
		}
	}
	if len(faults) == 0 {
		return nil
	}
	slices.Sort(faults)
	return errors.New("oauth: " + strings.Join(faults, "; "))
}

// reserved are parameters that the Params must not touch.
var reserved = []string{
	"response_type", "client_id", "client_secret", "redirect_uri", "state", "code", "code_verifier", "code_challenge", "code_challenge_method",
	"grant_type", "refresh_token", "assertion", "client_assertion", "client_assertion_type",
}

// isDocument reports whether the ID is the URL of a client ID metadata document.
func (c *Client) isDocument() bool { return strings.HasPrefix(c.ID, "https://") }

// bound reports whether the ID or what proves it belongs to one authorization
// server.
func (c *Client) bound() bool {
	return c.ID != "" && !c.isDocument() || c.Secret != "" || c.Assertion != nil
}

// identity returns who the program is. redirect is empty for a grant without a
// person.
func (c *Client) identity(ctx context.Context, d discovery, known registration, redirect string) (registration, error) {
	issuer := string(d.server.Issuer)
	r := registration{ID: c.ID, Issuer: issuer, RedirectURL: redirect, Method: "none"}
	if c.ID != "" && (!c.isDocument() || bool(d.server.Documents) || !c.asks()) {
		switch {
		case c.Key != nil:
			r.Method = "private_key_jwt"
		case c.Secret != "":
			r.Method = secretMethod(d.server.Methods)
		}
		return r, nil
	}
	if !c.asks() {
		return r, nil // an assertion says it all
	}
	if known.Dynamic && known.Issuer == issuer && known.RedirectURL == redirect && !known.Tried &&
		(known.Expires.IsZero() || time.Until(known.Expires) > pendingTime) {
		return known, nil
	}
	if d.server.Register == "" {
		return r, errors.New("the authorization server does not register clients: set the ID that it has given out")
	}
	return c.register(ctx, d, redirect)
}

// asks reports whether a person is asked for consent.
func (c *Client) asks() bool {
	return c.Assertion == nil && (c.Open != nil || c.RedirectURL != "" || c.Secret == "" && c.Key == nil)
}

// secretMethod returns how a secret is shown (RFC 8414: basic if nothing is
// said).
func secretMethod(supported []string) string {
	if !slices.Contains(supported, "client_secret_basic") && slices.Contains(supported, "client_secret_post") {
		return "client_secret_post"
	}
	return "client_secret_basic"
}

// register registers the program (RFC 7591).
func (c *Client) register(ctx context.Context, d discovery, redirect string) (registration, error) {
	ctx, cancel := context.WithTimeout(ctx, tokenTime)
	defer cancel()
	body, err := json.Marshal(c.describe(d, redirect))
	if err != nil {
		return registration{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, string(d.server.Register), bytes.NewReader(body))
	if err != nil {
		return registration{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := c.ready().client.Do(req)
	if err != nil {
		return registration{}, fmt.Errorf("registering the client: %w", bare(err))
	}
	defer resp.Body.Close()
	var answer struct {
		ID          word            `json:"client_id"`
		Secret      word            `json:"client_secret"`
		Method      word            `json:"token_endpoint_auth_method"`
		Expires     json.RawMessage `json:"client_secret_expires_at"`
		Code        word            `json:"error"`
		Description word            `json:"error_description"`
	}
	err = json.NewDecoder(io.LimitReader(resp.Body, maxMetadata)).Decode(&answer)
	switch {
	case resp.StatusCode != http.StatusCreated && resp.StatusCode != http.StatusOK:
		if err == nil && answer.Code != "" {
			return registration{}, fmt.Errorf("registering the client: %w", refusedWith(string(answer.Code), string(answer.Description), text))
		}
		return registration{}, fmt.Errorf("registering the client: %w", statusError(resp.StatusCode))
	case err != nil || answer.ID == "":
		return registration{}, errors.New("registering the client: the authorization server answered what is not a registration")
	}
	r := registration{ID: string(answer.ID), Secret: string(answer.Secret), Method: string(answer.Method), Issuer: string(d.server.Issuer), RedirectURL: redirect, Dynamic: true}
	if at := seconds(answer.Expires); at > 0 && r.Secret != "" {
		r.Expires = time.Unix(at, 0)
	}
	switch {
	case r.Secret == "":
		r.Method = "none"
	case r.Method != "client_secret_basic" && r.Method != "client_secret_post" && r.Method != "none":
		r.Method = secretMethod(d.server.Methods)
	}
	return r, nil
}

// describe returns what the program says of itself.
func (c *Client) describe(d discovery, redirect string) oauthex.ClientRegistrationMetadata {
	m := oauthex.ClientRegistrationMetadata{
		RedirectURIs:            []string{redirect},
		GrantTypes:              []string{"authorization_code", "refresh_token"},
		ResponseTypes:           []string{"code"},
		TokenEndpointAuthMethod: "none",
		ClientName:              c.Name,
		ApplicationType:         "native",
	}
	if m.ClientName == "" {
		m.ClientName = strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	}
	if u, err := url.Parse(redirect); err == nil && u.Scheme == "https" && !isLocal(u.Hostname()) {
		m.ApplicationType = "web"
	}
	if len(d.server.Methods) > 0 && !slices.Contains(d.server.Methods, "none") {
		m.TokenEndpointAuthMethod = secretMethod(d.server.Methods)
	}
	return m
}
