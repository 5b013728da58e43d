package stdio

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp/internal/rpc"
)

// FuzzOutput reads any output, and then an answer: whatever was printed before
// it, the answer arrives.
func FuzzOutput(f *testing.F) {
	for _, seed := range []string{
		"log line", "{", `{"jsonrpc":"2.0","id":1,`, `[{"jsonrpc":"2.0"}]`, "\xef\xbb\xbf{}", "{\n\"a\": [\n", `{"a":"`, "\x1b[2J{{{",
		`{"jsonrpc":"2.0","id":"x","method":"ping"}`, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, output []byte) {
		start := newUTF16Reader(bytes.NewReader(output))
		start.Read(make([]byte, 1))
		if start.order != nil {
			return // the answer is not in the encoding that the output began in
		}
		r, w, err := os.Pipe()
		require.NoError(t, err)
		defer r.Close()
		go func() { // ends with the reader, which reads to the end
			defer w.Close()
			w.Write(output)
			io.WriteString(w, "\n"+`{"jsonrpc":"2.0","id":1,"result":{"x":7}}`+"\n")
		}()
		call := rpc.NewCall("x", nil)
		pending := &rpc.Pending{}
		pending.Expect(call)
		c := &Conn{
			Config:  Config{Process: make(sleeper), Stdout: r, Limit: 1 << 16, Pending: pending},
			replies: make(chan []byte, queued),
		}
		c.receive()
		_, _, ok := call.Outcome()
		require.True(t, ok, "the answer was lost")
		require.LessOrEqual(t, len(c.Warnings()), 5, "four kinds, and what the process says")
	})
}

// The stack does not grow with what is on one line: with a call for each
// message behind another, this ends the process.
func TestManyMessagesOnALine(t *testing.T) {
	const n = 825_000
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	go func() { // ends with the reader, which reads to the end
		defer w.Close()
		io.WriteString(w, strings.Repeat(`x{"id":0,"result":0}`, n))
		io.WriteString(w, "\n"+`{"jsonrpc":"2.0","id":1,"result":{"x":7}}`+"\n")
	}()
	call := rpc.NewCall("x", nil)
	pending := &rpc.Pending{}
	pending.Expect(call)
	c := &Conn{
		Config:  Config{Process: make(sleeper), Stdout: r, Limit: 64 << 20, Pending: pending},
		replies: make(chan []byte, queued),
	}
	c.receive()
	_, _, ok := call.Outcome()
	assert.True(t, ok, "the answer was lost")
	assert.Equal(t, `skipped 825000 lines of output that are not JSON-RPC messages, the first: "x"`, c.Warnings()[0])
}

// A text that comes in parts is looked at once, wherever it is cut.
func TestBalance(t *testing.T) {
	for text, want := range map[string]balance{
		`{"a":[1,{"b":"}\"]\\"}`: {depth: 2}, `{"a":"\\"}`: {}, `{"a":"\"`: {depth: 1, text: true}, `hello`: {other: true}, `]`: {depth: -1},
	} {
		for size := 1; size <= len(text); size++ {
			var b balance
			for end := size; ; end += size {
				b.add([]byte(text)[:min(end, len(text))])
				if end >= len(text) {
					break
				}
			}
			want.at = len(text)
			assert.Equal(t, want, b, "%s in parts of %d", text, size)
		}
	}
	// With a look at the same bytes for each escape, this takes hours.
	text := []byte(`{"a":"` + strings.Repeat(`\"`, 8<<20) + `"}`)
	var b balance
	for end := 0; end < len(text); end += 100_000 {
		b.add(text[:end])
	}
	b.add(text)
	assert.Equal(t, balance{at: len(text)}, b)
}

// A message is found behind and before any space, without a line end.
func TestEndlessSpace(t *testing.T) {
	for name, space := range map[string]string{"spaces": " ", "line ends": "\r", "zeros": "\x00", "separators": "\u2028"} {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		go func() { // ends with the reader, which reads to the end
			defer w.Close()
			part := strings.Repeat(space, 500)
			for range 1 << 10 {
				io.WriteString(w, part)
			}
			io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"x":7}}`+space)
		}()
		call := rpc.NewCall("x", nil)
		pending := &rpc.Pending{}
		pending.Expect(call)
		c := &Conn{Config: Config{Process: make(sleeper), Stdout: r, Limit: 64 << 20, Pending: pending}, replies: make(chan []byte, queued)}
		c.receive()
		r.Close()
		_, _, ok := call.Outcome()
		assert.True(t, ok, "the answer was lost: %s", name)
	}
}

// The end of a text that comes in parts is that of the whole, wherever it is cut.
func TestEndOfAText(t *testing.T) {
	for text, want := range map[string]byte{
		"": 0, " \r\x00": 0, "a} \u2028": '}', "\u2028\u2028": 0, "}\u2028ü": "ü"[1], "x\u0085 ": 'x', "}\xff": 0xff, "\x80\x80\x80\x80": 0x80,
	} {
		for size := 1; size <= max(len(text), 1); size++ {
			var b balance
			got := b.end(nil)
			for end := size; end < len(text)+size; end += size {
				got = b.end([]byte(text)[:min(end, len(text))])
			}
			assert.Equal(t, want, got, "%q in parts of %d", text, size)
		}
	}
	// What was seen is not looked at again: that takes a quarter of an hour where
	// a server writes 64 MiB of spaces.
	text := []byte("     ")
	var b balance
	assert.Zero(t, b.end(text[:4]))
	text[3] = '}'
	assert.Zero(t, b.end(text))
}

// UTF-16 comes in parts that end anywhere, within a pair of surrogates too.
func TestUTF16InParts(t *testing.T) {
	for _, text := range []string{"{" + strings.Repeat("😀", 3000), "{x" + strings.Repeat("😀", 3000), "{\"a\":\"ü\ufffd\"}", strings.Repeat("{😀x", 2000)} {
		for name, order := range map[string]binary.AppendByteOrder{"little": binary.LittleEndian, "big": binary.BigEndian} {
			in := order.AppendUint16(nil, 0xfeff)
			for _, c := range utf16.Encode([]rune(text)) {
				in = order.AppendUint16(in, c)
			}
			for part, src := range map[string]io.Reader{"whole": bytes.NewReader(in), "bytes": iotest.OneByteReader(bytes.NewReader(in)), "halves": iotest.HalfReader(bytes.NewReader(in))} {
				out, err := io.ReadAll(newUTF16Reader(src))
				require.NoError(t, err)
				assert.Equal(t, text, string(out), "%s endian, %s", name, part)
			}
		}
	}
}
