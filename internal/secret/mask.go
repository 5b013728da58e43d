package secret

import (
	"slices"
	"strings"

	"github.com/seed94b59a13/mcp/internal/raw"
)

// Mask returns a function that takes the secrets out of a text, also where
// they are quoted as in JSON.
func Mask(secrets []string) func(string) string {
	var all []string
	for _, secret := range secrets {
		if len(secret) >= shortest {
			quoted := string(raw.AppendQuote(nil, secret))
			all = append(all, secret, quoted[1:len(quoted)-1])
		}
	}
	if len(all) == 0 {
		return func(quote string) string { return quote }
	}
	// Where two secrets begin alike the longer one is the right one.
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, secret := range all {
		pairs = append(pairs, secret, Masked)
	}
	return strings.NewReplacer(pairs...).Replace
}
