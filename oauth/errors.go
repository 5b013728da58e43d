package oauth

// This file has what callers see of failures, and what printing shows.

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/seed94b59a13/mcp/internal/secret"
)

// LoginRequired is the error of a request for which a person has to log in
// first. Find it with errors.As.
type LoginRequired struct {
	// URL is where to send the person. It is good for the callback of one
	// login, for an hour. It is empty if the Client has no RedirectURL, or has
	// Open, which Login calls.
	URL string
	// Server is the URL of the MCP server, Issuer its authorization server, and
	// Scopes what is asked for; the last two are empty if they are not known.
	Server, Issuer string
	Scopes         []string
	// Err is why there is not a token although a person was asked before: what
	// became of the last login, or that they have logged out. Nil means that
	// nobody was.
	Err error

	next string // what to do
}

// Error says who has to log in where, for what, why, and what to do. What
// servers say of it is cut: package mcp shows 512 bytes of an error, and of one
// that is longer only the text.
func (e *LoginRequired) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "a person must log in to %q", text(e.Server, 96))
	if e.Issuer != "" {
		fmt.Fprintf(&b, " at %q", text(e.Issuer, 96))
	}
	if len(e.Scopes) > 0 {
		fmt.Fprintf(&b, " for the scopes %q", text(strings.Join(e.Scopes, " "), 64))
	}
	if e.Err != nil {
		b.WriteString(" again: " + text(e.Err.Error(), 140))
	}
	if e.next != "" {
		b.WriteString("; " + e.next)
	}
	return text(b.String(), maxWords)
}

// Unwrap returns Err.
func (e *LoginRequired) Unwrap() error { return e.Err }

// An Error is the refusal of an authorization server. Find it with errors.As.
type Error struct {
	Code        string // such as access_denied or invalid_client
	Description string // as the authorization server words it, without secrets

	status int // of the answer; 0 for one that a browser brought
}

// Error returns the code and the description.
func (e *Error) Error() string {
	if e.Description == "" {
		return fmt.Sprintf("the authorization server answered %s", e.Code)
	}
	return fmt.Sprintf("the authorization server answered %s: %s", e.Code, e.Description)
}

// final reports whether the same request would be refused again. Of the refresh
// token that is dead, few servers say invalid_grant as they should (RFC 6749,
// section 5.2): GitHub says bad_refresh_token, others invalid_request.
func (e *Error) final() bool {
	switch e.Code {
	case "invalid_grant", "unauthorized_client", "invalid_scope", "unsupported_grant_type", "access_denied", "invalid_target":
		return true
	}
	refused := e.status < http.StatusInternalServerError && e.status != http.StatusTooManyRequests
	return e.ofClient() || refused && (e.Code == "invalid_request" || strings.Contains(e.Code, "token"))
}

// ofClient reports whether it is the program that is not known, as by
// invalid_client. That unauthorized_client is of the grant is what Atlassian
// means by it.
func (e *Error) ofClient() bool {
	return strings.Contains(e.Code, "client") && e.Code != "unauthorized_client"
}

// A refusalAnswer is an Error as JSON has it.
type refusalAnswer struct {
	Code        word `json:"error,omitempty"`
	Description word `json:"error_description,omitempty"`
}

// refused returns the error of an answer; nil if it is not one.
func (a refusalAnswer) refused(status int) error {
	switch {
	case status == http.StatusOK || status == http.StatusCreated:
		return nil
	case a.Code != "":
		return refusedWith(status, string(a.Code), string(a.Description), nil)
	}
	return statusError(status)
}

// refusedWith is an Error with what an authorization server says.
func refusedWith(status int, code, description string, hide *secret.Quoter) *Error {
	return &Error{Code: hide.Quote(code, maxCode), Description: hide.Quote(description, maxSaid), status: status}
}

// A statusError is the answer of an endpoint that says nothing else of use.
type statusError int

// Error names the status.
func (e statusError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("the authorization server answered %d %s", int(e), http.StatusText(int(e))))
}

var (
	errState   = errors.New("the login is not known: it was begun elsewhere, finished already, or too old")
	errFresh   = errors.New("the server refused the token of the last login")
	errLogout  = errors.New("the person has logged out")
	errGivenUp = errors.New("nobody waits for the login any more")
	// errKeeping is wrapped by the error of a Store.
	errKeeping = errors.New("keeping tokens")
)

const (
	maxWords = 480 // bytes of an error
	maxCode  = 64  // of what an authorization server calls it
	maxSaid  = 256 // and says of it
	maxURL   = 128 // of an address
)

// text makes what a server says fit for an error: a line of at most limit bytes.
func text(s string, limit int) string { return (*secret.Quoter)(nil).Quote(s, limit) }

func shorten(s string) string { return text(s, maxURL) }

// loginFailed says that the last login failed. Where the error is not fit to be
// shown, only its text is kept.
func loginFailed(err error) error {
	err = bare(err)
	if s := text(err.Error(), maxWords); s != err.Error() {
		err = errors.New(s)
	}
	return fmt.Errorf("the last login failed: %w", err)
}

// describe names what has a secret, and whether it is set.
func describe(name, id, issuer, key string) string {
	if key != "" {
		key = ", Secret: " + secret.Masked
	}
	return fmt.Sprintf("oauth.%s{ID: %q, Issuer: %q%s}", name, id, issuer, key)
}

// String describes the Client without its secrets.
func (c Client) String() string { return describe("Client", c.ID, c.Issuer, c.Secret) }

// Format prints String for all verbs, so that none shows a secret.
func (c Client) Format(f fmt.State, _ rune) { fmt.Fprint(f, c.String()) }

// LogValue describes the Client to log/slog without its secrets.
func (c Client) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalText describes the Client without its secrets, to encoding/json too.
func (c Client) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// String describes the Enterprise without its secret.
func (e Enterprise) String() string { return describe("Enterprise", e.ID, e.Issuer, e.Secret) }

// Format prints String for all verbs, so that none shows a secret.
func (e Enterprise) Format(f fmt.State, _ rune) { fmt.Fprint(f, e.String()) }

// LogValue describes the Enterprise to log/slog without its secret.
func (e Enterprise) LogValue() slog.Value { return slog.StringValue(e.String()) }

// MarshalText describes the Enterprise without its secret, to encoding/json too.
func (e Enterprise) MarshalText() ([]byte, error) { return []byte(e.String()), nil }
