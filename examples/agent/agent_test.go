package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
)

func TestMain(m *testing.M) {
	mcptest.Main(map[string]func(*mcptest.Peer){"scripted": scripted})
	os.Exit(m.Run())
}

var dot = base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89"))

// scripted answers text and picture when both have been called, unless text
// is alone, and hang never. With a call of ask it asks its user what the
// arguments say and answers with the answer; exit ends it.
func scripted(p *mcptest.Peer) {
	p.Tools = os.Args[1]
	p.Initialize = strings.Replace(p.Initialize, "scripted", "tester", 1) // its environment has the former: it is masked
	if strings.Contains(p.Tools, `"ask"`) {
		p.Initialize = strings.Replace(p.Initialize, `"serverInfo"`, `"instructions":"Ask first.","serverInfo"`, 1)
	}
	var asking mcptest.Request
	p.On[""] = func(r mcptest.Request) { p.Reply(asking, mcptest.Text(string(r.Result))) }
	var text, picture *mcptest.Request
	p.Call = func(r mcptest.Request) {
		if token := r.Params.Meta.ProgressToken; token != nil {
			p.Print(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + string(token) + `,"progress":1,"total":2,"message":"half"}}` + "\n")
		}
		switch r.Params.Name {
		case "text":
			text = &r
			if string(r.Params.Arguments) == `{"alone":true}` {
				picture = text
			}
		case "picture":
			picture = &r
		case "ask":
			asking = r
			p.Print(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":` + string(r.Params.Arguments) + "}\n")
		case "exit":
			os.Exit(1)
		}
		if text == nil || picture == nil {
			return
		}
		p.Reply(*text, mcptest.Text("a text"))
		if picture != text {
			p.Reply(*picture, `{"content":[{"type":"text","text":"half a picture"},{"type":"image","mimeType":"image/png","data":"`+dot+`"}],"isError":true}`)
		}
		text, picture = nil, nil
	}
	p.Serve()
}

const tools = `[{"name":"text","annotations":{"readOnlyHint":true}},{"name":"picture"},{"name":"hang"}]`

// play runs the agent against a model that gives the replies, one for each
// request, and returns what the agent printed and the requests.
func play(t *testing.T, a *agent, tools, typed string, replies ...string) (printed string, requests []string) {
	t.Helper()
	return playFrom(t, a, tools, strings.NewReader(typed), replies...)
}

func playFrom(t *testing.T, a *agent, tools string, typed io.Reader, replies ...string) (printed string, requests []string) {
	t.Helper()
	mcptest.NoLeaks(t)
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		assert.Equal(t, "/v1/chat/completions", r.URL.Path)
		assert.Equal(t, "Bearer key", r.Header.Get("Authorization"))
		requests = append(requests, string(body))
		if len(requests) > len(replies) {
			http.Error(w, `{"error":"no more"}`, http.StatusTeapot)
			return
		}
		fmt.Fprintf(w, `{"choices":[{"message":%s}]}`, replies[len(requests)-1])
	}))
	defer endpoint.Close()
	defer http.DefaultClient.CloseIdleConnections()
	output := &screen{seen: a.out}
	a.baseURL, a.model, a.key, a.out = endpoint.URL+"/v1", "m", "key", output
	if a.approvedFile == "" {
		a.approvedFile = filepath.Join(t.TempDir(), "approved.json")
	}
	if a.approved == nil {
		a.approved = map[string]string{}
	}
	command, env := mcptest.Command(t, "scripted")
	a.run(t.Context(), []mcp.Server{{Name: "s", Command: command, Args: []string{tools}, Env: env}}, typed)
	return output.String(), requests
}

// A screen keeps what is printed and hands it on.
type screen struct {
	mu   sync.Mutex
	text strings.Builder
	seen io.Writer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen != nil {
		s.seen.Write(p)
	}
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

type writerFunc func(p []byte)

func (f writerFunc) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}

