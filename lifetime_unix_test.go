//go:build unix

package mcp_test

// This file has what the tests of processes need on Unix.

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
)

// hasSignals says whether a process can be asked to end.
const hasSignals = true

// alive reports whether the process exists. A zombie of this process does; one
// of another waits for that to take notice, and in state X it is about to
// vanish.
func alive(pid int) bool {
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		_, after, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(after)
		if fields[0] == "X" || fields[0] == "Z" && fields[1] != strconv.Itoa(os.Getpid()) {
			return false
		}
	}
	return syscall.Kill(pid, 0) == nil
}

func ignoreSignals() { signal.Ignore() }

// separate takes the node out of the group or session of its parent.
func separate(command *exec.Cmd, n node) {
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: n.Session, Setpgid: n.Group}
}

// listen notes every signal.
func (n node) listen() {
	signals := make(chan os.Signal, 10)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGCONT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGPIPE)
	go func() {
		for s := range signals {
			fmt.Fprintln(os.Stderr, "signal:", s)
			if s == syscall.SIGTERM {
				time.Sleep(300 * time.Millisecond)
				fmt.Fprintln(os.Stderr, "container removed")
				os.Exit(0)
			}
		}
	}()
}

// bye is the last word of a server that leaves by itself.
func (n node) bye() {
	if n.Told {
		fmt.Fprintln(os.Stderr, "left by itself")
	}
}

// crowd fills the machine with processes until the test ends.
func crowd(t testing.TB) {
	n := 2000
	if testing.Short() {
		n = 200
	}
	command := exec.Command("/bin/sh", "-c", fmt.Sprintf(`i=0; while [ $i -lt %d ]; do sleep 60 & i=$((i+1)); done; echo; exec sleep 60`, n))
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
		command.Wait()
	})
	_, err = out.Read(make([]byte, 1))
	require.NoError(t, err)
}

// A server that leaves by itself sees no signal.
func TestPoliteServersSeeNoSignal(t *testing.T) {
	server := treeServer(t, node{Told: true, Lingers: 200})
	stderr := &signalled{}
	server.Stderr = stderr
	c := connect(t, server)
	closes(t, c, nil, 200*time.Millisecond, 200*time.Millisecond)
	assert.Equal(t, "left by itself\n", stderr.String())
}

// After the signal the rest of the group has its time, even if a launcher has
// died of it at once: docker removes its container.
func TestSlowLeaverUnderALauncher(t *testing.T) {
	for name, launcher := range map[string]string{
		"itself":        `exec "$0" "$@"`,
		"under a shell": `"$0" "$@"; exit $?`,
	} {
		t.Run(name, func(t *testing.T) {
			server := treeServer(t, node{Told: true, Stays: true})
			stderr := &signalled{}
			server.Stderr = stderr
			server.StopTimeout = 2 * time.Second // as long as it gets for a last word, at most
			server.Command, server.Args = "/bin/sh", append([]string{"-c", launcher, server.Command}, server.Args...)
			c := connect(t, server)
			if name != "itself" && runtime.GOOS != "linux" {
				t.Skip("only Linux can tell whether members of the group are left")
			}
			closes(t, c, nil, 2300*time.Millisecond, 2300*time.Millisecond)
			assert.Contains(t, []string{"signal: terminated\ncontainer removed\n", "signal: terminated\nsignal: continued\ncontainer removed\n", "signal: continued\nsignal: terminated\ncontainer removed\n"}, stderr.String())
		})
	}
}

func TestUnderAShell(t *testing.T) {
	server := treeServer(t, node{Stays: true, Deaf: true, Children: []node{{}, {Deaf: true}}})
	server.Command, server.Args = "/bin/sh", append([]string{"-c", `"$0" "$@"; exit $?`, server.Command}, server.Args...)
	c := connect(t, server)
	closes(t, c, grown(t, c), 600*time.Millisecond, 600*time.Millisecond)
}

// A stopped server does not see its input close. It gets its chance.
func TestStoppedServer(t *testing.T) {
	for name, c := range map[string]struct {
		tree node
		most time.Duration
	}{
		"heeds the signal": {node{Stays: true, Children: []node{{}}}, 300 * time.Millisecond},
		"heeds nothing":    {node{Stays: true, Deaf: true, Children: []node{{}}}, 600 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			connection := connect(t, treeServer(t, c.tree))
			pids := grown(t, connection)
			group, err := syscall.Getpgid(pids[0])
			require.NoError(t, err)
			require.NoError(t, syscall.Kill(-group, syscall.SIGSTOP))
			closes(t, connection, append(pids, group), 300*time.Millisecond, c.most)
		})
	}
}

// Death by a signal is told as such, at once.
func TestKilledServer(t *testing.T) {
	c := connect(t, treeServer(t, node{Children: []node{{Deaf: true}}}))
	pids := grown(t, c)
	group, err := syscall.Getpgid(pids[0])
	require.NoError(t, err)
	failed := make(chan error)
	go func() {
		_, err := call(t, c, `{"do":"wait"}`)
		failed <- err
	}()
	require.NoError(t, syscall.Kill(group, syscall.SIGKILL))
	start := time.Now()
	err = <-failed
	assert.Less(t, time.Since(start), slack)
	assert.ErrorIs(t, err, mcp.ErrServerStopped)
	assert.ErrorContains(t, err, "signal: killed")
	<-c.Done()
	assert.EqualError(t, c.Err(), `mcp server "test": server stopped: signal: killed`)
	assert.False(t, alive(pids[0]))
}

