package config

import (
	"bytes"
	"strings"
	"testing"

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
	const n = 1 << 20
	for _, part := range []string{
		"/*a//\n", "/*", "//", "\"", "\\\"", ",", ", \n", "\"//", "{\"servers\":", "[", "{\"servers\":{\"a\":{}},",
	} {
		for _, around := range []string{"", "{\"servers\": {\"a\": {\"args\": [\"", "{\"servers\": {\"", "{\"servers\": {\"a\": {"} {
			text := []byte(around + strings.Repeat(part, n/len(part)))
			_, _ = Read(text, nil)
			_, _ = Read(append(bytes.Clone(text), `"]}}}`...), nil)
		}
	}
}
