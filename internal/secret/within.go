package secret

// This file knows which parts of a configured value are secrets of their own.

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// Within returns the secrets in the value of a variable or header: the value
// itself, the credentials behind a scheme, the password in Basic credentials,
// the password and the query of a URL, and the same in the texts of a value that
// is JSON. The path of a file is not one: it is what a user needs to read in an
// error.
func Within(value string) []string {
	if isPath(value) {
		return nil
	}
	texts := texts(value)
	if texts == nil {
		return parts(value)
	}
	secrets := []string{value}
	for _, text := range texts {
		if !isPath(text) {
			secrets = append(secrets, parts(text)...)
		}
	}
	return secrets
}

// texts returns the texts in a JSON object or list, but for the names of members.
func texts(value string) (found []string) {
	var top any
	if value = strings.TrimSpace(value); value == "" || value[0] != '{' && value[0] != '[' || json.Unmarshal([]byte(value), &top) != nil {
		return nil
	}
	for left := []any{top}; len(left) > 0; {
		v := left[len(left)-1]
		left = left[:len(left)-1]
		switch v := v.(type) {
		case string:
			found = append(found, v)
		case []any:
			left = append(left, v...)
		case map[string]any:
			left = slices.AppendSeq(left, maps.Values(v))
		}
	}
	return found
}

func parts(value string) []string {
	secrets := []string{value}
	if scheme, credentials, ok := strings.Cut(value, " "); ok {
		credentials = strings.TrimSpace(credentials)
		secrets = append(secrets, credentials)
		if pair, err := base64.StdEncoding.DecodeString(credentials); err == nil && strings.EqualFold(scheme, "Basic") {
			_, password, _ := strings.Cut(string(pair), ":") // RFC 7617, section 2
			secrets = append(secrets, string(pair), password)
		}
	}
	if u, err := url.Parse(value); err == nil && u.Host != "" {
		if password, ok := u.User.Password(); ok {
			secrets = append(secrets, password, u.User.String())
		}
		for _, values := range u.Query() {
			secrets = append(secrets, values...)
		}
	}
	return secrets
}

// isPath reports whether the value is the absolute path of a file, as far as one
// can tell without looking: keys in base64 may begin with a slash, too.
func isPath(value string) bool {
	drive := len(value) > 2 && value[1] == ':' && (value[2] == '\\' || value[2] == '/')
	if !drive && !strings.HasPrefix(value, "/") || strings.ContainsAny(value, "?&=#+") || strings.Contains(value, "//") {
		return false
	}
	for _, word := range strings.FieldsFunc(value, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if looksRandom(word) {
			return false
		}
	}
	return true
}

// looksRandom reports whether letters of both cases and digits change in a word
// more often than where a person has put words together.
func looksRandom(word string) bool {
	changes, last := 0, 0
	for _, r := range word {
		class := 1 // other letters
		switch {
		case unicode.IsDigit(r):
			class = 2
		case unicode.IsUpper(r):
			class = 3
		}
		// A capital letter begins a word.
		if last != 0 && class != last && !(last == 3 && class == 1) {
			changes++
		}
		last = class
	}
	return len(word) >= 8 && changes >= 3 && changes*5 >= len(word)
}
