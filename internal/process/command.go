package process

// This file has the errors of finding a program on all systems.

import (
	"errors"
	"io/fs"
	"os/exec"
)

// An UnsafeError tells of an argument that cannot be passed on as it is.
type UnsafeError string

func (e UnsafeError) Error() string { return string(e) }

var errNotInPath = pathError{errors.New("executable file not found in PATH")}

// pathError is os/exec's ErrNotFound with fs.ErrNotExist behind it.
type pathError struct{ error }

func (pathError) Is(target error) bool { return target == fs.ErrNotExist || target == exec.ErrNotFound }
