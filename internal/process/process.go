// Package process starts the program of a server and ends it with all that it
// has started. It finds the program as the server's own environment says,
// passes the arguments on exactly as they are, and makes the pipes.
//
// A [Process] is a started server together with everything below it. Each
// system has its own way to keep that together: see the file of each.
package process

// This file starts a process with its pipes; the rest of its life is in the
// file of each system.

import (
	"os"
	"os/exec"
)

// Pipes are the host's ends of a server's standard streams. Who starts a
// process closes them.
type Pipes struct {
	Stdin, Stdout, Stderr *os.File
}

// Start starts the command with pipes that are plain files: os/exec then copies
// nothing, and a process that inherits them and outlives the server cannot hold
// up Wait. All ends are close-on-exec, so a server that is started at the same
// time inherits none of them. Go opens all files so; a descriptor that the host
// was itself started with, without that flag, is passed on as by any Go
// program.
func Start(cmd *exec.Cmd) (_ *Process, ours Pipes, err error) {
	var theirs []*os.File
	defer func() {
		for _, file := range theirs {
			file.Close()
		}
		if err != nil {
			for _, file := range []*os.File{ours.Stdin, ours.Stdout, ours.Stderr} {
				file.Close() // nil is fine
			}
		}
	}()
	open := func() (r, w *os.File) {
		if err == nil {
			r, w, err = pipe()
		}
		return r, w
	}
	in, stdin := open()
	stdout, out := open()
	stderr, errs := open()
	ours, theirs = Pipes{stdin, stdout, stderr}, []*os.File{in, out, errs}
	if err != nil {
		return nil, ours, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errs
	p, err := launch(cmd, ours)
	return p, ours, err
}
