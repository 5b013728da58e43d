package secret_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"maps"
	"mime/quotedprintable"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/seed94b59a13/mcp/internal/secret"
)

const hush = `p/w+d="é&<hunter2>'\z 🔑%41`

// within is what stands in quotes.
func within(quoted string) string { return quoted[1 : len(quoted)-1] }

// spellings are what encoders make of a text.
func spellings(s string) map[string]string {
	each := func(f func(r rune) string) string {
		var b strings.Builder
		for _, r := range s {
			b.WriteString(f(r))
		}
		return b.String()
	}
	escaped := func(format string) func(r rune) string {
		return func(r rune) string {
			var b strings.Builder
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, format, unit)
			}
			return b.String()
		}
	}
	percent := func(format string) func(r rune) string {
		return func(r rune) string {
			var b strings.Builder
			for _, c := range []byte(string(r)) {
				fmt.Fprintf(&b, format, c)
			}
			return b.String()
		}
	}
	quoted, _ := json.Marshal(s)
	inner := string(quoted[1 : len(quoted)-1])
	twice, _ := json.Marshal(string(quoted))
	thrice, _ := json.Marshal(string(twice))
	n := 0
	all := map[string]string{
		"as it is":         s,
		"JSON":             inner,
		"JSON in JSON":     string(twice[3 : len(twice)-3]),
		"JSON three times": string(thrice[7 : len(thrice)-7]),
		"JSON, slashes":    strings.ReplaceAll(inner, "/", `\/`),
		"JSON, all":        each(escaped(`\u%04x`)),
		"JSON, capitals":   each(escaped(`\u%04X`)),
		"Go":               within(fmt.Sprintf("%q", s)),
		"query":            url.QueryEscape(s),
		"path":             url.PathEscape(s),
		"percent":          each(percent("%%%02x")),
		"percent, capital": each(percent("%%%02X")),
		"percent, twice":   url.QueryEscape(url.QueryEscape(s)),
		"HTML":             html.EscapeString(s),
		"HTML, decimal":    each(func(r rune) string { return fmt.Sprintf("&#%d;", r) }),
		"HTML, hex":        each(func(r rune) string { return fmt.Sprintf("&#x%X;", r) }),
		"JSON in a query":  url.QueryEscape(inner),
		"a query in HTML":  html.EscapeString(url.QueryEscape(s)),
		"hex":              hex.EncodeToString([]byte(s)),
		"hex, capitals":    strings.ToUpper(hex.EncodeToString([]byte(s))),
		"mixed": each(func(r rune) string {
			switch n++; n % 4 {
			case 0:
				return fmt.Sprintf("&#%d;", r)
			case 1:
				return percent("%%%02x")(r)
			case 2:
				return escaped(`\u%04x`)(r)
			}
			return string(r)
		}),
	}
	for name, encoding := range map[string]*base64.Encoding{"standard": base64.StdEncoding, "raw": base64.RawStdEncoding, "URL": base64.URLEncoding, "raw URL": base64.RawURLEncoding} {
		for _, user := range []string{"", "u", "us", "user:", "a long user's name:"} {
			for _, rest := range []string{"", "x", ":y"} {
				all["base64, "+name+": "+user+rest] = encoding.EncodeToString([]byte(user + s + rest))
			}
		}
	}
	return all
}

