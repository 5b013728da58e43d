package config

// This file reads the members that applications call differently: which tools
// there are, how long things may take, who the user is.

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/text"
)

// The lists of tools, by plain names: those that applications document, and what
// people write who remember them half. A list that is passed over would give a model
// what a person has kept from it, so it is better to know too many of them.
var (
	// keeps are lists of the only tools to use: includeTools of Gemini CLI and Amp,
	// enabled_tools of Codex and Crush, tools of Copilot CLI, available_tools of
	// Goose.
	keeps = []string{
		"tools", "includetools", "includedtools", "enabledtools", "enabletools", "allowedtools", "allowtools", "availabletools",
		"toolallowlist", "toolsallowlist", "toolwhitelist", "onlytools",
	}
	// approves are lists of tools that need no approval: autoApprove of Cline and
	// Kiro, alwaysAllow of Roo Code. They are kept alone: an application asks a
	// person about the others, and here nobody is asked.
	approves = []string{
		"autoapprove", "autoapproved", "autoapprovetools", "autoapprovedtools", "alwaysallow", "alwaysallowtools", "alwaysallowed",
		"autoallow", "approvedtools", "trustedtools",
	}
	// excludes are lists of tools not to use: excludeTools of Gemini CLI,
	// disabledTools of Windsurf, Roo Code, Kiro and Amazon Q, disabled_tools of Codex
	// and Crush.
	excludes = []string{
		"excludetools", "excludedtools", "disabledtools", "disabletools", "disallowedtools", "deniedtools", "denytools", "blockedtools",
		"blocktools", "forbiddentools", "ignoretools", "ignoredtools", "hiddentools", "alwaysdeny", "neverallow",
		"toolblocklist", "toolsblocklist", "tooldenylist", "toolblacklist", "disabledautoapprovetools",
	}

	// restrictive are parts of names that no list above has. What has one of
	// them may keep a server from something, and is not passed over.
	restrictive = []string{
		"tool", "function", "allow", "deny", "denied", "approv", "confirm", "permission", "restrict", "exclude", "include", "except", "omit",
		"only", "filter", "block", "whitelist", "blacklist", "forbid", "sandbox", "isolat", "policy",
	}

	// harmless are names with such a part that say how a tool is shown, or that
	// calls may run side by side (Codex).
	harmless = []string{"toolprefix", "toolnameprefix", "toolsprefix", "toolaliases", "tooldescriptions", "toolcount", "includeinstructions",
		"supportsparalleltoolcalls", "paralleltoolcalls"}

	// credentials begin what only an Authorizer can do.
	credentials = []string{
		"oauth", "auth", "authentication", "authorization", "authprovidertype", "authprovider", "authtype", "apikey", "token", "accesstoken",
		"credentials", "clientid", "clientsecret", "headershelper", "httpheadershelper", "targetaudience", "targetserviceaccount",
	}
)

// other reads a member that is not the same in all applications. What is not
// known and restricts nothing is passed over.
func (e *entry) other(name string, value []byte) {
	switch plain := plainName(name); {
	case strings.Contains(plain, "timeout"):
		e.timeout(name, plain, value)
	case slices.Contains(keeps, plain):
		e.keep(name, value, false)
	case slices.Contains(approves, plain):
		e.keep(name, value, true)
	case slices.Contains(excludes, plain):
		names, _ := e.list(name, value)
		e.exclude(names...)
	case plain == "envvars", plain == "envkeys": // Codex; Goose
		e.passOn(name, value)
	case plain == "bearertokenenvvar":
		e.Bearer = e.named(name, value)
	case plain == "bearertoken":
		e.Bearer = e.value(name, value, true)
	case plain == "envhttpheaders", plain == "envheaders":
		for key, value := range raw.Members(value) {
			e.addHeader(string(key), e.named(name, value))
		}
	case nothing(value), isDefault(plain, value):
	case plain == "envfile", plain == "envfiles", plain == "dotenv":
		e.fault("%s is not read: put what is in it into env, or use variables", name)
	case slices.Contains(credentials, plain), strings.HasPrefix(plain, "oauth"):
		e.fault("%s", aboutLogin(name, value))
	case isRestrictive(plain):
		e.fault("%s may restrict the server, and is not understood: take it out, and set Tools or ExcludeTools", short(name))
	}
}

