package config

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// read returns the only entry of a file, of which the members are given.
func read(t *testing.T, members string) Entry {
	t.Helper()
	entries, err := Read([]byte(`{"servers": {"a": {"command": "c", `+members+`}}}`), lookup)
	require.NoError(t, err, members)
	require.Len(t, entries, 1, members)
	return entries[0]
}

func TestTimeouts(t *testing.T) {
	for members, want := range map[string]Entry{
		// The number tells the unit where nothing else does.
		`"timeout": 30`:                                  {CallTimeout: 30 * time.Second},
		`"timeout": 999`:                                 {CallTimeout: 999 * time.Second},
		`"timeout": 1000`:                                {CallTimeout: time.Second},
		`"timeout": 3600`:                                {CallTimeout: 3600 * time.Millisecond},
		`"timeout": 3600, "alwaysAllow": []`:             {CallTimeout: time.Hour},
		`"timeout": 3601, "alwaysAllow": []`:             {CallTimeout: 3601 * time.Millisecond},
		`"timeout": 0.5`:                                 {CallTimeout: 500 * time.Millisecond},
		`"timeout": 6e4`:                                 {CallTimeout: time.Minute},
		`"timeout": "30000"`:                             {CallTimeout: 30 * time.Second},
		`"timeout": "1m30s"`:                             {CallTimeout: 90 * time.Second},
		`"timeout": 0`:                                   {},
		`"timeout": null`:                                {},
		`"timeoutMs": 500`:                               {CallTimeout: 500 * time.Millisecond},
		`"timeout_seconds": 1800`:                        {CallTimeout: 30 * time.Minute},
		`"timeout_s": 2000`:                              {CallTimeout: 2000 * time.Second},
		`"requestTimeout": 60000`:                        {CallTimeout: time.Minute},
		`"initTimeout": 30000, "timeout": 5000`:          {StartTimeout: 30 * time.Second, CallTimeout: 5 * time.Second},
		`"connection-timeout": 30`:                       {StartTimeout: 30 * time.Second},
		`"startupTimeoutMs": 1500`:                       {StartTimeout: 1500 * time.Millisecond},
		`"shutdownTimeout": 2`:                           {StopTimeout: 2 * time.Second},
		`"timeouts": {"start": 20, "call": 40}`:          {StartTimeout: 20 * time.Second, CallTimeout: 40 * time.Second},
		`"idleTimeout": 5000, "sessionTimeout": "never"`: {Faults: []string{"sessionTimeout must be a time, 0 or more"}},
		`"timeout": -1`:                                  {Faults: []string{"timeout must be a time, 0 or more"}},
		`"timeout": "soon"`:                              {Faults: []string{"timeout must be a time, 0 or more"}},
		`"timeout": "-5s"`:                               {Faults: []string{"timeout must be a time, 0 or more"}},
		`"timeout": 1e300`:                               {Faults: []string{"timeout must be a time, 0 or more"}},
		`"timeout": "NaN"`:                               {Faults: []string{"timeout must be a time, 0 or more"}},
		`"timeout": [5]`:                                 {Faults: []string{"timeout must be a time, 0 or more"}},
		`"timeout": true`:                                {Faults: []string{"timeout must be a time, 0 or more"}},
		`"timeout": {"x": {"timeout": 5}}`:               {Faults: []string{"timeout.x must be a time, 0 or more"}},
	} {
		want.Key, want.Name, want.Command = "a", "a", "c"
		assert.Equal(t, want, read(t, members), members)
	}
}

