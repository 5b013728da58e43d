//go:build !race

package schema

// raceEnabled is whether times mean nothing here.
const raceEnabled = false
