package mcp_test

// This file tests what is particular to processes on Windows: jobs, batch
// files, and how programs are found.

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
)

// hasSignals says whether a process can be asked to end.
const hasSignals = false

func alive(pid int) bool {
	process, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return false
	}
	defer windows.CloseHandle(process)
	event, _ := windows.WaitForSingleObject(process, 0)
	return event == uint32(windows.WAIT_TIMEOUT)
}

func ignoreSignals() {}

// separate takes the node as far away from its parent as a process can go.
func separate(command *exec.Cmd, n node) {
	if n.Session || n.Group {
		command.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
	}
}

func (n node) listen() {}

func (n node) bye() {}

func crowd(testing.TB) {}

// No child leaves the job, and the job is not confused by a child that lives
// for itself.
func TestJob(t *testing.T) {
	c := connect(t, treeServer(t, node{Stays: true, Children: []node{{Session: true, Children: []node{{Group: true}, {Leaves: true, Children: []node{{}}}}}}}))
	pids := grown(t, c)
	require.Len(t, pids, 3)
	closes(t, c, pids, 300*time.Millisecond, 300*time.Millisecond)
}

// batch writes a batch file that starts the program with its own arguments, as
// the launchers of npm do.
func batch(t testing.TB, name, program string) string {
	file := filepath.Join(folder(t), name)
	require.NoError(t, os.WriteFile(file, []byte("@ECHO off\r\n\""+program+"\" %*\r\n"), 0o755))
	return file
}

