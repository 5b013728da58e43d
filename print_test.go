package mcp_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
)

const hunter = "hunter2-hunter2"

const allVerbs = "vsqxXdTtbcoOUeEfFgG"

// printed returns v as everything prints it that people print with.
func printed(t *testing.T, v any, verbs string) string {
	t.Helper()
	var out bytes.Buffer
	for _, verb := range verbs {
		for _, flags := range []string{"", "+", "#", "-", " ", "0", "+#", "20.5"} {
			fmt.Fprintf(&out, "%"+flags+string(verb)+"\n", v)
		}
	}
	fmt.Fprintln(&out, v)
	for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(handler).With("with", v).WithGroup("g").Info("connecting", "server", v, "list", []any{v}, "map", map[string]any{"v": v})
	}
	data, err := json.Marshal(map[string]any{"v": v, "list": []any{v}})
	require.NoError(t, err)
	out.Write(data)
	if data, err := xml.Marshal(v); err == nil {
		out.Write(data)
	}
	return out.String()
}

// showsNo asserts that a text has no secret in any form that a verb gives it.
func showsNo(t *testing.T, text string) {
	t.Helper()
	for _, form := range []string{hunter, hex.EncodeToString([]byte(hunter)), strings.ToUpper(hex.EncodeToString([]byte(hunter))), "104 117", "U+0068", "hunte"} {
		assert.NotContains(t, text, form)
	}
}

func TestServerPrintsNoSecrets(t *testing.T) {
	stdio := mcp.Server{Name: "x", Command: "npx", Args: []string{"--token=" + hunter}, Env: []string{"API_KEY=" + hunter, "PATH=/bin", hunter}, Dir: "/srv", Tools: []string{"a"}}
	web := mcp.Server{Name: "y", URL: "https://example.test/mcp?key=" + hunter, BearerToken: hunter, Headers: map[string]string{"X-Key": hunter, "A": hunter}}
	assert.Equal(t, `mcp.Server{Name: "x", Command: npx, Args: 1, Env: [API_KEY PATH], Dir: /srv, Tools: [a]}`, stdio.String())
	assert.Equal(t, `mcp.Server{Name: "y", URL: https://example.test/mcp, BearerToken: [masked], Headers: [A X-Key]}`, web.String())
	assert.Equal(t, web.String(), fmt.Sprintf("%d", web))
	data, err := json.Marshal(web)
	require.NoError(t, err)
	assert.JSONEq(t, `{"Name":"y","URL":"https://example.test/mcp","BearerToken":"[masked]","Headers":["A","X-Key"]}`, string(data))
	type holder struct{ Server, Pointer any }
	for _, server := range []mcp.Server{stdio, web} {
		for _, v := range []any{server, &server, []mcp.Server{server}, map[string]mcp.Server{"a": server}, holder{server, &server}, &holder{server, &server}} {
			showsNo(t, printed(t, v, allVerbs))
		}
	}
	assert.Contains(t, printed(t, web, allVerbs), "server.BearerToken=[masked]")
}

// A Connection holds what it was configured with where nothing prints it, not
// even what looks behind methods and pointers.
func TestConnectionPrintsNoSecrets(t *testing.T) {
	h := newWeb(t)
	web := h.server()
	web.URL += "?key=" + hunter
	web.Headers = map[string]string{"X-Key": hunter, "Authorization": "Bearer " + hunter}
	web.HTTPTransport = wearing{hunter, &http.Transport{DisableKeepAlives: true}}
	stdio := stdioServer(t, "arguments", "API_KEY="+hunter)
	for _, server := range []mcp.Server{web, stdio} {
		c := connect(t, server)
		_, err := call(t, c, `{}`)
		require.NoError(t, err)
		type holder struct {
			Public *mcp.Connection
			hidden *mcp.Connection
			within struct{ deep []*mcp.Connection }
			all    map[string]*mcp.Connection
		}
		v := holder{Public: c, hidden: c, all: map[string]*mcp.Connection{"c": c}}
		v.within.deep = []*mcp.Connection{c}
		for _, v := range []any{c, &c, v, &v, []any{c}, struct{ c any }{c}} {
			showsNo(t, printed(t, v, allVerbs+"pw"))
			texts := dug(v)
			assert.Contains(t, texts, "test")
			showsNo(t, strings.Join(texts, "\n"))
		}
		assert.Equal(t, strings.Replace(server.String(), "mcp.Server", "mcp.Connection", 1), fmt.Sprint(c))
	}
	stdio.Name = "other"
	all := mcp.ConnectAll(t.Context(), web, stdio)
	defer all.Close()
	require.NoError(t, all.Err())
	showsNo(t, printed(t, all, allVerbs+"pw"))
	showsNo(t, printed(t, struct{ all *mcp.Connections }{all}, allVerbs+"pw"))
	assert.Equal(t, "mcp.Connections{Servers: [test other]}", fmt.Sprint(all))

	// Nothing at all is printed, too.
	for _, v := range []any{(*mcp.Connection)(nil), (*mcp.Connections)(nil), new(mcp.Connection), new(mcp.Connections), mcp.Server{}} {
		assert.NotContains(t, printed(t, v, allVerbs), "PANIC")
	}
}

// A wearing transport has a secret of its own.
type wearing struct {
	token string
	http.RoundTripper
}

// dug returns the texts that reflection finds in v, through pointers, interfaces
// and unexported fields, as debuggers and the differences of tests do.
func dug(v any) (texts []string) {
	seen := map[reflect.Value]bool{}
	for left := []reflect.Value{reflect.ValueOf(v)}; len(left) > 0; {
		v := left[len(left)-1]
		left = left[:len(left)-1]
		if !v.IsValid() || v.Kind() == reflect.Pointer && seen[v] {
			continue
		}
		seen[v] = true
		switch v.Kind() {
		case reflect.String:
			texts = append(texts, v.String())
		case reflect.Pointer, reflect.Interface:
			left = append(left, v.Elem())
		case reflect.Struct:
			for i := range v.NumField() {
				left = append(left, v.Field(i))
			}
		case reflect.Slice, reflect.Array:
			if v.Type().Elem().Kind() == reflect.Uint8 && v.Kind() == reflect.Slice {
				texts = append(texts, string(v.Bytes()))
				continue
			}
			for i := range v.Len() {
				left = append(left, v.Index(i))
			}
		case reflect.Map:
			for key, value := range v.Seq2() {
				left = append(left, key, value)
			}
		}
	}
	return texts
}
