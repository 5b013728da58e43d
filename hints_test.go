package mcp_test

// This file sees what the errors of a start advise.

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
)

func init() {
	servers["exits with"] = func(*mcptest.Peer) { // as a shell that does not find a program
		os.Exit(127)
	}
}

func TestHints(t *testing.T) {
	mcptest.NoLeaks(t)
	const (
		arguments = "Command is the program alone: what comes after it goes into Args"
		tilde     = "no shell expands the ~ of Command: write the whole path"
		path      = "a program was not found, and Env has no PATH: see BaseEnv"
	)
	self, env := mcptest.Command(t, "exits with")
	bin := t.TempDir()
	spaced := filepath.Join(bin, "with a space.exe")
	if err := os.Symlink(self, spaced); err != nil {
		t.Skip(err)
	}
	for command, want := range map[string]struct {
		env     []string
		hint    string
		missing bool
	}{
		"npx -y example":      {hint: arguments, missing: true},
		"./server --stdio":    {hint: arguments, missing: true},
		"server\t-v":          {hint: arguments, missing: true},
		"~/bin/server":        {hint: tilde, missing: true},
		"~me/bin/server --x":  {hint: tilde, missing: true},
		"mcp-no-such-program": {missing: true},
		self:                  {env: env, hint: path},
		spaced:                {env: append(env[:len(env):len(env)], "PATH="), hint: path},
		self + ".":            {missing: true},
	} {
		_, err := mcp.Connect(t.Context(), mcp.Server{Name: "x", Command: command, Env: want.env})
		require.Error(t, err, command)
		if want.hint == "" {
			assert.NotContains(t, err.Error(), "(", command)
		} else {
			assert.Contains(t, err.Error(), " ("+want.hint+")", command)
		}
		assert.Equal(t, want.missing, errors.Is(err, os.ErrNotExist), "%s: %v", command, err)
	}

	// What Env says of PATH is right here: nothing is to be advised.
	_, err := mcp.Connect(t.Context(), mcp.Server{Name: "x", Command: self, Env: append(env[:len(env):len(env)], "PATH="+bin)})
	require.ErrorContains(t, err, "exit status 127")
	assert.NotContains(t, err.Error(), "BaseEnv")
}

// StartTimeout bounds the start of a server whatever the context does, and the
// error says why one of npx may take longer.
func TestStartTimeout(t *testing.T) {
	mcptest.NoLeaks(t)
	self, env := mcptest.Command(t, "silent")
	npx := filepath.Join(t.TempDir(), "npx.exe")
	if err := os.Symlink(self, npx); err != nil {
		t.Skip(err)
	}
	// Only the end that comes from StartTimeout is that of a deadline: no
	// machine is so busy that the other comes first.
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	for name, server := range map[string]mcp.Server{
		`mcp server "x": initializing: context deadline exceeded`: {Command: self},
		`mcp server "x": initializing: context deadline exceeded (npx may still be downloading the server: allow the start more time, or start it once by hand)`: {Command: npx},
	} {
		server.Name, server.Env, server.StartTimeout = "x", env, 300*time.Millisecond
		_, err := mcp.Connect(ctx, server)
		assert.EqualError(t, err, name)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.NoError(t, ctx.Err())
	}
}
