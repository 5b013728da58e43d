package mcp_test

// This file tests what only Linux can: processes that left the group, and what
// /proc shows.

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
)

func init() {
	servers["shell"] = func(p *mcptest.Peer) { // runs its argument and answers at its first line
		command := exec.Command("/bin/sh", "-c", os.Args[1])
		out, err := command.StdoutPipe()
		if err == nil {
			err = command.Start()
		}
		if err == nil {
			_, err = out.Read(make([]byte, 1))
		}
		if err != nil {
			panic(err)
		}
		p.Serve()
		if len(os.Args) > 2 { // stays
			ignoreSignals()
			time.Sleep(lifeTime)
		}
	}
	servers["files"] = func(p *mcptest.Peer) { // tells what is open, as of its start
		var open []string
		entries, _ := os.ReadDir("/proc/self/fd")
		for _, entry := range entries {
			if target, err := os.Readlink("/proc/self/fd/" + entry.Name()); err == nil {
				open = append(open, entry.Name()+" "+target)
			}
		}
		p.Call = func(r mcptest.Request) { p.Reply(r, mcptest.Text(strings.Join(open, "\n"))) }
		p.Serve()
	}
	servers["leaver"] = func(p *mcptest.Peer) { // wants to leave its group, and stays
		signal.Ignore()
		host, _ := syscall.Getpgid(os.Getppid())
		syscall.Setpgid(0, 0)
		syscall.Setpgid(0, host)
		p.Serve()
		time.Sleep(lifeTime)
	}
	servers["terminal"] = func(p *mcptest.Peer) { // its child sets up the terminal, as sudo and ssh do
		p.Call = func(r mcptest.Request) {
			out, err := exec.Command("/bin/sh", "-c", "stty sane </dev/tty; echo $?").CombinedOutput()
			p.Reply(r, mcptest.Text(fmt.Sprintf("%s%v", out, err)))
		}
		p.Serve()
	}
	servers["host in a terminal"] = func(*mcptest.Peer) {
		terminal, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
		fmt.Println(terminal != nil, err)
		ctx, cancel := context.WithTimeout(context.Background(), slack)
		defer cancel()
		c, err := mcp.Connect(ctx, mcp.Server{Name: "inner", Command: os.Args[0], Env: innerEnv("terminal"), StopTimeout: stopTime})
		if err != nil {
			fmt.Println("connecting:", err)
			os.Exit(1)
		}
		result, err := c.Tools()[0].Handler(ctx, nil)
		fmt.Println(result.Content, err)
		c.Close()
	}
	servers["process 1"] = func(*mcptest.Peer) { // a host that inherits orphans
		spec, _ := json.Marshal(node{Zombies: 2, Children: []node{{Leaves: true, Children: []node{{Deaf: true}}}, {Session: true, Children: []node{{Deaf: true}}}}})
		for range 3 {
			c, err := mcp.Connect(context.Background(), mcp.Server{Name: "inner", Command: os.Args[0], Args: []string{string(spec)}, Env: innerEnv("tree")})
			if err != nil {
				fmt.Println("connecting:", err)
				os.Exit(1)
			}
			result, err := c.Tools()[0].Handler(context.Background(), nil)
			fmt.Println(os.Getpid(), len(strings.Fields(result.Content)), err)
			c.Close()
			entries, _ := os.ReadDir("/proc")
			for _, entry := range entries {
				if pid, err := strconv.Atoi(entry.Name()); err == nil && pid != 1 {
					stat, _ := os.ReadFile("/proc/" + entry.Name() + "/stat")
					fmt.Printf("left: %s\n", stat)
				}
			}
		}
	}
}

