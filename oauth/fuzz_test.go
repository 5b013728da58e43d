package oauth

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whatever a server writes for a challenge, what is read of it can be sent on.
func FuzzChallenge(f *testing.F) {
	for _, s := range []string{
		`Bearer`, `Bearer realm=""`, `Negotiate YII=, Bearer error="invalid_token"`, `Bearer realm="x" resource_metadata="https://h/x"`,
		`Basic realm="a, b=c", Bearer scope="a b"`, `Bearer scope="a \"b\" c`, `DPoP algs="ES256", error="use_dpop_nonce"`, "===,,,\"", `Bearer scope=a b, error=x`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c := parseChallenge(http.Header{"Www-Authenticate": {s, s}})
		assert.LessOrEqual(t, len(c.scopes), maxScopes)
		for _, scope := range c.scopes {
			assert.NotContains(t, scope, " ")
			assert.True(t, strings.IndexFunc(scope, func(r rune) bool { return r < '!' || r > '~' || r == '"' || r == '\\' }) < 0, scope)
		}
		assert.Equal(t, c.scopes, fields(strings.Join(c.scopes, " ")))
	})
}

// Whatever comes to the callback, nothing of it is used that is not this
// login's, and a right one is read whatever is around it.
func FuzzCallback(f *testing.F) {
	f.Add("https://app.example.com/callback?code=a&state=b", "a", "b")
	f.Add("?code=a&code=b&state=%zz#x", "", "b")
	f.Add("code=a;state=b", "c+d", "e&f=g")
	f.Fuzz(func(t *testing.T, s, code, state string) {
		if values, err := parseCallback(s); err == nil {
			for _, name := range []string{"state", "code", "iss", "error"} {
				assert.LessOrEqual(t, len(values[name]), 1)
			}
			l := &login{State: "the state", terms: terms{Issuer: "https://as.example.com"}}
			if values.Get("state") != l.State {
				assert.ErrorIs(t, (&Client{}).finish(t.Context(), nil, l, values), errState)
			}
		}
		values, err := parseCallback(" http://127.0.0.1:1/callback?" + url.Values{"code": {code}, "state": {state}}.Encode() + "#" + strings.ReplaceAll(s, "?", "") + "\n")
		require.NoError(t, err)
		assert.Equal(t, code, values.Get("code"))
		assert.Equal(t, state, values.Get("state"))
	})
}

// Whatever a token endpoint answers, x/oauth2 gets what it can read.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"access_token":"a","expires_in":3600.0,"refresh_token":null,"token_type":["x"]}`))
	f.Add([]byte(`{"error":{"code":1},"expires_in":"1e999"}`))
	f.Add([]byte("\uFEFF{}"))
	f.Fuzz(func(t *testing.T, body []byte) {
		plain := plainAnswer(body)
		if plain == nil {
			return
		}
		var answer struct {
			AccessToken string `json:"access_token"`
			TokenType   string `json:"token_type"`
			Refresh     string `json:"refresh_token"`
			Error       string `json:"error"`
			Expires     *int32 `json:"expires_in"`
		}
		require.NoError(t, json.Unmarshal(plain, &answer))
		if answer.Expires != nil {
			assert.Positive(t, *answer.Expires)
		}
		assert.Equal(t, plain, plainAnswer(plain))
	})
}