func TestSpellings(t *testing.T) {
	for _, s := range []string{hush, "sk-live-0123456789abcdef", "postgres://me:pa%2Fss@db.test/x?y=z", "eight-by", strings.Repeat("z", 30)} {
		q := secret.New("unused-secret", s)
		for name, spelling := range spellings(s) {
			got := q.Quote("before "+spelling+" after", 4096)
			if _, around, ok := strings.Cut(name, ": "); ok {
				// What stands around the secret may show, in base64.
				first, last, ok := strings.Cut(got, "[masked]")
				assert.True(t, ok, "%s: %s", name, spelling)
				assert.LessOrEqual(t, len(first+last), len("before  after")+2*len(around)+3, "%s: %s", name, spelling)
			} else {
				assert.Equal(t, "before [masked] after", got, "%s: %s", name, spelling)
			}
			for _, around := range []string{`\`, `\\`, "%", "%2", "&", "&#", `\u00`, "x", "=", "\x1b[1m"} {
				got = q.Quote(around+spelling+around, 4096)
				assert.Contains(t, got, "[masked]", "%s behind %q", name, around)
				assert.NotContains(t, got, spelling, "%s behind %q", name, around)
			}
		}
	}
	assert.Equal(t, "nothing of short or hush-hus.", secret.New("short", "hush-hush").Quote("nothing of short or hush-hus.", 100))
}

// Spellings of which each character is an escape, or that have something between
// the characters. What is behind them may become a part of the last escape.
func TestRareSpellings(t *testing.T) {
	octets := func(format string, s string) string {
		var b strings.Builder
		for _, c := range []byte(s) {
			fmt.Fprintf(&b, format, c)
		}
		return b.String()
	}
	runes := func(format string, s string) string {
		var b strings.Builder
		for _, r := range s {
			fmt.Fprintf(&b, format, r)
		}
		return b.String()
	}
	times := func(n int, encode func(string) string, s string) string {
		for range n {
			s = encode(s)
		}
		return s
	}
	inJSON := func(s string) string {
		quoted, _ := json.Marshal(s)
		return within(string(quoted))
	}
	for _, s := range []string{hush, "sk-live-0123456789abcdef", `a/b?c=d&e<f>'g"h`, "pässwörd-ünd-mehr", "0123456789+/=abc"} {
		var mail strings.Builder
		w := quotedprintable.NewWriter(&mail)
		fmt.Fprint(w, s)
		w.Close()
		q := secret.New(s)
		for name, spelling := range map[string]string{
			"octal":               octets(`\%03o`, s),
			"bytes of Python":     octets(`\x%02x`, s),
			"JavaScript":          runes(`\u{%x}`, s),
			"Python":              runes(`\U%08x`, s),
			"Go":                  within(fmt.Sprintf("%+q", s)),
			"HTML, seven digits":  runes("&#%07d;", s),
			"HTML, no semicolons": runes("&#%d", s),
			"HTML, hex, the same": runes("&#x%x", s),
			"HTML, thrice":        times(3, html.EscapeString, s),
			"JSON, four times":    times(4, inJSON, s),
			"percent, four times": times(4, url.QueryEscape, s),
			"JSON in HTML in URL": url.QueryEscape(html.EscapeString(inJSON(s))),
			"URL in HTML in JSON": inJSON(html.EscapeString(url.QueryEscape(s))),
			"HTML, torn by a URL": strings.ReplaceAll(runes("&#%d;", s), ";", "%3B"),
			"mail":                mail.String(),
			"mail, all":           octets("=%02X", s),
			"hex, colons":         strings.TrimSuffix(octets("%02x:", s), ":"),
			"hex, spaces":         fmt.Sprintf("% X", s),
			"hex, hyphens":        strings.TrimSuffix(octets("%02X-", s), "-"),
			"hex in a URL":        strings.TrimSuffix(octets("%02x%%3A", s), "%3A"),
		} {
			assert.Equal(t, "before [masked] after", q.Quote("before "+spelling+" after", 4096), "%s: %s", name, spelling)
		}
		encoded := base64.StdEncoding.EncodeToString([]byte(s))
		for name, spelling := range map[string]string{
			"in a URL":  url.QueryEscape(encoded),
			"in lines":  encoded[:8] + "\r\n" + encoded[8:],
			"in JSON":   encoded[:8] + `\n` + encoded[8:],
			"slashes":   strings.ReplaceAll(encoded, "/", `\/`),
			"in mail":   strings.ReplaceAll(encoded[:8]+"=\n"+encoded[8:], "==", "=3D=3D"),
			"in quotes": base64.StdEncoding.EncodeToString([]byte("'" + s + "'")),
		} {
			got := q.Quote("before "+spelling+" after", 4096)
			assert.Contains(t, got, "[masked]", "base64 %s: %s", name, spelling)
			assert.Less(t, len(got), len("before [masked] after")+8, "base64 %s: %s", name, spelling)
		}
		bytes := ""
		for _, c := range []byte(s) {
			bytes += fmt.Sprintf("0x%02x, ", c)
		}
		assert.Equal(t, "before 0x[masked], after", q.Quote("before "+bytes+"after", 4096))
	}
	assert.Equal(t, "p&q and p&r", secret.New("p&ssword12").Quote("p&q and p&r", 100))
	// An escape that began before a secret takes its first bytes, and one that
	// ends behind it its last ones.
	for _, test := range [][2]string{
		{`41/a"b-c-d`, `%41\/a\"b-c-d`}, {`nine/letters`, `\nine\/letters`}, {`lt;a/b-c-d-e`, `&lt;a\/b-c-d-e`}, {`u0041/b-c-d-e`, `\u0041\/b-c-d-e`},
		{`a/b-c-d-e%4`, `a\/b-c-d-e%41`}, {`a/b-c-d-e&am`, `a\/b-c-d-e&amp;`}, {`a/b-c-d-e\u00`, `a%2Fb-c-d-e\u0041`}, {`ab/c-d-e%4`, `%ab\/c-d-e%41`},
	} {
		assert.Regexp(t, `^.{0,3}\[masked\].{0,3}$`, secret.New(test[0]).Quote(test[1], 100), test[1])
	}
}

// Whatever is cut, no more than a few bytes of a secret that stands there are
// shown, in whatever spelling.
func TestCut(t *testing.T) {
	for _, size := range []int{20, 3_000} {
		s := strings.Repeat("0123456789abcdefghijklmnopqrstuvwxyz", size/36+1)[:size]
		q := secret.New(s)
		for name, spelling := range spellings(s) {
			if strings.HasPrefix(name, "base64") && name != "base64, standard: " {
				continue // what stands around the secret may show
			}
			for _, before := range []int{0, 1, 2, 17, 30, 38, 39, 40, 41} {
				got := q.Quote(strings.Repeat("-", before)+spelling, 40)
				assert.LessOrEqual(t, len(got), 43)
				assert.Empty(t, strings.Trim(got, "-[masked]…"), "%s of %d bytes behind %d", name, size, before)
			}
			text := "start\n" + spelling + "\nlast words"
			for cut := 0; cut < len(text)-12; cut += 1 + len(text)/12 {
				got := q.End([]byte(text[cut:]), cut > 0, 40)
				got = strings.TrimPrefix(got, "… ")
				got = strings.TrimPrefix(got, "start\n")
				got = strings.TrimPrefix(got, "[masked]")
				got = strings.TrimLeft(got, "=")
				assert.Equal(t, "last words", strings.TrimSpace(got), "%s of %d bytes from %d", name, size, cut)
			}
			// The server has not written all of it yet.
			for end := 10; end < len(spelling); end += 1 + len(spelling)/12 {
				got := q.End([]byte("key: "+spelling[:end]), false, 4096)
				assert.Less(t, len(got), 5+8*11, "%s of %d bytes up to %d: %s", name, size, end, got)
			}
		}
	}
}

func TestWithin(t *testing.T) {
	for value, want := range map[string][]string{
		"plain":                       {"plain"},
		"Bearer abc":                  {"Bearer abc", "abc"},
		"Basic bTpwOnE=":              {"Basic bTpwOnE=", "bTpwOnE=", "m:p:q", "p:q"},
		"https://u:p%2Fw@a.test/?k=v": {"https://u:p%2Fw@a.test/?k=v", "p/w", "u:p%2Fw", "v"},
		`{"Authorization":"Bearer abc","n":[1,{"x":"/etc/x"}]}`: {`{"Authorization":"Bearer abc","n":[1,{"x":"/etc/x"}]}`, "Bearer abc", "abc"},
		"redis://:pa#ss@h:1":                                   {"redis://:pa#ss@h:1", "pa#ss", ":pa#ss"},
		"https://ghp-0123456789@git.test/a/b":                  {"https://ghp-0123456789@git.test/a/b", "ghp-0123456789"},
		"me:a@b@tcp(db:3306)/x":                                {"me:a@b@tcp(db:3306)/x", "a@b", "me:a@b"},
		"host=db password=p4ss-w0rd user=me":                   {"host=db password=p4ss-w0rd user=me", "password=p4ss-w0rd user=me", "p4ss-w0rd"},
		"Server=x;AccountKey=abcdefgh==;A=long-enough":         {"Server=x;AccountKey=abcdefgh==;A=long-enough", "abcdefgh=="},
		"https://a.test/hooks/T0A1B2C3D4E5/x":                  {"https://a.test/hooks/T0A1B2C3D4E5/x", "T0A1B2C3D4E5"},
		`{"broken`:                                             {`{"broken`},
		"/usr/lib/node_modules/@scope/server":                  nil,
		"/home/me/My Documents/JetBrainsRider2024/config.json": nil,
		`C:\Program Files (x86)\Example\app.ini`:               nil,
		"D:/data":                                              nil,
		"/":                                                    nil,
		"relative/path":                                        {"relative/path"},
		"/a?token=b":                                           {"/a?token=b"},
		"//host/share":                                         {"//host/share"},
		"/8f3k2a9c1m5p7q0z/x":                                  {"/8f3k2a9c1m5p7q0z/x"},
		"/wJalrXUtnFEMI/K7MDENG/bPxRfiCY":                      {"/wJalrXUtnFEMI/K7MDENG/bPxRfiCY"},
	} {
		assert.Equal(t, want, secret.Within(value), value)
	}
}

func TestInArgs(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"-y @scope/server-files --verbose /home/me", ""},
		{"--api-key sk-one-two --keyboard qwertyuiop --author somebody", "sk-one-two"},
		{"--token=sk-one-two --name=longer-name", "sk-one-two"},
		{"run -e GITHUB_TOKEN=ghp-one-two -e HOME=/home/me image:latest", "ghp-one-two"},
		{"--env=GITHUB_TOKEN=ghp-one-two", "ghp-one-two"},
		{"postgresql://me:pass-word@db.test/x", "pass-word me:pass-word"},
		{"https://a.test/mcp?key=abcdefgh", "abcdefgh"},
		{"--registry https://npm.test:8080/@scope/server", ""},
	} {
		got := slices.Compact(secret.InArgs(strings.Fields(test.args)))
		assert.Equal(t, test.want, strings.Join(got, " "), test.args)
	}
	assert.Equal(t, []string{"Bearer abcdefgh", "abcdefgh"}, secret.InArgs([]string{"--header", "Authorization: Bearer abcdefgh"}))
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"":                                "",
		"plain":                           "plain",
		" two \r\n\t lines\n":             "two lines",
		"\x1b[31mred\x1b[0m":              "red",
		"\x1b]0;title\amore":              "more",
		"a\u202eb\u2066c\u200bd\ufeffe":   "abcde",
		"f\ufe0fl\U000e0041g\u2800\u3164": "flg",
		"one\rtwo\fthree\vfour":           "one two three four",
		"nul\x00led":                      "nulled",
		"\xff\xfe bytes":                  "\ufffd\ufffd bytes",
		"ümläut 漢字 🔑":                     "ümläut 漢字 🔑",
		"sec\u200bret-se\x00cret":         "[masked]",
		"secret- secret":                  "secret- secret",
	} {
		assert.Equal(t, want, secret.New("secret-secret").Quote(in, 60), "%q", in)
		assert.Equal(t, want, secret.New("secret-secret").QuoteBytes([]byte(in), 60), "%q", in)
	}
	var none *secret.Quoter
	assert.Equal(t, "ä"+"…", none.Quote("ää", 3))
	assert.Equal(t, "a b", none.Quote("a\nb", 3))
	assert.Equal(t, "a\n\tb", none.Text([]byte("a\r\n\tb\x00"), 30))
	assert.Equal(t, "… third", none.End([]byte("first\nsecond\nthird\n"), false, 10))
	assert.Equal(t, "first\nsecond", none.End([]byte("first\nsecond\n"), false, 20))
	// A secret of several lines, told in lines.
	key := "-----BEGIN KEY-----\nMIIEvQIBADAN\r\nBgkqhkiG9w0B\n-----END KEY-----\n"
	assert.Equal(t, "key:\n[masked]\nno good", secret.New(key).Text([]byte("key:\n"+key+"no good"), 400))
	assert.Equal(t, "key: [masked]", secret.New(key).Quote("key: "+strings.ReplaceAll(key, "\r\n", `\n`), 400))
}

