//go:build unix

package process

// This file has what tests start and end processes with on Unix, and tests
// what holds on all of them.

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp/internal/mcptest"
)

const (
	// patience is longer than anything here takes on the busiest machine.
	patience = 30 * time.Second
	// lifeTime bounds what a broken test leaves behind.
	lifeTime = 2 * time.Minute
)

func init() {
	// A chain is a process that starts the next one, as its arguments say: each
	// has the letters of one process. The first is the server.
	//
	//	w  waits for the end of its input
	//	x  exits when the next one is ready
	//	d  is deaf: ignores the signals that can be ignored
	//	g  is in a group of its own
	//	s  is in a session of its own
	//	p  stops itself
	//
	// A number before them starts as many. Linux has more letters.
	programs["chain"] = func(*mcptest.Peer) {
		time.AfterFunc(lifeTime, func() { os.Exit(9) })
		letters := os.Args[1]
		if strings.Contains(letters, "d") {
			signal.Ignore()
		}
		become(letters)
		pids := []string{strconv.Itoa(os.Getpid())}
		if len(os.Args) > 2 {
			pids = append(pids, startNext(os.Args[2:])...)
		}
		fmt.Println(strings.Join(pids, " "))
		os.Stdout.Close()
		switch {
		case strings.Contains(letters, "x"):
			return
		case strings.Contains(letters, "w"):
			os.Stdin.Read(make([]byte, 1))
			return
		case strings.Contains(letters, "p"):
			syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		}
		select {}
	}
}

// startNext starts the rest of a chain, and returns the ids of its processes.
func startNext(chain []string) (pids []string) {
	letters := strings.TrimLeft(chain[0], "0123456789")
	n, _ := strconv.Atoi(strings.TrimSuffix(chain[0], letters))
	for range max(n, 1) {
		command := exec.Command(os.Args[0], append([]string{letters}, chain[1:]...)...)
		command.SysProcAttr = &syscall.SysProcAttr{Setsid: strings.Contains(letters, "s"), Setpgid: strings.Contains(letters, "g")}
		traced := prepare(letters, command)
		out, err := command.StdoutPipe()
		if err == nil {
			err = command.Start()
		}
		if err != nil {
			panic(err)
		}
		if traced {
			return append(pids, strconv.Itoa(command.Process.Pid))
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			panic(err)
		}
		pids = append(pids, strings.Fields(line)...)
		out.Close()
		if strings.Contains(letters, "x") {
			command.Wait()
		}
		command.Process.Release()
	}
	return pids
}

// A server is a process that a test has started, with what is below it.
type server struct {
	*Process
	Pipes
	pids []int // all that live
	done chan error
}

// begin starts a program and waits for the line with which it says that it is
// ready.
func begin(t testing.TB, program string, args, env []string) *server {
	t.Helper()
	cmd, err := Command(program, args, env, "")
	require.NoError(t, err)
	p, pipes, err := Start(cmd)
	require.NoError(t, err)
	s := &server{Process: p, Pipes: pipes, done: make(chan error, 1)}
	go func() { s.done <- p.Wait() }()
	line, err := bufio.NewReader(s.Stdout).ReadString('\n')
	require.NoError(t, err)
	for field := range strings.FieldsSeq(line) {
		if pid, err := strconv.Atoi(field); err == nil {
			s.pids = append(s.pids, pid)
		}
	}
	return s
}

func beginChain(t testing.TB, chain ...string) *server {
	program, env := mcptest.Command(t, "chain")
	return begin(t, program, chain, env)
}

// The ways to end a server.
var ways = map[string]func(*server){
	"leave": func(s *server) {
		s.BeforeStop()
		s.Stdin.Close()
	},
	"terminate": func(s *server) { s.Terminate() },
	"kill":      func(s *server) { s.Kill() },
}

// end ends the server in a way, and returns what Wait does.
func (s *server) end(t testing.TB, way string) error {
	t.Helper()
	if end := ways[way]; end != nil {
		end(s)
	}
	select {
	case err := <-s.done:
		s.Stdin.Close()
		s.Stdout.Close()
		s.Stderr.Close()
		return err
	case <-time.After(patience):
		t.Fatal("it does not end")
		return nil
	}
}

// isAlive reports whether a process runs. A zombie does not.
func isAlive(pid int) bool {
	if stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil {
		_, after, _ := strings.Cut(string(stat), ") ")
		return !strings.ContainsAny(after[:1], "XZ")
	}
	return syscall.Kill(pid, 0) == nil
}

func assertGone(t testing.TB, s *server) {
	t.Helper()
	for _, pid := range s.pids {
		assert.False(t, isAlive(pid), "process %d of %v is left", pid, s.pids)
	}
	assert.Empty(t, mcptest.Processes(mcptest.Mark(t)))
	assert.Empty(t, s.Warnings())
}

// How a server went is told as it was.
func TestExitStatus(t *testing.T) {
	for way, want := range map[string]string{"terminate": "signal: terminated", "kill": "signal: killed"} {
		t.Run(way, func(t *testing.T) {
			mcptest.NoLeaks(t)
			s := beginChain(t, "w")
			assert.EqualError(t, s.end(t, way), want)
			s.Kill() // no harm when all is over
			s.Terminate()
			assertGone(t, s)
		})
	}
	t.Run("leave", func(t *testing.T) {
		mcptest.NoLeaks(t)
		assert.NoError(t, beginChain(t, "w").end(t, "leave"))
	})
	t.Run("by itself", func(t *testing.T) {
		mcptest.NoLeaks(t)
		s := begin(t, "/bin/sh", []string{"-c", "echo; exit 3"}, nil)
		assert.EqualError(t, s.end(t, ""), "exit status 3")
	})
}

// A server that ignores the signal, or cannot see it, is killed all the same.
func TestDeafServer(t *testing.T) {
	mcptest.NoLeaks(t)
	s := beginChain(t, "wd", "d")
	s.Terminate()
	assert.EqualError(t, s.end(t, "kill"), "signal: killed")
	assertGone(t, s)
}

// The server leads a group and a session, which it cannot leave.
func TestSession(t *testing.T) {
	mcptest.NoLeaks(t)
	s := beginChain(t, "w", "")
	for _, pid := range s.pids {
		group, err := syscall.Getpgid(pid)
		require.NoError(t, err)
		assert.Equal(t, s.pids[0], group)
	}
	assert.Equal(t, syscall.EPERM, syscall.Setpgid(s.pids[0], syscall.Getpgrp()))
	assert.NoError(t, s.end(t, "leave"))
	assertGone(t, s)
}

// What a group is told is told once.
func TestOneSignal(t *testing.T) {
	mcptest.NoLeaks(t)
	s := begin(t, "/bin/sh", []string{"-c", `trap 'echo told >&2; n=$((n+1))' TERM; echo; while [ "$n" != 1 ]; do sleep 1; done; sleep 0.1; exit 7`}, []string{"PATH=" + os.Getenv("PATH")})
	assert.EqualError(t, s.end(t, "terminate"), "exit status 7")
}
