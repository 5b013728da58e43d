package text

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/seed94b59a13/mcp/internal/raw"
)

const (
	scotland = "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
	tagged   = "\U000e0068\U000e0069" // "hi", for nobody to see
)

func TestResult(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		hidden         int
	}{
		{"empty", "", "", 0},
		{"plain", "a b\tc\nd", "a b\tc\nd", 0},
		{"every printable character", printableASCII(), printableASCII(), 0},
		{"other scripts", "Grüße, 漢字, שלום, नमस्ते, \U0001f600", "Grüße, 漢字, שלום, नमस्ते, \U0001f600", 0},

		{"invalid bytes, each", "a\xff\xfeb\xe2\x82c\xc3", "a\uFFFD\uFFFDb\uFFFD\uFFFDc\uFFFD", 0},
		{"an encoded surrogate", "a\xed\xa0\x80b", "a\uFFFD\uFFFD\uFFFDb", 0},
		{"an overlong NUL", "a\xc0\x80b", "a\uFFFD\uFFFDb", 0},
		{"U+FFFD itself", "a\uFFFDb", "a\uFFFDb", 0},

		{"NUL", "a\x00b", "a\nb", 0},
		{"control characters", "a\x01\x02\x07\x08\x0e\x7fb", "ab", 0},
		{"pages", "one.\fPage two\n\fPage three\f", "one.\nPage two\nPage three", 0},
		{"old line ends", "alpha,1\rbeta,2\r\rgamma,3\r", "alpha,1\nbeta,2\ngamma,3", 0},
		{"other separators", "a\vb\u0085c\x1cd\x1de\x1ef\x1fg", "a\nb\nc\nd\ne\nf g", 0},
		{"file names", "src/a.go\x00src/b.go\x00", "src/a.go\nsrc/b.go", 0},
		{"a file name of one letter", "src/a.go\x00b\x00src/c.go\x00", "src/a.go\nb\nsrc/c.go", 0},
		{"UTF-16", "h\x00e\x00l\x00l\x00o\x00 \x00y\x00o\x00u\x00", "hello you", 0},
		{"fields and records", "9f1c2ab\x1fAnna\x1f2026-01-02\x1e\n0ab\x1f\x1e\x1fBo", "9f1c2ab Anna 2026-01-02\n0ab\nBo", 0},
		{"separators beside spaces", " \ra\r b\t\fc\r\n\vd\f", " a b\tc\r\nd", 0},
		{"separators among colours", "a\x1b[1m\r\x1b[0mb\x01\fc", "a\nb\nc", 0},
		{"a separator before hidden text", "a\r" + tagged + "b", "a\nb", 2},
		{"C1 controls", "a\u0080\u009fb\u00a0c", "ab\u00a0c", 0},
		{"CR LF", "a\r\nb\r\n", "a\r\nb\r\n", 0},
		{"CR alone", "a\rb\r", "a\nb", 0},
		{"CR CR LF", "a\r\r\nb", "a\r\nb", 0},
		{"LF CR", "a\n\rb", "a\nb", 0},

		{"colour", "\x1b[1;31mred\x1b[0m", "red", 0},
		{"colour of today", "\x1b[38:2::10:20:30ma\x1b[m", "a", 0},
		{"cursor and screen", "\x1b[2J\x1b[H\x1b[?25la\x1b[10;20Hb\x1b[K", "ab", 0},
		{"a sequence with an intermediate", "\x1b[1 qa\x1b[!pb", "ab", 0},
		{"character sets", "\x1b(Ba\x1b)0b\x1b#8c", "abc", 0},
		{"short sequences", "\x1b7a\x1b8b\x1b=c\x1b>d\x1bMe\x1bcf", "abcdef", 0},
		{"link ended by BEL", "\x1b]8;;http://e.test\alink\x1b]8;;\a", "link", 0},
		{"link ended by ST", "\x1b]8;id=1;http://e.test/é\x1b\\link\x1b]8;;\x1b\\", "link", 0},
		{"link ended by the C1 ST", "\x1b]8;;http://e.test\u009clink", "link", 0},
		{"title", "\x1b]0;a title\ab", "b", 0},
		{"device control", "\x1bPq#0;2;0~~\x1b\\a\x1b_app\x1b\\b\x1b^pm\x1b\\c\x1bXsos\x1b\\d", "abcd", 0},
		{"C1 colour", "\u009b31mred\u009b0m", "red", 0},
		{"a quotation mark in a wrong character set", "\u009bhello", "hello", 0},
		{"cut off after ESC", "a\x1b", "a", 0},
		{"cut off in a sequence", "a\x1b[31", "a", 0},
		{"cut off in an intermediate", "a\x1b(", "a", 0},
		{"a string without an end", "\x1b]0;title\nb", "]0;title\nb", 0},
		{"a string that another ends", "\x1b]0;title\x1b[0mb", "]0;titleb", 0},
		{"a broken sequence", "\x1b[31é", "[31é", 0},
		{"a sequence in a sequence", "\x1b[3\x1b[0m1mx", "[31mx", 0},
		{"ESC before what is none", "\x1béa\x1b\x1bcb", "éab", 0},

		{"hidden text", "a" + tagged + "b", "ab", 2},
		{"the whole block", "\U000dffff\U000e0000\U000e0001\U000e0020\U000e007f\U000e0080", "\U000dffff\U000e0080", 4},
		{"a flag", scotland, scotland, 0},
		{"flags", scotland + scotland + "a", scotland + scotland + "a", 0},
		{"a flag and hidden text", scotland + tagged, scotland, 2},
		{"a flag without an end", "\U0001f3f4\U000e0067\U000e0062\U000e0073", "\U0001f3f4", 3},
		{"a flag that is too long", "\U0001f3f4" + strings.Repeat("\U000e0061", 8) + "\U000e007f", "\U0001f3f4", 9},
		{"a flag that is too short", "\U0001f3f4\U000e0061\U000e0061\U000e007f", "\U0001f3f4", 3},
		{"a flag of what is not a region", "\U0001f3f4\U000e0041\U000e0042\U000e0043\U000e007f", "\U0001f3f4", 4},
		{"another emoji with tags", "\U0001f600\U000e0067\U000e0062\U000e0073\U000e007f", "\U0001f600", 4},
		{"a flag with something between", "\U0001f3f4\x00\U000e0067\U000e0062\U000e0073\U000e007f", "\U0001f3f4", 4},

		{"what files need", "\ufeffa\u200bb\u2060c\u200dd\u200ce\u202ef\u2066g\u2069\u200e\u00ad", "\ufeffa\u200bb\u2060c\u200dd\u200ce\u202ef\u2066g\u2069\u200e\u00ad", 0},
		{"joined emoji", "\U0001f468\u200d\U0001f469\u200d\U0001f467 ❤\ufe0f 1\ufe0f\u20e3 \U0001f1e9\U0001f1ea", "\U0001f468\u200d\U0001f469\u200d\U0001f467 ❤\ufe0f 1\ufe0f\u20e3 \U0001f1e9\U0001f1ea", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			clean, hidden := Result(c.in)
			assert.Equal(t, c.want, clean)
			assert.Equal(t, c.hidden, hidden)
			for n := range 40 { // wherever it stands in a word
				padding := strings.Repeat("x", n)
				clean, _ := Result(padding + c.in + "\n" + padding)
				whole, _ := Result(c.in + "\n")
				assert.Equal(t, padding+whole+padding, clean)
			}
		})
	}
}