func TestBatchFile(t *testing.T) {
	for _, name := range []string{"launcher.cmd", "with space.bat"} {
		t.Run(name, func(t *testing.T) {
			server := stdioServer(t, "arguments")
			server.Command = batch(t, name, server.Command)
			server.Args = []string{"-y", "a b", "", `C:\My Files\data dir`, `C:\dir\`, `\\server\share\\`, "a&b", "a&echo INJECTED", "|more", "<in", ">out", "^caret^", "(x)", "!x!", "a,b;c=d", "$HOME", "'q'", "ä€"}
			result, err := call(t, connect(t, server), `{}`)
			require.NoError(t, err)
			assert.Equal(t, fmt.Sprintf("%q", server.Args), result.Content)
		})
	}
}

// A batch file with a tree below it is ended as a whole, and its server sees
// its input close.
func TestBatchFileTree(t *testing.T) {
	for name, c := range map[string]struct {
		tree        node
		least, most time.Duration
	}{
		"polite":   {node{Lingers: 100, Children: []node{{}}}, 100 * time.Millisecond, 200 * time.Millisecond},
		"stubborn": {node{Stays: true, Children: []node{{Children: []node{{}}}}}, 300 * time.Millisecond, 300 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			server := treeServer(t, c.tree)
			server.Command = batch(t, "launcher.cmd", server.Command)
			// The specification is full of quotes, so it comes as a variable.
			server.Env = append(server.Env, "MCPTEST_TREE="+server.Args[0])
			server.Args = nil
			connection := connect(t, server)
			closes(t, connection, grown(t, connection), c.least, c.most)
		})
	}
}

// What cmd.exe could take for something else is refused, before anything runs.
func TestBatchArgumentsThatAreRefused(t *testing.T) {
	mcptest.NoLeaks(t)
	server := stdioServer(t, "arguments")
	server.Command = batch(t, "launcher.cmd", server.Command)
	for argument, shown := range map[string]string{
		`"&echo INJECTED`: `'"'`,
		"%OS%":            "'%'",
		"100%":            "'%'",
		"a\r":             `'\r'`,
		"a\nb":            `'\n'`,
	} {
		server.Args = []string{"fine", argument}
		_, err := mcp.Connect(t.Context(), server)
		assert.EqualError(t, err, `mcp server "test": starting: invalid server: Args[1] holds `+shown+`, which cannot be passed to a batch file (launcher.cmd) safely`)
		assert.ErrorIs(t, err, mcp.ErrInvalidServer)
	}
	server.Args = nil
	server.Command = batch(t, "100%.cmd", server.Command)
	_, err := mcp.Connect(t.Context(), server)
	assert.EqualError(t, err, `mcp server "test": starting: invalid server: the path holds '%', which cannot be passed to a batch file (100%.cmd) safely`)
}

// npm installs a script for Unix shells beside the batch file.
func TestWhereCommandsAreFound(t *testing.T) {
	server := stdioServer(t, "plain")
	file := batch(t, "npx.cmd", server.Command)
	dir := filepath.Dir(file)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "npx"), []byte("#!/bin/sh\n"), 0o755))
	for name, c := range map[string]struct {
		command string
		dir     string
		env     []string
	}{
		"PATH":              {"npx", "", []string{"PATH=C:\\no such folder;relative;" + dir}},
		"Path":              {"npx", "", []string{"Path=" + dir}},
		"the last one wins": {"npx", "", []string{"PATH=C:\\windows", "Path=" + dir}},
		"with extension":    {"npx.cmd", "", []string{"PATH=" + dir}},
		"upper case":        {"NPX.CMD", "", []string{"PATH=" + dir}},
		"PATHEXT":           {"npx", "", []string{"PATH=" + dir, "PathExt=.EXE;.CMD"}},
		"a path":            {strings.TrimSuffix(file, ".cmd"), "", nil},
		"relative to Dir":   {`.\npx`, dir, nil},
	} {
		t.Run(name, func(t *testing.T) {
			server := server
			server.Command, server.Dir, server.Env = c.command, c.dir, append(server.Env, c.env...)
			connect(t, server)
		})
	}
	server.Command, server.Env = "npx", append(server.Env, "PATH="+dir, "PATHEXT=.EXE")
	_, err := mcp.Connect(t.Context(), server)
	assert.EqualError(t, err, `mcp server "test": starting: exec: "npx": executable file not found in PATH`)
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestSystemRootIsAdded(t *testing.T) {
	server := stdioServer(t, "environment")
	var env []string
	for _, entry := range server.Env {
		if !strings.HasPrefix(entry, "SYSTEMROOT=") {
			env = append(env, entry)
		}
	}
	server.Env = env
	result, err := call(t, connect(t, server), `{}`)
	require.NoError(t, err)
	assert.Contains(t, strings.ToUpper(result.Content), "SYSTEMROOT="+strings.ToUpper(os.Getenv("SYSTEMROOT")))
}

func TestProgramsThatAreNone(t *testing.T) {
	mcptest.NoLeaks(t)
	file := filepath.Join(folder(t), "text.exe")
	require.NoError(t, os.WriteFile(file, []byte("not a program"), 0o755))
	start := time.Now()
	_, err := mcp.Connect(t.Context(), mcp.Server{Name: "test", Command: file})
	assert.ErrorContains(t, err, `mcp server "test": starting: fork/exec `+file+`: `)
	_, err = mcp.Connect(t.Context(), mcp.Server{Name: "test", Command: filepath.Dir(file)})
	assert.ErrorContains(t, err, "it is a directory")
	assert.ErrorIs(t, err, os.ErrPermission)
	assert.Less(t, time.Since(start), slack)
}

// Connections give back the handles of jobs, processes and pipes.
func TestHandles(t *testing.T) {
	count := func() (n uint32) {
		proc := windows.NewLazySystemDLL("kernel32.dll").NewProc("GetProcessHandleCount")
		ok, _, err := proc.Call(uintptr(windows.CurrentProcess()), uintptr(unsafe.Pointer(&n)))
		require.NotZero(t, ok, err)
		return n
	}
	round := func(n node) {
		server := treeServer(t, n)
		server.StopTimeout = 10 * time.Millisecond
		c, err := mcp.Connect(t.Context(), server)
		require.NoError(t, err)
		require.NoError(t, c.Close())
	}
	round(node{}) // what is made once
	before := count()
	for range 5 {
		round(node{})
		round(node{Stays: true})
		_, err := mcp.Connect(t.Context(), stdioServer(t, "end"))
		require.Error(t, err)
	}
	// Threads of the runtime have handles, too.
	assert.Less(t, count(), before+15, "a leak of one would make 15 more")
}
