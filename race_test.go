//go:build race

package mcp_test

// raceEnabled says that memory is not what it would be.
const raceEnabled = true
