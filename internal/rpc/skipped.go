package rpc

// This file counts what a server sent that is not a message.

import (
	"fmt"
	"sync"

	"github.com/seed94b59a13/mcp/internal/secret"
)

// maxShown bounds what is shown of the first, in bytes.
const maxShown = 120

// Skipped counts what was no message. The zero value is ready for use, also
// concurrently.
type Skipped struct {
	mu    sync.Mutex
	count int
	first string
}

// Add counts data. The first of all is shown.
func (j *Skipped) Add(data []byte, quoter *secret.Quoter) {
	j.mu.Lock()
	defer j.mu.Unlock()
	// What shows nothing, such as a colour, is not worth being told.
	if j.count++; j.first == "" {
		j.first = quoter.QuoteBytes(data, maxShown)
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

// any reports whether anything was counted.
func (j *Skipped) any() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.count > 0
}

// shown returns the first of all as it is shown.
func (j *Skipped) shown() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.first
}
