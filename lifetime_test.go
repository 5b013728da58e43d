package mcp_test

// This file starts trees of real processes and looks what is left of them. The
// tests here run on every system; the others are in the files of theirs.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
)

// A node is a process of a tree. The root is the server: it plays "plain",
// with tools that tell of the tree.
type node struct {
	Children []node `json:",omitempty"`
	Leaves   bool   `json:",omitempty"` // exits as soon as its children are ready
	Stays    bool   `json:",omitempty"` // the server: does not end with its input
	Lingers  int    `json:",omitempty"` // the server: milliseconds that it takes to leave
	Deaf     bool   `json:",omitempty"` // ignores every signal that can be ignored
	Told     bool   `json:",omitempty"` // says on stderr which signals it got, and ends at the first one, 300 ms later
	Session  bool   `json:",omitempty"` // runs in a session of its own
	Group    bool   `json:",omitempty"` // runs in a process group of its own
	Zombies  int    `json:",omitempty"` // starts as many processes that end, and does not wait for them
	Holds    bool   `json:",omitempty"` // keeps the server's output open
}

const (
	// lifeTime bounds what a broken test leaves behind.
	lifeTime = 2 * time.Minute
	// stopTime is how long a server gets that does not leave by itself.
	stopTime = 300 * time.Millisecond
)

func init() {
	servers["tree"] = func(p *mcptest.Peer) {
		var n node
		spec := os.Getenv("MCPTEST_TREE")
		if len(os.Args) > 1 {
			spec = os.Args[1]
		}
		if err := json.Unmarshal([]byte(spec), &n); err != nil {
			panic(err)
		}
		time.AfterFunc(lifeTime, func() { os.Exit(9) })
		pids := n.grow()
		p.Call = func(r mcptest.Request) {
			switch {
			case strings.Contains(string(r.Params.Arguments), "exit"):
				fmt.Fprintln(os.Stderr, "the disk is on fire")
				os.Exit(7)
			case strings.Contains(string(r.Params.Arguments), "mute"):
				os.Stdout.Close()
			case strings.Contains(string(r.Params.Arguments), "wait"):
			default:
				p.Reply(r, mcptest.Text(strings.Join(pids, " ")))
			}
		}
		p.Serve()
		if n.Stays {
			select {}
		}
		time.Sleep(time.Duration(n.Lingers) * time.Millisecond)
		n.bye()
	}
	servers["node"] = func(*mcptest.Peer) {
		var n node
		if err := json.Unmarshal([]byte(os.Args[1]), &n); err != nil {
			panic(err)
		}
		if n.Holds {
			os.Stderr = os.NewFile(2, "what is the server's output")
		}
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // it stays when its parent is gone
		pids := n.grow()
		if !n.Leaves {
			pids = append(pids, strconv.Itoa(os.Getpid()))
		}
		fmt.Println(strings.Join(pids, " "))
		os.Stdout.Close()
		if !n.Leaves {
			time.Sleep(lifeTime)
		}
	}
	servers["end"] = func(*mcptest.Peer) {}
	servers["mute"] = func(p *mcptest.Peer) { // ends its output in the middle of the start and lives on
		ignoreSignals()
		p.Read()
		os.Stdout.Close()
		time.Sleep(lifeTime)
	}
	servers["deaf start"] = func(p *mcptest.Peer) { // never answers, never leaves
		n := node{Deaf: true, Children: []node{{Deaf: true}, {Session: true, Deaf: true}}}
		n.grow()
		fmt.Fprintln(os.Stderr, "grown")
		time.Sleep(lifeTime)
	}
	servers["arguments"] = func(p *mcptest.Peer) {
		p.Call = func(r mcptest.Request) { p.Reply(r, mcptest.Text(fmt.Sprintf("%q", os.Args[1:]))) }
		p.Serve()
	}
	servers["environment"] = func(p *mcptest.Peer) {
		p.Call = func(r mcptest.Request) {
			dir, _ := os.Getwd()
			p.Reply(r, mcptest.Text(strings.Join(append(os.Environ(), dir), "\n")))
		}
		p.Serve()
	}
	servers["talks"] = func(p *mcptest.Peer) { // writes the argument's bytes to stderr
		p.Call = func(r mcptest.Request) {
			n, _ := strconv.Atoi(strings.Trim(string(r.Params.Arguments), `{}"n:`))
			for sent := 0; sent < n; sent += 1000 {
				os.Stderr.WriteString(strings.Repeat("e", min(1000, n-sent)))
			}
			p.Reply(r, ok)
		}
		p.Serve()
		os.Stderr.WriteString("bye\n")
	}
	servers["host"] = func(*mcptest.Peer) { // holds a connection until it is killed
		c, err := mcp.Connect(context.Background(), mcp.Server{Name: "inner", Command: os.Args[0], Args: os.Args[1:], Env: innerEnv("tree")})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		result, err := c.Tools()[0].Handler(context.Background(), nil)
		fmt.Println(result.Content, err)
		time.Sleep(lifeTime)
	}
}

