package program

// This file says what to do about a program that did not start.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Hint says what the reader of an error may do next, where it is one that people
// meet with their first server; nothing for any other.
func Hint(command string, env []string, err error) string {
	notFound := errors.Is(err, os.ErrNotExist) || errors.Is(err, exec.ErrNotFound)
	switch {
	case command == "": // a server with a URL may write anything
		return ""
	case notFound && strings.HasPrefix(command, "~"):
		return "no shell expands the ~ of Command: write the whole path"
	case notFound && hasArguments(command):
		return "Command is the program alone: what comes after it goes into Args"
	case strings.Contains(err.Error(), "exit status 127") && !hasPath(env):
		// What a shell, and env in a script's first line, say of a program that
		// they do not find.
		return "a program was not found, and Env has no PATH: see BaseEnv"
	case errors.Is(err, context.DeadlineExceeded) && slices.Contains(downloaders, name(command)):
		return fmt.Sprintf("%s may still be downloading the server: allow the start more time, or start it once by hand", name(command))
	}
	return ""
}

// hasArguments reports whether Command looks like a line for a shell. A folder
// may well have a space in its name.
func hasArguments(command string) bool {
	first := strings.IndexAny(command, " \t")
	return first > 0 && (!strings.ContainsAny(command[:first], `/\`) || strings.Contains(command[first:], " -"))
}

// hasPath reports whether a program of env can find others, as npx has to find
// node, whatever PATH the host has.
func hasPath(env []string) bool {
	return slices.ContainsFunc(env, func(entry string) bool {
		key, value, _ := Cut(entry)
		return strings.EqualFold(key, "PATH") && value != ""
	})
}

// name returns the name of the program without its folder and the ending
// that Windows gives it.
func name(command string) string {
	base := strings.ToLower(command[strings.LastIndexAny(command, `/\`)+1:])
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// downloaders are programs that get the server from elsewhere before they start
// it.
var downloaders = []string{"npx", "npm", "pnpm", "pnpx", "yarn", "bun", "bunx", "deno", "uv", "uvx", "pipx", "docker", "podman"}
