package config

// This file reads one server of a file, and says what is wrong with it.

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/seed94b59a13/mcp/internal/raw"
)

// An entry is an Entry that is being read.
type entry struct {
	Entry
	object []byte
	lookup func(name string) (string, bool)
}

func (e *entry) fault(format string, args ...any) {
	e.Faults = append(e.Faults, fmt.Sprintf(format, args...))
}

// member returns the value of a member, nil where it is missing or null.
func (e *entry) member(name string) []byte {
	if value := raw.Member(e.object, name); !raw.Null(value) {
		return value
	}
	return nil
}

// is reports whether a member is the boolean that is wanted.
func (e *entry) is(name, want string) bool {
	value := string(e.member(name))
	if value != "" && value != "true" && value != "false" {
		e.fault("%s must be true or false", name)
	}
	return value == want
}

// read fills the Entry.
func (e *entry) read() {
	if e.object[0] != '{' {
		e.fault("it must be an object")
		return
	}
	e.checkTransport("type")
	e.checkTransport("transport")
	e.Command, e.Dir, e.URL = e.text("command"), e.text("cwd"), e.url()
	args := e.member("args")
	if args != nil && args[0] != '[' {
		e.fault("args must be an array")
	}
	for value := range raw.Elements(args) {
		e.Args = append(e.Args, e.value(fmt.Sprintf("args[%d]", len(e.Args)), value))
	}
	e.pairs("env", func(name, value string) {
		visible, _, cut := strings.Cut(name, "=") // behind it may be a secret
		if name == "" || cut || strings.ContainsRune(name+value, 0) {
			e.fault("env %q must have a name, without =, and no NUL", visible)
		}
		e.Env = append(e.Env, name+"="+value)
	})
	e.pairs("headers", func(name, value string) {
		if e.Headers == nil {
			e.Headers = map[string]string{}
		}
		e.Headers[name] = value
	})
}

// checkTransport checks a member that names the transport. Most files have
// none: command or url tell which it is.
func (e *entry) checkTransport(member string) {
	value := e.member(member)
	name, ok := raw.String(value)
	switch strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name)) {
	case "":
		if value != nil && !ok {
			e.fault("%s must be a string", member)
		}
	case "stdio":
		if e.member("command") == nil {
			e.fault("%s %q needs a command", member, name)
		}
	case "http", "streamablehttp":
		if e.member("url") == nil && e.member("httpUrl") == nil && e.member("serverUrl") == nil {
			e.fault("%s %q needs a url", member, name)
		}
	default:
		e.fault("%s %q is not supported, only stdio and http are", member, name)
	}
}

// url returns the URL, which each application calls differently: files for
// several of them have it more than once.
func (e *entry) url() (url string) {
	for _, name := range []string{"url", "httpUrl", "serverUrl"} {
		if text := e.text(name); url == "" {
			url = text
		} else if text != "" && text != url {
			e.fault("%s is not the same as the URL before it", name)
		}
	}
	return url
}

func (e *entry) text(name string) string {
	value := e.member(name)
	if value == nil {
		return ""
	}
	if value[0] != '"' {
		e.fault("%s must be a string", name)
		return ""
	}
	return e.value(name, value)
}

// pairs calls pair for the members of an object, but for those that are null.
func (e *entry) pairs(name string, pair func(name, value string)) {
	object := e.member(name)
	if object != nil && object[0] != '{' {
		e.fault("%s must be an object", name)
	}
	for key, value := range raw.Members(object) {
		if !raw.Null(value) {
			visible, _, _ := strings.Cut(string(key), "=")
			pair(string(key), e.value(fmt.Sprintf("%s %q", name, visible), value))
		}
	}
}

// value returns the text of a field with its variables replaced. Numbers and
// booleans are what is written.
func (e *entry) value(field string, value []byte) string {
	s, isString := raw.String(value)
	switch {
	case !utf8.Valid(value):
		e.fault("%s must be UTF-8", field)
	case value[0] == '{', value[0] == '[', value[0] == 'n':
		e.fault("%s must be a string", field)
	case !isString:
		return string(value)
	}
	return e.expand(field, s)
}

// expand replaces the variables of a text. A brace that is not closed is text.
func (e *entry) expand(field, s string) string {
	var b strings.Builder
	for {
		before, rest, _ := strings.Cut(s, "${")
		inner, after, closed := strings.Cut(rest, "}")
		if !closed {
			return b.String() + s
		}
		name, fallback, hasDefault := strings.Cut(inner, ":-")
		name = strings.TrimPrefix(name, "env:")
		value, set := e.lookup(name)
		switch {
		case strings.Contains(inner, "${"):
			e.fault("%s: a variable inside of another is not supported", field)
		case !set && !hasDefault:
			e.fault("%s: variable %q is not set", field, name)
		case !set:
			value = fallback
		}
		b.WriteString(before + value)
		s = after
	}
}
