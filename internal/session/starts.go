package session

// This file says when a program that has ended may be started again.

import (
	"errors"
	"fmt"
	"time"

	"github.com/seed94b59a13/mcp/internal/text"
)

const (
	// The wait between two starts doubles with each that answered no call.
	firstWait, lastWait = time.Second, time.Minute
	// maxIdle is how many starts in a row may answer no call before it is over.
	maxIdle = 5
)

// Starts are the starts of one program. A program that fails at once would
// otherwise be started by every call of a loop around a model, and each start costs
// seconds and processes. The zero value has no start yet. It must not be used
// concurrently.
type Starts struct {
	Begun time.Time // when the last one began

	count int   // how often the program was started again
	cause error // of the last time
	why   error // the last session has ended
	idle  int   // starts in a row that answered no call
}

// Again begins another start. The error says why that is too early.
func (s *Starts) Again() error {
	wait := time.Duration(0)
	if s.idle > 0 {
		wait = time.Until(s.Begun.Add(min(firstWait<<(s.idle-1), lastWait)))
	}
	if wait > 0 {
		return fmt.Errorf("%w; it may be started again in %v", s.why, wait.Round(time.Millisecond)+time.Millisecond)
	}
	s.Begun = time.Now()
	s.count, s.cause = s.count+1, s.why
	return nil
}

// Ended takes note of how a start has ended, or failed, and whether it had answered
// a call. An error tells that there is to be none any more.
func (s *Starts) Ended(why error, answered bool) error {
	if !errors.Is(why, ErrStopped) {
		why = fmt.Errorf("%w: %w", ErrStopped, why)
	}
	s.why = why
	if answered {
		s.idle = 0
		return nil
	}
	if s.idle++; s.idle == maxIdle {
		return fmt.Errorf("%w; none of the last %d starts answered a call", why, maxIdle)
	}
	return nil
}

// Warnings tell how often the program was started again.
func (s *Starts) Warnings() []string {
	if s.count == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the server was started again (%s so far), the last time after: %v", text.Count(s.count, "time"), s.cause)}
}
