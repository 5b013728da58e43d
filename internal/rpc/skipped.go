package rpc

// This file counts what a server sent that is no message.

import (
	"fmt"
	"strings"
	"sync"
)

const (
	junkRead  = 4 << 10 // more than is shown, so that no half of a secret is left
	junkShown = 120
)

// Skipped counts what was no message. The zero value is ready for use, also
// concurrently.
type Skipped struct {
	mu    sync.Mutex
	count int
	first string
}

// Add counts data. The first of all is shown as show makes it.
func (j *Skipped) Add(data []byte, show func(string) string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.count++; j.count > 1 {
		return
	}
	j.first = show(strings.ToValidUTF8(string(data[:min(len(data), junkRead)]), "\uFFFD"))
	if len(j.first) > junkShown {
		j.first = strings.ToValidUTF8(j.first[:junkShown], "") + "…"
	}
}

// Warnings tell what was skipped; one and many say what it is.
func (j *Skipped) Warnings(one, many string) []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch j.count {
	case 0:
		return nil
	case 1:
		return []string{fmt.Sprintf("skipped %s: %q", one, j.first)}
	}
	return []string{fmt.Sprintf("skipped %d %s, the first: %q", j.count, many, j.first)}
}