// A group of its own keeps the terminal's interrupt away.
func TestOwnGroup(t *testing.T) {
	c := connect(t, treeServer(t, node{Children: []node{{}}}))
	group, err := syscall.Getpgid(grown(t, c)[0])
	require.NoError(t, err)
	assert.NotEqual(t, syscall.Getpgrp(), group)
	leader, err := syscall.Getpgid(group)
	require.NoError(t, err)
	assert.Equal(t, group, leader)
}

func TestBytesOfArguments(t *testing.T) {
	server := stdioServer(t, "arguments")
	server.Args = []string{"\xff\xfe", "a\xc3", "\x01\x7f"}
	result, err := call(t, connect(t, server), `{}`)
	require.NoError(t, err)
	assert.Equal(t, fmt.Sprintf("%q", server.Args), result.Content)
}

func TestUnusualStarts(t *testing.T) {
	mcptest.NoLeaks(t)
	dir := folder(t)
	file := func(name, content string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), mode))
		return path
	}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		self = []byte("\x7fELF")
	}
	otherMachine := append([]byte{}, self[:min(len(self), 4096)]...)
	if len(otherMachine) > 18 {
		otherMachine[18] ^= 0xff // the field e_machine
	}
	for name, c := range map[string]struct {
		command string
		want    string
		is      error
	}{
		"no #! line":          {file("plain", "echo hi\n", 0o755), "starting: fork/exec %s: exec format error: it is neither a program of this system nor a script with a #! line", syscall.ENOEXEC},
		"empty":               {file("empty", "", 0o755), "starting: fork/exec %s: exec format error: it is neither a program of this system nor a script with a #! line", syscall.ENOEXEC},
		"a directory":         {dir, "starting: fork/exec %s: permission denied: it is a directory", os.ErrPermission},
		"not executable":      {file("data", "#!/bin/sh\n", 0o644), "starting: fork/exec %s: permission denied: it is not executable", os.ErrPermission},
		"another machine":     {file("alien", string(otherMachine), 0o755), "starting: fork/exec %s: exec format error: it is built for another kind of machine", syscall.ENOEXEC},
		"missing interpreter": {file("script", "#!/no/such/interpreter -x\n", 0o755), `starting: fork/exec %s: no such file or directory: its interpreter "/no/such/interpreter" does not exist`, os.ErrNotExist},
		"Windows line ends":   {file("crlf", "#!/bin/sh\r\n", 0o755), `starting: fork/exec %s: no such file or directory: its interpreter "/bin/sh\r" does not exist`, os.ErrNotExist},
		"a broken link":       {link(t, "/no/such/program", filepath.Join(dir, "link")), "starting: fork/exec %s: no such file or directory", os.ErrNotExist},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := mcp.Connect(t.Context(), mcp.Server{Name: "test", Command: c.command})
			assert.EqualError(t, err, fmt.Sprintf(`mcp server "test": `+c.want, c.command))
			assert.ErrorIs(t, err, c.is)
			assert.Less(t, time.Since(start), slack)
		})
	}
	t.Run("not executable in PATH", func(t *testing.T) {
		_, err := mcp.Connect(t.Context(), mcp.Server{Name: "test", Command: "data", Env: []string{"PATH=/no/such/folder:" + dir}})
		assert.EqualError(t, err, `mcp server "test": starting: exec `+dir+`/data: permission denied`)
		assert.ErrorIs(t, err, os.ErrPermission)
	})
	t.Run("an argument list that is too long", func(t *testing.T) {
		server := stdioServer(t, "plain")
		server.Args = []string{strings.Repeat("x", 8<<20)}
		_, err := mcp.Connect(t.Context(), server)
		assert.EqualError(t, err, `mcp server "test": starting: fork/exec `+server.Command+`: argument list too long`)
		assert.ErrorIs(t, err, syscall.E2BIG)
	})
}

func link(t testing.TB, to, name string) string {
	require.NoError(t, os.Symlink(to, name))
	return name
}

// A command with a separator is relative to Dir, and PATH is that of Env.
func TestWhereCommandsAreFound(t *testing.T) {
	dir := folder(t)
	server := stdioServer(t, "plain")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "bin"), 0o755))
	link(t, server.Command, filepath.Join(dir, "bin", "my server"))
	relative := server
	relative.Command, relative.Dir = "./bin/my server", dir
	t.Run("in Dir", func(t *testing.T) { connect(t, relative) })
	inPath := server
	inPath.Command, inPath.Env = "my server", append(inPath.Env, "PATH=/no/such/folder:relative:"+dir+"/bin")
	t.Run("in PATH", func(t *testing.T) { connect(t, inPath) })
}
