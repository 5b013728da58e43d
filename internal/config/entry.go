package config

// This file reads one server of a file, and says what is wrong with it.

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/text"
)

// maxFaults bounds what is said of one server: each fault quotes a name, and a
// file may have as many of both as it likes.
const maxFaults = 20

// An entry is an Entry that is being read.
type entry struct {
	Entry
	file   *file
	from   hosts
	names  []string          // of the members that are not null, in the order of the file
	fields map[string][]byte // their values
	more   int               // faults beyond maxFaults

	compared int // pairs of names
}

func (e *entry) fault(format string, args ...any) {
	if len(e.Faults) == maxFaults {
		e.more++
		return
	}
	e.Faults = append(e.Faults, fmt.Sprintf(format, args...))
}

// short makes a name of the file fit for an error.
func short(name string) string { return text.Start(name, 100) }

// collect takes the members of an object: of duplicates the last one counts.
// Some applications keep a part of them in an object of its own.
func (e *entry) collect(object []byte) {
	for name, value := range raw.Members(object) {
		name := string(name)
		if value[0] != '{' || !slices.Contains([]string{"transport", "options", "requestOptions", "command"}, name) {
			e.set(name, value)
			continue
		}
		for part, value := range raw.Members(value) {
			if name == "command" && string(part) == "path" { // Zed's, until 2025
				part = []byte(name)
			}
			e.set(string(part), value)
		}
	}
}

// set takes one member. Null says what a missing member says: people write it
// to fall back to the default.
func (e *entry) set(name string, value []byte) {
	if raw.Null(value) {
		value = nil
	}
	if _, ok := e.fields[name]; !ok {
		e.names = append(e.names, name)
	}
	e.fields[name] = value
}

// has reports whether the entry has one of some members.
func (e *entry) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return e.fields[name] != nil })
}

// is reports whether a member is the boolean that is wanted. A text is a fault:
// "false" is true in the languages of some applications.
func (e *entry) is(name, want string) bool {
	value := string(e.fields[name])
	if value != "" && value != "true" && value != "false" {
		e.fault("%s must be true or false", name)
	}
	return value == want
}

// disabled reports whether the entry is turned off, in the words of any
// application. It is looked at before the rest is read, since what is turned off
// need not be right: its variables are not even looked up.
func (e *entry) disabled() (disabled bool) {
	for _, name := range e.names {
		switch plainName(name) {
		case "disabled", "isdisabled", "disable", "inactive":
			disabled = e.is(name, "true") || disabled
		case "enabled", "isenabled", "enable", "active", "isactive":
			disabled = e.is(name, "false") || disabled
		}
	}
	return disabled
}

// read fills the Entry. It goes on after a fault, so that all of them are told
// at once, and what is wrong is not told once more by a check that comes later.
func (e *entry) read(value []byte) {
	if value[0] != '{' {
		e.fault("it must be an object")
		return
	}
	for _, name := range []string{"type", "transport", "transportType"} {
		e.checkTransport(name)
	}
	e.command()
	e.Dir, e.URL = e.first("cwd", "workingDirectory", "working_directory"), e.url()
	if args := e.fields["args"]; args != nil && args[0] != '[' {
		e.fault("args must be an array")
	}
	e.Args = append(e.Args, e.texts("args")...)
	for _, name := range []string{"env", "environment", "envs"} {
		e.pairs(name, e.addEnv)
	}
	for _, name := range []string{"headers", "http_headers", "httpHeaders", "customHeaders"} {
		e.pairs(name, e.addHeader)
	}
	// The members above have names that are a part of the format, and are only
	// read as they are. All others are found under any spelling.
	for _, name := range e.names {
		if value := e.fields[name]; value != nil {
			e.other(name, value)
		}
	}
}

// command takes the program. It is a list with the arguments in opencode.
func (e *entry) command() {
	name := "command"
	if !e.has(name) {
		name = "cmd" // Goose
	}
	if value := e.fields[name]; value == nil || value[0] != '[' {
		e.Command = e.text(name)
	} else if parts := e.texts(name); len(parts) > 0 {
		e.Command, e.Args = parts[0], append(e.Args, parts[1:]...)
	}
}

