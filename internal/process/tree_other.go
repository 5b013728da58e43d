//go:build unix && !linux

package process

// This file stands in for tree_linux.go on other Unixes. They have nothing to
// tell a process by that was given the id of another, so that it would be
// signalled. The group of the server still gets its signals.

// A tree is what a server has started: here it is always empty.
type tree struct{}

func newTree(leader int, ours Pipes) tree { return tree{} }

// collect looks for the processes of the tree.
func (*tree) collect() {}

// inGroup reports whether members of the leader's group live. The leader's
// session is looked at if the id is certainly still that of the tree.
func (*tree) inGroup(session bool) bool { return false }

// mayBeEmpty reports whether no process of the tree is known, and others would
// be found without the leader.
func (*tree) mayBeEmpty() bool { return false }

// isEmpty reports whether there is certainly no process in the tree, when the
// leader is reaped.
func (*tree) isEmpty() bool { return false }

// kill looks for the processes of the tree, stops each and then kills them.
func (*tree) kill(session bool) {}

// left reaps what this process has inherited, and returns how many are about to
// die, and how many are dead but not reaped.
func (*tree) left() (alive, dead int) { return 0, 0 }

// warnings tell what could not be ended.
func (*tree) warnings() []string { return nil }
