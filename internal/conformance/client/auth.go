package main

// This file logs in, for the scenarios with authorization.

import (
	"context"
	"crypto"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"strings"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/oauth"
)

// document is the client ID metadata document that the suite knows.
const document = "https://conformance-test.local/client-metadata.json"

// authorizer returns what a scenario wants authorization from; nil for those
// without. text is the context of the scenario, a JSON object: what a client would
// have been given at its registration. Which of its members are there says by what
// means the client shows who it is.
func authorizer(scenario, text string) (mcp.Authorizer, error) {
	if !strings.HasPrefix(scenario, "auth/") {
		return nil, nil
	}
	var given struct {
		ID       string `json:"client_id"`
		Secret   string `json:"client_secret"`
		Key      string `json:"private_key_pem"`
		JWT      string `json:"valid_jwt"`
		Provider string `json:"idp_issuer"`
		User     string `json:"idp_client_id"`
		IDToken  string `json:"idp_id_token"`
	}
	if text != "" {
		if err := json.Unmarshal([]byte(text), &given); err != nil {
			return nil, err
		}
	}
	client := &oauth.Client{ID: given.ID, Secret: given.Secret}
	switch {
	case given.Key != "":
		block, _ := pem.Decode([]byte(given.Key))
		if block == nil {
			return nil, errors.New("the key is not PEM")
		}
		key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		if err != nil {
			return nil, err
		}
		client.Key = key.(crypto.Signer)
	// An assertion that somebody else has signed (RFC 7523), for instance the
	// platform that the program runs on.
	case given.JWT != "":
		client.Assertion = func(context.Context, string, string) (string, error) { return given.JWT, nil }
	// The login of an enterprise stands for the consent of the user: the token of
	// its provider is exchanged for an assertion.
	case given.IDToken != "":
		enterprise := &oauth.Enterprise{Issuer: given.Provider, ID: given.User, IDToken: func(context.Context) (string, error) { return given.IDToken, nil }}
		client.Assertion = enterprise.Assertion
	case strings.HasPrefix(scenario, "auth/client-credentials"):
	// A user logs in. A client that is not registered has the address of its
	// metadata document for its ID.
	default:
		client.Open = visit
		if client.ID == "" {
			client.ID = document
		}
	}
	return client, nil
}

// visit does what a browser does: it follows the redirects back to the client.
func visit(ctx context.Context, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		// The redirect leads to a listener of the client, which may be closed
		// before this reads its answer; whether there is a code is the client's to
		// say.
		return "", nil // the login may be over
	}
	return "", resp.Body.Close()
}