// innerEnv is the environment of a server that a scripted process starts.
func innerEnv(name string) []string {
	return append(os.Environ(), mcptest.ServerVariable+"="+name)
}

// grow starts what the node has below it, and returns the ids of the
// processes once all of them are ready.
func (n node) grow() (pids []string) {
	if n.Deaf {
		ignoreSignals()
	}
	if n.Told {
		n.listen()
	}
	for range n.Zombies {
		command := exec.Command(os.Args[0])
		command.Env = innerEnv("end")
		if err := command.Start(); err != nil {
			panic(err)
		}
		pids = append(pids, strconv.Itoa(command.Process.Pid))
	}
	for _, child := range n.Children {
		spec, _ := json.Marshal(child)
		command := exec.Command(os.Args[0], string(spec))
		command.Env = innerEnv("node")
		command.Stderr = os.Stderr
		if child.Holds {
			command.Stderr = os.Stdout
		}
		separate(command, child)
		ready, err := command.StdoutPipe()
		if err == nil {
			err = command.Start()
		}
		if err != nil {
			panic(err)
		}
		line, err := bufio.NewReader(ready).ReadString('\n')
		if err != nil {
			panic(err)
		}
		pids = append(pids, strings.Fields(line)...)
		if child.Leaves {
			command.Wait()
		}
	}
	return pids
}

// treeServer returns a server that grows the tree.
func treeServer(t testing.TB, n node) mcp.Server {
	server := stdioServer(t, "tree")
	spec, err := json.Marshal(n)
	require.NoError(t, err)
	server.Args = []string{string(spec)}
	server.StopTimeout = time.Minute
	if n.Stays {
		server.StopTimeout = stopTime
	}
	return server
}

// grown returns the processes of a tree below its server, which live.
func grown(t testing.TB, c *mcp.Connection) (pids []int) {
	pids = listed(t, c)
	for _, pid := range pids {
		require.True(t, alive(pid), "process %d is not there", pid)
	}
	return pids
}

// listed returns what the server has started.
func listed(t testing.TB, c *mcp.Connection) (pids []int) {
	result, err := call(t, c, `{}`)
	require.NoError(t, err)
	for field := range strings.FieldsSeq(strings.TrimSpace(result.Content)) {
		if pid, err := strconv.Atoi(field); err == nil { // not the note of an empty result
			pids = append(pids, pid)
		}
	}
	return pids
}

// slack is what a bound has on top for a busy machine, more than any takes. A
// step that is not to be taken, as after the time for a server to leave by
// itself, is a minute away: so a bound tells that it was not.
const slack = 15 * time.Second

// closes closes the connection, and asserts that it took from least to most
// and that nothing is left at once.
func closes(t testing.TB, c *mcp.Connection, pids []int, least, most time.Duration) {
	t.Helper()
	start := time.Now()
	require.NoError(t, c.Close())
	took := time.Since(start)
	assert.Empty(t, mcptest.Processes(mcptest.Mark(t)))
	for _, pid := range pids {
		assert.False(t, alive(pid), "process %d is left", pid)
	}
	assert.GreaterOrEqual(t, took, least)
	assert.Less(t, took, most+slack)
	assert.NoError(t, c.Err())
}

