package mcp

// This file prints what may hold secrets without them.

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/seed94b59a13/mcp/internal/program"
	"github.com/seed94b59a13/mcp/internal/secret"
)

// String describes the server without its secrets.
func (s Server) String() string { return s.description().text("mcp.Server") }

// Format writes what String returns, whatever the verb.
func (s Server) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// MarshalText returns what String does.
func (s Server) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalJSON describes the server without its secrets.
func (s Server) MarshalJSON() ([]byte, error) { return s.description().json() }

// LogValue describes the server to log/slog without its secrets.
func (s Server) LogValue() slog.Value { return slog.GroupValue(s.description()...) }

// String describes the connection without the secrets of its server.
func (c *Connection) String() string { return c.description().text("mcp.Connection") }

// Format writes what String returns, whatever the verb.
func (c *Connection) Format(f fmt.State, _ rune) { io.WriteString(f, c.String()) }

// MarshalText returns what String does.
func (c *Connection) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// MarshalJSON describes the connection without the secrets of its server.
func (c *Connection) MarshalJSON() ([]byte, error) { return c.description().json() }

// LogValue describes the connection to log/slog without the secrets of its
// server.
func (c *Connection) LogValue() slog.Value { return slog.GroupValue(c.description()...) }

// String lists the names of the servers.
func (c *Connections) String() string { return c.description().text("mcp.Connections") }

// Format writes what String returns, whatever the verb.
func (c *Connections) Format(f fmt.State, _ rune) { io.WriteString(f, c.String()) }

// MarshalText returns what String does.
func (c *Connections) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// MarshalJSON lists the names of the servers.
func (c *Connections) MarshalJSON() ([]byte, error) { return c.description().json() }

// LogValue lists the names of the servers to log/slog.
func (c *Connections) LogValue() slog.Value { return slog.GroupValue(c.description()...) }

// A description is what may be printed of a value.
type description []slog.Attr

const nameKey = "Name"

func (d description) text(kind string) string {
	var b strings.Builder
	for _, attr := range d {
		value := attr.Value.String()
		if attr.Key == nameKey {
			value = strconv.Quote(value)
		}
		b.WriteString(", " + attr.Key + ": " + value)
	}
	return kind + "{" + strings.TrimPrefix(b.String(), ", ") + "}"
}

func (d description) json() ([]byte, error) {
	members := make(map[string]any, len(d))
	for _, attr := range d {
		members[attr.Key] = attr.Value.Any()
	}
	return json.Marshal(members)
}

func (c *Connection) description() description {
	if c == nil || c.server.Open() == nil {
		return nil
	}
	return c.config().description()
}

func (c *Connections) description() description {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	names := make([]string, 0, len(c.members))
	for _, m := range c.members {
		names = append(names, m.name)
	}
	return description{slog.Any("Servers", names)}
}

// description is what is printed: no value that could be a secret.
func (s Server) description() description {
	keys := make([]string, 0, len(s.Env))
	for _, entry := range s.Env {
		if key, _, ok := program.Cut(entry); ok {
			keys = append(keys, key)
		}
	}
	d := description{slog.String(nameKey, s.Name)}
	for _, field := range []struct {
		set   bool
		key   string
		value any
	}{
		{s.Command != "", "Command", s.Command},
		{len(s.Args) > 0, "Args", len(s.Args)}, // people pass secrets there, too
		{len(s.Env) > 0, "Env", keys},
		{s.Dir != "", "Dir", s.Dir},
		{s.URL != "", "URL", bareURL(s.URL)},
		{s.BearerToken != "", "BearerToken", secret.Masked},
		{len(s.Headers) > 0, "Headers", slices.Sorted(maps.Keys(s.Headers))},
		{s.Auth != nil, "Auth", fmt.Sprintf("%T", s.Auth)}, // what it holds is a secret
		{len(s.Tools) > 0, "Tools", s.Tools},
		{len(s.ExcludeTools) > 0, "ExcludeTools", s.ExcludeTools},
	} {
		if field.set {
			d = append(d, slog.Any(field.key, field.value))
		}
	}
	return d
}

// bareURL returns the URL without user, query and fragment.
func bareURL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return secret.Masked
	}
	return secret.BareURL(u)
}
