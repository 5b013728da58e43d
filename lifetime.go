package mcp

// This file starts a server's process with its pipes; the rest of its life is
// in the lifetime file of each system.

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/seed94b59a13/mcp/internal/command"
)

// newCommand returns the command of a server, not yet started.
func newCommand(s Server) (*exec.Cmd, error) {
	cmd, err := command.New(s.Command, s.Args, s.Env, s.Dir)
	if refused := command.UnsafeError(""); errors.As(err, &refused) {
		return nil, fmt.Errorf("%w: %w", ErrInvalidServer, err)
	}
	return cmd, err
}

// pipes are the host's ends of a server's standard streams.
type pipes struct {
	stdin, stdout, stderr *os.File
}

// startProcess starts the command with pipes that are plain files: os/exec
// then copies nothing, and a process that inherits them and outlives the
// server cannot hold up Wait. All ends are close-on-exec, so a server that is
// started at the same time inherits none of them. Go opens all files so; a
// descriptor that the host was itself started with, without that flag, is
// passed on as by any Go program.
func startProcess(cmd *exec.Cmd) (_ *process, ours pipes, err error) {
	var theirs []*os.File
	defer func() {
		for _, file := range theirs {
			file.Close()
		}
		if err != nil {
			for _, file := range []*os.File{ours.stdin, ours.stdout, ours.stderr} {
				file.Close() // nil is fine
			}
		}
	}()
	open := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}
		return r, w
	}
	in, stdin := open()
	stdout, out := open()
	stderr, errs := open()
	ours, theirs = pipes{stdin, stdout, stderr}, []*os.File{in, out, errs}
	if err != nil {
		return nil, ours, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errs
	p, err := launch(cmd)
	return p, ours, err
}
