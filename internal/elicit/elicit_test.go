package elicit

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp/internal/raw"
)

func TestParse(t *testing.T) {
	for params, want := range map[string]Question{
		`{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}`: {
			Message: "Who?", Schema: []byte(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`),
		},
		`{"message":"Sure\u200b?"}`: {Message: "Sure?", Schema: []byte(emptyForm)},
		`{"mode":"form","message":"x","requestedSchema":{"$schema":"s","type":"object","additionalProperties":false,"properties":{}}}`: {
			Message: "x", Schema: []byte(emptyForm),
		},
		`{"mode":"url","message":"Log in","elicitationId":"7","url":"https://example.test/a?b=c#d"}`: {Message: "Log in", URL: "https://example.test/a?b=c#d"},
		`{"message":"Log in","url":"http://localhost:1/"}`:                                           {Message: "Log in", URL: "http://localhost:1/"},
	} {
		q, err := Parse([]byte(params))
		require.NoError(t, err, params)
		assert.Equal(t, want.Message, q.Message)
		assert.Equal(t, string(want.Schema), string(q.Schema))
		assert.Equal(t, want.URL, q.URL)
	}
	field := func(schema string) string {
		return `{"message":"x","requestedSchema":{"type":"object","properties":{"a":` + schema + `}}}`
	}
	for params, want := range map[string]string{
		`{"mode":"fax","message":"x"}`:                             `the mode "fax" of the question is not known`,
		`{"mode":"url","message":"x"}`:                             `the url of the question is not an http or https address`,
		`{"mode":"url","message":"x","url":"javascript:alert(1)"}`: `the url of the question is not an http or https address`,
		`{"mode":"url","message":"x","url":"file:///etc/passwd"}`:  `the url of the question is not an http or https address`,
		`{"message":"x","requestedSchema":[]}`:                     `the requested schema is not an object`,
		`{"message":"x","requestedSchema":{"type":"array"}}`:       `the requested schema is of type "array", not object`,
		field(`{"type":"object","properties":{}}`):                 `the field "a" of the requested schema is not of a type that a form has`,
		field(`{"type":"array","items":{"type":"object"}}`):        `the field "a" of the requested schema is a list of something else than texts`,
		field(`true`): `the field "a" of the requested schema has no schema`,
		field(`{}`):   `the field "a" of the requested schema is not of a type that a form has`,
		`{"message":"` + strings.Repeat("x", maxParams) + `"}`: `the question has more than 262144 bytes`,
	} {
		_, err := Parse([]byte(params))
		assert.EqualError(t, err, want)
	}
	q, err := Parse([]byte(`{"message":"` + strings.Repeat("x", 20_000) + `"}`))
	require.NoError(t, err)
	assert.Less(t, len(q.Message), maxMessage+40)
}

func TestTextsAreCleaned(t *testing.T) {
	q, err := Parse([]byte(`{"message":"x","requestedSchema":{"type":"object","properties":{
		"a":{"type":"string","title":"A\u202eB","description":"c\u200bd","x-run":"rm","format":"email"},
		"b":{"type":"string","enum":["x","y"],"enumNames":["X\u200b","Y"]},
		"c":{"type":"string","oneOf":[{"const":"r","title":"Re\u200bd"},{"const":"g"},7]},
		"d":{"type":"array","minItems":1,"items":{"anyOf":[{"const":"r","title":"R"}]}}}}}`))
	require.NoError(t, err)
	assert.Equal(t, `{"type":"object","properties":{"a":{"type":"string","title":"AB","description":"cd","format":"email"},`+
		`"b":{"type":"string","enum":["x","y"],"enumNames":["X","Y"]},`+
		`"c":{"type":"string","oneOf":[{"const":"r","title":"Red"},{"const":"g"}]},`+
		`"d":{"type":"array","minItems":1,"items":{"type":"string","anyOf":[{"const":"r","title":"R"}]}}}}`, string(q.Schema))
}

func TestAccept(t *testing.T) {
	for _, test := range []struct{ schema, answer, want string }{
		{`{"a":{"type":"string"}}`, `{"a":"x"}`, `{"a":"x"}`},
		{`{"a":{"type":"string"}}`, ``, `{}`},
		{`{"a":{"type":"string"}}`, ` null `, `{}`},
		{`{"a":{"type":"string"}}`, `{"a":null}`, `{}`},
		{`{"a":{"type":"string"}}`, `{"b":9007199254740993}`, `{"b":9007199254740993}`},
		{`{"a":{"type":"string"}}`, `[]`, `the answer is not a JSON object`},
		{`{"a":{"type":"string"}}`, `{"a":`, `the answer is not a JSON object`},
		{`{"a":{"type":"string"}}`, `{"a":1}`, `the field "a" of the answer is not a text`},
		{`{"a":{"type":"string","default":"d"},"b":{"type":"integer","default":3}}`, `{"b":4}`, `{"a":"d","b":4}`},
		{`{"a":{"type":"string","default":7}}`, `{}`, `{}`},
		{`{"a":{"type":"string","minLength":2,"maxLength":3}}`, `{"a":"é"}`, `the field "a" of the answer has fewer than 2 characters`},
		{`{"a":{"type":"string","minLength":2,"maxLength":3}}`, `{"a":"éééé"}`, `the field "a" of the answer has more than 3 characters`},
		{`{"a":{"type":"string","minLength":2,"maxLength":3}}`, `{"a":"ééé"}`, `{"a":"ééé"}`},
		{`{"a":{"type":"string","pattern":"^[0-9]+$"}}`, `{"a":"x"}`, `the field "a" of the answer does not match the pattern`},
		{`{"a":{"type":"string","pattern":"(?=x)"}}`, `{"a":"y"}`, `{"a":"y"}`},
		{`{"a":{"type":"string","format":"email"}}`, `{"a":"me@example.test"}`, `{"a":"me@example.test"}`},
		{`{"a":{"type":"string","format":"email"}}`, `{"a":"Me <me@example.test>"}`, `the field "a" of the answer is not of the format email`},
		{`{"a":{"type":"string","format":"uri"}}`, `{"a":"/x"}`, `the field "a" of the answer is not of the format uri`},
		{`{"a":{"type":"string","format":"uri"}}`, `{"a":"urn:x"}`, `{"a":"urn:x"}`},
		{`{"a":{"type":"string","format":"date"}}`, `{"a":"2026-02-30"}`, `the field "a" of the answer is not of the format date`},
		{`{"a":{"type":"string","format":"date-time"}}`, `{"a":"2026-02-03T04:05:06.7Z"}`, `{"a":"2026-02-03T04:05:06.7Z"}`},
		{`{"a":{"type":"string","enum":["x","y"]}}`, `{"a":"z"}`, `the field "a" of the answer is not one of the choices`},
		{`{"a":{"type":"string","oneOf":[{"const":"x","title":"X"}]}}`, `{"a":"X"}`, `the field "a" of the answer is not one of the choices`},
		{`{"a":{"type":"string","oneOf":[{"const":"x","title":"X"}],"default":"x"}}`, `{}`, `{"a":"x"}`},
		{`{"a":{"enum":["x"]}}`, `{"a":"x"}`, `{"a":"x"}`},
		{`{"a":{"type":"number","minimum":1,"maximum":2.5}}`, `{"a":2.5}`, `{"a":2.5}`},
		{`{"a":{"type":"number","minimum":1,"maximum":2.5}}`, `{"a":0.5}`, `the field "a" of the answer is less than 1`},
		{`{"a":{"type":"number","minimum":1,"maximum":2.5}}`, `{"a":3}`, `the field "a" of the answer is more than 2.5`},
		{`{"a":{"type":"number","exclusiveMinimum":1}}`, `{"a":1}`, `the field "a" of the answer is not more than 1`},
		{`{"a":{"type":"integer"}}`, `{"a":1.0}`, `{"a":1.0}`},
		{`{"a":{"type":"integer"}}`, `{"a":1e300}`, `{"a":1e300}`},
		{`{"a":{"type":"integer"}}`, `{"a":1.5}`, `the field "a" of the answer is not a whole number`},
		{`{"a":{"type":"integer"}}`, `{"a":"1"}`, `the field "a" of the answer is not a number`},
		{`{"a":{"type":"boolean","default":true}}`, `{}`, `{"a":true}`},
		{`{"a":{"type":"boolean"}}`, `{"a":"yes"}`, `the field "a" of the answer is neither true nor false`},
		{`{"a":{"type":"array","items":{"type":"string","enum":["x","y"]},"minItems":1,"maxItems":2}}`, `{"a":["x","y"]}`, `{"a":["x","y"]}`},
		{`{"a":{"type":"array","items":{"type":"string","enum":["x","y"]},"minItems":1,"maxItems":2}}`, `{"a":[]}`, `the field "a" of the answer has fewer than 1 elements`},
		{`{"a":{"type":"array","items":{"type":"string","enum":["x","y"]},"minItems":1,"maxItems":2}}`, `{"a":["x","x","x"]}`, `the field "a" of the answer has more than 2 elements`},
		{`{"a":{"type":"array","items":{"anyOf":[{"const":"x"}]}}}`, `{"a":["z"]}`, `the field "a" of the answer has an element that is not one of the choices`},
		{`{"a":{"type":"array","uniqueItems":true,"items":{"type":"string"}}}`, `{"a":["z","z"]}`, `the field "a" of the answer has an element twice`},
		{`{"a":{"type":"array","items":{"type":"string"}}}`, `{"a":"z"}`, `the field "a" of the answer is not a list`},
		{`{"a\"b":{"type":"string"}}`, `{"a\u0022b":"z"}`, `{"a\"b":"z"}`},
	} {
		q, err := Parse([]byte(`{"message":"x","requestedSchema":{"type":"object","properties":` + test.schema + `}}`))
		require.NoError(t, err, test.schema)
		got, err := q.Accept([]byte(test.answer))
		if err != nil {
			assert.EqualError(t, err, test.want, "%s %s", test.schema, test.answer)
			continue
		}
		assert.Equal(t, `{"action":"accept","content":`+test.want+`}`, string(got), "%s %s", test.schema, test.answer)
	}
	q, err := Parse([]byte(`{"message":"x","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a","a"],"additionalProperties":false}}`))
	require.NoError(t, err)
	_, err = q.Accept(nil)
	assert.EqualError(t, err, `the field "a" of the answer is missing`)
	_, err = q.Accept([]byte(`{"a":"x","b":1}`))
	assert.EqualError(t, err, `the field "b" of the answer is not one of the form`)
}

// Whatever is in a question, it takes time in proportion to its length: each of
// these would take seconds otherwise.
func TestParseIsLinear(t *testing.T) {
	field := func(n int, rest string) string { return fmt.Sprintf(`"f%d":{"type":"string",%s},`, n, rest) }
	patterns := func(pattern string) (fields string) {
		for i := 0; len(fields) < maxParams*3/4; i++ {
			fields += field(i, `"pattern":"`+strings.Repeat(pattern, (maxPattern-20)/len(pattern))+`","default":"`+strings.Repeat("a", 200)+`"`)
		}
		return fields
	}
	var choices, twice strings.Builder
	for i := range 25_000 {
		fmt.Fprintf(&choices, `"%c",`, 0x100+i%20_000)
		twice.WriteString(`"x",`)
	}
	for name, fields := range map[string]string{
		"a long list of choices":  `"a":{"type":"array","items":{"enum":[` + choices.String() + `"x"]},"default":[` + twice.String() + `"x"]},`,
		"counted repetition":      patterns(`(a{1,30}){1,30}`),
		"classes of Unicode":      patterns(`\\pL`),
		"ranges without case":     patterns(`(?i)[\\x{0}-\\x{1e943}]`),
		"a match with all states": field(0, `"pattern":"`+strings.Repeat(`(.{0,900})`, 50)+`x","default":"`+strings.Repeat("a", maxParams-5000)+`"`),
	} {
		q, err := Parse([]byte(`{"message":"x","requestedSchema":{"properties":{` + strings.TrimSuffix(fields, ",") + `}}}`))
		require.NoError(t, err, name)
		assert.NotEmpty(t, q.form.fields, name)
	}
}

func TestRequired(t *testing.T) {
	in, ok := Required([]byte(`{"resultType":"input_required","inputRequests":{"a\"":{"method":"elicitation/create","params":{"message":"x"}},"b":{"method":"elicitation/create"}},"requestState":"s \u00e9"}`))
	require.True(t, ok)
	assert.Equal(t, `"inputResponses":{"a\"":{"action":"cancel"},"b":{"action":"decline"}},"requestState":"s \u00e9"`, string(in.respond([][]byte{Canceled, Declined})))
	in, ok = Required([]byte(`{"resultType":"input_required","inputRequests":{}}`))
	require.True(t, ok)
	assert.Equal(t, `"inputResponses":{}`, string(in.respond(nil)))
	for _, result := range []string{
		`{"content":[]}`, `{"resultType":"complete"}`, `{"resultType":"input_required"}`,
		`{"resultType":"input_required","inputRequests":{"a":{"method":"sampling/createMessage","params":{}}}}`,
		`{"resultType":"input_required","inputRequests":{"a":null}}`,
	} {
		_, ok := Required([]byte(result))
		assert.False(t, ok, result)
	}
}

// A server cannot keep a person busy for ever with one result.
func TestAnswerIsBounded(t *testing.T) {
	asked := 0
	host := func(context.Context, *Question) (json.RawMessage, error) {
		asked++
		return nil, ErrDeclined
	}
	for n, want := range map[int]string{maxRequests: "", maxRequests + 1: "the tool asks 33 questions at once, more than 32"} {
		var requests []byte
		for i := range n {
			requests = raw.AppendMember(requests, fmt.Sprint(i), []byte(`{"method":"elicitation/create","params":{"message":"x"}}`))
		}
		in, ok := Required(fmt.Appendf(nil, `{"resultType":"input_required","inputRequests":{%s}}`, requests))
		require.True(t, ok)
		members, err := in.Answer(t.Context(), host)
		if want != "" {
			assert.EqualError(t, err, want)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, n, strings.Count(string(members), `{"action":"decline"}`))
	}
	assert.Equal(t, maxRequests, asked)
}

func FuzzQuestion(f *testing.F) {
	f.Add([]byte(`{"message":"x","requestedSchema":{"type":"object","properties":{"a":{"type":"string","default":"y","enum":["y"]}},"required":["a"]}}`), []byte(`{"a":"y"}`))
	f.Add([]byte(`{"message":"x","url":"https://example.test"}`), []byte(`null`))
	f.Add([]byte(`{"requestedSchema":{"properties":{"a":{"type":"array","items":{"oneOf":[{"const":"x"}]},"default":["x"]},"b":{"type":"number","default":NaN}}}}`), []byte(`{"b":1e400}`))
	f.Fuzz(func(t *testing.T, params, answer []byte) {
		if !raw.Valid(params) {
			return
		}
		q, err := Parse(raw.Repair(params))
		if err != nil {
			return
		}
		if q.URL == "" && !json.Valid(q.Schema) {
			t.Fatalf("%s gives the schema %s", params, q.Schema)
		}
		if got, err := q.Accept(answer); err == nil && !json.Valid(got) {
			t.Fatalf("%s answered with %s gives %s", params, answer, got)
		}
	})
}
