// Package program knows what a host has to know about the programs of servers:
// what their environment is, and what to do about one that does not start.
package program

// This file makes and reads environments, lists of KEY=VALUE.

import (
	"os"
	"runtime"
	"slices"
	"strings"
)

// BaseEnv returns those variables of the host that a program needs to run, and
// that are not secrets.
func BaseEnv() []string {
	var env []string
	for _, name := range slices.Concat(placeVariables, addressVariables) {
		// Some shells hand on functions in variables, and old ones run them.
		if value, ok := os.LookupEnv(name); ok && !strings.HasPrefix(value, "() {") && !hasPassword(name, value) {
			env = append(env, name+"="+value)
		}
	}
	return LastOfEach(env) // Windows finds one variable under both names
}

// hasPassword reports whether a variable is an address with a user in it.
func hasPassword(name, value string) bool {
	return slices.Contains(addressVariables, name) && strings.Contains(value, "@")
}

// IsSecret reports whether the value of a variable is to be masked. Those that are
// not stand in every second error text.
func IsSecret(name, value string) bool {
	name = strings.ToUpper(name)
	for _, list := range [][]string{placeVariables, addressVariables, plainVariables} {
		if slices.Contains(list, name) {
			return hasPassword(name, value)
		}
	}
	return !strings.HasPrefix(name, "LC_") && !strings.HasPrefix(name, "XDG_")
}

// placeVariables name places and the user, none of which is a secret.
var placeVariables = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "TMPDIR", "SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT",
	"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "USERPROFILE", "USERNAME", "HOMEDRIVE", "HOMEPATH",
	"SYSTEMDRIVE", "TEMP", "TMP",
	"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_DIRS",
	"XDG_DATA_DIRS", "XDG_SESSION_TYPE", "XDG_CURRENT_DESKTOP", "NPM_CONFIG_CACHE", "npm_config_cache", "UV_CACHE_DIR",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "DISPLAY", "WAYLAND_DISPLAY",
}

// addressVariables may have credentials in them.
var addressVariables = []string{
	"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "DOCKER_HOST",
}

// plainVariables are others that are not secrets.
var plainVariables = []string{"LANGUAGE", "TZ", "PWD", "NODE_ENV", "NODE_PATH", "GOPATH", "GOROOT"}

// Cut splits an entry of an environment. Windows has hidden variables such
// as =C: whose name begins with the separator.
func Cut(entry string) (key, value string, ok bool) {
	from := 0
	if runtime.GOOS == "windows" && strings.HasPrefix(entry, "=") {
		from = 1
	}
	i := strings.IndexByte(entry[from:], '=')
	if i < 0 {
		return "", "", false
	}
	return entry[:from+i], entry[from+i+1:], true
}

// LastOfEach keeps the last entry for each key, in the order of those. The
// result is never nil: os/exec takes nil for the host's environment.
func LastOfEach(env []string) []string {
	seen := map[string]bool{}
	kept := make([]string, 0, len(env))
	for _, entry := range slices.Backward(env) {
		key, _, _ := Cut(entry)
		if runtime.GOOS == "windows" {
			key = strings.ToUpper(key)
		}
		if !seen[key] {
			seen[key] = true
			kept = append(kept, entry)
		}
	}
	slices.Reverse(kept)
	return kept
}