func TestTrees(t *testing.T) {
	const stop = stopTime
	for name, c := range map[string]struct {
		tree        node
		least, most time.Duration
	}{
		"alone":                        {node{}, 0, 0},
		"three levels, left behind":    {node{Children: []node{{Children: []node{{}}}}}, 0, 0},
		"three levels, stubborn":       {node{Stays: true, Deaf: true, Children: []node{{Deaf: true, Children: []node{{Deaf: true}}}}}, stop, 2 * stop},
		"ends at the signal":           {node{Stays: true, Children: []node{{}}}, stop, stop},
		"takes its time":               {node{Lingers: 100, Children: []node{{}}}, 100 * time.Millisecond, 100 * time.Millisecond},
		"its child holds its output":   {node{Children: []node{{Holds: true}}}, 0, 0},
		"its parent has left":          {node{Children: []node{{Leaves: true, Children: []node{{Deaf: true}}}}}, 0, 0},
		"several":                      {node{Stays: true, Children: []node{{Deaf: true}, {}, {Children: []node{{}, {Deaf: true}}}}}, stop, 2 * stop},
		"several, and the server left": {node{Children: []node{{Deaf: true}, {}, {Children: []node{{}, {Deaf: true}}}}}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			server := treeServer(t, c.tree)
			if !hasSignals && c.most > stop {
				c.most = stop // no second step there
			}
			connection := connect(t, server)
			closes(t, connection, grown(t, connection), c.least, c.most)
		})
	}
}

// The server's end is the end of what it started, without Close.
func TestServerExits(t *testing.T) {
	c := connect(t, treeServer(t, node{Children: []node{{Deaf: true, Children: []node{{Holds: true}}}}}))
	pids := grown(t, c)
	start := time.Now()
	_, err := call(t, c, `{"do":"exit"}`)
	assert.Less(t, time.Since(start), slack)
	assert.EqualError(t, err, `mcp server "test": calling tool "echo": server stopped: exit status 7; stderr: the disk is on fire; the tool may have run`)
	assert.ErrorIs(t, err, mcp.ErrServerStopped)
	assert.NotErrorIs(t, err, mcp.ErrNotSent)
	<-c.Done()
	assert.EqualError(t, c.Err(), `mcp server "test": server stopped: exit status 7; stderr: the disk is on fire`)
	for _, pid := range pids {
		assert.False(t, alive(pid), "process %d is left", pid)
	}
	start = time.Now()
	require.NoError(t, c.Close())
	assert.Less(t, time.Since(start), slack)
}

// A server that closes its output has ended, and is ended.
func TestServerClosesItsOutput(t *testing.T) {
	c := connect(t, treeServer(t, node{Stays: true, Deaf: true, Children: []node{{Deaf: true}}}))
	pids := grown(t, c)
	start := time.Now()
	_, err := call(t, c, `{"do":"mute"}`)
	assert.Less(t, time.Since(start), 2*time.Second+slack)
	assert.EqualError(t, err, `mcp server "test": calling tool "echo": server stopped: it closed its output; the tool may have run`)
	closes1 := time.Now()
	require.NoError(t, c.Close())
	assert.Less(t, time.Since(closes1), 600*time.Millisecond+slack)
	for _, pid := range pids {
		assert.False(t, alive(pid), "process %d is left", pid)
	}
	assert.ErrorIs(t, c.Err(), mcp.ErrServerStopped)
}

