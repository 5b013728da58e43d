//go:build unix && !linux

package process

// This file stands in for tree_linux.go on other Unixes. They have nothing to
// tell a process by that was given the id of another, so that it would be
// signalled. The group of the server still gets its signals.

// A tree is what a server has started: here nothing of it is known. See
// tree_linux.go for what the methods do.
type tree struct{}

func newTree(leader int, ours Pipes) tree { return tree{} }

func (*tree) collect()                  {}
func (*tree) inGroup(session bool) bool { return false }
func (*tree) mayBeEmpty() bool          { return false }
func (*tree) isEmpty() bool             { return false }
func (*tree) kill(session bool)         {}
func (*tree) left() (alive, dead int)   { return 0, 0 }
func (*tree) warnings() []string        { return nil }

// awaitExit waits for nothing: not every system can without reaping the child.
func awaitExit(pid int) bool { return false }