// Descendants that left the group are found and ended last.
func TestDescendantsThatLeft(t *testing.T) {
	const stop = stopTime
	session := node{Session: true, Deaf: true, Children: []node{{Deaf: true}, {Group: true, Deaf: true}}}
	for name, c := range map[string]struct {
		tree        node
		least, most time.Duration
	}{
		"a session":                     {node{Children: []node{session}}, 0, 0},
		"a group":                       {node{Children: []node{{Group: true}}}, 0, 0},
		"sessions in sessions":          {node{Children: []node{{Session: true, Children: []node{session}}, session}}, 0, 0},
		"under a stubborn server":       {node{Stays: true, Deaf: true, Children: []node{session, {Children: []node{session}}}}, stop, 2 * stop},
		"under one that heeds a signal": {node{Stays: true, Children: []node{session}}, stop, stop},
		"a double fork":                 {node{Children: []node{{Group: true, Leaves: true, Children: []node{{Deaf: true}}}}}, 0, 0},
		"a group below a double fork":   {node{Children: []node{{Leaves: true, Children: []node{{Group: true, Children: []node{{Session: true}}}}}}}, 0, 0},
		"that keeps the output open":    {node{Children: []node{{Session: true, Holds: true}}}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			connection := connect(t, treeServer(t, c.tree))
			closes(t, connection, grown(t, connection), c.least, c.most)
		})
	}
}

// A server leads a session, so it cannot leave its group: not for one of its
// own, nor for the host's.
func TestServerThatWantsToLeaveItsGroup(t *testing.T) {
	server := stdioServer(t, "leaver")
	server.StopTimeout = stopTime
	c := connect(t, server)
	closes(t, c, nil, 2*stopTime, 2*stopTime)
}

// A server has no terminal: the kernel would stop what touches the host's, and
// the call would wait for ever.
func TestTerminal(t *testing.T) {
	mcptest.NoLeaks(t)
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("there are no terminals: ", err)
	}
	defer master.Close()
	require.NoError(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	terminal, err := os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	defer terminal.Close()
	host := stdioServer(t, "host in a terminal")
	command := exec.Command(mcptest.Self(t)) // this program is what is tested
	command.Env = append(host.Env, "PATH="+os.Getenv("PATH"))
	command.Stdin = terminal
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	out, err := command.CombinedOutput()
	require.NoError(t, err)
	// Shells say the same in different words.
	assert.Regexp(t, `^true <nil>\n.*/dev/tty: No such device or address\n[12]\n<nil> <nil>\n$`, string(out))
}

// What is not below the server is not touched, in whatever group or session it
// is: not even what the server started and let go in the agreed way.
func TestStrangersLive(t *testing.T) {
	stranger := exec.Command("/bin/sleep", "60")
	stranger.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, stranger.Start())
	defer stranger.Wait()
	defer stranger.Process.Kill()
	server := treeServer(t, node{Stays: true, Deaf: true, Children: []node{{Leaves: true, Children: []node{{Session: true, Holds: true}}}}})
	server.Env = append(server.Env, mcptest.MarkVariable+"=not looked for")
	mcptest.NoLeaks(t)
	c, err := mcp.Connect(t.Context(), server)
	require.NoError(t, err)
	daemons := grown(t, c)
	require.Len(t, daemons, 1)
	defer syscall.Kill(daemons[0], syscall.SIGKILL)
	start := time.Now()
	require.NoError(t, c.Close())
	assert.Less(t, time.Since(start), 600*time.Millisecond+slack, "though the daemon holds the output open")
	assert.True(t, alive(stranger.Process.Pid))
	assert.True(t, alive(daemons[0]), "a double fork and a session of its own make a daemon")
}

// 200 processes, half of them in sessions of their own, while more are being
// started.
func TestManyProcesses(t *testing.T) {
	for name, stays := range map[string]bool{"left behind": false, "stubborn": true} {
		t.Run(name, func(t *testing.T) {
			server := stdioServer(t, "shell")
			server.StopTimeout = 300 * time.Millisecond
			server.Args = []string{`i=0; while [ $i -lt 100 ]; do sleep 60 & setsid sleep 60 & i=$((i+1)); [ $i = 20 ] && echo; done; wait`}
			if stays {
				server.Args = append(server.Args, "stays")
			}
			c := connect(t, server)
			start := time.Now()
			require.NoError(t, c.Close())
			assert.Less(t, time.Since(start), 600*time.Millisecond+slack)
			assert.Empty(t, mcptest.Processes(mcptest.Mark(t)))
		})
	}
}

// A bounded fork bomb: each process starts two others, up to 200.
func TestForkBomb(t *testing.T) {
	server := stdioServer(t, "shell")
	server.StopTimeout = 100 * time.Millisecond
	server.Args = []string{`bomb() { [ $1 -gt 0 ] && { bomb $(($1-1)) & bomb $(($1-1)) & }; sleep 60; }; bomb 6 & echo; wait`, "stays"}
	c := connect(t, server)
	start := time.Now()
	require.NoError(t, c.Close())
	assert.Less(t, time.Since(start), 200*time.Millisecond+slack)
	assert.Empty(t, mcptest.Processes(mcptest.Mark(t)))
}

