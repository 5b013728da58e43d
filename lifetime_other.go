//go:build unix && !linux

package mcp

// This file stands in for lifetime_linux.go on other Unixes.

// A tree knows nothing of processes that have left the group: there is no way
// to hold them, so that one that was given the id of another would be
// signalled. The group still gets its signals.
type tree struct{}

func (tree) collect(leader int) {}

func (tree) freeze(leader int) {}

func (tree) inGroup() bool { return false }

func (tree) kill() {}

func (tree) reap() bool { return false }

func (tree) release() {}