// A start that fails is over half a second after its context, whatever the
// server does.
func TestFailedStartsLeaveNothing(t *testing.T) {
	for _, name := range []string{"deaf start", "mute", "silent"} {
		t.Run(name, func(t *testing.T) {
			mcptest.NoLeaks(t)
			server := stdioServer(t, name)
			server.StopTimeout = time.Minute // of no interest here
			// The context ends while the server is there: what it says on
			// stderr is the event.
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			began := make(chan struct{})
			if name == "deaf start" {
				server.Stderr = &signalled{when: "grown", done: began}
			} else {
				time.AfterFunc(100*time.Millisecond, func() { close(began) })
			}
			var ended time.Time
			wait := sync.WaitGroup{}
			wait.Go(func() {
				<-began
				ended = time.Now()
				cancel()
			})
			_, err := mcp.Connect(ctx, server)
			returned := time.Now()
			wait.Wait()
			assert.Less(t, returned.Sub(ended), 500*time.Millisecond+slack)
			// The promise is about the time. What is killed by then may take
			// longer to vanish where the machine is busy.
			require.Eventually(t, func() bool { return len(mcptest.Processes(mcptest.Mark(t))) == 0 }, slack, time.Millisecond)
			if name == "deaf start" && hasSignals {
				assert.GreaterOrEqual(t, returned.Sub(ended), 250*time.Millisecond, "the time between the signals")
			}
			assert.ErrorContains(t, err, `mcp server "test": initializing: `)
			if name != "mute" {
				assert.ErrorIs(t, err, context.Canceled)
			}
		})
	}
}

// signalled closes done when it was written a text.
type signalled struct {
	when string
	done chan struct{}
	once sync.Once
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *signalled) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(p)
	if s.when != "" && strings.Contains(s.text.String(), s.when) {
		s.once.Do(func() { close(s.done) })
	}
	return len(p), nil
}

func (s *signalled) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// A polite server costs only its own time.
func TestPoliteCloseAddsNothing(t *testing.T) {
	mcptest.NoLeaks(t)
	crowd(t)
	server := stdioServer(t, "plain")
	alone, ours := time.Hour, time.Hour
	// Every wait that Close could fall into, and a look at each process of the
	// system, takes 20 ms or more.
	bound := 15 * time.Millisecond
	if raceEnabled || !hasSignals {
		bound *= 4
	}
	// The best of some rounds is what a busy machine does not spoil; a busier one
	// needs more of them.
	for round, began := 0, time.Now(); round < 10 || ours-alone >= bound && time.Since(began) < time.Minute; round++ {
		command := exec.Command(server.Command)
		command.Env = server.Env
		stdin, err := command.StdinPipe()
		require.NoError(t, err)
		stdout, err := command.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, command.Start())
		fmt.Fprintln(stdin, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"x"}}`)
		_, err = bufio.NewReader(stdout).ReadString('\n')
		require.NoError(t, err)
		start := time.Now()
		stdin.Close()
		require.NoError(t, command.Wait())
		alone = min(alone, time.Since(start))

		c, err := mcp.Connect(t.Context(), server)
		require.NoError(t, err)
		start = time.Now()
		require.NoError(t, c.Close())
		ours = min(ours, time.Since(start))
	}
	t.Logf("it takes %v to leave, and Close %v", alone, ours)
	assert.Less(t, ours-alone, bound)
}

// Many stubborn servers close as fast as one, and one that fails to start
// among many leaves nothing.
func TestManyAtOnce(t *testing.T) {
	mcptest.NoLeaks(t)
	n := 50
	if !hasSignals {
		n = 8
	}
	server := treeServer(t, node{Stays: true, Deaf: true})
	server.StopTimeout = time.Second
	connections := make([]*mcp.Connection, n)
	var wg sync.WaitGroup
	for i := range connections {
		wg.Go(func() {
			c, err := mcp.Connect(t.Context(), server)
			if assert.NoError(t, err) {
				connections[i] = c
			}
		})
		if i%10 != 0 {
			continue
		}
		wg.Go(func() {
			failing := stdioServer(t, "end")
			_, err := mcp.Connect(t.Context(), failing)
			assert.EqualError(t, err, `mcp server "test": initializing: server stopped: exit status 0`)
		})
	}
	wg.Wait()
	require.NotContains(t, connections, (*mcp.Connection)(nil))
	start := time.Now()
	for _, c := range connections {
		wg.Go(func() { assert.NoError(t, c.Close()) })
	}
	wg.Wait()
	took := time.Since(start)
	assert.GreaterOrEqual(t, took, time.Second)
	most := 2 * time.Second
	if !hasSignals {
		most = time.Second
	}
	assert.Less(t, took, most+slack, "as one: one after the other they would take a minute")
	assert.Empty(t, mcptest.Processes(mcptest.Mark(t)))
}

// Close and all that can happen at the same time.
func TestCloseFromEverywhere(t *testing.T) {
	mcptest.NoLeaks(t)
	c, err := mcp.Connect(t.Context(), treeServer(t, node{Stays: true, Deaf: true, Children: []node{{Deaf: true}}}))
	require.NoError(t, err)
	start := time.Now()
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			_, err := call(t, c, `{"do":"wait"}`)
			assert.Error(t, err)
		})
		wg.Go(func() { assert.NoError(t, c.Close()) })
		wg.Go(func() { c.RefreshTools(t.Context()) })
	}
	wg.Wait()
	assert.Less(t, time.Since(start), 600*time.Millisecond+slack)
	assert.Empty(t, mcptest.Processes(mcptest.Mark(t)))
}

func TestArguments(t *testing.T) {
	server := stdioServer(t, "arguments")
	server.Args = []string{"", " ", "/data/My Files", "$HOME", "'q'", `"`, `a"b c"d`, `\`, `c:\dir\`, `\"`, "a&b", "%PATH%", "^|<>()!;,=", "*", "ä€😀", "line\nbreak", "-x"}
	result, err := call(t, connect(t, server), `{}`)
	require.NoError(t, err)
	assert.Equal(t, fmt.Sprintf("%q", server.Args), result.Content)
}