func printableASCII() string {
	var b strings.Builder
	for c := byte(' '); c < 0x7f; c++ {
		b.WriteByte(c)
	}
	return b.String()
}

func TestPrompt(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		hidden         int
	}{
		{"plain", "a b\tc\nd", "a b\tc\nd", 0},
		{"overrides", "a\u202db\u202ec\u202cd", "abcd", 3},
		{"embeddings", "a\u202ab\u202bc", "abc", 2},
		{"isolates", "a\u2066b\u2067c\u2068d\u2069e", "abcde", 4},
		{"spaces of no width", "a\u200bb\u2060c\ufeffd", "abcd", 3},
		{"hidden text", "a" + tagged, "a", 2},
		{"controls and colours", "\x1b[1ma\x00\r\nb\r", "a\r\nb", 0},
		{"invalid bytes", "a\xffb", "a\uFFFDb", 0},
		{"joiners, marks and flags", "क्\u200dष می\u200cخواهم \u200e\u200f\u061c \U0001f469\u200d\U0001f4bb " + scotland, "क्\u200dष می\u200cخواهم \u200e\u200f\u061c \U0001f469\u200d\U0001f4bb " + scotland, 0},
		{"what begins alike", "“a” – … \u2028\u2029\u206a\u205f ﬁ", "“a” – … \u2028\u2029\u206a\u205f ﬁ", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			clean, hidden := Prompt(c.in)
			assert.Equal(t, c.want, clean)
			assert.Equal(t, c.hidden, hidden)
		})
	}
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		in, want string
		hidden   int
	}{
		{`""`, "", 0},
		{`"plain text that is longer than a few words of eight bytes each"`, "plain text that is longer than a few words of eight bytes each", 0},
		{`"a\nb\t\"c\" \\ \/"`, "a\nb\t\"c\" \\ /", 0},
		{`"a\r\nb\r"`, "a\r\nb", 0},
		{`"a\b\f\u0000\u001b[1mb\u007f"`, "a\nb", 0},
		{`"Gr\u00fc\u00dfe é \ud83d\ude00\n"`, "Grüße é \U0001f600\n", 0},
		{`"\udb40\udc68x\n"`, "x\n", 1},
		{"\"caf\xe9 \x01\"", "caf\uFFFD ", 0},
		{"\"a\\n\xe9\\n\"", "a\n\uFFFD\n", 0},
		{"\"tab\tnewline\n\"", "tab\tnewline\n", 0},
		{`"` + tagged + `"`, "", 2},
		{`"a\ud800b"`, "a\uFFFDb", 0},
	} {
		clean, hidden, ok := Decode([]byte(c.in))
		assert.True(t, ok)
		assert.Equal(t, c.want, clean, "%q", c.in)
		assert.Equal(t, c.hidden, hidden, "%q", c.in)
	}
	for _, in := range []string{"", "1", "null", "{}"} {
		_, _, ok := Decode([]byte(in))
		assert.False(t, ok)
	}
}

