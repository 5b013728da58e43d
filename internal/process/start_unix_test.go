//go:build unix

package process

// This file tests a start whose folder vanishes after the check of the Server.

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDirThatVanished(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "folder")
	require.NoError(t, os.Mkdir(dir, 0o755))
	for _, path := range []string{"/bin/sh", "./relative"} {
		command := &exec.Cmd{Path: path, Dir: dir}
		os.Remove(dir)
		_, _, err := Start(command)
		assert.EqualError(t, err, "chdir "+dir+": no such file or directory")
		assert.ErrorIs(t, err, fs.ErrNotExist)
	}
	require.NoError(t, os.WriteFile(dir, nil, 0o644))
	_, _, err := Start(&exec.Cmd{Path: "/bin/sh", Dir: dir})
	assert.ErrorContains(t, err, "chdir "+dir+": ")
}