func TestZombies(t *testing.T) {
	c := connect(t, treeServer(t, node{Zombies: 5, Children: []node{{Zombies: 5}}}))
	pids := listed(t, c)
	require.Len(t, pids, 11)
	zombies := func() (n int) {
		for _, pid := range pids {
			stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if strings.Contains(string(stat), ") Z ") {
				n++
			}
		}
		return n
	}
	require.Eventually(t, func() bool { return zombies() == 10 }, slack, time.Millisecond)
	closes(t, c, pids, 0, 0)
}

// As process 1 the host inherits orphans, in the server's group and out of it.
func TestHostIsProcess1(t *testing.T) {
	unshare := func(arguments ...string) *exec.Cmd {
		return exec.Command("unshare", append([]string{"--pid", "--fork", "--mount-proc"}, arguments...)...)
	}
	if out, err := unshare("true").CombinedOutput(); err != nil {
		t.Skipf("a namespace of process ids cannot be made: %v: %s", err, out)
	}
	mcptest.NoLeaks(t)
	host := stdioServer(t, "process 1")
	command := unshare(mcptest.Self(t)) // this program is what is tested
	command.Env = append(host.Env, "PATH="+os.Getenv("PATH"))
	out, err := command.CombinedOutput()
	require.NoError(t, err)
	assert.Equal(t, strings.Repeat("1 5 <nil>\n", 3), string(out))
}

// A server has its own three pipes and nothing else, however many start at the
// same time.
func TestDescriptors(t *testing.T) {
	mcptest.NoLeaks(t)
	server := stdioServer(t, "files")
	// What this process was itself given by whoever started it, not to be
	// closed at an exec, is out of the hands of a Go program.
	var given []string
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	for _, entry := range entries {
		number, _ := strconv.Atoi(entry.Name())
		flags, err := unix.FcntlInt(uintptr(number), unix.F_GETFD, 0)
		if target, _ := os.Readlink("/proc/self/fd/" + entry.Name()); err == nil && flags&unix.FD_CLOEXEC == 0 {
			given = append(given, target)
		}
	}
	const n = 20
	connections, results := make([]*mcp.Connection, n), make([]string, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			c, err := mcp.Connect(t.Context(), server)
			if !assert.NoError(t, err) {
				return
			}
			connections[i] = c
			result, err := call(t, c, `{}`)
			assert.NoError(t, err)
			results[i] = result.Content
		})
	}
	wg.Wait()
	var pipes []string
	for i, result := range results {
		for line := range strings.SplitSeq(result, "\n") {
			number, target, _ := strings.Cut(line, " ")
			if slices.Contains([]string{"0", "1", "2"}, number) {
				assert.Contains(t, target, "pipe:[")
				assert.NotContains(t, pipes, target, "shared with another server")
				pipes = append(pipes, target)
				continue
			}
			// The rest is what the Go runtime of the scripted server opens.
			if slices.Contains(given, target) {
				continue
			}
			assert.Regexp(t, `^(anon_inode:.*|/sys/.*|/proc/\d+/fd)$`, target)
		}
		if connections[i] != nil {
			wg.Go(func() { assert.NoError(t, connections[i].Close()) })
		}
	}
	wg.Wait()
	assert.Len(t, pipes, 3*n)
}

// A server that starts sessions without end is still ended as a whole.
func TestForksWhileItIsEnded(t *testing.T) {
	for name, n := range map[string]int{"during the wait": 300, "at once": 1} {
		t.Run(name, func(t *testing.T) {
			server := stdioServer(t, "shell")
			server.StopTimeout = time.Duration(n) * time.Millisecond
			server.Args = []string{`trap "" TERM; echo; i=0; while [ $i -lt 400 ]; do setsid sleep 60 & i=$((i+1)); done; wait`, "stays"}
			c := connect(t, server)
			require.NoError(t, c.Close())
			assert.Empty(t, mcptest.Processes(mcptest.Mark(t)))
		})
	}
}
