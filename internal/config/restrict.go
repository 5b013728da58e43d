package config

// This file reads what the file as a whole says of its servers: which of them
// are to be used, and with which tools.

import (
	"strings"

	"github.com/seed94b59a13/mcp/internal/raw"
	"github.com/seed94b59a13/mcp/internal/text"
)

// rules restrict all servers of a file.
type rules struct {
	only, not map[string]bool // the keys of the servers to use, if not nil, and of those not to use
	unknown   []string        // members with rules that are not understood
	agent     []string        // "@server/tool" in an agent file of Amazon Q or Kiro
	isAgent   bool
	patterns  []string // of opencode: "server_tool"
	denied    []string // of Claude Code: "mcp__server__tool"
}

// maxRules bounds the rules that are tried on each server.
const maxRules = 1000

// restrict reads the rules of a file. They stand beside the servers, before or
// after them, so they are read first. A rule whose form is not known makes a
// fault of each server that it could be about: to pass it over would give a
// model what a person has forbidden.
func (f *file) restrict(object []byte) {
	r := &f.rules
	r.not = map[string]bool{}
	read := func(prefix string, object []byte) {
		for name, value := range raw.Members(object) {
			if raw.Null(value) {
				continue
			}
			switch name := prefix + string(name); name {
			case "mcp.allowed", // Gemini CLI, today and before, and Claude Code
				"allowMCPServers", "allowedMcpServers":
				if r.only == nil {
					r.only = map[string]bool{}
				}
				r.keys(r.only, name, value)
			case "mcp.excluded", "excludeMCPServers", "deniedMcpServers", "disabledMcpServers", "disabledMcpjsonServers", "disabledServers":
				r.keys(r.not, name, value)
			case "tools":
				r.tools(value)
			case "permission": // opencode
				r.deny(value, `"deny"`)
			case "permissions": // Claude Code; what it says of other tools begins otherwise
				for value := range raw.Elements(raw.Member(value, "deny")) {
					if rule, ok := raw.String(value); ok {
						r.denied = append(r.denied, rule)
					}
				}
			}
		}
	}
	read("", object)
	read("mcp.", raw.Member(object, "mcp"))
	// Each is tried on each server: with as many of both as fit into a file that
	// would take minutes.
	if len(r.agent)+len(r.patterns)+len(r.denied) > maxRules {
		*r = rules{only: r.only, not: r.not, unknown: append(r.unknown, "a list of rules")}
	}
}

// keys adds the names of servers in a list, which says what servers there may be: texts, or objects of the policy of
// Claude Code.
func (r *rules) keys(keys map[string]bool, name string, list []byte) {
	understood := list[0] == '['
	for value := range raw.Elements(list) {
		key, ok := raw.String(value)
		if !ok {
			key, ok = raw.String(raw.Member(value, "serverName"))
		}
		understood = understood && ok
		keys[key] = true
	}
	if !understood {
		r.unknown = append(r.unknown, name)
	}
}

// tools reads the tools that a file turns on or off. A list is that of an agent
// if it has servers in it or everything.
func (r *rules) tools(value []byte) {
	r.deny(value, "false")
	for value := range raw.Elements(value) {
		tool, _ := raw.String(value)
		r.agent = append(r.agent, tool)
		r.isAgent = r.isAgent || tool == "*" || strings.HasPrefix(tool, "@")
	}
}

// deny takes the patterns that have a value. What allows is not needed: it
// could only take back what another pattern denies, and to deny too much is on
// the safe side.
func (r *rules) deny(object []byte, denied string) {
	for pattern, value := range raw.Members(object) {
		if string(value) == denied {
			r.patterns = append(r.patterns, string(pattern))
		}
	}
}

// disabled reports whether the server of a key is not to be used.
func (r *rules) disabled(key string) bool {
	return r.only != nil && !r.only[key] || r.not[key]
}

// apply restricts a server by the rules. It is called once the entry is read,
// whose own lists they narrow.
func (r *rules) apply(e *entry) {
	for _, name := range r.unknown {
		e.fault("%s of the file may leave it out, and is not understood", name)
	}
	if r.isAgent {
		r.applyAgent(e)
	}
	for _, rule := range r.denied {
		if tool, ok := strings.CutPrefix(rule+"__", "mcp__"+e.Key+"__"); ok {
			e.leaveOut(strings.TrimSuffix(tool, "__"), rule)
		}
	}
	if !e.from.mcp {
		return
	}
	// opencode calls a tool by its server's name, an underscore and its own, and
	// matches that with the pattern. So a pattern is about this server if what is
	// before its first star is a part of, or begins with, the name so far.
	prefix := sanitized(e.Key) + "_"
	for _, pattern := range r.patterns {
		head, _, wild := strings.Cut(pattern, "*")
		tool, ok := strings.CutPrefix(pattern, prefix)
		switch {
		case wild && (strings.HasPrefix(prefix, head) && len(pattern) == len(head)+1):
			e.leaveOut("*", pattern)
		case ok:
			e.leaveOut(tool, pattern)
		case wild && strings.HasPrefix(prefix, head):
			e.fault("%q of the file may leave out some of its tools: set ExcludeTools", short(pattern))
		}
	}
}

// sanitized is the name of a server before its tools in opencode.
func sanitized(key string) string {
	return strings.Map(func(r rune) rune {
		if isWord(byte(min(r, 0x7f))) || r == '-' {
			return r
		}
		return '_'
	}, key)
}

// leaveOut excludes a tool; * and nothing mean all of them. A server without tools
// is a fault: started all the same it would only cost time, and whoever wrote the
// rule has turned it off.
func (e *entry) leaveOut(tool, rule string) {
	if tool == "" || tool == "*" {
		e.fault("%q of the file leaves out all of its tools", short(rule))
		return
	}
	e.exclude(tool)
}

// applyAgent keeps the tools that the agent of the file has, as Amazon Q and Kiro
// write it: "@server" stands
// for all of a server, and "*" for everything there is. A server that the list
// does not name is one that the agent cannot use.
func (r *rules) applyAgent(e *entry) {
	var tools []string
	for _, tool := range r.agent {
		server, name, one := strings.Cut(strings.TrimPrefix(tool, "@"), "/")
		switch {
		case tool == "*", tool == "@"+e.Key, one && name == "*" && text.Match(server, e.Key):
			return
		case one && text.Match(server, e.Key):
			tools = append(tools, name)
		}
	}
	if len(tools) == 0 {
		e.fault("tools of the file has none of its tools")
		return
	}
	if len(e.Tools) > 0 {
		e.both("tools of the file", tools)
		return
	}
	e.Tools = unique(tools)
}