func TestEnvironment(t *testing.T) {
	server := stdioServer(t, "environment")
	server.Env = append(server.Env, "A=1", "EMPTY=", "A=2", "SPACED=a b\"c'")
	server.Dir = folder(t)
	result, err := call(t, connect(t, server), `{}`)
	require.NoError(t, err)
	lines := strings.Split(result.Content, "\n")
	plain := func(entry string) bool { return entry != "A=1" && !strings.HasPrefix(entry, "SYSTEMROOT=") }
	got := slices.DeleteFunc(lines[:len(lines)-1:len(lines)-1], func(entry string) bool {
		// Windows adds variables of the system's, Wine some of its own.
		return runtime.GOOS == "windows" && (strings.HasPrefix(entry, "WINE") || strings.HasPrefix(strings.ToUpper(entry), "SYSTEM"))
	})
	assert.ElementsMatch(t, slices.DeleteFunc(slices.Clone(server.Env), func(entry string) bool { return !plain(entry) }), got, "exactly Env")
	dir, err := filepath.EvalSymlinks(lines[len(lines)-1])
	require.NoError(t, err)
	assert.Equal(t, server.Dir, dir)
}

// folder is a folder without symbolic links in its path. Wine cannot remove
// one with files in it, which t.TempDir takes for a failure.
func folder(t testing.TB) string {
	dir, err := os.MkdirTemp("", "mcp folder")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	dir, err = filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	return dir
}

func TestMissingPrograms(t *testing.T) {
	mcptest.NoLeaks(t)
	empty := folder(t)
	for name, c := range map[string]struct {
		server mcp.Server
		want   string
	}{
		"not in PATH":  {mcp.Server{Command: "no-such-program", Env: []string{"PATH=" + empty}}, `starting: exec: "no-such-program": executable file not found in PATH`},
		"no such path": {mcp.Server{Command: filepath.Join(empty, "no-such-program")}, `starting: `},
		"relative":     {mcp.Server{Command: "." + string(filepath.Separator) + "no-such-program", Dir: empty}, `starting: `},
	} {
		c.server.Name = "test"
		start := time.Now()
		_, err := mcp.Connect(t.Context(), c.server)
		assert.ErrorContains(t, err, c.want, name)
		assert.ErrorContains(t, err, "no-such-program", name)
		assert.ErrorIs(t, err, os.ErrNotExist, name)
		assert.Less(t, time.Since(start), slack, name)
	}
	_, err := mcp.Connect(t.Context(), mcp.Server{Name: "test", Command: "x", Dir: filepath.Join(empty, "gone")})
	assert.ErrorContains(t, err, "gone")
	assert.ErrorIs(t, err, mcp.ErrInvalidServer)
}

