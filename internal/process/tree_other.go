//go:build unix && !linux

package process

// This file stands in for tree_linux.go on other Unixes. They have nothing to
// hold a process by, so that one that was given the id of another would be
// signalled. The group of the server still gets its signals.

// A tree holds the descendants of a server: here it is always empty.
type tree struct{}

// collect adds the descendants of the leader, which must not be reaped
// meanwhile.
func (*tree) collect(leader int) {}

// freeze collects the descendants and stops each, so that it starts no other.
func (*tree) freeze(leader int) {}

// inGroup reports whether descendants that are in the leader's group live.
func (*tree) inGroup() bool { return false }

// kill kills all that is held.
func (*tree) kill() {}

// reap reaps those that this process has inherited, and reports whether any
// that is held still lives.
func (*tree) reap() (alive bool) { return false }

// release gives the descriptors back.
func (*tree) release() {}
