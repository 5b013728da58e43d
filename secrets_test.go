package mcp_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
)

// isFitToShow asserts of each error in a tree that it may be shown: it is of no
// type that has a URL with its query, it is not long, has no characters that a
// terminal obeys or hides, and none of the secrets of these tests.
func isFitToShow(t testing.TB, err error) {
	t.Helper()
	for left := []error{err}; len(left) > 0; {
		e := left[0]
		if left = left[1:]; e == nil {
			continue
		}
		assert.NotErrorAs(t, e, new(*url.Error))
		text := e.Error()
		assert.Less(t, len(text), 16<<10)
		assert.Equal(t, -1, strings.IndexFunc(text, func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) }), "%q", text)
		for _, s := range []string{"sk-secret-", "q-secret-", "blue-secret", hunter, "pass-word-1", "other-secret"} {
			assert.NotContains(t, text, s)
		}
		switch e := e.(type) {
		case interface{ Unwrap() error }:
			left = append(left, e.Unwrap())
		case interface{ Unwrap() []error }:
			left = append(left, e.Unwrap()...)
		}
	}
}

// long is a secret that is longer than what is quoted of most things.
func long(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "%x.", uint32(i)*2654435761)
	}
	return b.String()[:size]
}

// showsNoPart asserts that no more than a few bytes of a secret are in a text.
func showsNoPart(t *testing.T, text, secret string) {
	t.Helper()
	for i := 0; i+12 <= len(secret); i++ {
		if strings.Contains(text, secret[i:i+12]) {
			t.Fatalf("%q of the secret is in %q", secret[i:i+12], text)
		}
	}
}

func init() {
	servers["prints secrets"] = func(p *mcptest.Peer) { // to what its argument says, behind so many bytes
		before, _ := strconv.Atoi(os.Args[2])
		text := strings.Repeat("-", before) + os.Getenv("API_KEY")
		quoted, _ := json.Marshal(text)
		switch os.Args[1] {
		case "stderr":
			fmt.Fprint(os.Stderr, text, "\nlast words\n")
			os.Exit(1)
		case "half":
			fmt.Fprint(os.Stderr, text[:before+len(text[before:])/2])
			os.Exit(1)
		case "stdout":
			p.Print(text + "\n")
		case "data", "message", "long data":
			if os.Args[1] == "long data" { // than what is read of it
				quoted, _ = json.Marshal(text + strings.Repeat("-", 100<<10))
			}
			p.On = map[string]func(mcptest.Request){"initialize": func(r mcptest.Request) {
				if os.Args[1] == "message" {
					p.Fail(r, -32000, text)
					return
				}
				p.Print(`{"jsonrpc":"2.0","id":` + string(r.ID) + `,"error":{"code":-32000,"message":"no","data":` + string(quoted) + "}}\n")
			}}
		case "version":
			p.Initialize = `{"protocolVersion":` + string(quoted) + `,"capabilities":{}}`
		case "names":
			p.Tools = `[{"name":` + string(quoted) + `},{"name":` + string(quoted) + `},{"name":"x","inputSchema":{"required":` + string(quoted) + `}}]`
			p.Call = func(mcptest.Request) { os.Exit(0) }
		}
		p.Serve()
	}
}

// A secret that the cut of a quote goes through shows no part, wherever it is
// quoted and however long it is.
func TestSecretsAcrossCuts(t *testing.T) {
	for _, size := range []int{200, 9_000} {
		key := long(size)
		for where, cut := range map[string]int{"stderr": 4 << 10, "half": 4 << 10, "stdout": 120, "data": 1 << 10, "long data": 1 << 10, "message": 4 << 10, "version": 256, "names": 128} {
			for _, before := range []int{0, cut - size, cut - size/2, cut - 20, 4*cut + 500} {
				if before < 0 {
					continue
				}
				server := stdioServer(t, "prints secrets", "API_KEY="+key)
				server.Args = []string{where, strconv.Itoa(before)}
				c, err := mcp.Connect(t.Context(), server)
				if err == nil {
					showsNoPart(t, strings.Join(c.Warnings(), "\n"), key)
					if where == "names" {
						_, err = call(t, c, `{}`)
						assert.Error(t, err)
					}
					require.NoError(t, c.Close())
				}
				isFitToShow(t, err)
				showsNoPart(t, fmt.Sprint(err), key)
				if where == "stderr" {
					assert.ErrorContains(t, err, "last words")
				}
			}
		}
	}
}

