//go:build aix || solaris

package process

// This file stands in for exit_bsd.go on the remaining Unixes, where there is
// no waiting without reaping.

// awaitExit returns when the child has exited, or at once if that cannot be
// waited for. It reports whether the child has exited and is still to be
// reaped.
func awaitExit(pid int) bool { return false }
