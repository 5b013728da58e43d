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
	"math"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/seed94b59a13/mcp/internal/secret"
)

const (
	jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	jwtClient = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	maxToken  = 16 << 10 // bytes of a token, which has to fit into a header
	maxAnswer = 1 << 20  // bytes of what an endpoint answers
)

// A tokenRequest is one request to a token endpoint.
type tokenRequest struct {
	url, issuer string
	client      registration
	resource    string
	form        url.Values
	key         []byte // for proofs; nil for none
}

// A tokenAnswer is what came back.
type tokenAnswer struct {
	token, refresh string
	expiry         time.Time
}

// A statusError is the answer of an endpoint that says nothing else of use.
type statusError int

func (e statusError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("the authorization server answered %d %s", int(e), http.StatusText(int(e))))
}

// send makes a token request, and again if the authorization server wants a
// nonce in the proof. Its error shows nothing of what was sent; hide takes that
// out of other texts.
func (c *Client) send(ctx context.Context, t tokenRequest) (token *oauth2.Token, hide func(s string, limit int) string, err error) {
	transport := &tokenTransport{base: c.ready().client.Transport}
	if t.key != nil {
		if transport.prover, err = newProver(t.key); err != nil {
			return nil, nil, err
		}
	}
	token, hide, err = c.sendOnce(ctx, t, transport)
	var refused *Error
	if errors.As(err, &refused) && refused.Code == "use_dpop_nonce" && transport.nonce != "" {
		token, hide, err = c.sendOnce(ctx, t, transport)
	}
	return token, hide, err
}

// sendOnce makes an attempt. Each has an assertion of its own: authorization
// servers take one only once.
func (c *Client) sendOnce(ctx context.Context, t tokenRequest, transport *tokenTransport) (token *oauth2.Token, hide func(s string, limit int) string, err error) {
	form := maps.Clone(t.form)
	if t.resource != "" {
		form.Set("resource", t.resource)
	}
	c.addParams(form)
	id, password, style, err := c.authenticate(form, t.client, t.issuer)
	if err != nil {
		return nil, nil, err
	}
	hide = hider(form, id, password)
	client := *c.ready().client
	client.Transport = transport
	// The grant_type and all else are parameters to x/oauth2's client
	// credentials, which makes it the one token request that there is.
	config := clientcredentials.Config{ClientID: id, ClientSecret: password, TokenURL: t.url, EndpointParams: form, AuthStyle: style}
	token, err = config.Token(context.WithValue(ctx, oauth2.HTTPClient, &client))
	if err != nil {
		return nil, nil, tokenError(err, hide)
	}
	for _, s := range []string{token.AccessToken, token.RefreshToken} {
		if len(s) > maxToken || strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) >= 0 {
			return nil, nil, errors.New("the authorization server issued what cannot be a token")
		}
	}
	return token, hide, nil
}

// request gets an access token.
func (c *Client) request(ctx context.Context, t tokenRequest) (tokenAnswer, error) {
	token, hide, err := c.send(ctx, t)
	if err != nil {
		return tokenAnswer{}, err
	}
	switch kind := strings.ToLower(token.Type()); {
	case kind == "dpop" && t.key != nil, kind == "bearer" && t.key == nil:
	case kind == "bearer":
		return tokenAnswer{}, errors.New("the authorization server issued a token that is not bound to the key, as the server wants it")
	default:
		return tokenAnswer{}, fmt.Errorf("the authorization server issued a token of type %q, which is not supported", hide(token.Type(), maxCode))
	}
	return tokenAnswer{token: token.AccessToken, refresh: token.RefreshToken, expiry: token.Expiry}, nil
}

// exchange gets a token of another kind.
func (c *Client) exchange(ctx context.Context, t tokenRequest, kind string) (string, error) {
	t.form.Set("requested_token_type", kind)
	token, hide, err := c.send(ctx, t)
	if err != nil {
		return "", err
	}
	if issued, _ := token.Extra("issued_token_type").(string); issued != kind {
		return "", fmt.Errorf("the identity provider issued a token of type %q, not %q", hide(issued, maxCode), kind)
	}
	return token.AccessToken, nil
}

// addParams adds the Params of the Client.
func (c *Client) addParams(form url.Values) {
	for name, value := range c.Params {
		if value == "" {
			form.Del(name)
		} else {
			form.Set(name, value)
		}
	}
}

