//go:build race

package result

// raceEnabled says that memory is not what it would be.
const raceEnabled = true
