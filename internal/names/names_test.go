package names

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestServer(t *testing.T) {
	seen := map[string]string{}
	for _, key := range []string{
		"a", "a-b", "a_b", "a b", "a.b", "A-B", "高德地图", "百度搜索", "高德地圖", "地图", "----", "---", "Поиск", "поиск", "🔥", "é", "e\u0301",
		"\xff", "\xfe", "-", "_", " ", strings.Repeat("a", 32), strings.Repeat("a", 33), strings.Repeat("a", 34), strings.Repeat("高", 50), "a-b-0123456789",
	} {
		name := Server(key)
		assert.Regexp(t, `^[A-Za-z0-9-]{1,32}$`, name, "%q", key)
		assert.Equal(t, name, Server(key))
		assert.Empty(t, seen[name], "%q", key)
		seen[name] = key
		// A name with a hash is never that of another key.
		assert.NotEqual(t, name == key, endsInHash(name, '-'), "%q", key)
	}
	assert.Equal(t, "-----1ecb3ba10a", Server("高德地图"), "the same in every release")
	assert.Equal(t, "my-server", Server("my-server"))
	assert.NotEqual(t, Server("高德地图"), Server(Server("高德地图")))
}