// isRestrictive reports whether a name sounds like a restriction. New ones are
// invented all the time, and one that is passed over is worse than one that is
// told of in vain.
func isRestrictive(plain string) bool {
	return contains(plain, restrictive...) && !slices.Contains(harmless, plain)
}

// nothing reports whether a value is one that says nothing.
func nothing(value []byte) bool {
	switch string(value) {
	case "", "null", "false", "0", `""`, `"none"`:
		return true
	}
	return (value[0] == '[' || value[0] == '{') && raw.Empty(value)
}

// isDefault reports whether a member says what holds without it: that the server
// is asked how to log in, and that nobody is asked for approval.
func isDefault(plain string, value []byte) bool {
	switch plain {
	case "authprovidertype":
		return string(value) == `"dynamic_discovery"`
	case "oauth":
		return string(raw.Member(value, "enabled")) == "false"
	case "requireapproval":
		return string(value) == `"never"`
	}
	return false
}

// named returns the variable whose name is a value.
func (e *entry) named(field string, value []byte) string {
	name, ok := raw.String(value)
	if !ok {
		e.fault("%s must have the name of a variable", short(field))
		return ""
	}
	text, set := e.file.lookup(name)
	if !set {
		e.fault("%s: variable %q is not set", short(field), short(name))
	}
	return text
}

// passOn gives the program variables of the host, which the entry only names.
// They come from lookup as all others do, not from the environment.
func (e *entry) passOn(field string, value []byte) {
	if value[0] != '[' {
		e.fault("%s must be an array", field)
	}
	for value := range raw.Elements(value) {
		text := e.named(field, value)
		if name, ok := raw.String(value); ok {
			e.addEnv(name, text)
		}
	}
}

// keep takes a list of the only tools that may be used. Of two lists what both
// have is kept.
func (e *entry) keep(name string, value []byte, approval bool) {
	if string(value) == "true" || string(value) == "false" {
		if !approval {
			e.fault("%s must be an array", name)
		}
		return // all, or as without it
	}
	switch names, isList := e.list(name, value); {
	case len(names) == 0 && (approval || !isList), slices.Contains(names, "*"):
	case len(names) == 0:
		e.fault("%s leaves no tool: take the entry out, or disable it", name)
	case len(e.Tools) > 0:
		e.both(name, names)
	default:
		e.Tools = unique(names)
	}
}

// maxPairs bounds how often names of one entry are compared.
const maxPairs = 1 << 20

// both keeps the names that Tools and another list have in common: each of one
// that the other means as well.
func (e *entry) both(name string, other []string) {
	if e.compared += len(e.Tools) * len(other); e.compared > maxPairs {
		e.fault("%s has more names than can be compared", short(name))
		return
	}
	means := func(list []string, name string) bool {
		return slices.ContainsFunc(list, func(pattern string) bool { return text.Match(pattern, name) })
	}
	var both []string
	for _, pair := range [][2][]string{{e.Tools, other}, {other, e.Tools}} {
		for _, name := range pair[0] {
			if means(pair[1], name) {
				both = append(both, name)
			}
		}
	}
	if e.Tools = unique(both); len(both) == 0 {
		e.fault("%s leaves no tool of those that another list has", short(name))
	}
}

// list returns the names of tools that a value has. In an object they are the
// members, and those that are false or not enabled are excluded. A pattern of
// another kind than Server.Tools has is a fault: taken for a name it would match
// nothing, and what it excludes would be there.
func (e *entry) list(name string, value []byte) (names []string, isList bool) {
	take := func(value []byte) {
		tool, ok := raw.String(value)
		switch {
		case !ok || tool == "":
			e.fault("%s must have names of tools", short(name))
		case strings.ContainsAny(tool, "?[](){}|^$\\!"):
			e.fault("%s: %q is a pattern that is not supported, only * is", short(name), short(tool))
		default:
			names = append(names, tool)
		}
	}
	switch value[0] {
	case '[':
		for element := range raw.Elements(value) {
			take(element)
		}
	case '"':
		take(value)
	case '{':
		for tool, how := range raw.Members(value) {
			tool := string(tool)
			switch enabled(how) {
			case "false":
				e.exclude(tool)
			case "true":
			default:
				e.fault("%s: what it says of %q is not understood", short(name), short(tool))
			}
		}
		return nil, false
	default:
		e.fault("%s must be an array", short(name))
	}
	return names, true
}

