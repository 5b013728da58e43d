package mcp

// This file starts a server's program on Windows, and says how long it lives.

import (
	"errors"
	"fmt"

	"github.com/seed94b59a13/mcp/internal/process"
)

// startProcess starts the program of a server in a job object. It lives until
// it leaves by itself or the connection ends, and so does all that it starts:
// what is left of the job is then killed. So it is when the host ends.
//
// An argument that cannot be passed to a batch file makes the Server invalid.
func startProcess(s Server) (*process.Process, process.Pipes, error) {
	cmd, err := process.Command(s.Command, s.Args, s.Env, s.Dir)
	if refused := process.UnsafeError(""); errors.As(err, &refused) {
		return nil, process.Pipes{}, fmt.Errorf("%w: %w", ErrInvalidServer, err)
	}
	if err != nil {
		return nil, process.Pipes{}, err
	}
	return process.Start(cmd)
}
