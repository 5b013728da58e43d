//go:build !race

package mcp_test

// raceEnabled says that memory can be measured.
const raceEnabled = false
