package result

// This file has the tests that need results which no server can send: too
// large, or without sense. The tables of exact values are in results_test.go of
// the package mcp.

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/seed94b59a13/mcp/internal/rpc"
	"github.com/seed94b59a13/mcp/internal/text"
)

func TestManyParts(t *testing.T) {
	r := Read(Limits{}, "tool", []byte(`{"content":[`+strings.Repeat(`"a",`, 100_000)+`"b","c"]}`), false)
	assert.Len(t, r.Parts, 100_000)
	r.Parts = nil
	assert.Equal(t, Result{Content: strings.Repeat("a\n", 100_000) + "[left out 2 more parts]"}, r)
}

// FuzzResult reads anything as a result: as the JSON text itself, as a text,
// and as an image.
func FuzzResult(f *testing.F) {
	for _, seed := range []string{
		`{"content":[{"type":"text","text":"a\u0000\ud800"}],"isError":"true"}`,
		`{"content":[{"type":"resource","resource":{"uri":"x:/a","blob":"/////w=="}},{"type":"resource_link","size":"1"}]}`,
		`{"toolResult":{"toolResult":[1]},"_meta":1}`,
		`{"resultType":"input_required","inputRequests":{"x":null,"y":{"params":{"url":"u"}}}}`,
		`{"content":[{"type":"text","text":"a","annotations":{"audience":["user"]}}],"structuredContent":{"a":1e999}}`,
		"\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e007f\x1b]8;;u\x07\r\r\n\u009b1m",
		"data:image/png;base64,iVBORw0KGgo=",
	} {
		f.Add([]byte(seed), uint16(0))
		f.Add([]byte(seed), uint16(64))
	}
	f.Fuzz(func(t *testing.T, data []byte, limit uint16) {
		limits := Limits{MaxOutput: int(limit)}
		if limit < text.Shortest {
			limits.MaxOutput = 0
		}
		inString := strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(string(data))
		for _, line := range []string{
			`{"jsonrpc":"2.0","id":1,"result":` + string(data) + `}`,
			`{"jsonrpc":"2.0","id":1,"result":{"content":["` + inString + `",{"type":"image","data":"` + inString + `"}]}}`,
			`{"jsonrpc":"2.0","id":1,"error":` + string(data) + `}`,
		} {
			m, _, err := rpc.Parse([]byte(line))
			if err != nil {
				continue
			}
			if m.Error != nil {
				check(t, Refuse(limits, Refusal(m.Error)), limits)
				continue
			}
			owned := Read(limits, "tool", m.Result, false)
			check(t, owned, limits)
			buffer := bytes.Clone(m.Result)
			lent := Read(limits, "tool", buffer, true)
			for i := range buffer {
				buffer[i] = '#' // as the next message does
			}
			check(t, lent, limits)
			for i := range lent.Parts {
				lent.Parts[i].Raw = owned.Parts[i].Raw // it is shorter
			}
			assert.Equal(t, owned, lent)
		}
	})
}

// check checks what holds for every result.
func check(t *testing.T, r Result, limits Limits) {
	assert.True(t, utf8.ValidString(r.Content))
	assert.True(t, strings.TrimSpace(r.Content) != "" || r.Content == "" && len(r.Images) > 0, "%q", r.Content)
	assert.True(t, limits.MaxOutput == 0 || len(r.Content) <= limits.MaxOutput)
	assert.True(t, r.Structured == nil || json.Valid(r.Structured))
	images := 0
	for _, part := range r.Parts {
		assert.True(t, json.Valid(part.Raw), "%q", part.Raw)
		assert.True(t, utf8.ValidString(part.Type+part.Text+part.MIMEType+part.URI))
		if part.Text == "" && part.Data != nil {
			images++
		}
	}
	assert.LessOrEqual(t, len(r.Images), images)
}
