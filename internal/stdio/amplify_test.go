package stdio

import (
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp/internal/rpc"
)

// However a message is made, reading it allocates little more than three times
// its size, and less is there at a time: buffers that double take twice the size
// together, and the answer is lent or copied once.
func TestAmplification(t *testing.T) {
	size := 8<<20 - 64<<10 // a size that buffers which double fit
	if testing.Short() {
		size = 2<<20 - 64<<10
	}
	for name, parts := range map[string][3]string{
		"a batch of numbers":   {"[1", ",1", "]\n"},
		"a batch of messages":  {`[{"jsonrpc":"2.0","method":"x"}`, `,{"jsonrpc":"2.0","method":"x"}`, "]\n"},
		"messages on a line":   {"", `{"jsonrpc":"2.0","method":"x"}`, "\n"},
		"junk and messages":    {"", `x{"id":0,"result":0}`, "\n"},
		"an answer":            {`{"jsonrpc":"2.0","id":1,"result":"`, `xxxxxxxx`, "\"}\n"},
		"an answer in a batch": {`[{"jsonrpc":"2.0","id":1,"result":"`, `xxxxxxxx`, "\"}]\n"},
		"an answer on lines":   {"{\"jsonrpc\":\"2.0\",\"id\":1,\n\"result\":[1", "\n,1", "]}\n"},
		"an error":             {`{"jsonrpc":"2.0","id":1,"error":{"code":1,"data":"`, "\x01", "\"}}\n"},
		"open brackets":        {"", `{"a":[`, "\n"},
		"no line end":          {`{"jsonrpc":"2.0","id":1,"result":"`, `xxxxxxxx`, `"}`},
		"words":                {"", "no message ", "\n"},
		"zeros":                {"", "\x00", "\n"},
		"spaces and an end":    {"{", " ", "}\n"},
		"odd bytes":            {"", "\xff{\xfe", "\n"},
		"lines":                {"", "x\n", ""},
		"lines that are open":  {"", "{\n", ""},
		"UTF-16":               {"{\x00\"\x00a\x00\"\x00:\x00\"\x00", "x\x00", "\"\x00}\x00\n\x00"},
		"UTF-16 that is not":   {"{\x00\"\x00a\x00\"\x00:\x00\"\x00", "\x00\xd8", "\n\x00"},
		"progress":             {`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"message":"`, `\u00fc`, "\"}}\n"},
		"a long token":         {`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1,"progressToken":"`, `\n`, "\"}}\n"},
		"a log message":        {`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":[1`, `,[]`, "]}}\n"},
		"a cancellation":       {`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"`, `\"`, "\"}}\n"},
		"a question":           {`{"jsonrpc":"2.0","id":"x","method":"elicitation/create","params":{"message":"`, `\t`, "\"}}\n"},
		"a method":             {`{"jsonrpc":"2.0","id":1,"method":"`, `\u0001`, "\"}\n"},
		"an id":                {`{"jsonrpc":"2.0","method":"ping","id":"`, `\u0001`, "\"}\n"},
		"the id of an answer":  {`{"jsonrpc":"2.0","result":{},"id":"`, `\u0001`, "\"}\n"},
		"an answer to nobody":  {`{"jsonrpc":"2.0","id":9,"result":{"content":[{"text":"`, `\u0001`, "\"}]}}\n"},
		"an error of nobody":   {`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"`, `\u0001`, "\"}}\n"},
		"the same key":         {`{"jsonrpc":"2.0","id":1`, `,"id":1`, "}\n"},
		"a request sent back":  {`{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"`, `\u0001`, "\"}}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r, w, err := os.Pipe()
			require.NoError(t, err)
			defer r.Close()
			text := parts[0] + strings.Repeat(parts[1], size/len(parts[1])) + parts[2]
			go func() { // ends with the reader, which reads to the end
				defer w.Close()
				io.WriteString(w, text)
			}()
			call := rpc.NewCall("x", nil)
			pending := &rpc.Pending{}
			pending.Expect(call)
			c := &Conn{Config: Config{Stdout: r, Limit: 64 << 20, Pending: pending}, replies: make(chan []byte, queued)}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			c.receive()
			runtime.ReadMemStats(&after)
			decoded, err := io.ReadAll(newUTF16Reader(strings.NewReader(text))) // mostly the same
			require.NoError(t, err)
			ratio := float64(after.TotalAlloc-before.TotalAlloc) / float64(max(len(text), len(decoded)))
			t.Logf("%.2f", ratio)
			assert.LessOrEqual(t, ratio, 3.3)
		})
	}
}
