//go:build unix && !linux

package tree

// This file stands in for tree_linux.go on other Unixes. They have nothing to
// hold a process by, so that one that was given the id of another would be
// signalled. The group of the server still gets its signals.

// A Tree holds the descendants of a server: here it is always empty.
type Tree struct{}

// Collect adds the descendants of the leader, which must not be reaped
// meanwhile.
func (*Tree) Collect(leader int) {}

// Freeze collects the descendants and stops each, so that it starts no other.
func (*Tree) Freeze(leader int) {}

// InGroup reports whether descendants that are in the leader's group live.
func (*Tree) InGroup() bool { return false }

// Kill kills all that is held.
func (*Tree) Kill() {}

// Reap reaps those that this process has inherited, and reports whether any
// that is held still lives.
func (*Tree) Reap() (alive bool) { return false }

// Release gives the descriptors back.
func (*Tree) Release() {}
