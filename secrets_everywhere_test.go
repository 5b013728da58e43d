package mcp_test

// This file has servers that say their secret wherever they can say something.

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
)

// token is a secret that every encoder has to change.
const token = `tok/sec"ret<1>&Zz9+k=w`

func tokenSpellings() map[string]string {
	quoted, _ := json.Marshal(token)
	escaped := ""
	for _, c := range token {
		escaped += fmt.Sprintf(`\u%04X`, c)
	}
	return map[string]string{
		"as it is": token,
		"JSON":     string(quoted[1 : len(quoted)-1]),
		"escapes":  escaped,
		"percent":  url.QueryEscape(token),
		"HTML":     html.EscapeString(token),
		"base64":   base64.StdEncoding.EncodeToString([]byte("user:" + token)),
		"hidden":   token[:5] + "\x1b[1m\u200b" + token[5:],
		"late":     strings.Repeat("-", 500) + token,
	}
}

// everythingOf returns all that is shown of a connection to the server, in use.
func everythingOf(t *testing.T, server mcp.Server) (texts []string) {
	add := func(err error) {
		isFitToShow(t, err)
		for left := []error{err}; len(left) > 0; {
			e := left[0]
			if left = left[1:]; e == nil {
				continue
			}
			texts = append(texts, fmt.Sprintf("%v %+v %#v %q", e, e, e, e))
			var refusal *mcp.HTTPError
			if errors.As(e, &refusal) {
				texts = append(texts, refusal.Body, fmt.Sprint(refusal.Header))
			}
			switch e := e.(type) {
			case interface{ Unwrap() error }:
				left = append(left, e.Unwrap())
			case interface{ Unwrap() []error }:
				left = append(left, e.Unwrap()...)
			}
		}
	}
	// Not what is tested: a server that never answers costs it all.
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	c, err := mcp.Connect(ctx, server)
	if add(err); err != nil {
		return texts
	}
	for range 2 {
		if tools := c.Tools(); len(tools) > 0 {
			_, err := tools[0].Handler(ctx, []byte(`{"a":1}`))
			add(err)
		}
		add(c.RefreshTools(ctx))
	}
	texts = append(texts, fmt.Sprintf("%+v %v", c.Info(), c))
	add(c.Close())
	add(c.Err())
	return append(texts, c.Warnings()...)
}

func showsNoToken(t *testing.T, texts []string, spelling, where string) {
	t.Helper()
	for _, text := range texts {
		for _, text := range []string{text, strings.ReplaceAll(text, `\"`, `"`)} { // %q
			if strings.Contains(text, token) || strings.Contains(text, strings.TrimLeft(spelling, "-")) {
				t.Errorf("%s: %s", where, text)
			}
		}
	}
}

// replies are answers over HTTP, from behind the version in the status line on:
// $S stands for the secret, $Q for it in quotes, $ID for the id of the request.
var replies = map[string]string{
	"a body":              "500 x\r\n\r\nfault: $S",
	"a refusal":           "400 x\r\n\r\n$S",
	"a page":              "200 x\r\nContent-Type: text/html\r\n\r\n<html><title>$S</title>$S",
	"a challenge":         "401 x\r\nWWW-Authenticate: Bearer realm=\"$S\", error=\"$S\", error_description=\"no $S\", resource_metadata=\"http://x.test/$S\"\r\n\r\n",
	"a redirect":          "307 x\r\nLocation: http://other.test/$S?a=$S\r\n\r\n",
	"a redirect here":     "303 x\r\nLocation: /$S\r\n\r\n",
	"a broken redirect":   "307 x\r\nLocation: http://[$S\r\n\r\n",
	"a content type":      "200 x\r\nContent-Type: $S\r\n\r\nx",
	"an encoding":         "200 x\r\nContent-Type: application/json\r\nContent-Encoding: $S\r\n\r\n$S",
	"a time to wait":      "429 x\r\nRetry-After: $S\r\n\r\n$S",
	"a status":            "418 $S\r\n\r\n",
	"a status line":       "$S\r\n\r\n",
	"a header":            "200 x\r\n$S\r\n\r\n",
	"a transfer encoding": "200 x\r\nTransfer-Encoding: $S\r\n\r\n",
	"a length":            "200 x\r\nContent-Length: $S\r\n\r\n",
	"a chunk":             "200 x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n$S\r\n",
	"half an answer":      "200 x\r\nContent-Type: application/json\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":$Q",
	"an event":            "200 x\r\nContent-Type: text/event-stream\r\n\r\nevent: $S\nid: $S\nretry: $S\ndata: $S\n\n",
	"a question":          "200 x\r\nContent-Type: text/event-stream\r\n\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":$Q,\"method\":$Q,\"params\":{\"x\":$Q}}\n\n",
}

