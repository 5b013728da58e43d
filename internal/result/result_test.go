package result

// This file has the tests that need results which no server can send: too
// large, or without sense. The tables of exact values are in results_test.go of
// the package mcp.

import (
	"bytes"
	"encoding/json"
	"runtime"
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

// TestAmplification proves that no message takes more than three times its own
// memory to be read, whatever is in it.
func TestAmplification(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates as well")
	}
	const size = 2 << 20
	const most = 3*size + 1<<20 // the fixed costs are small
	many := func(start, unit, end string) []byte {
		return []byte(start + strings.Repeat(unit, (size-len(start)-len(end))/len(unit)) + end)
	}
	invalid, control := "\xff", "\x01"
	results := map[string][]byte{
		"numbers as parts":       many(`{"content":[`, `1,`, `1]}`),
		"texts as parts":         many(`{"content":[`, `"`+strings.Repeat("a", 300)+`",`, `1]}`),
		"objects as parts":       many(`{"content":[`, `{"type":"text","text":"`+strings.Repeat("a\\n", 100)+`"},`, `1]}`),
		"empty objects as parts": many(`{"content":[`, `{},`, `1]}`),
		"audiences":              many(`{"content":[{"annotations":{"audience":[`, `"user",`, `1]}}]}`),
		"an embedded list":       many(`{"content":[{"type":"resource","resource":[`, `{},`, `1]}]}`),
		"a text":                 many(`{"content":["`, "plain text ", `"]}`),
		"lines":                  many(`{"content":["`, "a line\\n", `"]}`),
		"a text that is invalid": many(`{"content":["`, invalid, `"]}`),
		"a text of controls":     many(`{"content":["`, control, `"]}`),
		"a text of separators":   many(`{"content":["`, `a\r`, `"]}`),
		"a text that is a list":  many(`{"content":[{"type":"text","text":[`, `1,`, `"`+control+`"]}]}`),
		"an unknown part":        many(`{"content":[{"type":"x","y":"`, control, `"}]}`),
		"an invalid unknown":     many(`{"content":[{"type":"x","y":"`, invalid, `"}]}`),
		"a URI":                  many(`{"content":[{"type":"resource_link","uri":"`, "u", `"}]}`),
		"an invalid type":        many(`{"content":[{"type":"`, "t", `"}]}`),
		"an image":               many(`{"content":[{"type":"image","data":"`, "AAAA", `"}]}`),
		"URL-safe base64":        many(`{"content":[{"type":"image","data":"`, "_-__", `"}]}`),
		"base64 with escapes":    many(`{"content":[{"type":"image","data":"data:;base64,`, `%41\/\n`, `"}]}`),
		"structured content":     many(`{"structuredContent":["`, control, `"]}`),
		"structured numbers":     many(`{"structuredContent":[`, `NaN,`, `1]}`),
		"an invalid value":       many(`{"structuredContent":["`, invalid, `"]}`),
		"a result of rows":       many(`{"rows":[`, `1,`, `1]}`),
		"a result of controls":   many(`["`, control, `"]`),
		"a wrapped result":       many(`{"toolResult":["`, invalid, `"]}`),
		"a flag":                 many(`{"isError":"`, control, `"}`),
		"questions":              many(`{"inputRequests":{`, `"x":{"method":"m"},`, `"x":1}}`),
	}
	for name, result := range results {
		t.Run(name, func(t *testing.T) {
			most := most
			if strings.Contains(name, "parts") || strings.Contains(name, "list") {
				most += 250 * maxParts // of a message that is not much shorter than the longest
			}
			assert.LessOrEqual(t, allocated(func() { Read(Limits{}, "tool", result, true) }), most)
		})
	}
	for name, object := range map[string][]byte{
		"data of controls":       many(`{"code":1,"message":"m","data":"`, control, `"}`),
		"invalid data":           many(`{"code":1,"message":"m","data":["`, invalid, `"]}`),
		"a message":              many(`{"code":1,"message":"`, "a", `"}`),
		"a message of controls":  many(`{"code":1,"message":"`, control, `"}`),
		"a message that is none": many(`{"code":1,"message":[`, `1,`, `1]}`),
		"a text":                 many(`"`, "a", `"`),
		"another object":         many(`{"x":[`, `1,`, `1]}`),
		"elicitations":           many(`{"code":-32042,"data":{"elicitations":[`, `{"url":"u"},`, `1]}}`),
	} {
		t.Run("an error with "+name, func(t *testing.T) {
			assert.LessOrEqual(t, allocated(func() { Refuse(Limits{}, Refusal(object)) }), most)
		})
	}
}

// TestDepth has results that nest as deeply as a message may.
func TestDepth(t *testing.T) {
	nested := strings.Repeat(`{"a":[`, 45_000) + strings.Repeat(`]}`, 45_000)
	for _, result := range []string{`{"content":[{"type":"x","y":%s}]}`, `{"content":[{"type":"text","text":%s}]}`, `{"structuredContent":%s}`, `{"rows":%s}`, `%s`,
		`{"content":[{"type":"resource","resource":{"x":%s}}]}`, `{"toolResult":{"toolResult":%s}}`, `{"content":[{"type":"image","source":%s}]}`} {
		r := Read(Limits{}, "tool", []byte(strings.Replace(result, "%s", nested, 1)), true)
		if !strings.Contains(result, "image") {
			assert.True(t, strings.Contains(r.Content, nested), result)
		}
	}
	toolResult := strings.Repeat(`{"toolResult":`, 50_000) + "1" + strings.Repeat("}", 50_000)
	assert.Contains(t, Read(Limits{}, "tool", []byte(toolResult), true).Content, `{"toolResult":1}`)
}

// allocated is how many bytes f allocates.
func allocated(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
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
