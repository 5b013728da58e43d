package mcp

// This file reads the configuration files in which other applications keep
// their servers.

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/seed94b59a13/mcp/internal/raw"
)

// ParseServers reads the servers of a configuration file as Claude Desktop,
// Claude Code, Cursor, VS Code, Windsurf, Gemini CLI and Cline write it: a JSON
// object, with comments and trailing commas if need be, that has the servers by
// name in "mcpServers" or "servers". They come in the order of the file.
// Disabled ones are left out.
//
// Of an entry it reads command, args, env, cwd, url, httpUrl, serverUrl,
// headers, type, transport, disabled and enabled, and ignores the rest: a
// timeout or a list of tools is for the caller to set. A program gets [BaseEnv]
// and the env of its entry, which wins. In a name, characters that Server.Name
// may not have become hyphens, and one of more than 32 is cut and ends in a
// hash.
//
// In command, args, cwd, url and the values of env and headers, ${NAME} and
// ${env:NAME} become what lookup returns for NAME, and ${NAME:-default} the
// default where NAME is not set. Any other text in the braces is a name as a
// whole: lookup gets "input:key" and "workspaceFolder". What it returns is not expanded again, and a $ without a brace stays.
// Pass [os.LookupEnv] for the variables of the host. Nil means that nothing is
// set: a file that came from elsewhere gets no secret it was not given.
//
// The error joins all faults; the servers without one are returned beside it.
// The fault of a server has its name as in the file and wraps
// [ErrInvalidServer]: a variable that is not set, a member of the wrong type, a
// transport such as sse, a name that an entry before it has, or what [Connect]
// would refuse. A text that is no JSON object gives no server and an error with
// the line and column. No error shows an argument or the value of a variable or
// header, but one for a cwd that cannot be used shows its path.
func ParseServers(config []byte, lookup func(name string) (string, bool)) ([]Server, error) {
	config = bytes.TrimPrefix(config, []byte("\uFEFF"))
	plain := withoutComments(config)
	at, err := raw.Object(plain, func(_, _ []byte) bool { return true })
	if err == nil && len(bytes.TrimSpace(plain[at:])) > 0 {
		err = raw.ErrSyntax
	}
	if err != nil {
		before := config[:at]
		line := before[bytes.LastIndexByte(before, '\n')+1:]
		return nil, fmt.Errorf("mcp config is no JSON object: line %d, column %d: %w", 1+bytes.Count(before, []byte("\n")), 1+utf8.RuneCount(line), err)
	}
	if lookup == nil {
		lookup = func(string) (string, bool) { return "", false }
	}
	f := configFile{lookup: lookup, keys: map[string]string{}}
	for name, value := range raw.Members(plain) {
		f.read(string(name), value)
		if string(name) == "mcp" { // the settings of VS Code
			for name, value := range raw.Members(value) {
				f.read(string(name), value)
			}
		}
	}
	if !f.found {
		return nil, errors.New(`mcp config has neither "mcpServers" nor "servers"`)
	}
	return f.servers, errors.Join(f.errs...)
}

// What may stand between tokens but is not JSON, and the strings in which it
// may stand for itself.
var (
	configComment = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/`)
	configComma   = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*"|,\s*[}\]]`)
)

// withoutComments returns a copy of text in which spaces stand for comments and
// for a comma before a closing bracket, so that positions stay the same.
func withoutComments(text []byte) []byte {
	text = configComment.ReplaceAllFunc(text, func(token []byte) []byte {
		if token[0] == '/' {
			return bytes.Repeat([]byte(" "), len(token))
		}
		return token
	})
	return configComma.ReplaceAllFunc(text, func(token []byte) []byte {
		if token[0] == ',' {
			return append([]byte(" "), token[1:]...)
		}
		return token
	})
}

// A configFile collects what a file says.
type configFile struct {
	lookup  func(name string) (string, bool)
	found   bool              // a member with servers
	keys    map[string]string // the name in the file by Server.Name
	servers []Server
	errs    []error
}

func (f *configFile) read(name string, value []byte) {
	if name != "mcpServers" && name != "servers" {
		return
	}
	f.found = true
	if !raw.Null(value) && value[0] != '{' {
		f.errs = append(f.errs, fmt.Errorf("mcp config: %q must be an object", name))
	}
	for key, value := range raw.Members(value) {
		f.add(string(key), value)
	}
}

