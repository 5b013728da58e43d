//go:build race

package rpc

// raceEnabled says that memory is not what it would be.
const raceEnabled = true
