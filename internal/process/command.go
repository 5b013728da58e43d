package process

// This file makes the command of a server, as its own environment says.

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Command returns the command of a server, not yet started. A program without a
// separator in its name is looked up in the PATH of env, or in the host's if env
// has none; a path is relative to dir if it is not absolute.
//
// On Windows the extensions of the PATHEXT of env are tried, too. Batch files,
// which npx and most other launchers are, are given to cmd.exe; an argument that
// would not be safe with it is an [UnsafeError]. os/exec adds SYSTEMROOT to an
// environment without it: few programs start without.
func Command(program string, args, env []string, dir string) (*exec.Cmd, error) {
	path, err := lookPath(program, dir, env)
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{Path: path, Args: append([]string{program}, args...), Env: env, Dir: dir}
	return cmd, adapt(cmd)
}

// An UnsafeError tells of an argument that cannot be passed on as it is.
type UnsafeError string

func (e UnsafeError) Error() string { return string(e) }

// notFound is the error for a program that is in no folder of a PATH.
func notFound(program string) error {
	return &exec.Error{Name: program, Err: pathError{errors.New("executable file not found in PATH")}}
}

// pathError is os/exec's ErrNotFound with fs.ErrNotExist behind it.
type pathError struct{ error }

func (pathError) Is(target error) bool { return target == fs.ErrNotExist || target == exec.ErrNotFound }

// folders returns where programs are looked for. What a folder that is not
// absolute means would depend on the folder of the host.
func folders(env []string) []string {
	return slices.DeleteFunc(filepath.SplitList(variable("PATH", env)), func(dir string) bool { return !filepath.IsAbs(dir) })
}

// variable returns a variable of env, the last of its name as the system does,
// or else of the host.
func variable(name string, env []string) string {
	for _, entry := range slices.Backward(env) {
		if key, value, ok := strings.Cut(entry, "="); ok && isName(key, name) {
			return value
		}
	}
	return os.Getenv(name)
}