func TestLearn(t *testing.T) {
	q := secret.New("configured")
	for i := range 100 {
		q.Learn(fmt.Sprintf("token-%08d", i))
		q.Learn("token-often")
	}
	assert.Equal(t, "[masked] [masked] token-00000036 [masked] [masked]", q.Quote("configured token-00000099 token-00000036 token-00000037 token-often", 100))
}

// Printing a box shows nothing of what is in it, wherever the box is.
func TestBox(t *testing.T) {
	type holder struct {
		Public secret.Box[string]
		hidden secret.Box[map[string]string]
		within struct{ deep *secret.Box[string] }
	}
	text := secret.Keep("hunter2")
	h := holder{Public: text, hidden: secret.Keep(map[string]string{"a": "hunter2"})}
	h.within.deep = &text
	var out bytes.Buffer
	for _, v := range []any{text, &text, h, &h, []any{h}, map[string]any{"h": h}, secret.New("hunter2-hunter2"), struct{ q *secret.Quoter }{secret.New("hunter2-hunter2")}} {
		for _, verb := range "vsqxXdTpbcoOUeEfFgGtw" {
			for _, flag := range []string{"", "+", "#", " ", "10.3"} {
				fmt.Fprintf(&out, "%"+flag+string(verb)+"\n", v)
			}
		}
		slog.New(slog.NewTextHandler(&out, nil)).Info("x", "v", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "v", v)
		data, err := json.Marshal(v)
		assert.NoError(t, err)
		out.Write(data)
	}
	for _, spelling := range []string{"hunter2", hex.EncodeToString([]byte("hunter2")), strings.ToUpper(hex.EncodeToString([]byte("hunter2"))), "104 117 110"} {
		assert.NotContains(t, out.String(), spelling)
	}
	assert.Equal(t, "hunter2", text.Open())
	assert.Equal(t, "hunter2", h.hidden.Open()["a"])
	assert.Empty(t, secret.Box[string]{}.Open())
	assert.Equal(t, "[masked]", fmt.Sprint(text))
}

