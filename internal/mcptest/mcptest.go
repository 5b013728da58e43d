// Package mcptest has what tests of this module share: scripted servers that a
// test binary plays itself, and a check that nothing is left behind.
package mcptest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed94b59a13/mcp/internal/rpc"
)

const (
	// ServerVariable names the server that Main plays.
	ServerVariable = "MCPTEST_SERVER"
	// MarkVariable marks the environment of all that a test starts.
	MarkVariable = "MCPTEST_MARK"
	// ProgramVariable names a build of the test binary that plays the servers
	// in its place. CI sets it for tests with the race detector: one without it
	// starts and runs faster.
	ProgramVariable = "MCP_TEST_PROGRAM"
)

// Main plays the server that the environment names, and then exits. Without one it
// returns. TestMain calls it first. A name that is not among the servers is a fault
// of the test, and ends the program with status 3.
func Main(servers map[string]func(*Peer)) {
	name := os.Getenv(ServerVariable)
	if name == "" {
		return
	}
	play, ok := servers[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "there is no scripted server %q\n", name)
		os.Exit(3)
	}
	play(NewPeer(os.Stdin, os.Stdout))
	os.Exit(0)
}

// Command returns the command and the environment that play the server.
func Command(t testing.TB, name string, env ...string) (command string, environment []string) {
	t.Helper()
	// Another package's test binary plays other servers.
	program := os.Getenv(ProgramVariable)
	if self := Self(t); filepath.Base(program) != filepath.Base(self) {
		program = self
	}
	// A program under the race detector waits a second before it exits.
	environment = append([]string{ServerVariable + "=" + name, MarkVariable + "=" + Mark(t), "GORACE=atexit_sleep_ms=0"}, env...)
	// Programs of Windows find the libraries of the system by it.
	if runtime.GOOS == "windows" {
		environment = append(environment, "SYSTEMROOT="+os.Getenv("SYSTEMROOT"))
	}
	// A server has the environment that it is given and no other: what it covers
	// would be lost.
	if dir := os.Getenv("GOCOVERDIR"); dir != "" {
		environment = append(environment, "GOCOVERDIR="+dir)
	}
	return program, environment
}

// Self returns the path of the test binary.
func Self(t testing.TB) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return self
}

// Mark returns a value that only the test's own processes have in their
// environment. A process keeps it whatever it does to its parent, its group and its
// session, so that one which has got away is still found.
func Mark(t testing.TB) string {
	return fmt.Sprintf("%d-%s", os.Getpid(), t.Name())
}

// A Peer is the server's side of a connection. Handlers run one after the other,
// and may change its fields; goroutines that they start may write, and no more.
type Peer struct {
	// Tools is the list that tools/list answers, a JSON array.
	Tools string
	// Initialize is the result of initialize; $VERSION stands for the version
	// that the client asks for.
	Initialize string
	// On handles requests and notifications by method before the default does.
	// It may answer with Reply, Fail or Print, or not at all.
	On map[string]func(Request)
	// Call handles tools/call; the default echoes the arguments as text.
	Call func(Request)

	in  *bufio.Reader
	mu  sync.Mutex
	out io.Writer
}

// A Request is a message from the client. Answers of the client to what a server
// has asked come as one, too, with Result or Error and no Method.
type Request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name            string          `json:"name"`
		Arguments       json.RawMessage `json:"arguments"`
		Cursor          string          `json:"cursor"`
		ProtocolVersion string          `json:"protocolVersion"`
		Meta            struct {
			ProgressToken json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
	Raw    string          `json:"-"` // the line itself
}

// NewPeer returns a server with one tool, echo.
func NewPeer(in io.Reader, out io.Writer) *Peer {
	return &Peer{
		Tools:      `[{"name":"echo","description":"echoes","inputSchema":{"type":"object","properties":{}}}]`,
		Initialize: `{"protocolVersion":"$VERSION","capabilities":{"tools":{}},"serverInfo":{"name":"scripted","version":"1"}}`,
		On:         map[string]func(Request){},
		in:         bufio.NewReaderSize(in, 1<<20),
		out:        out,
	}
}

// Read returns the next message; ok is false at the end of input. What is not JSON
// ends the program: a client of ours must never write it.
func (p *Peer) Read() (r Request, ok bool) {
	line, err := p.in.ReadString('\n')
	if err != nil {
		return Request{}, false
	}
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		fmt.Fprintf(os.Stderr, "the client sent %q: %v\n", line, err)
		os.Exit(3)
	}
	r.Raw = strings.TrimSuffix(line, "\n")
	return r, true
}

// Serve answers until the end of input.
func (p *Peer) Serve() {
	for {
		r, ok := p.Read()
		if !ok {
			return
		}
		p.Answer(r)
	}
}

// ServeFast is Serve for benchmarks: tool calls are answered with the result
// that call gives for their params, without decoding, and answers that are
// ready together are written together. Where call returns "", Answer does it.
func (p *Peer) ServeFast(call func(params []byte) (result string)) {
	out := bufio.NewWriterSize(p.out, 64<<10)
	for {
		line, err := p.in.ReadSlice('\n')
		if err != nil {
			return
		}
		m, _, err := rpc.Parse(line)
		result := ""
		if err == nil && m.Method == "tools/call" {
			result = call(m.Params)
		}
		if result != "" {
			for _, part := range []string{`{"jsonrpc":"2.0","id":`, string(m.ID), `,"result":`, result, "}\n"} {
				out.WriteString(part)
			}
		}
		// Whoever waits for an answer sends nothing more: it must not wait in a
		// buffer.
		if p.in.Buffered() == 0 || result == "" {
			out.Flush()
		}
		if result == "" {
			var r Request
			if json.Unmarshal(line, &r) == nil {
				p.Answer(r)
			}
		}
	}
}

