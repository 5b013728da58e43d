package secret

// This file knows which parts of a configured value are secrets of their own.

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Within returns the secrets in the value of a variable or header: the value
// itself, the credentials behind a scheme, the password in Basic credentials,
// those of a URL or a connection string, and the same in the texts of a value that
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

// parts returns a value, and what in it may be shown without the rest.
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
	return append(secrets, addressed(value)...)
}

// addressed returns the secrets in a URL, or in what is like one.
func addressed(value string) (secrets []string) {
	u, err := url.Parse(value)
	switch at := strings.LastIndexByte(value, '@'); {
	case err == nil && u.Host != "":
		secrets = append(secrets, user(u.User.String())...)
		secrets = append(secrets, InURL(u)...)
	case at >= 0 && (err != nil || u.Opaque != ""): // people forget to encode a password
		before := value[:at]
		if scheme := strings.LastIndex(before, "://"); scheme >= 0 { // a text may have several addresses
			before = before[scheme+len("://"):]
		}
		secrets = append(secrets, user(before)...)
	}
	for _, field := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" ;&,", r) }) {
		secrets = append(secrets, assigned(field)...)
	}
	return secrets
}

// user returns the secrets in a user with a password, or in a token in their place.
func user(info string) []string {
	name, password, ok := strings.Cut(info, ":")
	if decoded, err := url.PathUnescape(password); err == nil {
		password = decoded
	}
	switch {
	case info == "":
		return nil
	case !ok:
		return []string{name}
	case looksRandom(name):
		return []string{name, password, info}
	}
	return []string{password, info}
}

// InURL returns the values in the query of a URL, and what looks like a key in its
// path.
func InURL(u *url.URL) (secrets []string) {
	for _, values := range u.Query() {
		secrets = append(secrets, values...)
	}
	for segment := range strings.SplitSeq(u.Path, "/") {
		if looksRandom(segment) {
			secrets = append(secrets, segment)
		}
	}
	return secrets
}

// InArgs returns the secrets in the arguments of a program: what is called a key, a
// token or the like, and what is one in a URL. Other arguments are what a user needs
// to read in an error: names of packages and images, paths, options.
func InArgs(args []string) (secrets []string) {
	for i, arg := range args {
		if i > 0 && strings.HasPrefix(args[i-1], "-") && secretName.MatchString(args[i-1]) {
			secrets = append(secrets, Within(arg)...)
		}
		secrets = append(secrets, assigned(arg)...)
		if strings.Contains(arg, "://") {
			secrets = append(secrets, addressed(arg)...)
		}
	}
	return secrets
}

// secretName matches the end of a name of secrets.
var secretName = regexp.MustCompile(`(?i)((key|token|secret|password|passwd|pwd)s?|(^|[^a-z])(auth|authorization|bearer|cookie|credentials?|jwt|pass|pat))$`)

// assigned returns the secret in a text such as key=value and Header: value, whole
// and behind a scheme. The name may itself be a value, as in --env=KEY=value.
func assigned(text string) []string {
	const longest = 40 // name
	for i, c := range text {
		if (c == '=' || c == ':') && secretName.MatchString(text[max(0, i-longest):i]) {
			value := strings.TrimSpace(text[i+1:])
			if _, credentials, ok := strings.Cut(value, " "); ok {
				return []string{value, credentials}
			}
			if len(value) >= shortest {
				return []string{value}
			}
		}
	}
	return nil
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
