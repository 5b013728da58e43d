package rpc

// This file tests the search for messages in any output.

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// found tells what [Messages] yields: the ids and methods of messages, and in
// quotes what is none.
func found(text string) (all []string) {
	for m, skipped := range Messages([]byte(text)) {
		if skipped != nil {
			all = append(all, fmt.Sprintf("%q", skipped))
		} else {
			all = append(all, string(m.ID)+m.Method)
		}
	}
	return all
}

func TestMessages(t *testing.T) {
	const a, b = `{"jsonrpc":"2.0","id":1,"result":{"x":{}}}`, `{"jsonrpc":"2.0","method":"b"}`
	for text, want := range map[string][]string{
		"":                            nil,
		" \r\n\x00":                   nil,
		a:                             {"1"},
		"\x1e" + a + "\n":             {"1"},
		a + "\r" + b + "\x00" + a:     {"1", "b", "1"},
		"> " + a + b + " done":        {`"> "`, "1", "b", `"done"`},
		"[" + a + `, 5,[],` + b + "]": {"1", `"5"`, `"[]"`, "b"},
		"[" + a + "] [" + b + "]":     {"1", "b"},
		"[INFO] " + a:                 {`"[INFO] "`, "1"},
		`{"a":{"b":[` + a:             {`"{\"a\":{\"b\":["`, "1"},
		strings.Repeat("{", 99) + b:   {`"` + strings.Repeat("{", 99) + `"`, "b"},
		// A log line that quotes messages sends none.
		`{"level":"debug","sent":` + a + `}` + b: {`"{\"level\":\"debug\",\"sent\":{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"x\":{}}}}"`, "b"},
	} {
		assert.Equal(t, want, found(text), text)
	}
}

// However a line is made, it takes time in proportion to its length, next to no
// memory and no stack: with one of these faults, a test takes minutes or ends
// the process.
func TestMessagesBound(t *testing.T) {
	const size = 2 << 20
	for _, piece := range []string{
		`x{"id":0,"result":0}`, `{"id":0,"result":0}`, `{"id":0,"result":0},`, `{"k":[{"id":0,"result":0},`, `{"k":[`, `{"k":`, `{`, `[`, `{"`, `{"{`, `{"\"{`, `{"\x{`, `{"a":"`,
		`1,`, `[],`, `{},`, "{ ", " ", "\x00", "{}", "{\"a\":\xff", `{"jsonrpc":`, `"id":1,`, `x`, `]`, `[{`, `{"id":1,"error":{"a":1,"b":`, `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("\xff", 500) + `"}`,
	} {
		for _, ends := range []string{"", "[1]", `{"id":[1]}`} {
			first, last := ends, ""
			if i := strings.IndexByte(ends, '1'); i >= 0 {
				first, last = ends[:i], ends[i+1:]
			}
			text := []byte(first)
			text = append(text, bytes.Repeat([]byte(piece), size/len(piece))...)
			text = append(text, last...)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			n := 0
			for range Messages(text) {
				n++
			}
			FindID(text, text)
			runtime.ReadMemStats(&after)
			if !raceEnabled {
				assert.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(3*size), "%s%s…", first, piece)
			}
		}
	}
}
