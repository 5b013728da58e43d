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

// adapt has nothing to do here: the system runs scripts as well.
func adapt(*exec.Cmd) error { return nil }

// isName reports whether the key of an entry is the name of a variable.
func isName(key, name string) bool { return key == name }

// lookPath finds the program.
func lookPath(program, _ string, env []string) (string, error) {
	if strings.Contains(program, "/") {
		return program, nil
	}
	denied := notFound(program)
	for _, dir := range folders(env) {
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
	return "", denied
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
