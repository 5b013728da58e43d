package oauth

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"golang.org/x/oauth2"
)

// A drip is a body with a byte for each second, without end.
type drip struct{ req *http.Request }

func (d drip) Read(b []byte) (int, error) {
	select {
	case <-time.After(time.Second):
		return copy(b, " "), nil
	case <-d.req.Context().Done():
		return 0, d.req.Context().Err()
	}
}

type dripping struct{}

func (dripping) RoundTrip(req *http.Request) (*http.Response, error) {
	header := http.Header{"Content-Type": {"application/json"}}
	return &http.Response{StatusCode: 200, Header: header, Body: io.NopCloser(drip{req}), Request: req}, nil
}

// A server that never stops answering takes the time that one may take.
func TestDrip(t *testing.T) {
	for name, c := range map[string]struct {
		ask   func(t *testing.T, c *Client) error
		limit time.Duration
	}{
		"document": {func(t *testing.T, c *Client) error {
			return c.document(t.Context(), "https://as.example.com/x", false, new(metadata))
		}, oneTime},
		"registration": {func(t *testing.T, c *Client) error {
			_, err := c.register(t.Context(), discovery{server: &metadata{Register: "https://as.example.com/register"}}, "")
			return err
		}, tokenTime},
		"token": {func(t *testing.T, c *Client) error {
			_, err := c.request(t.Context(), terms{TokenURL: "https://as.example.com/token"}, url.Values{"code": {"x"}})
			return err
		}, tokenTime},
		"revocation": {func(t *testing.T, c *Client) error {
			return c.revoke(t.Context(), saved{Token: "x", terms: terms{RevocationURL: "https://as.example.com/revoke"}})
		}, tokenTime},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				err := c.ask(t, &Client{HTTPTransport: dripping{}})
				assert.Equal(t, c.limit, time.Since(begun))
				assert.ErrorIs(t, err, os.ErrDeadlineExceeded)
			})
		})
	}
}

// A token's times are those of the clock that goes on while a laptop sleeps.
func TestWallClock(t *testing.T) {
	var s saved
	s.begin(&oauth2.Token{AccessToken: "x", Expiry: time.Now().Add(time.Hour)}, terms{})
	for _, at := range []time.Time{s.Issued, s.Expiry} {
		assert.NotContains(t, at.String(), "m=")
	}
}

// A megabyte of a challenge is read in one go: each way to write it would take
// minutes if the rest was looked at for each parameter.
func TestHugeChallenges(t *testing.T) {
	for _, part := range []string{"a=b ", "a=b,", "a ", "a=\"b\" ", "=", "\\\"", "a = b c ", ",\t"} {
		huge := "Bearer " + strings.Repeat(part, 4<<20/len(part)) + `, resource_metadata="https://h/x"`
		c := parseChallenge(http.Header{"Www-Authenticate": {huge}})
		assert.LessOrEqual(t, len(c.scopes), maxScopes)
	}
}
