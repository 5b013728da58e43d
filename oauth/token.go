package oauth

// This file makes token requests.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/seed94b59a13/mcp/internal/secret"
)

const (
	jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	jwtClient = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	maxToken  = 16 << 10 // bytes of a token, which has to fit into a header
)

// request gets an access token.
func (c *Client) request(ctx context.Context, t terms, form url.Values) (*oauth2.Token, error) {
	token, hide, err := c.send(ctx, t, form)
	if err != nil {
		return nil, err
	}
	switch kind := strings.ToLower(token.Type()); {
	case kind == "dpop" && t.ProofKey != nil, kind == "bearer" && t.ProofKey == nil:
		return token, nil
	case kind == "bearer":
		return nil, errors.New("the authorization server issued a token that is not bound to the key, as the server wants it")
	}
	return nil, fmt.Errorf("the authorization server issued a token of type %q, which is not supported", hide.Quote(token.Type(), maxCode))
}

// send makes a token request, and again if the authorization server wants a
// nonce in the proof. Each has an assertion of its own: authorization servers
// take one only once. Its error shows nothing of what was sent; hide takes that
// out of other texts.
func (c *Client) send(ctx context.Context, t terms, form url.Values) (token *oauth2.Token, hide *secret.Quoter, err error) {
	transport := &tokenTransport{base: c.ready().client.Transport}
	if t.ProofKey != nil {
		if transport.prover, err = newProver(t.ProofKey); err != nil {
			return nil, nil, err
		}
	}
	client := *c.ready().client
	client.Transport = transport
	ctx = context.WithValue(ctx, oauth2.HTTPClient, &client)
	for first := true; ; first = false {
		// The grant_type and all else are parameters to x/oauth2's client
		// credentials, which makes it the one token request that there is.
		config := clientcredentials.Config{TokenURL: t.TokenURL, EndpointParams: maps.Clone(form), AuthStyle: oauth2.AuthStyleInParams}
		if t.Resource != "" {
			config.EndpointParams.Set("resource", t.Resource)
		}
		c.addParams(config.EndpointParams)
		password, err := c.authenticate(config.EndpointParams, t)
		if err != nil {
			return nil, nil, err
		}
		if password != "" {
			config.ClientID, config.ClientSecret, config.AuthStyle = t.Client.ID, password, oauth2.AuthStyleInHeader
		}
		hide = hider(config.EndpointParams, t.Client.ID, password)
		if token, err = config.Token(ctx); err == nil {
			return token, hide, usable(token)
		}
		err = tokenError(err, hide)
		var refused *Error
		if !first || transport.nonce == "" || !errors.As(err, &refused) || refused.Code != "use_dpop_nonce" {
			return nil, nil, err
		}
	}
}

// usable returns why what was issued cannot be sent in a header.
func usable(token *oauth2.Token) error {
	for _, s := range []string{token.AccessToken, token.RefreshToken} {
		if len(s) > maxToken || strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) >= 0 {
			return errors.New("the authorization server issued what cannot be a token")
		}
	}
	return nil
}

// authenticate says who the program is: with parameters that it adds, or with
// the password that it returns, which goes into a header.
func (c *Client) authenticate(form url.Values, t terms) (password string, err error) {
	secret := t.Client.Secret
	if secret == "" {
		secret = c.Secret // what is configured is not stored
	}
	switch t.Client.Method {
	case "client_secret_basic":
		return secret, nil
	case "client_secret_post":
		form.Set("client_secret", secret)
	case "private_key_jwt":
		assertion, err := clientAssertion(c.Key, c.KeyID, t)
		if err != nil {
			return "", err
		}
		form.Set("client_assertion_type", jwtClient)
		form.Set("client_assertion", assertion)
	}
	if t.Client.ID != "" {
		form.Set("client_id", t.Client.ID)
	}
	return "", nil
}