func TestMiddle(t *testing.T) {
	assert.Equal(t, "abc", Middle("abc", 64))
	assert.Equal(t, strings.Repeat("a", 64), Middle(strings.Repeat("a", 64), 64))
	assert.Equal(t, strings.Repeat("a", 33)+"\n[22 bytes left out]\n"+strings.Repeat("a", 10), Middle(strings.Repeat("a", 65), 64))
	assert.Equal(t, strings.Repeat("漢", 10)+"\n[261 bytes left out]\n"+strings.Repeat("漢", 3), Middle(strings.Repeat("漢", 100), 64))
	// No half of a flag is left, as its tags would be hidden text.
	for limit := 64; limit < 400; limit++ {
		for _, s := range []string{strings.Repeat(scotland, 20), strings.Repeat("xy"+scotland, 20)} {
			short := Middle(s, limit)
			assert.LessOrEqual(t, len(short), limit)
			_, hidden := Result(short)
			assert.Zero(t, hidden)
		}
	}
}

func TestStart(t *testing.T) {
	assert.Equal(t, "abc", Start("abc", 3))
	assert.Equal(t, "ab… (3 bytes)", Start("abc", 2))
	assert.Equal(t, "é… (4 bytes)", Start("éé", 3))
}

// TestCleanAllocatesNothing proves that text without anything to clean is
// returned as it is, whatever lines and scripts it has.
func TestCleanAllocatesNothing(t *testing.T) {
	for _, s := range []string{"plain\n", "Windows\r\n", "Grüße « » – 漢字 \U0001f600\t", scotland} {
		s = strings.Repeat(s, 1000)
		assert.Zero(t, testing.AllocsPerRun(10, func() { Result(s) }))
		assert.Zero(t, testing.AllocsPerRun(10, func() { Prompt(s) }))
		quoted := raw.AppendQuote(nil, s)
		assert.LessOrEqual(t, testing.AllocsPerRun(10, func() { Decode(quoted) }), 1.0)
	}
}

// FuzzText cleans and shortens anything.
func FuzzText(f *testing.F) {
	for _, seed := range []string{
		"\x1b[1;31mred\x1b[0m\x1b]8;;http://e.test\alink\x1b]8;;\x1b\\", "a\r\n\r\x00\x7f\u0085\u009b1m\xff",
		scotland + tagged + "\U0001f3f4\U000e0061", "\u202ea\u2066\u200b\u2060\ufeff\u200d", `\u001b\udb40\udc68\n\r\n\ud800`,
	} {
		f.Add([]byte(seed), 64)
	}
	f.Fuzz(func(t *testing.T, data []byte, limit int) {
		for _, clean := range []func(string) (string, int){Result, Prompt} {
			once, _ := clean(string(data))
			assert.True(t, utf8.ValidString(once))
			twice, hidden := clean(once)
			assert.Equal(t, once, twice)
			assert.Zero(t, hidden)
			assert.False(t, strings.ContainsAny(once, "\x00\x1b\x7f\u009b"))
			if limit >= Shortest {
				short := Middle(once, limit)
				assert.LessOrEqual(t, len(short), limit)
				assert.True(t, utf8.ValidString(short))
			}
		}
		value := append(append([]byte{'"'}, data...), '"')
		if end, err := raw.Scan(value); err != nil || end != len(value) {
			return
		}
		s, _ := raw.String(value)
		want, wantHidden := Result(s)
		got, hidden, ok := Decode(bytes.Clone(value))
		assert.True(t, ok)
		assert.Equal(t, want, got)
		assert.Equal(t, wantHidden, hidden)
	})
}

func TestNearest(t *testing.T) {
	names := []string{"read_file", "read_files", "write_file", "list_directory", "search"}
	for name, want := range map[string][]string{
		"read_file":      {"read_file", "read_files"},
		"reed_file":      {"read_file", "read_files"},
		"READ-FILE":      {"read_file", "read_files"},
		"file":           {"read_file", "read_files"},
		"listdirectory":  {"list_directory"},
		"web_search":     {"search"},
		"quite another":  nil,
		"":               nil,
		"\xff\xff\u0130": nil,
	} {
		assert.Equal(t, want, Nearest(name, slices.Values(names), 2), name)
	}
	assert.Equal(t, 3, distance("kitten", "sitting"))
	assert.Equal(t, 4, distance("", "four"))
	long := strings.Repeat("\u0130", 1000) // grows when it is made small
	assert.Equal(t, []string{long}, Nearest(long+"x", slices.Values([]string{long}), 5))
}
