package program

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestIsSecret(t *testing.T) {
	for entry, want := range map[string]bool{
		"PATH=/bin": false, "Path=/bin": false, "LC_ALL=C": false, "XDG_ANYTHING=x": false, "NODE_ENV=production": false, "npm_config_cache=/c": false,
		"http_proxy=http://proxy:3128": false, "HTTPS_PROXY=http://ada:secret@proxy": true, "DOCKER_HOST=ssh://ada@host": true,
		"API_KEY=x": true, "MY_PATH=/bin": true, "=x": true,
	} {
		name, value, _ := Cut(entry)
		assert.Equal(t, want, IsSecret(name, value), entry)
	}
}

func TestLastOfEach(t *testing.T) {
	assert.Equal(t, []string{"B=2", "A=3", "novalue"}, LastOfEach([]string{"A=1", "B=2", "A=3", "novalue"}))
	assert.NotNil(t, LastOfEach(nil))
	both := LastOfEach([]string{"a=1", "A=2"})
	if runtime.GOOS == "windows" {
		assert.Equal(t, []string{"A=2"}, both)
	} else {
		assert.Equal(t, []string{"a=1", "A=2"}, both)
	}
}

func TestBaseEnv(t *testing.T) {
	t.Setenv("HOME", "() { :; }; echo harm")
	t.Setenv("HTTPS_PROXY", "http://ada:secret@proxy")
	t.Setenv("https_proxy", "http://proxy:3128")
	t.Setenv("API_KEY", "secret")
	env := BaseEnv()
	assert.Contains(t, env, "https_proxy=http://proxy:3128")
	for _, entry := range env {
		name, value, _ := Cut(entry)
		assert.NotContains(t, []string{"HOME", "API_KEY"}, name)
		assert.False(t, IsSecret(name, value), entry)
	}
}
