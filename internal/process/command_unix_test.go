//go:build unix

package process

// This file tests where programs are found, and what is said of those that
// cannot be started.

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCommand(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"first/server", "second/server", "second/data"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o755))
	}
	require.NoError(t, os.Chmod(filepath.Join(dir, "second/data"), 0o644))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "first/folder"), 0o755))
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	t.Setenv("PATH", second)
	t.Chdir(first)
	for name, c := range map[string]struct {
		program string
		env     []string
		want    string
		err     string
		is      error
	}{
		"the first in PATH":           {program: "server", env: []string{"PATH=" + first + ":" + second}, want: first + "/server"},
		"the last PATH":               {program: "server", env: []string{"PATH=" + first, "PATH=" + second}, want: second + "/server"},
		"no PATH":                     {program: "server", env: []string{"A=b"}, want: second + "/server"},
		"not the folder of the host":  {program: "server", env: []string{"PATH=:.:relative:" + second}, want: second + "/server"},
		"not a folder":                {program: "folder", env: []string{"PATH=" + first}, err: `exec: "folder": executable file not found in PATH`, is: fs.ErrNotExist},
		"an empty PATH":               {program: "server", env: []string{"PATH="}, err: `exec: "server": executable file not found in PATH`, is: exec.ErrNotFound},
		"one that is not executable":  {program: "data", err: "exec " + second + "/data: permission denied", is: fs.ErrPermission},
		"a path is taken as it is":    {program: "./server", env: []string{"PATH=" + second}, want: "./server"},
		"also one that does not work": {program: "/no/such/program", want: "/no/such/program"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd, err := Command(c.program, []string{"-a", ""}, c.env, "/tmp")
			if c.err != "" {
				assert.EqualError(t, err, c.err)
				assert.ErrorIs(t, err, c.is)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, cmd.Path)
			assert.Equal(t, []string{c.program, "-a", ""}, cmd.Args)
			assert.Equal(t, c.env, cmd.Env)
			assert.Equal(t, "/tmp", cmd.Dir)
		})
	}
}

// A start that fails says what its number leaves open, and leaves nothing.
func TestFailedStart(t *testing.T) {
	dir := t.TempDir()
	files := map[string]struct {
		content string
		mode    os.FileMode
		want    string
	}{
		"plain":  {"echo hi\n", 0o755, "exec format error: it is neither a program of this system nor a script with a #! line"},
		"script": {"#! /no/such/interpreter -x\n", 0o755, `no such file or directory: its interpreter "/no/such/interpreter" does not exist`},
		"data":   {"#!/bin/sh\n", 0o644, "permission denied: it is not executable"},
		"denied": {"#!" + dir + "/data\n", 0o755, `permission denied: its interpreter "` + dir + `/data" cannot be run`},
	}
	for name, c := range files { // one of them is run by another
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(c.content), c.mode))
	}
	for name, c := range files {
		path := filepath.Join(dir, name)
		_, pipes, err := Start(&exec.Cmd{Path: path})
		assert.EqualError(t, err, "fork/exec "+path+": "+c.want, name)
		for _, file := range []*os.File{pipes.Stdin, pipes.Stdout, pipes.Stderr} {
			assert.ErrorIs(t, file.Close(), os.ErrClosed, name)
		}
	}
	_, _, err := Start(&exec.Cmd{Path: dir})
	assert.EqualError(t, err, "fork/exec "+dir+": permission denied: it is a directory")
}
