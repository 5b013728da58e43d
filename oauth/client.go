package oauth

// This file has what a Client in use is besides its fields, and checks those.

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
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

// check returns what is wrong with the fields: all of it, since who configures
// a Client corrects it in one go.
func (c *Client) check() error {
	var faults []string
	fault := func(is bool, what string) {
		if is {
			faults = append(faults, what)
		}
	}
	fault(c.Secret != "" && c.Key != nil, "Secret and Key exclude each other")
	fault(c.ID == "" && (c.Secret != "" || c.Key != nil), "a Secret or Key needs an ID")
	if c.isDocument() {
		u, err := url.Parse(c.ID)
		fault(err != nil || strings.Trim(u.Path, "/") == "" || u.Fragment != "" || u.User != nil, "an ID that is a URL must have a path, and no fragment or user")
		fault(c.Secret != "", "an ID that is a URL has no Secret")
	}
	if c.RedirectURL != "" {
		u, err := url.Parse(c.RedirectURL)
		fault(err != nil || u.Scheme == "" || u.Fragment != "" || u.Scheme == "http" && !isLocal(u.Hostname()),
			"RedirectURL must be https, or on this machine, without a fragment")
	}
	if _, err := checkURL(c.Issuer, true); c.Issuer != "" && err != nil {
		fault(true, "Issuer cannot be used: "+err.Error())
	}
	for name := range c.Params {
		fault(slices.Contains(reserved, name), fmt.Sprintf("Params: %q is set by the protocol", name))
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

// asks reports whether a person is asked for consent.
func (c *Client) asks() bool {
	return c.Assertion == nil && (c.Open != nil || c.RedirectURL != "" || c.Secret == "" && c.Key == nil)
}

// opens reports whether one can be asked while a request waits.
func (c *Client) opens() bool { return c.asks() && c.Open != nil }

// addParams adds the Params.
func (c *Client) addParams(form url.Values) {
	for name, value := range c.Params {
		if value == "" {
			form.Del(name)
		} else {
			form.Set(name, value)
		}
	}
}