// results are what a server answers with as JSON, over HTTP and stdio.
var results = map[string]string{
	"an error":          `"id":$ID,"error":{"code":-32000,"message":$Q,"data":{"a":[$Q]}}`,
	"an odd error":      `"id":$ID,"error":{"code":$Q,"message":{"x":$Q}}`,
	"an error of words": `"id":$ID,"error":$Q`,
	"another id":        `"id":$Q,"error":{"code":1,"message":$Q}`,
	"no id":             `"id":null,"error":{"code":1,"message":$Q}`,
	"a text":            `"id":$ID,"result":$Q`,
	"a version":         `"id":$ID,"result":{"protocolVersion":$Q,"supportedVersions":[$Q],"capabilities":{"tools":{}}}`,
	"names":             `"id":$ID,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":$Q,"title":$Q,"version":$Q}}`,
	"odd members":       `"id":$ID,"result":{"protocolVersion":"2025-11-25","capabilities":$Q,"serverInfo":$Q,"instructions":[$Q]}`,
	"a list": `"id":$ID,"result":{"tools":[{"name":$Q},{"name":$Q},{"name":"a","inputSchema":$Q},{"name":[$Q]},$Q,` +
		`{"name":"b","inputSchema":{"type":$Q,$Q:{"$ref":$Q},"properties":{$Q:{"type":$Q,"pattern":$Q,"$ref":$Q}},"required":$Q}},` +
		`{"name":"c","annotations":$Q,"outputSchema":$Q,"title":[$Q],"description":{"x":$Q},"execution":{"taskSupport":$Q}}],"nextCursor":$Q}`,
}

// filled returns a template with the secret.
func filled(template, spelling, id string) string {
	quoted, _ := json.Marshal(spelling)
	line := strings.Map(func(r rune) rune {
		if r < ' ' {
			return -1
		}
		return r
	}, spelling)
	return strings.NewReplacer("$S", line, "$Q", string(quoted), "$ID", id).Replace(template)
}

// Whatever a server says its secret in, and in whatever spelling, no error and no
// warning has it.
func TestSecretsEverywhere(t *testing.T) {
	all := map[string]string{}
	for name, result := range results {
		all[name] = "200 x\r\nContent-Type: application/json\r\n\r\n{\"jsonrpc\":\"2.0\"," + result + "}"
	}
	for name, reply := range replies {
		all[name] = reply
	}
	spellings := tokenSpellings()
	if testing.Short() {
		spellings = map[string]string{"JSON": spellings["JSON"], "hidden": spellings["hidden"]}
	}
	h := newWeb(t)
	for name, reply := range all {
		for how, spelling := range spellings {
			for _, step := range []string{"initialize", "tools/list", "tools/call"} {
				h.now(step, func(a *asking) {
					conn, _, err := a.w.(http.Hijacker).Hijack()
					if err == nil {
						fmt.Fprint(conn, "HTTP/1.1 "+strings.Replace(filled(reply, spelling, string(a.ID)), "\r\n", "\r\nConnection: close\r\n", 1))
						conn.Close()
					}
				})
				server := h.server()
				server.BearerToken = token
				showsNoToken(t, everythingOf(t, server), spelling, name+" in the answer to "+step+": "+how)
				h.now(step, nil)
			}
		}
	}
}

func init() {
	servers["says its secret"] = func(p *mcptest.Peer) { // in a template, to a method; or elsewhere
		secret, _ := base64.StdEncoding.DecodeString(os.Args[3])
		method, template := os.Args[1], filled(os.Args[2], string(secret), "$ID")
		switch method {
		case "stderr":
			fmt.Fprint(os.Stderr, string(secret)+"\nlast words")
			os.Exit(1)
		case "stdout":
			p.Print(string(secret) + "\n")
		default:
			p.On[method] = func(r mcptest.Request) {
				p.Print(`{"jsonrpc":"2.0",` + strings.ReplaceAll(template, "$ID", string(r.ID)) + "}\n")
				if !strings.Contains(template, "$ID") {
					p.Reply(r, `{"content":[],"tools":[]}`)
				}
			}
		}
		p.Serve()
	}
}

func TestSecretsEverywhereOverStdio(t *testing.T) {
	templates := map[string]string{
		"a question":       `"id":"q","method":"elicitation/create","params":{"message":$Q,"mode":$Q,"requestedSchema":{"properties":{$Q:{"type":$Q}}}}`,
		"a form":           `"id":"q","method":"elicitation/create","params":{"message":$Q,"requestedSchema":{"type":"object","properties":{$Q:{"type":"string"}},"required":[$Q]}}`,
		"another question": `"id":$Q,"method":$Q,"params":$Q`,
		"a notification":   `"method":"notifications/progress","params":{"progressToken":$Q,"message":$Q}`,
	}
	for name, result := range results {
		templates[name] = result
	}
	spellings := tokenSpellings()
	maps.DeleteFunc(spellings, func(how, _ string) bool {
		return how != "escapes" && (testing.Short() || how != "late" && how != "base64") // each starts many processes
	})
	server := stdioServer(t, "says its secret", "API_KEY="+token, "DB=postgres://me:"+url.QueryEscape(token)+"@db.test/x")
	server.StopTimeout = 100 * time.Millisecond
	server.Elicit = func(context.Context, mcp.Question) (json.RawMessage, error) {
		return json.RawMessage(`{"other":1}`), nil
	}
	try := func(where, template, how, spelling string) {
		server.Args = []string{where, template, base64.StdEncoding.EncodeToString([]byte(spelling))}
		showsNoToken(t, everythingOf(t, server), spelling, template+" in the answer to "+where+": "+how)
	}
	for how, spelling := range spellings {
		try("stderr", "", how, spelling)
		try("stdout", "", how, spelling)
		for name, template := range templates {
			for _, method := range []string{"initialize", "tools/list", "tools/call"} {
				nameless := name == "no id" || name == "another id" // which a call waits a second for
				if method == "tools/call" && !nameless || method == "initialize" && nameless || strings.Contains(template, "$ID") {
					try(method, template, how, spelling)
				}
			}
		}
	}
}
