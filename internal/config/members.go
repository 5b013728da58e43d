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

// The lists of tools, by plain names. What is approved is kept alone: an
// application asks a person about the others, and here nobody is asked.
var (
	keeps = []string{
		"tools", "includetools", "includedtools", "enabledtools", "enabletools", "allowedtools", "allowtools", "availabletools",
		"toolallowlist", "toolsallowlist", "toolwhitelist", "onlytools",
	}
	approves = []string{
		"autoapprove", "autoapproved", "autoapprovetools", "autoapprovedtools", "alwaysallow", "alwaysallowtools", "alwaysallowed",
		"autoallow", "approvedtools", "trustedtools",
	}
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
	case plain == "envfile" || plain == "envfiles" || plain == "dotenv":
		if !nothing(value) {
			e.fault("%s is not read: put what is in it into env, or use variables", name)
		}
	case plain == "envvars" || plain == "envkeys": // Codex; Goose
		e.passOn(name, value)
	case plain == "bearertokenenvvar":
		e.Bearer = e.named(name, value)
	case plain == "bearertoken":
		e.Bearer = e.value(name, value, true)
	case plain == "envhttpheaders" || plain == "envheaders":
		for key, value := range raw.Members(value) {
			e.addHeader(string(key), e.named(name, value))
		}
	case strings.Contains(plain, "timeout"):
		e.timeout(name, plain, value)
	case slices.Contains(keeps, plain):
		e.keep(name, value, false)
	case slices.Contains(approves, plain):
		e.keep(name, value, true)
	case slices.Contains(excludes, plain):
		names, _ := e.list(name, value)
		e.exclude(names...)
	case slices.Contains(credentials, plain) || strings.HasPrefix(plain, "oauth"):
		if !nothing(value) && !isDefault(plain, value) {
			e.fault("%s", aboutLogin(name, value))
		}
	case isRestrictive(plain) && !nothing(value) && !(plain == "requireapproval" && string(value) == `"never"`):
		e.fault("%s may restrict the server, and is not understood: take it out, and set Tools or ExcludeTools", short(name))
	}
}

// isRestrictive reports whether a name sounds like a restriction. New ones are
// invented all the time, and one that is passed over is worse than one that is
// told of in vain.
func isRestrictive(plain string) bool {
	part := func(part string) bool { return strings.Contains(plain, part) }
	return slices.ContainsFunc(restrictive, part) && !slices.Contains(harmless, plain)
}

// nothing reports whether a value is one that says nothing.
func nothing(value []byte) bool {
	switch string(value) {
	case "", "null", "false", "0", `""`, `"none"`:
		return true
	}
	return (value[0] == '[' || value[0] == '{') && raw.Empty(value)
}

// isDefault reports whether a member about credentials says what holds without
// it, which is that the server is asked.
func isDefault(plain string, value []byte) bool {
	return plain == "authprovidertype" && string(value) == `"dynamic_discovery"` ||
		plain == "oauth" && string(raw.Member(value, "enabled")) == "false"
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
	names, isMap := e.list(name, value)
	switch {
	case len(names) == 0 && (approval || isMap):
		return
	case len(names) == 0:
		e.fault("%s leaves no tool: take the entry out, or disable it", name)
		return
	case slices.Contains(names, "*"):
		return
	case len(e.Tools) > 0:
		e.both(name, names)
		return
	}
	e.Tools = unique(names)
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
func (e *entry) list(name string, value []byte) (names []string, isMap bool) {
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
		return nil, true
	default:
		e.fault("%s must be an array", short(name))
	}
	return names, false
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
func (e *entry) exclude(tools ...string) {
	for _, tool := range tools {
		if !e.excluded[tool] {
			e.excluded[tool] = true
			e.ExcludeTools = append(e.ExcludeTools, tool)
		}
	}
}

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
	if value[0] == '{' {
		for part, value := range raw.Members(value) {
			if part := string(part); !raw.Null(value) {
				e.limit(name+"."+part, plain+plainName(part), value)
			}
		}
		return
	}
	e.limit(name, plain, value)
}

// limit takes one time, as what its name says.
func (e *entry) limit(name, plain string, value []byte) {
	limit, ok := e.duration(name, plain, value)
	if !ok || limit == 0 {
		return
	}
	contains := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(plain, part) })
	}
	switch {
	case contains("idle", "session", "keepalive", "cache", "oauth", "auth"):
		// They are about what this client does not do.
	case contains("stop", "shutdown", "exit", "kill"):
		e.StopTimeout = limit
	case contains("start", "init", "connect", "handshake", "launch", "discover"), plain == "timeout" && e.from.direct:
		// opencode has the listing in mind, Crush the connection.
		e.StartTimeout = limit
	default:
		e.CallTimeout = limit
	}
}

// maxTimeout is far beyond what anyone waits for, and far below where a
// time.Duration ends.
const maxTimeout = 365 * 24 * time.Hour

// duration reads a time. Its unit is that of its name, or else that of the
// application, as far as the file tells which that is: Cline, Roo Code and
// Crush count seconds, the others milliseconds. Nobody writes less than a
// second, and nobody lets a call be silent for more than an hour, so below 1,000
// and above 3,600 the number itself tells.
func (e *entry) duration(name, plain string, value []byte) (time.Duration, bool) {
	written := string(value)
	if s, ok := raw.String(value); ok {
		if d, err := time.ParseDuration(s); err == nil && d >= 0 && d <= maxTimeout {
			return d, true
		}
		written = s
	}
	n, err := strconv.ParseFloat(written, 64)
	unit := time.Millisecond
	switch {
	case strings.HasSuffix(plain, "ms") || strings.HasSuffix(plain, "millis") || strings.HasSuffix(plain, "milliseconds"):
	case strings.HasSuffix(plain, "sec") || strings.HasSuffix(plain, "secs") || strings.HasSuffix(plain, "seconds") || strings.HasSuffix(plain, "timeouts"):
		unit = time.Second
	case n < 1000 || n <= 3600 && e.countsSeconds():
		unit = time.Second
	}
	if limit := n * float64(unit); err == nil && limit >= 0 && limit <= float64(maxTimeout) {
		return time.Duration(math.Round(limit)), true
	}
	e.fault("%s must be a time, 0 or more", short(name))
	return 0, false
}

// countsSeconds reports whether the entry looks like one of Cline, Roo Code or
// Crush.
func (e *entry) countsSeconds() bool {
	kind, _ := raw.String(e.member("type"))
	opencode := kind == "local" || kind == "remote"
	return e.from.direct && !opencode || kind == "streamableHttp" ||
		slices.ContainsFunc([]string{"alwaysAllow", "transportType", "watchPaths"}, func(name string) bool { return e.member(name) != nil })
}