func TestLists(t *testing.T) {
	const restricts = " may restrict the server, and is not understood: take it out, and set Tools or ExcludeTools"
	for members, want := range map[string]Entry{
		// What may be used.
		`"includeTools": ["a", "b", "a"]`:         {Tools: []string{"a", "b"}},
		`"include_tools": ["a"]`:                  {Tools: []string{"a"}},
		`"IncludeTools": ["a"]`:                   {Tools: []string{"a"}},
		`"tools": "a"`:                            {Tools: []string{"a"}},
		`"tools": "*"`:                            {},
		`"allowed-tools": ["a", "*"]`:             {},
		`"enabledTools": ["get_*"]`:               {Tools: []string{"get_*"}},
		`"enabledTools": []`:                      {Faults: []string{"enabledTools leaves no tool: take the entry out, or disable it"}},
		`"enabledTools": false`:                   {Faults: []string{"enabledTools must be an array"}},
		`"enabledTools": 7`:                       {Faults: []string{"enabledTools must be an array", "enabledTools leaves no tool: take the entry out, or disable it"}},
		`"autoApprove": ["a"]`:                    {Tools: []string{"a"}},
		`"autoApprove": [], "alwaysAllow": false`: {},
		`"autoApprove": true`:                     {},
		`"includeTools": ["a", "b", "c"], "autoApprove": ["c", "b"]`:  {Tools: []string{"b", "c"}},
		`"includeTools": ["a*", "b"], "alwaysAllow": ["ab", "*b"]`:    {Tools: []string{"b", "ab"}},
		`"includeTools": ["a"], "alwaysAllow": ["b"]`:                 {Faults: []string{"alwaysAllow leaves no tool of those that another list has"}},
		`"tools": {"a": true, "b": false, "c": {"enabled": false}}`:   {ExcludeTools: []string{"b", "c"}},
		`"tools": {"a": {"enabled": true, "requireApproval": "ask"}}`: {Faults: []string{`tools: what it says of "a" is not understood`}},
		`"tools": {"a": 1}`:                {Faults: []string{`tools: what it says of "a" is not understood`}},
		`"tools": [{"name": "a"}]`:         {Faults: []string{"tools must have names of tools", "tools leaves no tool: take the entry out, or disable it"}},
		`"includeTools": ["run(ls)", "b"]`: {Tools: []string{"b"}, Faults: []string{`includeTools: "run(ls)" is a pattern that is not supported, only * is`}},

		// What may not.
		`"excludeTools": ["a"], "disabled_tools": ["b", "a"]`: {ExcludeTools: []string{"a", "b"}},
		`"disallowedTools": "a"`:                              {ExcludeTools: []string{"a"}},
		`"blockedTools": {"a": false}`:                        {ExcludeTools: []string{"a"}},
		`"excludeTools": ["^a"]`:                              {Faults: []string{`excludeTools: "^a" is a pattern that is not supported, only * is`}},
		`"excludeTools": ["a?"]`:                              {Faults: []string{`excludeTools: "a?" is a pattern that is not supported, only * is`}},
		`"excludeTools": null, "deniedTools": []`:             {},

		// What else restricts.
		`"readOnly": true`:                                            {Faults: []string{"readOnly" + restricts}},
		`"toolPermissions": {"a": "deny"}`:                            {Faults: []string{"toolPermissions" + restricts}},
		`"require_approval": "always"`:                                {Faults: []string{"require_approval" + restricts}},
		`"require_approval": "never"`:                                 {},
		`"allowedHosts": ["x"]`:                                       {Faults: []string{"allowedHosts" + restricts}},
		`"tool_configuration": {"allowed_tools": ["a"]}`:              {Faults: []string{"tool_configuration" + restricts}},
		`"readOnly": false, "sandbox": {}, "filters": [], "deny": ""`: {},
		`"env_file": ".env"`:                                          {Faults: []string{"env_file is not read: put what is in it into env, or use variables"}},
		`"envFile": ""`:                                               {},
		`"token": "x"`:                                                {Faults: []string{"token is not read: set Auth, or send a token in headers"}},
		`"oauth": {}, "auth": null, "authentication": "none"`:         {},

		// What does not.
		`"description": "x", "icon": "y", "tags": ["z"], "trust": true, "author": "me", "autoStart": true, "toolPrefix": "p", "$schema": "s"`: {},
	} {
		want.Key, want.Name, want.Command = "a", "a", "c"
		assert.Equal(t, want, read(t, members), members)
	}
}

func TestVariables(t *testing.T) {
	for _, test := range []struct{ in, env, argument string }{
		{"$TOKEN", "t0ken", "$TOKEN"},
		{"Bearer $TOKEN", "Bearer t0ken", "Bearer $TOKEN"},
		{"$TOKEN:$DIR/$NO", "t0ken:/src/$NO", "$TOKEN:$DIR/$NO"},
		{"$TOKENS", "$TOKENS", "$TOKENS"},
		{"pa$TOKEN", "pa$TOKEN", "pa$TOKEN"},
		{"$5 $", "$5 $", "$5 $"},
		{"$$TOKEN", "$t0ken", "$$TOKEN"},
		{"${TOKEN}$TOKEN", "t0kent0ken", "t0ken$TOKEN"},
		{"${TOKEN", "${TOKEN", "${TOKEN"},
		{"{env:TOKEN}", "{env:TOKEN}", "{env:TOKEN}"},
	} {
		e := read(t, fmt.Sprintf(`"args": [%q], "env": {"K": %q}`, test.in, test.in))
		assert.Empty(t, e.Faults, test.in)
		assert.Equal(t, []string{"K=" + test.env}, e.Env, test.in)
		assert.Equal(t, []string{test.argument}, e.Args, test.in)
	}
}

// However much is wrong, what is said of it is short.
func TestFaultsAreBounded(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	e := read(t, fmt.Sprintf(`"env": {%q: %q}`, long, strings.Repeat("${A}", 100_000)))
	require.Len(t, e.Faults, maxFaults+1)
	assert.Equal(t, "and 99980 more faults", e.Faults[maxFaults])
	assert.Less(t, len(strings.Join(e.Faults, "; ")), 10_000)
	e = read(t, fmt.Sprintf(`"args": ["${%s}"], "type": %q, "tool%s": 1, "excludeTools": ["%s?"]`, long, long, long, long))
	assert.Len(t, e.Faults, 4)
	assert.Less(t, len(strings.Join(e.Faults, "; ")), 2000)
}