// authenticate says who the program is: with parameters that it adds, or an id
// and a password.
func (c *Client) authenticate(form url.Values, r registration, issuer string) (id, password string, style oauth2.AuthStyle, err error) {
	if r.Secret == "" {
		r.Secret = c.Secret // what is configured is not stored
	}
	switch r.Method {
	case "private_key_jwt":
		assertion, err := clientAssertion(c.Key, c.KeyID, r.ID, issuer)
		if err != nil {
			return "", "", 0, err
		}
		form.Set("client_assertion_type", jwtClient)
		form.Set("client_assertion", assertion)
		return r.ID, "", oauth2.AuthStyleInParams, nil
	case "client_secret_basic":
		return r.ID, r.Secret, oauth2.AuthStyleInHeader, nil
	case "client_secret_post":
		return r.ID, r.Secret, oauth2.AuthStyleInParams, nil
	}
	return r.ID, "", oauth2.AuthStyleInParams, nil
}

// hider quotes what a server says without what a request holds that is secret.
func hider(form url.Values, id, password string) func(s string, limit int) string {
	secrets := []string{password}
	for _, name := range []string{"code", "code_verifier", "refresh_token", "assertion", "client_assertion", "subject_token", "token"} {
		secrets = append(secrets, form.Get(name))
	}
	if password != "" { // as Basic credentials have it
		secrets = append(secrets, id+":"+password, url.QueryEscape(id)+":"+url.QueryEscape(password))
	}
	quoter := secret.New(secrets...)
	return quoter.Quote
}

// tokenError turns an error of x/oauth2 into one that can be shown.
func tokenError(err error, hide func(s string, limit int) string) error {
	var refused *oauth2.RetrieveError
	var network *url.Error
	switch {
	case errors.As(err, &refused) && refused.ErrorCode != "":
		return refusedWith(refused.ErrorCode, refused.ErrorDescription, hide)
	case errors.As(err, &refused):
		return statusError(refused.Response.StatusCode)
	case errors.As(err, &network):
		return fmt.Errorf("reaching the token endpoint: %w", bare(err))
	}
	return fmt.Errorf("the token endpoint answered what is not a token: %s", hide(err.Error(), maxSaid))
}

// bare takes the URL out of an error of net/http, and makes its timeouts none
// of the context package: agent loops read those as the end of the whole run.
func bare(err error) error {
	var network *url.Error
	if !errors.As(err, &network) {
		return err
	}
	if network.Timeout() || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no answer in time: %w", os.ErrDeadlineExceeded)
	}
	return network.Err
}

// A tokenTransport carries token requests, and adds proofs. Of an answer it
// leaves to x/oauth2 only what that understands: a member of the wrong type
// would cost the whole answer, and with it perhaps the only refresh token.
type tokenTransport struct {
	base   http.RoundTripper
	prover *prover // nil for no proofs
	nonce  string  // for the next proof
}

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
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
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
	var members map[string]json.RawMessage
	if json.Unmarshal(bytes.TrimPrefix(body, []byte("\uFEFF")), &members) != nil || members == nil {
		return nil
	}
	plain := map[string]any{}
	for _, name := range []string{"access_token", "token_type", "refresh_token", "issued_token_type", "error", "error_description"} {
		var s *string
		if json.Unmarshal(members[name], &s) == nil && s != nil {
			plain[name] = *s
		}
	}
	if n := seconds(members["expires_in"]); n > 0 {
		plain["expires_in"] = n
	}
	plainText, _ := json.Marshal(plain) // of strings and a number
	return plainText
}

// seconds reads a number of seconds, also one in a text or with a fraction; 0
// is for none.
func seconds(value json.RawMessage) int64 {
	n, err := strconv.ParseFloat(strings.Trim(string(value), `" `), 64)
	if err != nil || !(n > 0) {
		return 0
	}
	return int64(min(n, math.MaxInt32))
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
	id, password, style, err := c.authenticate(form, s.Client, s.Issuer)
	if err != nil {
		return err
	}
	if style == oauth2.AuthStyleInParams {
		form.Set("client_id", id)
		if password != "" {
			form.Set("client_secret", password)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.RevocationURL, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if style == oauth2.AuthStyleInHeader {
		req.SetBasicAuth(url.QueryEscape(id), url.QueryEscape(password))
	}
	resp, err := c.ready().client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("revoking the token: %w", bare(err))
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	// Some tokens cannot be revoked; they end by themselves.
	if resp.StatusCode != http.StatusOK && !strings.Contains(string(body), "unsupported_token_type") {
		return fmt.Errorf("revoking the token: %w", statusError(resp.StatusCode))
	}
	return nil
}
