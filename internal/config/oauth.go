package config

// This file says what the members about logins become. They are faults of their
// entry: what they mean is an oauth.Client, which a program has to make itself,
// since only one that wants package oauth links it.

import (
	"strings"

	"github.com/seed94b59a13/mcp/internal/raw"
)

// clientFields are the fields of an oauth.Client, by what Claude Code, Cursor,
// VS Code, Gemini CLI, opencode and Codex call them.
var clientFields = map[string]string{
	"clientid": "ID", "clientsecret": "Secret", "scope": "Scopes", "scopes": "Scopes", "issuer": "Issuer",
	"authservermetadataurl": "Issuer", "redirecturi": "RedirectURL", "redirecturl": "RedirectURL", "callbackurl": "RedirectURL",
	"callbackport": "RedirectURL", "clientname": "Name",
}

// aboutLogin is the fault of a member about logins. It shows no value.
func aboutLogin(name string, value []byte) string {
	var fields []string
	add := func(name string) {
		plain := strings.TrimPrefix(plainName(name), "oauth")
		if field := clientFields[plain]; field != "" {
			fields = append(fields, field+" from "+short(name))
		}
	}
	add(name)
	for member, value := range raw.Members(value) {
		if !nothing(value) {
			add(string(member))
		}
	}
	if len(fields) == 0 {
		return short(name) + " is not read: set Auth, or send a token in headers"
	}
	return short(name) + " is not read: set Auth to an oauth.Client with " + strings.Join(fields, ", ")
}
