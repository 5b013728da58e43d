package oauth

// This file gets assertions from an identity provider.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// idJAG is the type of an assertion that an identity provider issues for another
// authorization server.
const idJAG = "urn:ietf:params:oauth:token-type:id-jag"

// Enterprise gets assertions for the users of an organization, whose identity
// provider decides which servers a program may use for them (ID-JAG, the
// extension for enterprise-managed authorization). Its Assertion method is one
// for a Client. The fields must not be changed once it is in use.
type Enterprise struct {
	// Issuer is the identity provider, and ID and Secret what it knows the
	// program by; a public client has no Secret.
	Issuer, ID, Secret string
	// IDToken returns the token that the identity provider gave when the user
	// signed in to the program.
	IDToken func(ctx context.Context) (string, error)
	// Scopes are asked for; nil leaves them to the identity provider.
	Scopes []string
	// HTTPTransport is that of a Client.
	HTTPTransport http.RoundTripper
}

// Assertion exchanges the user's token for one that the authorization server
// with the issuer audience takes (RFC 8693).
func (e *Enterprise) Assertion(ctx context.Context, audience, resource string) (string, error) {
	if e.IDToken == nil || e.Issuer == "" || e.ID == "" {
		return "", errors.New("oauth: an Enterprise needs an Issuer, an ID and IDToken")
	}
	c := &Client{ID: e.ID, Secret: e.Secret, Issuer: e.Issuer, HTTPTransport: e.HTTPTransport}
	if err := c.ready().err; err != nil {
		return "", err
	}
	subject, err := e.IDToken(ctx)
	if err != nil {
		return "", fmt.Errorf("getting the user's token: %w", err)
	}
	issuer, err := url.Parse(e.Issuer)
	if err != nil {
		return "", err
	}
	m, err := c.authorizationServer(ctx, e.Issuer, isLocal(issuer.Hostname()))
	if err != nil {
		return "", err
	}
	t := terms{TokenURL: string(m.Token), Issuer: string(m.Issuer), Resource: resource, Client: registration{ID: e.ID, Method: "none"}}
	if e.Secret != "" {
		t.Client.Method = secretMethod(m.Methods)
	}
	form := url.Values{
		"grant_type":           {"urn:ietf:params:oauth:grant-type:token-exchange"},
		"audience":             {audience},
		"subject_token":        {subject},
		"subject_token_type":   {"urn:ietf:params:oauth:token-type:id_token"},
		"requested_token_type": {idJAG},
	}
	if len(e.Scopes) > 0 {
		form.Set("scope", strings.Join(e.Scopes, " "))
	}
	token, hide, err := c.send(ctx, t, form)
	if err != nil {
		return "", fmt.Errorf("exchanging the user's token: %w", err)
	}
	// Whatever else it is would be a token for another place.
	if issued, _ := token.Extra("issued_token_type").(string); issued != idJAG {
		return "", fmt.Errorf("exchanging the user's token: the identity provider issued a token of type %q, not %q", hide.Quote(issued, maxCode), idJAG)
	}
	return token.AccessToken, nil
}