// hider quotes what a server says without what a request holds that is secret.
func hider(form url.Values, id, password string) *secret.Quoter {
	secrets := []string{password}
	for _, name := range []string{"client_secret", "code", "code_verifier", "refresh_token", "assertion", "client_assertion", "subject_token", "token"} {
		secrets = append(secrets, form.Get(name))
	}
	if password != "" { // as Basic credentials have it
		secrets = append(secrets, id+":"+password, url.QueryEscape(id)+":"+url.QueryEscape(password))
	}
	return secret.New(secrets...)
}

// tokenError turns an error of x/oauth2 into one that can be shown. Those of
// net/http may quote what was answered, too: a status line, a debug text.
func tokenError(err error, hide *secret.Quoter) error {
	var refused *oauth2.RetrieveError
	var network *url.Error
	switch {
	case errors.As(err, &refused) && refused.ErrorCode != "":
		return refusedWith(refused.Response.StatusCode, refused.ErrorCode, refused.ErrorDescription, hide)
	case errors.As(err, &refused):
		return statusError(refused.Response.StatusCode)
	case errors.As(err, &network):
		return fmt.Errorf("reaching the token endpoint: %w", hide.Error(bare(err), maxSaid))
	}
	return fmt.Errorf("the token endpoint answered what is not a token: %s", hide.Quote(err.Error(), maxSaid))
}

// A tokenTransport carries token requests, and adds proofs. Of an answer it
// leaves to x/oauth2 only what that understands: a member of the wrong type
// would cost the whole answer, and with it perhaps the only refresh token.
type tokenTransport struct {
	base   http.RoundTripper
	prover *prover // nil for no proofs
	nonce  string  // for the next proof
}

// RoundTrip implements [http.RoundTripper].
func (t *tokenTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if t.prover != nil {
		proof, err := t.prover.prove(req.Method, req.URL, t.nonce, "")
		if err != nil {
			return nil, err
		}
		req = req.Clone(req.Context())
		req.Header.Set("DPoP", proof)
	}
	resp, err := t.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	t.nonce = resp.Header.Get("DPoP-Nonce")
	body, err := readBody(resp.Body)
	if err != nil {
		return nil, err
	}
	if plain := plainAnswer(body); plain != nil {
		body = plain
		resp.Header.Set("Content-Type", "application/json") // some say text/plain
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return resp, nil
}

// plainAnswer returns a token answer with what is known, in the types that are
// expected; nil if it is not a JSON object.
func plainAnswer(body []byte) []byte {
	var answer struct {
		Token   word    `json:"access_token,omitempty"`
		Type    word    `json:"token_type,omitempty"`
		Refresh word    `json:"refresh_token,omitempty"`
		Issued  word    `json:"issued_token_type,omitempty"`
		Expires seconds `json:"expires_in,omitempty"`
		refusalAnswer
	}
	if json.Unmarshal(body, &answer) != nil {
		return nil
	}
	plain, _ := json.Marshal(answer) // of strings and a number
	return plain
}

// revoke asks the authorization server to forget a token (RFC 7009): the
// refresh token if there is one, and with it what was issued for it.
func (c *Client) revoke(ctx context.Context, s saved) error {
	token, hint := s.Refresh, "refresh_token"
	if token == "" {
		token, hint = s.Token, "access_token"
	}
	if s.RevocationURL == "" || token == "" {
		return nil
	}
	form := url.Values{"token": {token}, "token_type_hint": {hint}}
	password, err := c.authenticate(form, s.terms)
	if err != nil {
		return err
	}
	m := message{url: s.RevocationURL, kind: "application/x-www-form-urlencoded", body: form.Encode(), hide: hider(form, s.Client.ID, password)}
	if password != "" {
		m.user = url.UserPassword(url.QueryEscape(s.Client.ID), url.QueryEscape(password))
	}
	var answer refusalAnswer
	resp, err := c.fetch(ctx, m, &answer)
	switch {
	case resp == nil && ctx.Err() != nil:
		return ctx.Err()
	case resp == nil:
		return fmt.Errorf("revoking the token: %w", err)
	case resp.StatusCode != http.StatusOK && answer.Code != "unsupported_token_type": // some tokens cannot be; they end by themselves
		return fmt.Errorf("revoking the token: %w", statusError(resp.StatusCode))
	}
	return nil
}
