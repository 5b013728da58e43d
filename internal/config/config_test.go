package config

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
)

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		`{"a": 1}`:           `{"a": 1}`,
		"{//x\n}":            "{   \n}",
		"{/*\n*/}":           "{     }",
		"{}//x":              "{}   ",
		"{}/*x":              "{}/*x",
		"{}/*/":              "{}/*/",
		"{}/**/":             "{}    ",
		"{/ / }":             "{/ / }",
		`["//", "/*", "*/"]`: `["//", "/*", "*/"]`,
		`["\"//", "\\"/**/]`: `["\"//", "\\"    ]`,
		`["a,]", ",}",]`:     `["a,]", ",}" ]`,
		`[1,]`:               `[1 ]`,
		"[1, \t\r\n]":        "[1  \t\r\n]",
		"[1,//,\n/*,*/]":     "[1    \n     ]",
		`[1,,]`:              `[1, ]`,
		`[1,2]`:              `[1,2]`,
		`{"a":[1,],}`:        `{"a":[1 ] }`,
		`["a`:                `["a`,
		`["a\`:               `["a\`,
		`["a,]//`:            `["a,]//`,
		"":                   "",
		"/":                  "/",
	} {
		assert.Equal(t, want, string(plain([]byte(in))), in)
	}
}

// Every text costs time in proportion to its length: these would take minutes
// if a line made the reader look at all that follow.
func TestReadIsLinear(t *testing.T) {
	const n = 1 << 17
	for _, part := range []string{
		"/*a//\n", "/*", "//", "\"", "\\\"", ",", ", \n", "\"//", "{\"servers\":", "[", "{\"servers\":{\"a\":{}},",
	} {
		for _, around := range []string{"", "{\"servers\": {\"a\": {\"args\": [\"", "{\"servers\": {\"", "{\"servers\": {\"a\": {"} {
			text := []byte(around + strings.Repeat(part, n/len(part)))
			_, _ = Read(text, nil)
			_, _ = Read(append(bytes.Clone(text), `"]}}}`...), nil)
		}
	}
	list := func(part string, size int) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			b.WriteString(strings.ReplaceAll(part, "#", strconv.Itoa(i)) + ",")
		}
		return b.String()
	}
	// One name in as many spellings as there is room for, each with its tools.
	spellings := func(name string, size int) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			b.WriteByte('"')
			for j, c := range name {
				if i>>j&1 == 1 {
					b.WriteByte('_')
				}
				if i>>(len(name)+j)&1 == 1 {
					c = unicode.ToUpper(c)
				}
				b.WriteRune(c)
			}
			fmt.Fprintf(&b, `": ["x%d", "y"],`, i)
		}
		return b.String()
	}
	for _, part := range []string{
		`"a#": {"command": "c"}`, `"a": {"command": "c"}`, `"": {}`, `"a#": {"tools": ["x"], "type": "x"}`,
	} {
		rules := `"disabledServers": [` + list(`"b#"`, n/4) + `], "permission": {` + list(`"a#_x": "deny"`, n/4) + `}, "tools": [` + list(`"@a#/x"`, n/4) + `]`
		entries, err := Read([]byte(`{"mcp": {"servers": {`+list(part, n/4)+`}}, `+rules+`}`), lookup)
		assert.NoError(t, err)
		assert.NotEmpty(t, entries)
	}
	for _, member := range []string{
		`"excludeTools": [` + list(`"x#"`, n) + `]`, `"tools": {` + list(`"x#": false`, n) + `}`,
		`"includeTools": [` + list(`"x#*"`, n/2) + `], "autoApprove": [` + list(`"y#*"`, n/2) + `]`,
		spellings("excludetools", n), spellings("includetools", n), list(`"tool#": 1`, n), list(`"timeout#": 1`, n),
		list(`"options": {"x#": 1}`, n), `"options": ` + strings.Repeat(`{"options":`, n/11) + "1" + strings.Repeat("}", n/11),
		`"timeout": ` + strings.Repeat(`{"timeout":`, n/11) + "1" + strings.Repeat("}", n/11),
		`"env": {` + list(`"x#": "$TOKEN${A}{"`, n) + `}`, `"env": {"x": "` + strings.Repeat("$TOKEN{", n/7) + `"}`,
		`"args": ["` + strings.Repeat("${A}", n/4) + `"]`, `"args": ["` + strings.Repeat("${A", n/3) + `"]`, `"args": ["` + strings.Repeat("${A:-", n/5) + strings.Repeat("}", n/5) + `"]`,
	} {
		entries, err := Read([]byte(`{"servers": {"a": {"command": "c", `+member+`}}}`), lookup)
		assert.NoError(t, err)
		assert.Len(t, entries, 1)
	}
}
