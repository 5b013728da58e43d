//go:build unix

package mcp

// This file starts a server's program on Unix, and says how long it lives.

import "github.com/seed94b59a13/mcp/internal/process"

// startProcess starts the program of a server in a session of its own, without
// a terminal. It lives until it leaves by itself or the connection ends, and so
// does all that it starts: what is left of its process group is then killed,
// and on Linux also what had left the group.
func startProcess(s Server) (*process.Process, process.Pipes, error) {
	cmd, err := process.Command(s.Command, s.Args, s.Env, s.Dir)
	if err != nil {
		return nil, process.Pipes{}, err
	}
	return process.Start(cmd)
}