func TestStderrCopy(t *testing.T) {
	mcptest.NoLeaks(t)
	server := stdioServer(t, "talks")
	copied := &signalled{}
	server.Stderr = copied
	c, err := mcp.Connect(t.Context(), server)
	require.NoError(t, err)
	_, err = call(t, c, `{"n":5000}`)
	require.NoError(t, err)
	require.NoError(t, c.Close())
	assert.Equal(t, strings.Repeat("e", 5000)+"bye\n", copied.String(), "the last words too")
	assert.Empty(t, c.Warnings())
}

// writer is an io.Writer made of a function.
type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

func TestStderrWritersThatFail(t *testing.T) {
	for name, c := range map[string]struct {
		write writer
		why   string
	}{
		"an error":    {func([]byte) (int, error) { return 0, errors.New("the disk is full") }, "it failed: the disk is full"},
		"a panic":     {func([]byte) (int, error) { panic("no log today") }, "it panicked: no log today"},
		"a short one": {func(p []byte) (int, error) { return 0, nil }, "it failed: short write"},
		"too long":    {func(p []byte) (int, error) { return len(p) + 7, errors.New("odd") }, "it failed: odd"},
		"negative":    {func(p []byte) (int, error) { return -7, nil }, "it failed: short write"},
		"goexit":      {func([]byte) (int, error) { runtime.Goexit(); return 0, nil }, "it ended the goroutine that called it"},
	} {
		t.Run(name, func(t *testing.T) {
			mcptest.NoLeaks(t)
			server := stdioServer(t, "talks")
			calls, bytes := atomic.Int64{}, atomic.Int64{}
			server.Stderr = writer(func(p []byte) (int, error) {
				calls.Add(1)
				bytes.Store(int64(len(p)))
				return c.write(p)
			})
			connection, err := mcp.Connect(t.Context(), server)
			require.NoError(t, err)
			for range 3 {
				_, err := call(t, connection, `{"n":200000}`)
				require.NoError(t, err)
			}
			start := time.Now()
			require.NoError(t, connection.Close())
			assert.Less(t, time.Since(start), slack)
			assert.Equal(t, int64(1), calls.Load(), "a broken writer is not called again")
			missed := int64(600_004)
			if name == "too long" {
				missed -= bytes.Load()
			}
			assert.Equal(t, []string{fmt.Sprintf("the writer Server.Stderr missed %d bytes: %s", missed, c.why)}, connection.Warnings())
		})
	}
}

func TestStderrWriterThatBlocks(t *testing.T) {
	mcptest.NoLeaks(t)
	server := stdioServer(t, "talks")
	block, calls := make(chan struct{}), atomic.Int64{}
	var last atomic.Int64
	server.Stderr = writer(func(p []byte) (int, error) {
		calls.Add(1)
		last.Store(int64(len(p)))
		<-block
		return len(p), nil
	})
	c, err := mcp.Connect(t.Context(), server)
	require.NoError(t, err)
	for range 3 {
		_, err := call(t, c, `{"n":1000000}`)
		require.NoError(t, err)
	}
	start := time.Now()
	require.NoError(t, c.Close())
	assert.Less(t, time.Since(start), 100*time.Millisecond+slack)
	assert.Equal(t, []string{"the writer Server.Stderr missed 3000004 bytes: it did not return"}, c.Warnings())
	close(block)
	// NoLeaks sees that the goroutine ends now.
	t.Cleanup(func() { assert.Equal(t, int64(1), calls.Load(), "no Write after Close") })
}