// A server that makes a name or a version long makes no error long.
func TestLongNames(t *testing.T) {
	h := newWeb(t)
	name := "\x1b]0;title\a" + strings.Repeat("n\u202e\u200b ", 1<<20)
	quoted, _ := json.Marshal(name)
	h.tools = `[{"name":` + string(quoted) + `},{"name":` + string(quoted) + `}]`
	c := connect(t, h.server())
	for _, warning := range c.Warnings() {
		isFitToShow(t, errors.New(warning))
	}
	assert.Len(t, c.Warnings(), 2)
	assert.Equal(t, name, c.Tools()[0].ServerTool)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.Tools()[0].Handler(ctx, nil)
	isFitToShow(t, err)
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorIs(t, err, mcp.ErrNotSent)
	assert.Less(t, len(err.Error()), 1<<10)
	h.on["tools/call"] = func(a *asking) { a.json(`{"jsonrpc":"2.0","id":` + string(a.ID) + `,"result":{"isError":true}}`) }
	result, err := call(t, c, `{}`)
	require.NoError(t, err)
	assert.Less(t, len(result.Content), 1<<10)

	version, _ := json.Marshal("v\x1b[1m" + strings.Repeat("ersion", 1<<20))
	h.on["server/discover"] = func(a *asking) { a.status(404, "", "") }
	h.on["initialize"] = func(a *asking) {
		a.json(`{"jsonrpc":"2.0","id":` + string(a.ID) + `,"result":{"protocolVersion":` + string(version) + `,"capabilities":{}}}`)
	}
	err = refuses(t, h.server())
	assert.ErrorContains(t, err, "versionersion")
	assert.Less(t, len(err.Error()), 1<<10)
}

// A path is what a user needs to see, and no secret. The password in Basic
// credentials and in a URL is one of its own.
func TestWhatIsASecret(t *testing.T) {
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("me:pass-word-1"))
	for _, test := range []struct{ value, said, want string }{
		{"/etc/example/config.json", "loading config file \"/etc/example/config.json\"", "loading config file \"/etc/example/config.json\""},
		{`C:\Users\me\config.json`, `cannot open C:\Users\me\config.json`, `cannot open C:\Users\me\config.json`},
		{"/hook?token=abcdefgh", "posting to /hook?token=abcdefgh", "posting to [masked]"},
		{"/bPxRfiCYEXAMPLEKEY/wJalrXUtnFEMI", "key /bPxRfiCYEXAMPLEKEY/wJalrXUtnFEMI", "key [masked]"},
		{"postgres://me:pass-word-1@db.test/x", "password pass-word-1 is wrong", "password [masked] is wrong"},
		{basic, "me and pass-word-1", "me and [masked]"},
		{"postgres://me:pass#word-1@db.test/x", "password pass#word-1 is wrong", "password [masked] is wrong"},
		{"https://ghp-0123456789@git.test/x", "fatal: ghp-0123456789 is no user", "fatal: [masked] is no user"},
		{"host=db.test password=pass-word-1", "db.test refuses pass-word-1", "db.test refuses [masked]"},
		{"a/token+with=signs", `{"key":"a\/token\u002bwith=signs"}`, `{"key":"[masked]"}`},
	} {
		server := stdioServer(t, "exits with words", "SETTING="+test.value, "WORDS="+base64.StdEncoding.EncodeToString([]byte(test.said)))
		_, err := mcp.Connect(t.Context(), server)
		assert.EqualError(t, err, `mcp server "test": initializing: server stopped: exit status 5; stderr: `+test.want)
	}
	server := stdioServer(t, "exits with words", "WORDS="+base64.StdEncoding.EncodeToString([]byte("somebody has key-1234 and key-5678")))
	server.Args = []string{"--author", "somebody", "--api-key=key-1234", "--token", "key-5678"}
	_, err := mcp.Connect(t.Context(), server)
	assert.ErrorContains(t, err, "stderr: somebody has [masked] and [masked]")

	h := newWeb(t)
	server = h.server()
	server.Headers = map[string]string{"Authorization": basic}
	c := connect(t, server)
	h.on["tools/call"] = func(a *asking) { a.status(http.StatusInternalServerError, "text/plain", "me, not with pass-word-1") }
	_, err = call(t, c, `{}`)
	assert.ErrorContains(t, err, "me, not with [masked]")

	// A quote in a secret does not end it where a header is taken apart.
	server.Headers = map[string]string{"X-Key": `long-start"and-the-end`}
	c = connect(t, server)
	h.on["tools/call"] = func(a *asking) {
		a.w.Header().Set("WWW-Authenticate", `Bearer error_description="no long-start"and-the-end"`)
		a.status(http.StatusUnauthorized, "", "")
	}
	_, err = call(t, c, `{}`)
	assert.ErrorContains(t, err, "no [masked]")
}

func init() {
	servers["exits with words"] = func(*mcptest.Peer) {
		words, _ := base64.StdEncoding.DecodeString(os.Getenv("WORDS"))
		os.Stderr.Write(words)
		os.Exit(5)
	}
}