func calling(calls ...string) string {
	var parts []string
	for _, call := range calls {
		id, rest, _ := strings.Cut(call, " ")
		name, arguments, _ := strings.Cut(rest, " ")
		quoted, _ := json.Marshal(arguments)
		parts = append(parts, fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}`, id, name, quoted))
	}
	return `{"role":"assistant","content":null,"reasoning":"kept","tool_calls":[` + strings.Join(parts, ",") + `]}`
}

func TestConversation(t *testing.T) {
	first := calling("1 mcp__s__text {}", "2 mcp__s__picture {}")
	second := calling(`3 mcp__s__text {"alone":true}`, "4 mcp__s__picture {}", "5 mcp__gone__x {}")
	a := &agent{}
	printed, requests := play(t, a, tools, "do it\na\ny\nagain\nn\n", first, `{"role":"assistant","content":"Fine."}`, second, `{"role":"assistant","content":"Bye."}`)

	require.Len(t, requests, 4)
	assert.JSONEq(t, `{"model": "m", "messages": [{"role": "user", "content": "do it"}], "tools": [
		{"type": "function", "function": {"name": "mcp__s__text", "description": "Tool text from the MCP server s.", "parameters": {"type": "object", "properties": {}}}},
		{"type": "function", "function": {"name": "mcp__s__picture", "description": "Tool picture from the MCP server s.", "parameters": {"type": "object", "properties": {}}}},
		{"type": "function", "function": {"name": "mcp__s__hang", "description": "Tool hang from the MCP server s.", "parameters": {"type": "object", "properties": {}}}}
	]}`, requests[0])
	var last struct{ Messages json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(requests[3]), &last))
	assert.JSONEq(t, `[
		{"role": "user", "content": "do it"},
		`+first+`,
		{"role": "tool", "tool_call_id": "1", "content": "a text"},
		{"role": "tool", "tool_call_id": "2", "content": "The tool failed: half a picture\n[image 1 of the user's message below]"},
		{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,`+dot+`"}}]},
		{"role": "assistant", "content": "Fine."},
		{"role": "user", "content": "again"},
		`+second+`,
		{"role": "tool", "tool_call_id": "3", "content": "a text"},
		{"role": "tool", "tool_call_id": "4", "content": "The tool failed: the user did not allow the call"},
		{"role": "tool", "tool_call_id": "5", "content": "The tool failed: there is no tool \"mcp__gone__x\""}
	]`, string(last.Messages))

	for _, want := range []string{
		"> mcp__s__text {}\n" + `the server's hints: {"ReadOnly":true,"Destructive":null,"Idempotent":null,"OpenWorld":null}` + "\nallow? (y)es, (a)lways, (n)o: ",
		"mcp__s__picture {}\nthe server's hints: null\nallow? ",
		"mcp__s__text: 1/2 half\n",
		"mcp__s__picture: ended, error=true, 14 bytes, 1 images\n",
		"Fine.\n> ",
		"Bye.\n> ",
	} {
		assert.Contains(t, printed, want)
	}
	assert.Equal(t, 3, strings.Count(printed, "allow?"), "text once, picture twice")

	file, err := os.ReadFile(a.approvedFile)
	require.NoError(t, err)
	var approved map[string]string
	require.NoError(t, json.Unmarshal(file, &approved))
	assert.Equal(t, a.approved, approved)
	assert.Len(t, approved, 1)
	assert.Regexp(t, "^v1:", approved["mcp__s__text"])

	// A tool that is not the same any more is asked for again.
	for changed, asked := range map[string]bool{tools: false, strings.Replace(tools, "true", "false", 1): true} {
		again := &agent{approved: approved, approvedFile: a.approvedFile}
		printed, _ := play(t, again, changed, "do it\nn\n", calling(`1 mcp__s__text {"alone":true}`), `{"content":"Done."}`, `{"content":"Done."}`)
		assert.Equal(t, asked, strings.Contains(printed, "it has CHANGED since you approved it\nallow?"))
		assert.Equal(t, asked, !strings.Contains(printed, "mcp__s__text: started"))
	}
}

func TestInterrupts(t *testing.T) {
	a := &agent{interrupts: make(chan os.Signal, 1)}
	a.out = writerFunc(func(p []byte) {
		if strings.HasSuffix(string(p), "half\n") {
			a.interrupts <- os.Interrupt
		}
	})
	printed, requests := play(t, a, tools, "go\na\n", calling("1 mcp__s__hang {}"), calling("2 mcp__s__hang {}"))
	require.Len(t, requests, 2, "the first interrupt goes on, the second ends")
	assert.Contains(t, requests[1], `{"content":"The tool failed: mcp server \"s\": calling tool \"hang\": context canceled","role":"tool","tool_call_id":"1"}`)
	assert.Equal(t, 2, strings.Count(printed, "half\n"))
}

// An interrupt at the prompt ends, one at a question means no.
func TestInterruptedQuestions(t *testing.T) {
	a := &agent{interrupts: make(chan os.Signal, 1)}
	prompts := 0
	a.out = writerFunc(func(p []byte) {
		if strings.HasPrefix(string(p), "allow?") || string(p) == "> " && prompts > 0 {
			a.interrupts <- os.Interrupt
		}
		if string(p) == "> " {
			prompts++
		}
	})
	reader, writer := io.Pipe() // it stays open
	go writer.Write([]byte("go\n"))
	defer writer.Close()
	_, requests := playFrom(t, a, tools, reader, calling("1 mcp__s__hang {}"), `{"content":"Well."}`)
	require.Len(t, requests, 2)
	assert.Contains(t, requests[1], "the user did not allow the call")
}

func TestEndpointFails(t *testing.T) {
	printed, requests := play(t, &agent{}, tools, "go\nagain\n")
	assert.Len(t, requests, 2)
	assert.Equal(t, "s: tester 1, protocol 2025-11-25, 3 tools\n"+strings.Repeat("> the model's endpoint: 418 I'm a teapot \"no more\"\n", 2)+"> ", printed)
}

// result returns what the model was told of its only call.
func result(t *testing.T, request string) string {
	t.Helper()
	var sent struct {
		Messages []struct{ Role, Content string }
	}
	require.NoError(t, json.Unmarshal([]byte(request), &sent))
	last := sent.Messages[len(sent.Messages)-1]
	require.Equal(t, "tool", last.Role)
	return last.Content
}

func TestQuestions(t *testing.T) {
	const form = `{"message":"Who are you?","requestedSchema":{"type":"object","required":["name"],"properties":{
		"name":{"type":"string","title":"Your name"},
		"age":{"type":"integer","default":7},
		"color":{"type":"string","enum":["red","blue"]},
		"sure":{"type":"boolean"},
		"tags":{"type":"array","items":{"type":"string","enum":["a","b","c"]}}}}}`
	secret := func(field string) string {
		return `{"message":"Please.","requestedSchema":{"type":"object","properties":{` + field + `}}}`
	}
	const asks = `the server "s", for its tool "ask", asks: `
	for _, c := range []struct {
		name, asked, typed, want string
		shown                    []string
	}{
		{"sent", form, "Ada\n\n\n\n\ns\n", `{"action":"accept","content":{"age":7,"name":"Ada"}}`, []string{
			asks + "Who are you?\nname (string; required; Your name): age (integer; empty for 7): color (string; one of red, blue): sure (boolean): ",
			`to be sent to "s": {"age":7,"name":"Ada"}` + "\n(s)end, (e)dit, (n)o: "}},
		{"corrected", form, "\nAdda\nold\n36\ngreen\nred\nperhaps\ny\nd\na, c\ne\nAda\n\n\n\n\ns\n",
			`{"action":"accept","content":{"age":36,"color":"red","name":"Ada","sure":true,"tags":["a","c"]}}`, []string{
				"name is required\n", "age must be a number\n", `color must not be "green"`, "sure must be yes or no\n", `tags must not be "d"`,
				`name (string; required; Your name; empty for "Adda"): `}},
		{"declined", form, "Ada\n\n\n\n\nn\n", `{"action":"decline"}`, nil},
		{"password", secret(`"user":{"type":"string"},"word":{"type":"string","title":"Your Password"}`), "", `{"action":"decline"}`, []string{"word: " + refusal}},
		{"key", secret(`"apiKey":{"type":"string"}`), "", `{"action":"decline"}`, []string{"apiKey: " + refusal}},
		{"no secret", secret(`"maxTokens":{"type":"integer"}`), "5\ns\n", `{"action":"accept","content":{"maxTokens":5}}`, nil},
		{"address", `{"mode":"url","message":"Log in.","elicitationId":"1","url":"https://example.com/?a=b"}`, "y\n", `{"action":"accept"}`,
			[]string{asks + "Log in.\nopen this address yourself, if you trust it: https://example.com/?a=b\nagree? (y)es, (n)o: "}},
		{"address declined", `{"mode":"url","message":"Log in.","elicitationId":"1","url":"https://example.com/"}`, "\n", `{"action":"decline"}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			printed, requests := play(t, &agent{}, `[{"name":"ask"}]`, "go\ny\n"+c.typed, calling("1 mcp__s__ask "+strings.ReplaceAll(c.asked, "\n", "")), `{"content":"Done."}`)
			require.Len(t, requests, 2)
			assert.Contains(t, requests[0], `{"content":"What the MCP servers say about their use:\n`)
			assert.Contains(t, requests[0], `Ask first.`)
			assert.JSONEq(t, c.want, result(t, requests[1]))
			for _, want := range c.shown {
				assert.Contains(t, printed, want)
			}
		})
	}
}

// A server that has ended is started again, and the model is told.
func TestRestart(t *testing.T) {
	const alone = `mcp__s__text {"alone":true}`
	printed, requests := play(t, &agent{}, `[{"name":"text"},{"name":"exit"}]`, "go\na\na\n/status\n",
		calling("1 "+alone), calling("2 mcp__s__exit {}"), calling("3 "+alone), `{"content":"Done."}`)
	require.Len(t, requests, 4)
	assert.Equal(t, "a text", result(t, requests[1]))
	assert.Contains(t, result(t, requests[2]), "The tool failed: mcp server")
	assert.Regexp(t, `^\[.+\]\na text$`, result(t, requests[3]))
	assert.Contains(t, printed, "Done.\n> s: tester 1, protocol 2025-11-25, 2 tools\nwarning: ")
}

func TestTurnsAreBounded(t *testing.T) {
	var replies []string
	for range maxTurns + 1 {
		replies = append(replies, calling(`1 mcp__s__text {"alone":true}`))
	}
	printed, requests := play(t, &agent{}, tools, "go\na\n", replies...)
	assert.Len(t, requests, maxTurns)
	assert.Contains(t, printed, "\nstopped after 50 turns without an answer: say how to go on\n> ")
}

func TestConfigure(t *testing.T) {
	a := &agent{}
	plain, own := mcp.Server{}, mcp.Server{CallTimeout: time.Second, MaxOutput: 100}
	a.configure(&plain)
	a.configure(&own)
	assert.True(t, plain.Restart)
	assert.NotNil(t, plain.Elicit)
	assert.Equal(t, 2*time.Minute, plain.CallTimeout)
	assert.Equal(t, 50_000, plain.MaxOutput)
	assert.Equal(t, time.Second, own.CallTimeout)
	assert.Equal(t, 100, own.MaxOutput)
}
