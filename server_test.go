package mcp_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
)

func TestInvalidServers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	stdio := func(change func(*mcp.Server)) mcp.Server {
		s := mcp.Server{Name: "x", Command: "true"}
		change(&s)
		return s
	}
	web := func(change func(*mcp.Server)) mcp.Server {
		s := mcp.Server{Name: "x", URL: "https://example.test/mcp"}
		change(&s)
		return s
	}
	for want, server := range map[string]mcp.Server{
		"Name must be 1 to 32 letters, digits and hyphens":    stdio(func(s *mcp.Server) { s.Name = "my_server" }),
		"Name must be 1 to 32 letters, digits and hyphens ":   stdio(func(s *mcp.Server) { s.Name = "" }),
		"Name must be 1 to 32 letters, digits and hyphens  ":  stdio(func(s *mcp.Server) { s.Name = strings.Repeat("x", 33) }),
		"Name must be 1 to 32 letters, digits and hyphens   ": stdio(func(s *mcp.Server) { s.Name = "é" }),
		"Command or URL must be set":                          {Name: "x"},
		"Command and URL must not both be set":                stdio(func(s *mcp.Server) { s.URL = "http://a" }),
		"BearerToken is for a URL, not for a Command":         stdio(func(s *mcp.Server) { s.BearerToken = "secret" }),
		"Headers are for a URL, not for a Command":            stdio(func(s *mcp.Server) { s.Headers = map[string]string{"A": "secret"} }),
		"Auth is for a URL, not for a Command":                stdio(func(s *mcp.Server) { s.Auth = authorizer{} }),
		"BearerToken and Auth exclude each other":             web(func(s *mcp.Server) { s.BearerToken, s.Auth = "secret", authorizer{} }),
		`Headers: "authorization" and Auth exclude each other`: web(func(s *mcp.Server) {
			s.Headers, s.Auth = map[string]string{"authorization": "secret"}, authorizer{}
		}),
		"Command must not contain NUL":                                        stdio(func(s *mcp.Server) { s.Command = "a\x00" }),
		"Args[1] must not contain NUL":                                        stdio(func(s *mcp.Server) { s.Args = []string{"", "secret\x00"} }),
		"Env[0] must be KEY=VALUE":                                            stdio(func(s *mcp.Server) { s.Env = []string{"secret"} }),
		"Env[1] must be KEY=VALUE":                                            stdio(func(s *mcp.Server) { s.Env = []string{"A=", "=secret"} }),
		"Env[0] must not contain NUL":                                         stdio(func(s *mcp.Server) { s.Env = []string{"A=secret\x00"} }),
		"StopTimeout must not be negative":                                    stdio(func(s *mcp.Server) { s.StopTimeout = -1 }),
		"StartTimeout must not be negative":                                   web(func(s *mcp.Server) { s.StartTimeout = -1 }),
		"CallTimeout must not be negative":                                    web(func(s *mcp.Server) { s.CallTimeout = -1 }),
		"Dir cannot be used: stat " + file + "2: no such file or directory":   stdio(func(s *mcp.Server) { s.Dir = file + "2" }),
		fmt.Sprintf("Dir %q is not a folder", file):                           stdio(func(s *mcp.Server) { s.Dir = file }),
		"Tools[1] must not be empty":                                          stdio(func(s *mcp.Server) { s.Tools = []string{"a", ""} }),
		`Tools names "a" twice`:                                               stdio(func(s *mcp.Server) { s.Tools = []string{"a", "b", "a"} }),
		"Args are for a Command, not for a URL":                               web(func(s *mcp.Server) { s.Args = []string{"secret"} }),
		"Env is for a Command, not for a URL":                                 web(func(s *mcp.Server) { s.Env = []string{"A=secret"} }),
		"URL must begin with http:// or https://":                             web(func(s *mcp.Server) { s.URL = "ftp://example.test/secret" }),
		"URL must have a host":                                                web(func(s *mcp.Server) { s.URL = "https:///secret" }),
		"URL cannot be parsed":                                                web(func(s *mcp.Server) { s.URL = "http://%zz/secret" }),
		"URL must not hold a user or password: use BearerToken or Headers":    web(func(s *mcp.Server) { s.URL = "https://me:secret@example.test" }),
		"URL must not have a fragment":                                        web(func(s *mcp.Server) { s.URL = "https://example.test/#secret" }),
		"BearerToken has a character that a header cannot have":               web(func(s *mcp.Server) { s.BearerToken = "secret\r\nX: y" }),
		`Headers: "a b" is not a header name`:                                 web(func(s *mcp.Server) { s.Headers = map[string]string{"a b": "secret"} }),
		`Headers: the value of "A" has a character that a header cannot have`: web(func(s *mcp.Server) { s.Headers = map[string]string{"A": "secret\x00"} }),
		`Headers: "A-B" and "a-b" are the same header`:                        web(func(s *mcp.Server) { s.Headers = map[string]string{"A-B": "secret", "a-b": "secret"} }),
		`Headers: "aUTHORIZATION" and BearerToken exclude each other`: web(func(s *mcp.Server) {
			s.BearerToken, s.Headers = "secret", map[string]string{"aUTHORIZATION": "secret"}
		}),
		`Headers: "mcp-session-id" is set by the protocol`:    web(func(s *mcp.Server) { s.Headers = map[string]string{"mcp-session-id": "secret"} }),
		`Headers: "content-type" is set by the protocol`:      web(func(s *mcp.Server) { s.Headers = map[string]string{"content-type": "secret"} }),
		`Headers: "Idempotency-Key" is set by the protocol`:   web(func(s *mcp.Server) { s.Headers = map[string]string{"Idempotency-Key": "secret"} }),
		`Headers: "X-Idempotency-Key" is set by the protocol`: web(func(s *mcp.Server) { s.Headers = map[string]string{"X-Idempotency-Key": "secret"} }),
	} {
		want = strings.TrimRight(want, " ")
		c, err := mcp.Connect(t.Context(), server)
		assert.Nil(t, c)
		assert.ErrorIs(t, err, mcp.ErrInvalidServer, want)
		assert.EqualError(t, err, fmt.Sprintf("mcp server %q: invalid server: %s", server.Name, want))
		assert.NotContains(t, strings.ReplaceAll(err.Error(), file, ""), "secret")
	}

	// All faults are told at once.
	_, err := mcp.Connect(t.Context(), mcp.Server{Name: "x", Command: "true", StopTimeout: -1, Env: []string{"secret"}})
	assert.EqualError(t, err, `mcp server "x": invalid server: Env[0] must be KEY=VALUE; StopTimeout must not be negative`)
}

