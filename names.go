package mcp

// This file has the names under which a model sees tools.

import "github.com/seed94b59a13/mcp/internal/names"

// ToolName returns the name under which a model sees the tool of a server:
// mcp__<server>__<tool>, at most 64 characters of A-Z, a-z, 0-9, _ and -.
//
// Where that does not fit, every other character becomes an underscore, the
// name is cut, and a hash of server and tool is appended. The result depends
// on the two names alone, so it is the same in every list and after a restart,
// and two tools do not share it: a name that could be mistaken for one with a
// hash gets a hash too. It is never parsed back: [Tool] carries both names.
// Names that no server may have, and the empty one, give a tool name as well.
func ToolName(server, tool string) string { return names.Tool(server, tool) }

// IsToolName reports whether name has the form that [ToolName] gives: it says
// nothing about whether such a tool exists.
func IsToolName(name string) bool { return names.IsTool(name) }