// enabled returns whether a tool may be used, "true" or "false" if that is
// clear.
func enabled(how []byte) string {
	if how[0] != '{' {
		return string(how)
	}
	enabled := "true"
	for name, value := range raw.Members(how) {
		if name := plainName(string(name)); name == "enabled" {
			enabled = string(value)
		} else if isRestrictive(name) && !nothing(value) {
			return ""
		}
	}
	return enabled
}

// exclude adds to the tools that may not be used.
func (e *entry) exclude(tools ...string) { e.ExcludeTools = append(e.ExcludeTools, tools...) }

// unique returns the names without those that were there before.
func unique(names []string) (once []string) {
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if !seen[name] {
			seen[name] = true
			once = append(once, name)
		}
	}
	return once
}

// timeout takes how long something may take. An object has one for the start
// and one for calls.
func (e *entry) timeout(name, plain string, value []byte) {
	if value[0] != '{' {
		e.limit(name, plain, value)
		return
	}
	for part, value := range raw.Members(value) {
		if !raw.Null(value) {
			e.limit(name+"."+string(part), plain+plainName(string(part)), value)
		}
	}
}

// limit takes one time, as what its name says.
func (e *entry) limit(name, plain string, value []byte) {
	limit, ok := e.duration(plain, value)
	if !ok {
		e.fault("%s must be a time, 0 or more", short(name))
	}
	switch {
	case !ok, limit == 0:
	case contains(plain, "idle", "session", "keepalive", "cache", "auth"):
		// They are about what this client does not do.
	case contains(plain, "stop", "shutdown", "exit", "kill"):
		e.StopTimeout = limit
	case contains(plain, "start", "init", "connect", "handshake", "launch", "discover"), plain == "timeout" && e.from.direct:
		// opencode has the listing in mind, Crush the connection.
		e.StartTimeout = limit
	default:
		e.CallTimeout = limit
	}
}

// contains reports whether a name has one of some parts.
func contains(name string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
}

// maxTimeout is far beyond what anyone waits for, and far below where a
// time.Duration ends.
const maxTimeout = 365 * 24 * time.Hour

// duration reads a time. Its unit is that of its name, or else that of the
// application, as far as the file tells which that is: Cline, Roo Code and
// Crush count seconds, the others milliseconds. Nobody writes less than a
// second, and nobody lets a call be silent for more than an hour, so below 1,000
// and above 3,600 the number itself tells.
func (e *entry) duration(plain string, value []byte) (limit time.Duration, ok bool) {
	written, isText := raw.String(value)
	if !isText {
		written = string(value)
	} else if d, err := time.ParseDuration(written); err == nil {
		return d, d >= 0 && d <= maxTimeout
	}
	endsIn := func(endings ...string) bool {
		return slices.ContainsFunc(endings, func(ending string) bool { return strings.HasSuffix(plain, ending) })
	}
	n, err := strconv.ParseFloat(written, 64)
	unit := time.Millisecond
	if !endsIn("ms", "millis", "milliseconds") &&
		(endsIn("sec", "secs", "seconds", "timeouts") || n < 1000 || n <= 3600 && e.countsSeconds()) {
		unit = time.Second
	}
	if n *= float64(unit); err != nil || !(n >= 0 && n <= float64(maxTimeout)) { // it may not be a number
		return 0, false
	}
	return time.Duration(math.Round(n)), true
}

// countsSeconds reports whether the entry looks like one of Cline, Roo Code or
// Crush.
func (e *entry) countsSeconds() bool {
	kind, _ := raw.String(e.fields["type"])
	opencode := kind == "local" || kind == "remote"
	return e.from.direct && !opencode || kind == "streamableHttp" || e.has("alwaysAllow", "transportType", "watchPaths")
}