// An application sets the same options for all of its servers.
func TestOptionsOfTheOtherTransport(t *testing.T) {
	options := func(s mcp.Server) mcp.Server {
		s.Stderr, s.StopTimeout, s.HTTPTransport = io.Discard, time.Second, http.DefaultTransport
		return s
	}
	c := connect(t, options(stdioServer(t, "plain")))
	assert.Len(t, c.Tools(), 1)
	server := options(mcp.Server{Name: "web", URL: officialServer(t, nil, nil).URL})
	server.Dir = filepath.Join(t.TempDir(), "none")
	c = connect(t, server)
	assert.Len(t, c.Tools(), 1)
}

func init() {
	servers["complains"] = func(*mcptest.Peer) { // of its argument
		fmt.Fprintln(os.Stderr, os.Args[1])
		os.Exit(3)
	}
}

// The address of a proxy is what a user needs to see, but for a password in it.
func TestAddressesAreNoSecrets(t *testing.T) {
	mcptest.NoLeaks(t)
	const words = "localhost: no route through http://proxy.example.test:3128 and http://me:hunter2hunter2@proxy.example.test"
	server := stdioServer(t, "complains", "NO_PROXY=localhost", "http_proxy=http://proxy.example.test:3128", "HTTPS_PROXY=http://me:hunter2hunter2@proxy.example.test")
	server.Args = []string{words}
	_, err := mcp.Connect(t.Context(), server)
	assert.ErrorContains(t, err, "localhost: no route through http://proxy.example.test:3128 and ")
	assert.NotContains(t, err.Error(), "hunter2")
}
