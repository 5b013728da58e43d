package mcp_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed94b59a13/mcp"
)

func TestTOON(t *testing.T) {
	large := "[" + strings.Repeat(`{ "a": 1 }, `, 1<<17) + "1]"
	for text, want := range map[string]string{
		`[{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]`: "[2]{id,name}:\n  1,a\n  2,b",
		"\n {\"a\" : 9007199254740993 }\n":                 "a: 9007199254740993",
		`{"a":1,"a":2}`:                                    "a: 1\na: 2",
		`{}`:                                               "{}",
		` [ ] `:                                            "[]",
		`{"a":NaN}`:                                        `{"a":NaN}`,
		`{"a":1} {"b":2}`:                                  `{"a":1} {"b":2}`,
		`"a"`:                                              `"a"`,
		`Hello {"a": 1}`:                                   `Hello {"a": 1}`,
		`{"a":`:                                            `{"a":`,
		``:                                                 ``,
		"  ":                                               "  ",
		strings.Repeat("[ ", 200) + strings.Repeat(" ]", 200): strings.Repeat("[", 200) + strings.Repeat("]", 200),
		large: strings.ReplaceAll(large, " ", ""),
	} {
		assert.True(t, want == mcp.TOON(text), "%.100s gives %.100s", text, mcp.TOON(text))
	}
}
