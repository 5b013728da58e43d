package mcp

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

// hinted adds to the error of a start what its reader may do next, where the
// cause is one that people meet with their first server.
func (s Server) hinted(err error) error {
	if hint := s.hint(err); hint != "" {
		return fmt.Errorf("%w (%s)", err, hint)
	}
	return err
}

func (s Server) hint(err error) string {
	notFound := errors.Is(err, os.ErrNotExist) || errors.Is(err, exec.ErrNotFound)
	switch {
	case s.Command == "":
		return ""
	case notFound && strings.HasPrefix(s.Command, "~"):
		return "no shell expands the ~ of Command: write the whole path"
	case notFound && s.hasArguments():
		return "Command is the program alone: what comes after it goes into Args"
	case strings.Contains(err.Error(), "exit status 127") && !s.hasPath():
		// What a shell, and env in a script's first line, say of a program that
		// they do not find.
		return "a program was not found, and Env has no PATH: see BaseEnv"
	case errors.Is(err, context.DeadlineExceeded) && s.downloads():
		return fmt.Sprintf("%s may still be downloading the server: allow the start more time, or start it once by hand", s.program())
	}
	return ""
}

// hasArguments reports whether Command looks like a line for a shell. A folder
// may well have a space in its name.
func (s Server) hasArguments() bool {
	first := strings.IndexAny(s.Command, " \t")
	return first > 0 && (!strings.ContainsAny(s.Command[:first], `/\`) || strings.Contains(s.Command[first:], " -"))
}

func (s Server) hasPath() bool {
	return slices.ContainsFunc(s.Env, func(entry string) bool {
		key, value, _ := cutEnv(entry)
		return strings.EqualFold(key, "PATH") && value != ""
	})
}

// program returns the name of the program without its folder and the ending
// that Windows gives it.
func (s Server) program() string {
	name := strings.ToLower(s.Command[strings.LastIndexAny(s.Command, `/\`)+1:])
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// downloads reports whether the program gets the server from elsewhere before
// it starts it.
func (s Server) downloads() bool {
	switch s.program() {
	case "npx", "npm", "pnpm", "pnpx", "yarn", "bun", "bunx", "deno", "uv", "uvx", "pipx", "docker", "podman":
		return true
	}
	return false
}
