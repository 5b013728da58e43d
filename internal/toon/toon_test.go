package toon

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEncode(t *testing.T) {
	for json, want := range map[string]string{
		`{"a":[{"x":1,"y":"b"},{"y":2,"x":3}]}`:                 "a[2]{x,y}:\n  1,b\n  3,2",
		`{"a":{"p":{"x":1},"q":{"x":2}}}`:                       "a[2:]{x}:\n  p: 1\n  q: 2",
		`[[],{},[1,2],{"a":{"k":{"x":1},"l":{"x":2}}}]`:         "[4]:\n  - [0]:\n  -\n  - [2]: 1,2\n  - a[2:]{x}:\n      k: 1\n      l: 2",
		`[{"a":{"b":1,"c":{"d":2}}},{"a":{"c":{"d":3},"b":1}}]`: "[2]{a{b,c{d}}}:\n  1,2\n  1,3",
		`{"n":12345678901234567890.10,"m":1E2,"z":-0.0}`:        "n: 12345678901234567890.1\nm: 100\nz: 0",
		`{"a":1,"a":2}`:                 "a: 1\na: 2",
		`[{"a":1,"a":2},{"a":1,"a":2}]`: "[2]:\n  - a: 1\n    a: 2\n  - a: 1\n    a: 2",
		`{}`:                            "",
		`[]`:                            "[]",
	} {
		text, ok := Encode([]byte(json), 1<<20)
		assert.True(t, ok)
		assert.Equal(t, want, text, json)
	}
	for _, json := range []string{strings.Repeat("[", 129) + strings.Repeat("]", 129), strings.Repeat(`{"a":`, 129) + "1" + strings.Repeat("}", 129)} {
		_, ok := Encode([]byte(json), 1<<20)
		assert.False(t, ok, "nested too deeply")
	}
	_, ok := Encode([]byte(`{"a":"bbbbbbbb"}`), 5)
	assert.False(t, ok)
}

// random returns a value as JSON, mostly such as makes tables. No name is a number:
// JavaScript would put it first.
func random(r *rand.Rand, depth int) string {
	texts := []string{`"a"`, `""`, `" b"`, `"true"`, `"05"`, `"1e5"`, `"-x"`, `"#c"`, `"a:b"`, `"a,b"`, `"é\u0001"`, `"\n\t\"\\"`, `"[x"`, `"名 前"`, `"\ud83d\ude00"`,
		"0", "-1", "1.5", "1e21", "1e-7", "123456", "-0", "1E3", "0.000001", "true", "false", "null"}
	names := []string{"a", "b", "c d", "e.f", "", "9x", "_g", "h-i", "名"}
	kind := r.IntN(4)
	switch n := r.IntN(4); {
	case depth == 0 || kind == 0:
		return texts[r.IntN(len(texts))]
	case kind == 1:
		var items []string
		one := random(r, depth-1)
		for range n {
			if r.IntN(3) == 0 {
				one = random(r, depth-1)
			}
			items = append(items, one)
		}
		return "[" + strings.Join(items, ",") + "]"
	default:
		var members []string
		one := random(r, depth-1)
		for _, i := range r.Perm(len(names))[:n] {
			if r.IntN(2) == 0 {
				one = random(r, depth-1)
			}
			name, _ := json.Marshal(names[i])
			members = append(members, string(name)+":"+one)
		}
		return "{" + strings.Join(members, ",") + "}"
	}
}

// TestReference compares with the encoder of those who made the format, byte for
// byte.
func TestReference(t *testing.T) {
	cache := os.Getenv("MCP_TEST_CACHE")
	if cache == "" {
		dir, err := os.UserCacheDir()
		require.NoError(t, err)
		cache = filepath.Join(dir, "mcp-test")
	}
	dir := filepath.Join(cache, "npm")
	if _, err := os.Stat(filepath.Join(dir, "node_modules/@toon-format/toon")); err != nil {
		t.Skip("@toon-format/toon is not installed: .ci/servers does it")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not there")
	}
	r := rand.New(rand.NewPCG(1, 2))
	var values []string
	for i := range 20_000 {
		if value := random(r, 1+i%6); value[0] == '{' || value[0] == '[' {
			values = append(values, value)
		}
	}
	const script = `import {encode} from '@toon-format/toon'
import {createInterface} from 'node:readline'
for await (const line of createInterface({input: process.stdin})) console.log(JSON.stringify(encode(JSON.parse(line))))`
	command := exec.CommandContext(t.Context(), node, "--input-type=module", "-e", script)
	command.Dir = dir
	command.Stdin = strings.NewReader(strings.Join(values, "\n") + "\n")
	var stderr bytes.Buffer
	command.Stderr = &stderr
	output, err := command.Output()
	require.NoError(t, err, stderr.String())
	lines := bufio.NewScanner(bytes.NewReader(output))
	for _, value := range values {
		require.True(t, lines.Scan())
		var want string
		require.NoError(t, json.Unmarshal(lines.Bytes(), &want))
		text, ok := Encode([]byte(value), 1<<20)
		require.True(t, ok)
		require.Equal(t, want, text, value)
	}
}

func FuzzEncode(f *testing.F) {
	f.Add([]byte(`{"a":[{"x":1},{"x":"\ud800"}]}`), 100)
	f.Fuzz(func(t *testing.T, data []byte, limit int) {
		if json.Valid(data) {
			text, ok := Encode(bytes.TrimSpace(data), limit)
			assert.True(t, !ok || len(text) <= limit)
		}
	})
}

// Twice the input takes about twice the time, whatever is nested.
func BenchmarkEncode(b *testing.B) {
	deep := strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100)
	for _, n := range []int{500, 1000} {
		for kind, row := range map[string]string{"deep": deep, "mixed": `{"id":1,"name":"x","tags":[1,{"a":[{"b":2}]}]}`} {
			data := []byte("[" + strings.Repeat(row+",", n) + row + "]")
			b.Run(fmt.Sprint(kind, " ", n), func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				for b.Loop() {
					Encode(data, len(data))
				}
			})
		}
	}
}