// texts returns the elements of a list of texts.
func (e *entry) texts(name string) (texts []string) {
	for value := range raw.Elements(e.fields[name]) {
		texts = append(texts, e.value(fmt.Sprintf("%s[%d]", name, len(texts)), value, false))
	}
	return texts
}

// addEnv takes a variable. NUL would end it early, and os/exec refuses it with
// an error that shows the value.
func (e *entry) addEnv(name, value string) {
	visible, _, cut := strings.Cut(name, "=") // behind it may be a secret
	if name == "" || cut || strings.ContainsRune(name+value, 0) {
		e.fault("env %q must have a name, without =, and no NUL", short(visible))
	}
	e.Env = append(e.Env, name+"="+value)
}

// addHeader takes a header. Whether it is one is for Server to say, whose faults
// are told with those of here.
func (e *entry) addHeader(name, value string) {
	if e.Headers == nil {
		e.Headers = map[string]string{}
	}
	e.Headers[name] = value
}

// checkTransport checks a member that names the transport. Most files have
// none: command or url tell which it is. A transport that is not supported is
// refused here, where its name is known: tried all the same, the server would
// answer with a status that nobody understands.
func (e *entry) checkTransport(member string) {
	value := e.fields[member]
	name, ok := raw.String(value)
	switch plainName(name) {
	case "":
		if value != nil && !ok {
			e.fault("%s must be a string", member)
		}
	case "stdio", "local", "process", "subprocess", "command":
		if !e.has("command", "cmd") {
			e.fault("%s %q needs a command", member, name)
		}
	case "http", "https", "streamablehttp", "streaminghttp", "httpstream", "streamable", "remote":
		if !e.has(urls...) {
			e.fault("%s %q needs a url", member, name)
		}
	default:
		e.fault("%s %q is not supported, only stdio and http are", member, short(name))
	}
}

// plainName returns a name without what applications write differently.
func plainName(name string) string {
	return strings.ToLower(separators.Replace(name))
}

var separators = strings.NewReplacer("-", "", "_", "")

// urls are the names of the URL, which each application calls differently.
// Where Gemini CLI has both of the first two, the second is for the older
// transport.
var urls = []string{"httpUrl", "url", "serverUrl", "baseUrl", "uri", "endpoint"}

// url returns the URL. Files for several applications have it more than once.
func (e *entry) url() (url string) {
	for _, name := range urls {
		if name == "url" && url != "" {
			continue
		}
		if text := e.text(name); url == "" {
			url = text
		} else if text != "" && text != url {
			e.fault("%s is not the same as the URL before it", name)
		}
	}
	return url
}

// first returns the text of the first of several members that is there. Each
// application writes one of them; a file for several may have more, which then say
// the same.
func (e *entry) first(names ...string) string {
	for _, name := range names {
		if e.fields[name] != nil {
			return e.text(name)
		}
	}
	return ""
}

// text returns a member that must be a text. Unlike the elements of args it is not
// a number that somebody forgot to quote.
func (e *entry) text(name string) string {
	value := e.fields[name]
	if value == nil {
		return ""
	}
	if value[0] != '"' {
		e.fault("%s must be a string", name)
		return ""
	}
	return e.value(name, value, false)
}

// pairs calls pair for the members of an object, but for those that are null.
func (e *entry) pairs(name string, pair func(name, value string)) {
	object := e.fields[name]
	if object != nil && object[0] != '{' {
		e.fault("%s must be an object", name)
	}
	for key, value := range raw.Members(object) {
		if !raw.Null(value) {
			visible, _, _ := strings.Cut(string(key), "=")
			pair(string(key), e.value(fmt.Sprintf("%s %q", name, short(visible)), value, true))
		}
	}
}

// value returns the text of a field with its variables replaced. Numbers and
// booleans are what is written: a port is often no text, and the digits are
// what the program should see. bare is for [entry.expand].
func (e *entry) value(field string, value []byte, bare bool) string {
	s, isString := raw.String(value)
	switch {
	case !utf8.Valid(value): // raw.String would put U+FFFD there, and a path or key would be another one
		e.fault("%s must be UTF-8", field)
	case value[0] == '{', value[0] == '[', value[0] == 'n':
		e.fault("%s must be a string", field)
	case !isString:
		return string(value)
	}
	return e.expand(field, s, bare)
}