func TestErrors(t *testing.T) {
	q := secret.New("sk-secret-1")
	said := errors.New("refused sk-secret-1")
	low := &net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}
	high := &net.OpError{Op: "read", Net: "sk-secret-1", Err: context.Canceled}
	err := fmt.Errorf("outer: %w", errors.Join(
		&url.Error{Op: "Post", URL: "https://me:pass@x.test/a?key=b", Err: low}, said, high))
	got := q.Error(err, 300)
	assert.EqualError(t, got, `outer: Post "https://x.test/a": dial tcp: i/o timeout refused [masked] read [masked]: context canceled`)
	for _, cause := range []error{low, said, high, os.ErrDeadlineExceeded, context.Canceled} {
		assert.ErrorIs(t, got, cause)
	}
	var op *net.OpError
	assert.ErrorAs(t, got, &op)
	assert.Same(t, low, op)
	assert.False(t, errors.As(got, new(*url.Error)))
	assert.Same(t, err, secret.Original(fmt.Errorf("x: %w", got)))
	assert.Same(t, said, secret.Original(said))
	assert.NotContains(t, fmt.Sprintf("%+v %#v", got, got), "sk-secret")
	lines := errors.New("cannot fetch token:\nno")
	got = q.Error(fmt.Errorf("x: %w", lines), 300)
	assert.EqualError(t, got, "x: cannot fetch token: no")
	assert.Same(t, lines, errors.Unwrap(got.(interface{ Unwrap() []error }).Unwrap()[0]))
	assert.Less(t, len(q.Error(errors.New(strings.Repeat("long ", 1e6)), 300).Error()), 310)
}

