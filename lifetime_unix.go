//go:build unix

package mcp

// This file starts, signals and ends a server's processes on Unix.

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// A process is a started server together with what it starts. It is the leader
// of a process group of its own, so that signals reach what a launcher such as
// npx or a shell has started, and so that a Ctrl-C in the terminal does not
// reach the server before its host can close it in order.
type process struct {
	command               *exec.Cmd
	stdin, stdout, stderr *os.File // the host's ends
}

// startProcess starts the command with pipes that are plain files: os/exec
// then copies nothing, and a process that inherits them and outlives the
// server cannot hold up Wait.
func startProcess(command *exec.Cmd) (*process, error) {
	p := &process{command: command}
	var theirs []*os.File
	closeAll := func(files ...*os.File) {
		for _, f := range files {
			if f != nil {
				f.Close()
			}
		}
	}
	pipe := func(hostWrites bool) (ours, their *os.File, err error) {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, nil, err
		}
		if hostWrites {
			r, w = w, r
		}
		theirs = append(theirs, w)
		return r, w, nil
	}
	var (
		in, out, errs *os.File
		err           error
	)
	if p.stdin, in, err = pipe(true); err == nil {
		if p.stdout, out, err = pipe(false); err == nil {
			p.stderr, errs, err = pipe(false)
		}
	}
	if err == nil {
		command.Stdin, command.Stdout, command.Stderr = in, out, errs
		command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		err = command.Start()
	}
	closeAll(theirs...)
	if err != nil {
		closeAll(p.stdin, p.stdout, p.stderr)
		return nil, err
	}
	return p, nil
}

func (p *process) Wait() error {
	err := p.command.Wait()
	p.Kill()
	// As process 1 of a container the host inherits the orphans of the group.
	for {
		pid, err := syscall.Wait4(-p.command.Process.Pid, nil, syscall.WNOHANG, nil)
		if pid <= 0 || err != nil {
			break
		}
	}
	return err
}

func (p *process) BeforeStop() {}

func (p *process) Terminate() { syscall.Kill(-p.command.Process.Pid, syscall.SIGTERM) }

func (p *process) Kill() { syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL) }

// lookPath finds the program: a name without a separator in the PATH of env,
// or in the host's if env has none.
func lookPath(command string, env []string) (string, error) {
	if strings.Contains(command, "/") {
		return command, nil
	}
	path := os.Getenv("PATH")
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, "PATH="); ok {
			path = value
		}
	}
	var denied error
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue // what it means would depend on the folder of the host
		}
		file := filepath.Join(dir, command)
		info, err := os.Stat(file)
		if err != nil || info.IsDir() {
			continue
		}
		if info.Mode()&0o111 != 0 {
			return file, nil
		}
		denied = &fs.PathError{Op: "exec", Path: file, Err: fs.ErrPermission}
	}
	if denied != nil {
		return "", denied
	}
	return "", &exec.Error{Name: command, Err: errNotInPath}
}

var errNotInPath = pathError{errors.New("executable file not found in PATH")}

// pathError is os/exec's ErrNotFound with fs.ErrNotExist behind it.
type pathError struct{ error }

func (pathError) Is(target error) bool { return target == fs.ErrNotExist || target == exec.ErrNotFound }
