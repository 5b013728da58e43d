package process

// This file tests what a process that was ended says of its exit.

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"
)

func TestTerminatedIsNoCleanExit(t *testing.T) {
	system, err := windows.GetSystemDirectory()
	require.NoError(t, err)
	shell := filepath.Join(system, "cmd.exe")
	p, pipes, err := Start(&exec.Cmd{Path: shell, Args: []string{"cmd", "/d"}})
	require.NoError(t, err)
	p.Terminate()
	assert.Equal(t, errTerminated, p.Wait())
	p.Kill() // no harm when all is over
	for _, file := range []interface{ Close() error }{pipes.Stdin, pipes.Stdout, pipes.Stderr} {
		assert.NoError(t, file.Close())
	}

	p, pipes, err = Start(&exec.Cmd{Path: shell, Args: []string{"cmd", "/d", "/c", "exit 3"}})
	require.NoError(t, err)
	assert.EqualError(t, p.Wait(), "exit status 3")
	pipes.Stdin.Close()
	pipes.Stdout.Close()
	pipes.Stderr.Close()
}

// What cmd.exe gets is quoted so that every argument arrives as it is.
func TestBatchLine(t *testing.T) {
	line, err := batchLine(`C:\My Tools\npx.cmd`, []string{"-y", "a b", "", `C:\dir\`, "a&b", "!x!"})
	require.NoError(t, err)
	assert.Equal(t, `/d /e:on /v:off /s /c ""C:\My Tools\npx.cmd" "-y" "a b" "" "C:\dir\\" "a&b" "!x!""`, line)
	for _, argument := range []string{`a"b`, "%PATH%", "a\rb", "a\nb", "a\x00b"} {
		_, err := batchLine("npx.cmd", []string{argument})
		assert.ErrorAs(t, err, new(UnsafeError), "%q", argument)
	}
}
