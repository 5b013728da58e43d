// Package secret quotes what a server says without the secrets that it was
// given, and keeps those where no printing can reach them.
//
// Every text of a server that goes into an error, a warning or a log goes
// through a [Quoter]: it is cleaned of what no screen shows, then the secrets
// in it are masked, then it is cut. The order matters. A secret with an
// invisible character in it would not be found before the cleaning, and of one
// that is cut first the rest would be shown.
package secret

import (
	"encoding/json"
	"fmt"
	"log/slog"
)

const (
	// Masked stands for a secret.
	Masked   = "[masked]"
	shortest = 8 // bytes; shorter values would mask half of every text
)

// A Box holds a value that must not be printed. The value is in a closure, the
// one place where package fmt and whatever else prints by reflection, methods
// or none, does not look. The zero value holds nothing.
type Box[T any] struct{ open func() T }

// Keep returns a box with the value.
func Keep[T any](value T) Box[T] { return Box[T]{func() T { return value }} }

// Open returns the value.
func (b Box[T]) Open() (value T) {
	if b.open != nil {
		value = b.open()
	}
	return value
}

// Format writes the mask, whatever the verb.
func (Box[T]) Format(f fmt.State, _ rune) { fmt.Fprint(f, Masked) }

// MarshalJSON returns the mask.
func (Box[T]) MarshalJSON() ([]byte, error) { return json.Marshal(Masked) }

// LogValue returns the mask.
func (Box[T]) LogValue() slog.Value { return slog.StringValue(Masked) }