func (f *configFile) add(key string, value []byte) {
	e := configEntry{object: value, lookup: f.lookup}
	disabled := e.is("disabled", "true")
	if e.is("enabled", "false") || disabled {
		return
	}
	s := e.server()
	s.Name = configName(key)
	// An entry with a fault takes its name, too: when the fault is mended, the
	// tools of another server do not change their meaning.
	if other, taken := f.keys[s.Name]; !taken {
		f.keys[s.Name] = key
	} else if other == key {
		e.fault("the name is there twice")
	} else {
		e.fault("its name and that of %q both become %q", other, s.Name)
	}
	// What a fault has left out would look like a fault of its own.
	if len(e.faults) == 0 {
		if _, err := s.check(); err != nil {
			_, faults, _ := strings.Cut(err.Error(), ErrInvalidServer.Error()+": ") // behind the name, which may be another one
			e.fault("%s", faults)
		}
	}
	if len(e.faults) > 0 {
		f.errs = append(f.errs, fmt.Errorf("mcp server %q: %w: %s", key, ErrInvalidServer, strings.Join(e.faults, "; ")))
		return
	}
	f.servers = append(f.servers, s)
}

// configName makes a Server.Name of any text.
func configName(key string) string {
	name := strings.ReplaceAll(clean(key, maxServerName+1), "_", "-")
	if len(name) <= maxServerName {
		return name
	}
	sum := sha256.Sum256([]byte(key))
	return name[:maxServerName-1-hashLength] + "-" + hex.EncodeToString(sum[:])[:hashLength]
}

// A configEntry is a server in a file, and what is wrong with it.
type configEntry struct {
	object []byte
	lookup func(name string) (string, bool)
	faults []string
}

func (e *configEntry) fault(format string, args ...any) {
	e.faults = append(e.faults, fmt.Sprintf(format, args...))
}

// member returns the value of a member, nil where it is missing or null.
func (e *configEntry) member(name string) []byte {
	if value := raw.Member(e.object, name); !raw.Null(value) {
		return value
	}
	return nil
}

// is reports whether a member is the boolean that is wanted.
func (e *configEntry) is(name, want string) bool {
	value := string(e.member(name))
	if value != "" && value != "true" && value != "false" {
		e.fault("%s must be true or false", name)
	}
	return value == want
}

func (e *configEntry) server() (s Server) {
	if e.object[0] != '{' {
		e.fault("it must be an object")
		return s
	}
	e.checkTransport("type")
	e.checkTransport("transport")
	s = Server{Command: e.text("command"), Dir: e.text("cwd"), URL: e.url()}
	args := e.member("args")
	if args != nil && args[0] != '[' {
		e.fault("args must be an array")
	}
	for value := range raw.Elements(args) {
		s.Args = append(s.Args, e.value(fmt.Sprintf("args[%d]", len(s.Args)), value))
	}
	e.pairs("env", func(name, value string) {
		visible, _, cut := strings.Cut(name, "=") // behind it may be a secret
		if name == "" || cut || strings.ContainsRune(name+value, 0) {
			e.fault("env %q must have a name, without =, and no NUL", visible)
		}
		s.Env = append(s.Env, name+"="+value)
	})
	if s.Command != "" {
		s.Env = lastOfEach(append(BaseEnv(), s.Env...))
	}
	e.pairs("headers", func(name, value string) {
		if s.Headers == nil {
			s.Headers = map[string]string{}
		}
		s.Headers[name] = value
	})
	return s
}

// checkTransport checks a member that names the transport. Most files have
// none: command or url tell which it is.
func (e *configEntry) checkTransport(member string) {
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
func (e *configEntry) url() (url string) {
	for _, name := range []string{"url", "httpUrl", "serverUrl"} {
		if text := e.text(name); url == "" {
			url = text
		} else if text != "" && text != url {
			e.fault("%s is not the same as the URL before it", name)
		}
	}
	return url
}

func (e *configEntry) text(name string) string {
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
func (e *configEntry) pairs(name string, pair func(name, value string)) {
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
func (e *configEntry) value(field string, value []byte) string {
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
func (e *configEntry) expand(field, s string) string {
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

// BaseEnv returns what a program needs to run, for Server.Env: those variables
// that are set of the host's PATH, HOME, USER, LOGNAME, SHELL, TERM, LANG,
// TMPDIR, SYSTEMROOT, WINDIR, COMSPEC, PATHEXT, APPDATA, LOCALAPPDATA,
// PROGRAMDATA, PROGRAMFILES, USERPROFILE, USERNAME, HOMEDRIVE, HOMEPATH,
// SYSTEMDRIVE, TEMP and TMP. Keys and tokens are not among them.
func BaseEnv() []string {
	var env []string
	for _, name := range []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "TMPDIR", "SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT",
		"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "USERPROFILE", "USERNAME", "HOMEDRIVE", "HOMEPATH",
		"SYSTEMDRIVE", "TEMP", "TMP",
	} {
		// Some shells hand on functions in variables, and old ones run them.
		if value, ok := os.LookupEnv(name); ok && !strings.HasPrefix(value, "() {") {
			env = append(env, name+"="+value)
		}
	}
	return env
}
