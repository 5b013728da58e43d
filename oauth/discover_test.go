package oauth

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestChallenges(t *testing.T) {
	const place = "https://h/x"
	for header, want := range map[string]challenge{
		`Bearer`:                 {},
		`Bearer realm=""`:        {},
		`Negotiate YII=, Bearer`: {},
		`Bearer realm="x" resource_metadata="https://h/x"`:                                    {metadata: place},
		`Bearer realm=x resource_metadata=https://h/x`:                                        {metadata: place},
		`Basic realm="a, b=c", Bearer resource_metadata="https://h/x"`:                        {metadata: place},
		`bearer error="invalid_token",error_description="",resource_metadata = "https://h/x"`: {err: "invalid_token", metadata: place},
		`Bearer scope=a b, resource_metadata="https://h/x"`:                                   {metadata: place, scopes: []string{"a", "b"}},
		`Bearer error="insufficient_scope", scope="a b"`:                                      {err: "insufficient_scope", scopes: []string{"a", "b"}},
		`Bearer scope="a \"b\" c`:                                                             {scopes: []string{"a", "c"}},
		`DPoP algs="ES256", resource_metadata="https://h/x"`:                                  {metadata: place, proof: true},
		`Bearer, DPoP algs="ES256"`:                                                           {proof: true, bearer: true},
		`Basic resource_metadata="https://evil/"`:                                             {},
		`===,,,"`: {},
	} {
		got := parseChallenge(http.Header{"Www-Authenticate": {header}})
		if len(got.scopes) == 0 {
			got.scopes = nil
		}
		assert.Equal(t, want, got, header)
	}
}

func TestResourceFits(t *testing.T) {
	server, err := url.Parse("https://Mcp.Example.com:443/a/mcp?x=y")
	require.NoError(t, err)
	for resource, want := range map[string]bool{
		"https://mcp.example.com/a/mcp":  true,
		"https://mcp.example.com/a/mcp/": true,
		"https://mcp.example.com/a":      true,
		"https://mcp.example.com":        true,
		"https://mcp.example.com/":       true,
		"https://mcp.example.com/a/mc":   false,
		"https://mcp.example.com/b":      false,
		"http://mcp.example.com/a/mcp":   false,
		"https://evil.example.com/a/mcp": false,
		"https://mcp.example.com:8443":   false,
		"https://u@mcp.example.com":      false,
		"https://mcp.example.com/#x":     false,
		"":                               false,
	} {
		assert.Equal(t, want, fits(resource, server), resource)
	}
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string][2]bool{ // from elsewhere, from this machine
		"https://as.example.com/x":     {true, true},
		"http://as.example.com":        {false, false},
		"http://localhost:1":           {false, true},
		"https://127.0.0.1":            {false, true},
		"http://[::1]:1/x":             {false, true},
		"ftp://localhost":              {false, false},
		"javascript:alert(1)":          {false, false},
		"https://169.254.169.254/":     {false, false},
		"https://[fe80::1]":            {false, false},
		"https://[::ffff:a9fe:a9fe]":   {false, false},
		"https://[::ffff:127.0.0.1]":   {false, true},
		"https://as.localhost.":        {false, true},
		"https://0.0.0.0":              {false, false},
		"https://10.1.2.3":             {true, true},
		"https://a:b@as.example.com":   {false, false},
		"https://as.example.com/#frag": {false, false},
		"https://as.example.com/?a b":  {false, false},
		"https://as.example.com/?`id`": {false, false},
		"":                             {false, false},
	} {
		for i, local := range []bool{false, true} {
			_, err := checkURL(address, local)
			assert.Equal(t, want[i], err == nil, "%s, local %t: %v", address, local, err)
		}
	}
}