// What a slow writer has no room for is dropped, the rest arrives in order.
func TestStderrWriterThatIsSlow(t *testing.T) {
	mcptest.NoLeaks(t)
	server := stdioServer(t, "talks")
	free, got := make(chan struct{}), atomic.Int64{}
	server.Stderr = writer(func(p []byte) (int, error) {
		<-free
		got.Add(int64(len(p)))
		return len(p), nil
	})
	c, err := mcp.Connect(t.Context(), server)
	require.NoError(t, err)
	_, err = call(t, c, `{"n":1000000}`)
	require.NoError(t, err)
	_, err = call(t, c, `{"n":0}`)
	require.NoError(t, err)
	close(free)
	require.NoError(t, c.Close())
	assert.GreaterOrEqual(t, got.Load(), int64(64<<10))
	require.Len(t, c.Warnings(), 1)
	assert.Equal(t, fmt.Sprintf("the writer Server.Stderr missed %d bytes: it was too slow", 1_000_004-got.Load()), c.Warnings()[0])
}

// The host is killed: its server sees the end of its input.
func TestHostIsKilled(t *testing.T) {
	mcptest.NoLeaks(t)
	host := stdioServer(t, "host")
	spec, _ := json.Marshal(node{Children: []node{{}}})
	command := exec.Command(mcptest.Self(t), string(spec)) // this program is what is tested
	command.Env = host.Env
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	child, err := strconv.Atoi(strings.Fields(line)[0])
	require.NoError(t, err, line)
	require.True(t, alive(child))
	require.NoError(t, command.Process.Kill())
	command.Wait()
	if hasSignals {
		// The server has left; its child is nobody's here. On Windows the job
		// has ended it.
		require.Eventually(t, func() bool { return len(mcptest.Processes(mcptest.Mark(t))) == 1 }, slack, time.Millisecond)
		process, err := os.FindProcess(child)
		require.NoError(t, err)
		require.NoError(t, process.Kill())
	}
	require.Eventually(t, func() bool { return !alive(child) }, slack, time.Millisecond)
}

// stressTime is how long the random faults go on. CI sets the variable to run
// them for longer, and to repeat a run by its seed.
func stressTime(t *testing.T) (time.Duration, *rand.Rand) {
	d, seed := 3*time.Second, uint64(time.Now().UnixNano())
	if s := os.Getenv("MCP_TEST_STRESS"); s != "" {
		length, number, found := strings.Cut(s, ",")
		parsed, err := time.ParseDuration(length)
		require.NoError(t, err)
		if d = parsed; found {
			seed, err = strconv.ParseUint(number, 10, 64)
			require.NoError(t, err)
		}
	}
	fmt.Printf("%s: seed %d (MCP_TEST_STRESS=%v,%d)\n", t.Name(), seed, d, seed)
	return d, rand.New(rand.NewPCG(seed, 0))
}

// stressTrees are what the rounds draw from.
func stressTrees() []node {
	trees := []node{
		{},
		{Children: []node{{}}},
		{Children: []node{{Holds: true}, {Deaf: true}}},
		{Children: []node{{Leaves: true, Children: []node{{Deaf: true}}}}},
		{Stays: true},
		{Stays: true, Deaf: true, Children: []node{{Deaf: true}}},
		{Lingers: 10},
	}
	if hasSignals {
		trees = append(trees, node{Zombies: 2}, node{Children: []node{{Session: true, Children: []node{{Deaf: true}}}}}, node{Stays: true, Children: []node{{Group: true, Deaf: true}}})
	}
	return trees
}

