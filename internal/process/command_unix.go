//go:build unix

package process

// This file finds programs on Unix, and finds out why one cannot be started.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Command returns the command of a server, not yet started. A program without a separator in its
// name is looked up in the PATH of env, or in the host's if env has none; a
// path is relative to dir if it is not absolute.
func Command(program string, args, env []string, dir string) (*exec.Cmd, error) {
	path, err := lookPath(program, env)
	if err != nil {
		return nil, err
	}
	return &exec.Cmd{Path: path, Args: append([]string{program}, args...), Env: env, Dir: dir}, nil
}

// lookPath finds the program.
func lookPath(program string, env []string) (string, error) {
	if strings.Contains(program, "/") {
		return program, nil
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
		file := filepath.Join(dir, program)
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
	return "", &exec.Error{Name: program, Err: errNotInPath}
}

// explain adds to the error of a start what its number leaves open: "no such
// file or directory" may be about the program, the folder to run in, or the
// interpreter of a script.
func explain(cmd *exec.Cmd, err error) error {
	if cmd.Dir != "" {
		if cause := unix.Access(cmd.Dir, unix.X_OK); cause != nil {
			return &fs.PathError{Op: "chdir", Path: cmd.Dir, Err: cause}
		}
	}
	file := cmd.Path
	if !filepath.IsAbs(file) {
		file = filepath.Join(cmd.Dir, file)
	}
	info, statErr := os.Stat(file)
	if statErr != nil {
		return err
	}
	interpreter, binary := "", false
	if info.Mode().IsRegular() {
		interpreter, binary = inspect(file)
	}
	what := ""
	switch {
	case info.IsDir():
		what = "it is a directory"
	case errors.Is(err, fs.ErrPermission) && info.Mode()&0o111 == 0:
		what = "it is not executable"
	case errors.Is(err, fs.ErrNotExist) && interpreter != "":
		what = fmt.Sprintf("its interpreter %q does not exist", interpreter)
	case errors.Is(err, fs.ErrNotExist):
		what = "the loader that it asks for does not exist"
	case errors.Is(err, fs.ErrPermission) && interpreter != "":
		what = fmt.Sprintf("its interpreter %q cannot be run", interpreter)
	case errors.Is(err, syscall.ENOEXEC) && binary:
		what = "it is built for another kind of machine"
	case errors.Is(err, syscall.ENOEXEC):
		what = "it is neither a program of this system nor a script with a #! line"
	default:
		return err
	}
	return fmt.Errorf("%w: %s", err, what)
}

// inspect returns the interpreter of a script, and whether the file is a
// binary program.
func inspect(file string) (interpreter string, binary bool) {
	f, err := os.Open(file)
	if err != nil {
		return "", false
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, 256)) // the kernel reads as much
	if line, ok := bytes.CutPrefix(head, []byte("#!")); ok {
		line, _, _ = bytes.Cut(line, []byte("\n"))
		line, _, _ = bytes.Cut(bytes.TrimLeft(line, " \t"), []byte(" "))
		return string(line), false
	}
	return "", bytes.HasPrefix(head, []byte("\x7fELF"))
}