// Whatever stands around a secret, and however it is spelled, the quote does not
// have it.
func FuzzQuote(f *testing.F) {
	names := slices.Sorted(maps.Keys(spellings("")))
	for i := range names {
		f.Add("before ", "sk-live-0123456789", " after", uint8(i), 100)
		f.Add(`\`, hush, `\u00`, uint8(i), 20)
		f.Add("%2", "%25&amp;+ab", "&#", uint8(i), 400)
	}
	f.Fuzz(func(t *testing.T, before, s, after string, which uint8, limit int) {
		if len(strings.TrimSpace(s)) < 8 || len(s) > 100 || limit < 0 || limit > 4096 || len(before)+len(after) > 4096 {
			return
		}
		if !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
			return // no variable or header can hold most of these, and no encoder has one way to write them
		}
		spelling := spellings(s)[names[int(which)%len(names)]]
		if len(spelling) < 8 || len(spelling) > limit {
			return
		}
		q, text := secret.New(s), before+spelling+after
		for _, got := range []string{q.Quote(text, limit), q.Text([]byte(text), limit), q.End([]byte(text), which > 127, limit)} {
			if strings.Contains(got, spelling) && !strings.Contains("… [masked] [masked]…", spelling) {
				t.Fatalf("%q with %q in %q", got, spelling, text)
			}
		}
	})
}

func BenchmarkQuote(b *testing.B) {
	var secrets []string
	for i := range 30 {
		secrets = append(secrets, fmt.Sprintf("%csk-live-%032d", 'A'+i, i))
	}
	for _, size := range []int{100, 60 << 20} {
		for _, limit := range []int{120, 64 << 10} {
			b.Run(fmt.Sprint(size, "/", limit), func(b *testing.B) {
				q, text := secret.New(secrets...), strings.Repeat("some words, and ", size/16+1)
				for b.Loop() {
					q.Quote(text, limit)
				}
			})
		}
	}
}

// BenchmarkQuoteNear has texts that are nearly a secret at each place: the time for
// a byte is the same in a short and in a long one.
func BenchmarkQuoteNear(b *testing.B) {
	s := strings.Repeat("a", 50)
	for _, unit := range []string{"a", s[1:] + "-", `\`, "%25", "%61", "&amp;", `\u0061`, "&#97;", "YWFh", "61"} {
		for _, size := range []int{4 << 10, 64 << 10, 1 << 20} {
			b.Run(fmt.Sprint(unit, "/", size), func(b *testing.B) {
				q, text := secret.New(s, s+"b", s+"c"), strings.Repeat(unit, size/len(unit)+1)[:size]
				b.SetBytes(int64(size))
				for b.Loop() {
					q.Text([]byte(text), size)
					q.End([]byte(text), true, size)
				}
			})
		}
	}
}
