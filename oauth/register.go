package oauth

// This file decides who the program is to an authorization server.

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// identity returns who the program is, in the order of the specification:
// registered beforehand, by a document, or else now. redirect is empty for a
// grant without a person.
func (c *Client) identity(ctx context.Context, d discovery, known registration, redirect string) (registration, error) {
	issuer := string(d.server.Issuer)
	r := registration{ID: c.ID, Issuer: issuer, RedirectURL: redirect, Method: "none"}
	switch {
	case c.ID != "" && (!c.isDocument() || bool(d.server.Documents) || !c.asks()):
		if c.Key != nil {
			r.Method, r.Algorithm = "private_key_jwt", algorithm(c.Key, d.server.Algorithms)
		} else if c.Secret != "" {
			r.Method = secretMethod(d.server.Methods)
		}
		return r, nil
	case !c.asks():
		return r, nil // an assertion says it all
	case known.Dynamic && known.Issuer == issuer && known.RedirectURL == redirect && !known.Tried &&
		(known.Expires.IsZero() || time.Until(known.Expires) > pendingTime):
		return known, nil
	case d.server.Register == "":
		return r, errors.New("the authorization server does not register clients: set the ID that it has given out")
	}
	return c.register(ctx, d, redirect)
}

// secretMethod returns how a secret is shown (RFC 8414: basic if nothing is
// said).
func secretMethod(supported []string) string {
	if !slices.Contains(supported, "client_secret_basic") && slices.Contains(supported, "client_secret_post") {
		return "client_secret_post"
	}
	return "client_secret_basic"
}

// register registers the program (RFC 7591). What the answer repeats of the
// description is not looked at: servers write it in many ways.
func (c *Client) register(ctx context.Context, d discovery, redirect string) (registration, error) {
	body, err := json.Marshal(c.describe(d, redirect))
	if err != nil {
		return registration{}, err
	}
	var answer struct {
		ID      word    `json:"client_id"`
		Secret  word    `json:"client_secret"`
		Method  word    `json:"token_endpoint_auth_method"`
		Expires seconds `json:"client_secret_expires_at"`
		refusalAnswer
	}
	resp, err := c.fetch(ctx, message{url: string(d.server.Register), kind: "application/json", body: string(body)}, &answer)
	if resp != nil {
		err = answer.refused(resp.StatusCode) // or else it has an ID
	}
	if err == nil && (answer.ID == "" || len(answer.ID)+len(answer.Secret) > maxToken) {
		err = errors.New("the authorization server answered what is not a registration")
	}
	if err != nil {
		return registration{}, fmt.Errorf("registering the client: %w", err)
	}
	r := registration{ID: string(answer.ID), Secret: string(answer.Secret), Method: string(answer.Method), Issuer: string(d.server.Issuer), RedirectURL: redirect, Dynamic: true}
	if answer.Expires > 0 && r.Secret != "" {
		r.Expires = time.Unix(int64(answer.Expires), 0)
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
		ClientName:              cmp.Or(c.Name, strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")),
		ApplicationType:         "native",
	}
	if u, err := url.Parse(redirect); err == nil && u.Scheme == "https" && !isLocal(u.Hostname()) {
		m.ApplicationType = "web"
	}
	if len(d.server.Methods) > 0 && !slices.Contains(d.server.Methods, "none") {
		m.TokenEndpointAuthMethod = secretMethod(d.server.Methods)
	}
	return m
}