func TestRounds(t *testing.T) {
	mcptest.NoLeaks(t)
	rounds := 200
	if testing.Short() || !hasSignals {
		rounds = 20
	}
	trees := stressTrees()
	next, began := atomic.Int64{}, time.Now()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			// A busy machine gets through some of them.
			for i := int(next.Add(1)); i <= rounds && (i <= 20 || time.Since(began) < slack); i = int(next.Add(1)) {
				server := treeServer(t, trees[i%len(trees)])
				server.StopTimeout = 20 * time.Millisecond
				c, err := mcp.Connect(t.Context(), server)
				if !assert.NoError(t, err) {
					continue
				}
				_, err = call(t, c, `{}`)
				assert.NoError(t, err)
				assert.NoError(t, c.Close())
				assert.NoError(t, c.Err())
			}
		})
	}
	wg.Wait()
	assert.Empty(t, mcptest.Processes(mcptest.Mark(t)))
}

func TestRandomFaults(t *testing.T) {
	mcptest.NoLeaks(t)
	length, random := stressTime(t)
	deadline := time.Now().Add(length)
	trees := stressTrees()
	var rounds atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		random := rand.New(rand.NewPCG(random.Uint64(), 0))
		wg.Go(func() {
			for time.Now().Before(deadline) && !t.Failed() {
				rounds.Add(1)
				// A round that hangs shows where.
				hangs := time.AfterFunc(30*time.Second, func() { panic("a round hangs") })
				tree := trees[random.IntN(len(trees))]
				server := treeServer(t, tree)
				server.StopTimeout = time.Duration(random.IntN(30)+1) * time.Millisecond
				switch random.IntN(4) {
				case 0:
					server.Stderr = writer(func([]byte) (int, error) { panic("no") })
				case 1:
					server.Stderr = io.Discard
				}
				ctx, cancel := context.WithCancel(t.Context())
				// Ends within or after the start.
				if random.IntN(4) == 0 {
					time.AfterFunc(time.Duration(random.IntN(60))*time.Millisecond, cancel)
				}
				c, err := mcp.Connect(ctx, server)
				if err != nil {
					if ctx.Err() == nil {
						t.Error(err)
					}
					cancel()
					hangs.Stop()
					continue
				}
				faults(t, c, random, tree.strays())
				cancel()
				for range random.IntN(3) {
					wg.Go(func() { assert.NoError(t, c.Close()) })
				}
				assert.NoError(t, c.Close())
				<-c.Done()
				hangs.Stop()
			}
		})
	}
	wg.Wait()
	t.Logf("%d rounds", rounds.Load())
	assert.Empty(t, mcptest.Processes(mcptest.Mark(t)))
}

// strays reports whether processes of the tree leave the server's group.
func (n node) strays() bool {
	return n.Session || n.Group || slices.ContainsFunc(n.Children, node.strays)
}

// faults does a few things to a connection that may go wrong. Processes that
// have left the group are only found from a server that lives when it is
// ended: gently means that none is killed or exits.
func faults(t *testing.T, c *mcp.Connection, random *rand.Rand, gently bool) {
	var wg sync.WaitGroup
	defer wg.Wait()
	result, err := call(t, c, `{}`)
	if !assert.NoError(t, err) {
		return
	}
	var pids []int
	for _, field := range strings.Fields(result.Content) {
		if pid, err := strconv.Atoi(field); err == nil {
			pids = append(pids, pid)
		}
	}
	// Each of these outcomes is fine, but there must be one.
	bounded := func(arguments string) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.IntN(20))*time.Millisecond)
		wg.Go(func() {
			defer cancel()
			c.Tools()[0].Handler(ctx, json.RawMessage(arguments))
		})
	}
	for range random.IntN(4) {
		switch random.IntN(6) {
		case 0:
			bounded(`{"do":"wait"}`)
		case 1:
			bounded(`{"do":"mute"}`)
		case 2:
			wg.Go(func() { c.Close() })
		case 3:
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.IntN(20))*time.Millisecond)
			wg.Go(func() {
				defer cancel()
				c.RefreshTools(ctx)
			})
		case 4:
			if !gently {
				bounded(`{"do":"exit"}`)
			}
		case 5:
			if len(pids) > 0 && !gently {
				if process, err := os.FindProcess(pids[random.IntN(len(pids))]); err == nil {
					process.Kill()
					process.Release()
				}
			}
		}
	}
}
