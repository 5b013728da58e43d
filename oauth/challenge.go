package oauth

// This file reads what a server says when it refuses a request.

import (
	"net/http"
	"slices"
	"strings"
)

const (
	maxScopes    = 256      // that are asked for
	maxScopeText = 32 << 10 // bytes of all of them
)

// A challenge is what a server says when it refuses a request.
type challenge struct {
	err      string
	scopes   []string
	metadata string // URL of the resource metadata
	proof    bool   // the token has to be bound to a key
	bearer   bool   // or else, where proof is set, one that is not will do
}

// parseChallenge reads what there is to be read of WWW-Authenticate. Servers
// write it in many ways; what is missing is found elsewhere.
func parseChallenge(header http.Header) (c challenge) {
	params := map[string]string{}
	for _, value := range header.Values("WWW-Authenticate") {
		ours := false // the parameters are those of a scheme that this package knows
		for value != "" {
			value = strings.TrimLeft(value, " \t,")
			word := value[:len(value)-len(strings.TrimLeftFunc(value, isToken))]
			if word == "" {
				value = value[min(1, len(value)):]
				continue
			}
			rest := strings.TrimLeft(value[len(word):], " \t")
			rest, isParam := strings.CutPrefix(rest, "=")
			if !isParam {
				bearer, proof := strings.EqualFold(word, "Bearer"), strings.EqualFold(word, "DPoP")
				ours, c.bearer, c.proof = bearer || proof, c.bearer || bearer, c.proof || proof
				value = value[len(word):]
				continue
			}
			var content string
			content, value = paramValue(strings.TrimLeft(rest, " \t"))
			name := strings.ToLower(word)
			if _, ok := params[name]; ours && !ok {
				params[name] = content
			}
		}
	}
	c.bearer = c.bearer && c.proof
	c.err, c.metadata = params["error"], params["resource_metadata"]
	c.scopes = fields(params["scope"])
	return c
}

func isToken(r rune) bool {
	return r > ' ' && r < 0x7f && !strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
}

// paramValue reads a quoted text, or what there is up to the next parameter.
func paramValue(s string) (value, rest string) {
	if quoted, ok := strings.CutPrefix(s, `"`); ok {
		var b strings.Builder
		for i := 0; i < len(quoted); i++ {
			switch {
			case quoted[i] == '\\' && i+1 < len(quoted):
				i++
			case quoted[i] == '"':
				return b.String(), quoted[i+1:]
			}
			b.WriteByte(quoted[i])
		}
		return b.String(), ""
	}
	// The comma may be missing. What is far behind is not looked at: of a long
	// header it would be again for each parameter.
	if i := strings.IndexAny(s, ",="); i >= 0 && s[i] == '=' {
		if end := strings.LastIndexAny(s[:i], " \t"); end >= 0 {
			return strings.TrimSpace(s[:end]), s[end:]
		}
	}
	value, rest, _ = strings.Cut(s, ",")
	return strings.TrimSpace(value), rest
}

// fields splits scopes, and leaves out what can be none (RFC 6749, section 3.3).
func fields(s string) []string {
	return union(nil, slices.DeleteFunc(strings.Fields(s), func(scope string) bool {
		return strings.IndexFunc(scope, func(r rune) bool { return r < '!' || r > '~' || r == '"' || r == '\\' }) >= 0
	}))
}

// union returns a and what b has besides, in this order, as far as it fits into
// a URL that a browser takes.
func union(a, b []string) []string {
	all := slices.Clone(a)
	size := len(strings.Join(a, " "))
	for _, scope := range b {
		if len(all) == maxScopes {
			break
		}
		if !slices.Contains(all, scope) && size+len(scope) < maxScopeText {
			all = append(all, scope)
			size += len(scope) + 1
		}
	}
	return all
}

// containsAll reports whether all has each of some.
func containsAll(all, some []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}
