//go:build aix || solaris

package mcp

// This file stands in for lifetime_bsd.go on the remaining Unixes.

// awaitExit cannot wait without reaping here.
func awaitExit(pid int) bool { return false }