// Answer answers one message.
func (p *Peer) Answer(r Request) {
	if handle := p.On[r.Method]; handle != nil {
		handle(r)
		return
	}
	switch r.Method {
	case "initialize":
		p.Reply(r, strings.ReplaceAll(p.Initialize, "$VERSION", r.Params.ProtocolVersion))
	case "tools/list":
		p.Reply(r, `{"tools":`+p.Tools+`}`)
	case "tools/call":
		if p.Call != nil {
			p.Call(r)
			return
		}
		p.Reply(r, Text(string(r.Params.Arguments)))
	// A notification gets no answer, whatever it is (JSON-RPC 2.0, section 4.1).
	default:
		if r.ID != nil && r.Method != "" {
			p.Fail(r, -32601, "Method not found")
		}
	}
}

// Text is a result with one text.
func Text(s string) string {
	quoted, _ := json.Marshal(s)
	return `{"content":[{"type":"text","text":` + string(quoted) + `}]}`
}

// PNG returns an image whose header is right, of the size in bytes. It has one
// pixel, and is filled up behind its end, where no reader of images looks.
func PNG(size int) []byte {
	var b bytes.Buffer
	png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1)))
	return append(b.Bytes(), bytes.Repeat([]byte("pixels, "), size/8)...)[:size]
}

// Reply answers a request with a result, a JSON text.
func (p *Peer) Reply(r Request, result string) {
	p.Print(`{"jsonrpc":"2.0","id":` + string(r.ID) + `,"result":` + result + "}\n")
}

// Fail answers a request with an error.
func (p *Peer) Fail(r Request, code int, message string) {
	p.Print(`{"jsonrpc":"2.0","id":` + string(r.ID) + `,"error":{"code":` + strconv.Itoa(code) + `,"message":` + strconv.Quote(message) + "}}\n")
}

// Print writes to the client as it is. A message is written in one piece, whoever
// else writes meanwhile.
func (p *Peer) Print(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	io.WriteString(p.out, text)
}

var checked sync.Map // names of the tests that run with NoLeaks

// NoLeaks fails the test if, at its end, goroutines, descriptors or marked
// processes are left that were not there when it was called. It waits for
// them: the SDK cancels a listing in a goroutine of its own.
func NoLeaks(t testing.TB) {
	t.Helper()
	// Of several calls in one test the first counts: its check comes last, when
	// all that the test has opened is closed.
	if _, again := checked.LoadOrStore(t.Name(), true); again {
		return
	}
	if r, w, err := os.Pipe(); err == nil { // the first one makes descriptors of the runtime's
		r.Close()
		w.Close()
	}
	goroutines, files := runtime.NumGoroutine(), descriptors()
	t.Cleanup(func() {
		defer checked.Delete(t.Name())
		var left string
		// Long for a busy machine; a test that leaves nothing never waits as long.
		for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			left = ""
			if n := runtime.NumGoroutine(); n > goroutines {
				stacks := make([]byte, 1<<20)
				left += fmt.Sprintf("%d goroutines more:\n%s\n", n-goroutines, stacks[:runtime.Stack(stacks, true)])
			}
			if n := descriptors(); n > files {
				left += fmt.Sprintf("%d descriptors more, of %v\n", n-files, open())
			}
			if processes := Processes(Mark(t)); len(processes) > 0 {
				left += fmt.Sprintf("processes: %v\n", processes)
			}
			if left == "" {
				return
			}
		}
		t.Errorf("left behind: %s", left)
	})
}

// descriptors counts what this process has open, 0 where nobody can tell.
func descriptors() int {
	if runtime.GOOS == "windows" {
		return 0 // under Wine there is /proc, with descriptors of Wine's own
	}
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0 // not on this system
	}
	return len(entries)
}

// open returns what the descriptors of this process stand for.
func open() (targets []string) {
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, entry := range entries {
		target, _ := os.Readlink("/proc/self/fd/" + entry.Name())
		targets = append(targets, entry.Name()+" "+target)
	}
	return targets
}

// Processes returns the processes with the mark in their environment, and
// zombies among this process's children, where the system has /proc.
func Processes(mark string) []string {
	var found []string
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		stat, _ := os.ReadFile("/proc/" + entry.Name() + "/stat")
		after := string(stat[bytes.LastIndexByte(stat, ')')+1:])
		// The name of the program, which may have any characters in it, stands in brackets
		// before the state and the parent (proc_pid_stat).
		if fields := strings.Fields(after); len(fields) > 1 && fields[0] == "Z" && fields[1] == strconv.Itoa(os.Getpid()) {
			found = append(found, entry.Name()+" (zombie)")
		}
		environ, _ := os.ReadFile("/proc/" + entry.Name() + "/environ")
		if strings.Contains("\x00"+string(environ), "\x00"+MarkVariable+"="+mark+"\x00") {
			cmdline, _ := os.ReadFile("/proc/" + entry.Name() + "/cmdline")
			found = append(found, entry.Name()+" "+strings.ReplaceAll(string(cmdline), "\x00", " "))
		}
	}
	return found
}
