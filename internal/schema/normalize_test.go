package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp/internal/schema/schematest"
)

// in puts a schema into the property p of a root.
func in(schema string) string {
	return `{"type":"object","properties":{"p":` + schema + `}}`
}

// normal normalizes and checks what holds for every result.
func normal(t *testing.T, schema string) (string, *Plan) {
	t.Helper()
	input := []byte(schema)
	out, plan, err := Normalize(input)
	require.NoError(t, err, schema)
	require.Equal(t, schema, string(input), "the input is left alone")
	schematest.Check(t, out)
	require.NotEqual(t, giveUp, string(out))
	again, _, err := Normalize(out)
	require.NoError(t, err)
	require.Equal(t, string(out), string(again), "a second pass changes nothing")
	require.LessOrEqual(t, len(out), maxGrowth*len(schema)+maxExtra)
	return string(out), plan
}

func TestNormalizeRoot(t *testing.T) {
	const empty = `{"type":"object","properties":{}}`
	for in, want := range map[string]string{
		``:                                    empty,
		`null`:                                empty,
		` true `:                              empty,
		`[]`:                                  empty,
		`{}`:                                  empty,
		`{"type":"object"}`:                   empty,
		`{"type":null,"properties":{}}`:       empty,
		`{"type":"","properties":{}}`:         empty,
		`{"type":"any"}`:                      empty,
		`{"type":["null","object"]}`:          empty,
		`{"type":"Object","properties":null}`: empty,
		`{"type":"object","properties":[]}`:   empty,
		`{"type":"object","properties":"x"}`:  empty,
		`{"type":"object","required":null}`:   empty,
		`{"type":"object","required":true}`:   `{"type":"object","properties":{},"description":"Required."}`,
		`{"$schema":"s","$id":"i","$anchor":"a","$comment":"c","type":"object"}`:              empty,
		`{"type":"object","properties":{},"required":[]}`:                                     `{"type":"object","properties":{},"required":[]}`,
		`{"properties":{"q":{"type":"string"}},"required":["q"]}`:                             `{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}`,
		`{"additionalProperties":false,"type":"object","x-order":[1]}`:                        `{"additionalProperties":false,"type":"object","properties":{},"x-order":[1]}`,
		`{"$schema":"s","type":"object","$id":"i","$comment":"c"}`:                            empty,
		`{"type":"object","$comment":"c","properties":{},"$id":"i","$schema":"s"}`:            empty,
		`{ "$id":"i", "type":"object" , "$id":"j" , "properties":{} , "$schema":"s" }`:        empty,
		`{"$id":5,"type":"object","properties":{},"title":"t","$anchor":"x","$comment":null}`: `{"type":"object","properties":{},"title":"t"}`,
		" {\n\t\"type\": \"object\" , \"properties\" :{ \"a b\\\" \":{}}}":                    `{"type":"object","properties":{"a_b__":{}}}`,
		" {\n\t\"type\": \"object\" , \"properties\" :{ \"a\":{ \"const\":\" {\\\" \"}}}\n":   `{"type":"object","properties":{"a":{"const":" {\" "}}}`,
	} {
		out, _ := normal(t, in)
		assert.Equal(t, want, out, in)
	}
	for in, want := range map[string]string{
		`"object"`:                      "its input schema is a string",
		`[1]`:                           "its input schema is an array",
		`12`:                            "its input schema is a number",
		`false`:                         "its input schema accepts no object",
		`{"type":"string"}`:             "its input schema has the type string",
		`{"type":"array","items":{}}`:   "its input schema has the type array",
		`{"type":["string","null"]}`:    "its input schema accepts no object",
		`{"allOf":[{"type":"string"}]}`: "its input schema accepts no object",
		`{"allOf":[false]}`:             "its input schema accepts no object",
		`{"oneOf":[{"type":"string"}]}`: "its input schema accepts no object",
		`{"$ref":"#/$defs/a","$defs":{"a":{"type":"integer"}}}`: "its input schema has the type integer",
		`{"type":`: "its input schema is not JSON",
	} {
		out, plan, err := Normalize([]byte(in))
		assert.EqualError(t, err, want, in)
		assert.Nil(t, out)
		assert.Nil(t, plan)
	}
}

// What servers write beside the draft, or in another form.
func TestNormalizeOddForms(t *testing.T) {
	const q = `"properties":{"q":{"type":"string"}}`
	for _, c := range []struct{ in, want string }{
		{`{"type":"object",` + q + `,"required":"q"}`, `{"type":"object",` + q + `,"required":["q"]}`},
		{`{"type":"object",` + q + `,"required":{"q":true}}`, `{"type":"object",` + q + `,"description":"Must satisfy \"required\": {\"q\":true}."}`},
		{`{"type":"object","allOf":{` + q + `}}`, `{"type":"object",` + q + `}`},
		{`{"type":"object","anyOf":{` + q + `,"required":["q"]}}`, `{"type":"object",` + q + `,"required":["q"]}`},
		{`{"type":"object","oneOf":{"a":1}}`, `{"type":"object","properties":{},"description":"Must satisfy \"oneOf\": {\"a\":1}."}`},
		{`{"type":"object","properties":[{"name":"q"}]}`, `{"type":"object","properties":{},"description":"Must satisfy \"properties\": [{\"name\":\"q\"}]."}`},
		{in(`{"allOf":{"type":"string"}}`), in(`{"allOf":[{"type":"string"}]}`)},
		{in(`{"type":"number","multipleOf":0}`), in(`{"type":"number","description":"Must satisfy \"multipleOf\": 0."}`)},
		{in(`{"type":"number","multipleOf":-0.5}`), in(`{"type":"number","description":"Must satisfy \"multipleOf\": -0.5."}`)},
		{in(`{"type":"number","multipleOf":1e-400}`), in(`{"type":"number","description":"Must satisfy \"multipleOf\": 1e-400."}`)},
		{in(`{"type":"number","multipleOf":0.5}`), in(`{"type":"number","multipleOf":0.5}`)},
		{in(`{"type":"object","dependentRequired":{"a":["b","b"]}}`), in(`{"type":"object","dependentRequired":{"a":["b"]}}`)},
		{in(`{"type":"object","dependencies":{"a":["b","c","b"]}}`), in(`{"type":"object","dependentRequired":{"a":["b","c"]}}`)},
		{in(`{"type":"string","const":1}`), in(`{"type":"string","description":"Allowed value: 1."}`)},
		{in(`{"anyOf":[{"type":"string","const":"A"},{"type":"null","const":"A"}]}`), in(`{"anyOf":[{"type":"string","const":"A"},{"type":"null"}]}`)},
		{`{"properties":{"o":{"$ref":"#/components/schemas/O"}},"components":{"schemas":{"O":{"type":"object","properties":{"s":{"$ref":"#/components/schemas/S"}}},"S":{"type":"string"}}}}`,
			`{"type":"object","properties":{"o":{"type":"object","properties":{"s":{"type":"string"}}}}}`},
		{`{"$ref":"#/schemas/O","schemas":{"O":{"type":"object",` + q + `}}}`, `{"type":"object",` + q + `}`},
	} {
		out, _ := normal(t, c.in)
		assert.Equal(t, c.want, out, c.in)
	}
	_, plan, err := Normalize([]byte(`{"type":"object",` + q + `,"required":"q"}`))
	require.NoError(t, err)
	arguments, err := plan.Repair(t.Context(), []byte(`{"q":null}`))
	require.NoError(t, err)
	assert.Equal(t, `{"q":null}`, string(arguments), "what is required stays")
}

func TestNormalizeKeepsBytes(t *testing.T) {
	for _, schema := range []string{
		in(`{"type":"string","description":"ünï <b> & \u00e9 \" \\"}`),
		in(`{"type":"integer","default":9007199254740993,"maximum":1e3,"multipleOf":1.0,"enum":[9007199254740993,1.00,1e2]}`),
		in(`{"type":["integer","number","null"],"default":null}`),
		in(`{"anyOf":[{"type":"string"},{"type":"null"}],"default":null,"title":"P"}`),
		in(`{"type":"array","items":{"type":"string","format":"strange","pattern":"^[a-z\\d_]+$"},"minItems":1,"uniqueItems":true}`),
		in(`{"type":"object","additionalProperties":{"type":"string"},"patternProperties":{"^x-\\d":{}},"propertyNames":{"pattern":"^x"}}`),
		in(`{"type":"object","properties":{"properties":{"type":"object","properties":{"type":{}},"required":["type"]},"required":{"type":"boolean"},"items":{},"enum":{"enum":["a"]},"default":{"type":"string"}},"required":["properties","required"]}`),
		in(`{"not":{"type":"string"},"if":{"type":"integer"},"then":{"minimum":1},"else":{},"oneOf":[{"type":"integer"},{"const":null}]}`),
		in(`{"enum":["",{"a":[1,2]},{"a":[1]}],"x-mcp-header":"Region","vendor":{"$ref":"#/x","type":["nonsense"]}}`),
		in(`{"type":"array","contains":{"const":1},"minContains":0,"items":{"dependentRequired":{"a":["b","ç d"]}}}`),
	} {
		out, plan := normal(t, schema)
		assert.Equal(t, schema, out)
		assert.NotNil(t, plan)
		spaced := strings.ReplaceAll(strings.ReplaceAll(schema, `,"`, " ,\n\t\""), `":`, `" : `)
		if out, _ := normal(t, spaced); !strings.Contains(schema, `{"a":`) {
			assert.Equal(t, schema, out)
		}
	}
	spaced, _ := normal(t, in(`{"const":[1, {"a" : 2}],"default":[ ],"enum":[ {} ]}`))
	assert.Equal(t, in(`{"const":[1,{"a":2}],"default":[],"enum":[{}]}`), spaced)
	schema := []byte(in(`{"type":"string"}`))
	out, _, err := Normalize(schema)
	require.NoError(t, err)
	assert.Same(t, &schema[0], &out[0], "what needs no change is not copied")
}

// The rules of a property's schema. Where the result is the same as the input,
// it is "".
func TestNormalizeProperty(t *testing.T) {
	for _, c := range []struct{ rule, in, want string }{
		// 5: older drafts
		{"5", `{"type":"array","items":[{"type":"integer"},{"type":"integer"}],"additionalItems":false,"minItems":2}`,
			`{"type":"array","prefixItems":[{"type":"integer"},{"type":"integer"}],"minItems":2,"items":{},"maxItems":2}`},
		{"5", `{"type":"array","items":[{"type":"integer"}],"additionalItems":{"type":"string"}}`,
			`{"type":"array","prefixItems":[{"type":"integer"}],"items":{"type":"string"}}`},
		{"5", `{"type":"array","items":[{"type":"integer"}]}`, `{"type":"array","prefixItems":[{"type":"integer"}],"items":{}}`},
		{"5", `{"type":"array","items":[]}`, `{"type":"array","items":{}}`},
		{"5", `{"type":"array","items":{},"additionalItems":false}`, `{"type":"array","items":{}}`},
		{"5", `{"type":"integer","minimum":0,"exclusiveMinimum":true,"maximum":86400,"exclusiveMaximum":false}`,
			`{"type":"integer","exclusiveMinimum":0,"maximum":86400}`},
		{"5", `{"exclusiveMaximum":true}`, `{}`},
		{"5", `{"maximum":1.50,"exclusiveMaximum":true}`, `{"exclusiveMaximum":1.50}`},
		{"5", `{"type":"string","nullable":true}`, `{"type":["string","null"]}`},
		{"5", `{"type":"string","nullable":false}`, `{"type":"string"}`},
		{"5", `{"type":["string","null"],"nullable":true}`, `{"type":["string","null"]}`},
		{"5", `{"type":"string","enum":["a"],"nullable":true}`, `{"type":["string","null"],"enum":["a",null]}`},
		{"5", `{"nullable":true,"description":"d"}`, `{"description":"d"}`},
		{"5", `{"title":"t","anyOf":[{"type":"string"}],"nullable":true}`, `{"title":"t","anyOf":[{"type":"string"},{"type":"null"}]}`},
		{"5", `{"title":"t","allOf":[{"type":"string"}],"nullable":true}`, `{"title":"t","anyOf":[{"allOf":[{"type":"string"}]},{"type":"null"}]}`},
		{"5", `{"type":"string","const":"a","nullable":true}`, `{"anyOf":[{"type":"string","const":"a"},{"type":"null"}]}`},
		{"5", `{"dependencies":{"a":["b"],"c":{"required":["d"]},"e":"f"}}`,
			`{"dependentRequired":{"a":["b"],"e":["f"]},"dependentSchemas":{"c":{"properties":{"d":{}},"required":["d"]}}}`},
		{"5", `{"type":"string","required":true,"description":"d"}`, `{"type":"string","description":"d Required."}`},
		{"5", `{"type":"string","required":false}`, `{"type":"string"}`},
		{"5", `{"type":"","description":"anything"}`, `{"description":"anything"}`},
		{"5", `{"type":null}`, `{}`},
		{"5", `{"type":"any"}`, `{}`},
		{"5", `{"type":["any","string"]}`, `{"description":"Must satisfy \"type\": [\"any\",\"string\"]."}`},
		{"5", `{"type":"int"}`, `{"type":"integer"}`},
		{"5", `{"type":"STRING"}`, `{"type":"string"}`},
		{"5", `{"type":["String","string","null"]}`, `{"type":["string","null"]}`},
		{"5", `{"type":"money"}`, `{"description":"Must satisfy \"type\": \"money\"."}`},
		{"5", `{"type":[]}`, `{"description":"Must satisfy \"type\": []."}`},
		// 6: arrays and booleans
		{"6", `{"type":"array"}`, `{"type":"array","items":{}}`},
		{"6", `{"type":"array","items":{"type":"array"}}`, `{"type":"array","items":{"type":"array","items":{}}}`},
		{"6", `{"type":["array","null"]}`, `{"type":["array","null"],"items":{}}`},
		{"6", `{"prefixItems":[{"type":"string"},true]}`, `{"prefixItems":[{"type":"string"},{}],"items":{}}`},
		{"6", `{"prefixItems":[{},false]}`, `{"prefixItems":[{},{}],"description":"Item 2 is not allowed.","items":{}}`},
		{"6", `{"type":"array","items":true}`, `{"type":"array","items":{}}`},
		{"6", `{"type":"array","items":false}`, `{"type":"array","items":{},"maxItems":0}`},
		{"6", `{"type":"array","items":null}`, `{"type":"array","items":{}}`},
		{"6", `{"type":"array","prefixItems":[{}],"items":false,"maxItems":0}`, `{"type":"array","prefixItems":[{}],"items":{},"maxItems":0}`},
		{"6", `true`, `{}`},
		{"6", `null`, `{}`},
		{"6", `"string"`, `{}`},
		{"6", `{"properties":{"a":false,"b":true}}`, `{"properties":{"b":{}},"description":"Not allowed: a."}`},
		{"6", `{"additionalProperties":true}`, ``},
		{"6", `{"additionalProperties":{"type":"array"}}`, `{"additionalProperties":{"type":"array","items":{}}}`},
		{"6", `{"additionalProperties":"no"}`, `{"description":"Must satisfy \"additionalProperties\": \"no\"."}`},
		{"6", `{"anyOf":[{"type":"array","items":true},false,true]}`, `{"anyOf":[{"type":"array","items":{}},{}]}`},
		{"6", `{"anyOf":[false]}`, `{"description":"No value is allowed."}`},
		{"6", `{"allOf":[true,false]}`, `{"allOf":[{}]}`},
		{"6", `{"not":false}`, `{}`},
		{"6", `{"not":true}`, `{"description":"Must not match true."}`},
		{"6", `{"if":true,"then":false}`, `{"if":{},"then":{"not":{}}}`},
		{"6", `{"contains":true}`, `{"contains":{}}`},
		{"6", `{"contains":false}`, `{"description":"Must satisfy \"contains\": false."}`},
		{"6", `{"propertyNames":true}`, `{}`},
		{"6", `{"dependentSchemas":{"a":true,"b":false,"c":{}}}`, `{"dependentSchemas":{"c":{}},"description":"Not allowed: b."}`},
		{"6", `{"unevaluatedProperties":false,"properties":{"a":{}}}`, `{"additionalProperties":false,"properties":{"a":{}}}`},
		{"6", `{"unevaluatedProperties":false,"anyOf":[{"properties":{"a":{}}}]}`,
			`{"anyOf":[{"properties":{"a":{}}}],"description":"Must satisfy \"unevaluatedProperties\": false."}`},
		{"6", `{"unevaluatedProperties":true}`, `{}`},
		{"6", `{"prefixItems":[{}],"unevaluatedItems":false}`, `{"prefixItems":[{}],"items":{},"maxItems":1}`},
		// 7: required
		{"7", `{"required":["p","p",1,null],"properties":{"p":{}}}`, `{"required":["p"],"properties":{"p":{}}}`},
		{"7", `{"type":"object","required":["x"]}`, `{"type":"object","properties":{"x":{}},"required":["x"]}`},
		{"7", `{"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
			`{"anyOf":[{"properties":{"a":{}},"required":["a"]},{"properties":{"b":{}},"required":["b"]}]}`},
		{"7", `{"not":{"required":["a"]}}`, `{"not":{"properties":{"a":{}},"required":["a"]}}`},
		{"7", `{"not":{"required":["a"],"additionalProperties":false}}`,
			`{"description":"Must not match {\"required\":[\"a\"],\"additionalProperties\":false}."}`},
		{"7", `{"required":"a"}`, `{"description":"Must satisfy \"required\": \"a\"."}`},
		{"7", `{"required":[1]}`, `{}`},
		// 8: values
		{"8", `{"type":"string","enum":["list","open",""]}`, ``},
		{"8", `{"type":"string","enum":[""]}`, ``},
		{"8", `{"enum":["a","a","\u0061",1,1]}`, `{"enum":["a",1]}`},
		{"8", `{"enum":[]}`, `{}`},
		{"8", `{"enum":null}`, `{}`},
		{"8", `{"enum":"a"}`, `{"description":"Must satisfy \"enum\": \"a\"."}`},
		{"8", `{"type":"null","enum":["A","B"]}`, `{"type":"null"}`},
		{"8", `{"type":"array","enum":[0,1],"items":{"type":"integer"}}`, `{"type":"array","items":{"type":"integer"},"description":"Allowed values: 0,1."}`},
		{"8", `{"type":"integer","enum":["1","2"]}`, `{"type":"integer","description":"Allowed values: \"1\",\"2\"."}`},
		{"8", `{"type":"integer","enum":[1,"2",3.0,1.5,1e0]}`, `{"type":"integer","enum":[1,3.0,1e0]}`},
		{"8", `{"type":"string","default":null}`, `{"type":"string"}`},
		{"8", `{"type":"integer","default":"5"}`, `{"type":"integer"}`},
		{"8", `{"type":"integer","default":5.0}`, ``},
		{"8", `{"type":"number","default":1.5,"minimum":0.10}`, ``},
		{"8", `{"default":null}`, ``},
		{"8", `{"title":5,"description":null,"deprecated":"use q"}`, `{"description":"Must satisfy \"deprecated\": \"use q\"."}`},
		{"8", `{"minLength":"3","maxLength":-1,"minimum":1e999}`,
			`{"description":"Must satisfy \"minLength\": \"3\". Must satisfy \"maxLength\": -1. Must satisfy \"minimum\": 1e999."}`},
		{"8", `{"minLength":3.0,"examples":"x"}`, `{"minLength":3.0,"examples":["x"]}`},
		{"8", `{"type":"string","properties":{"x":{"type":"string"}},"required":["x"]}`, `{"type":"string"}`},
		{"8", `{"type":"integer","items":{"type":"string"},"maxItems":3}`, `{"type":"integer"}`},
		{"8", `{"allOf":[],"anyOf":[],"properties":[]}`, `{}`},
		// 9: patterns
		{"9", `{"pattern":"^[a-z\\[\\]]+(?:\\.x)?$"}`, ``},
		{"9", `{"type":"string","pattern":"^(?!x)","description":"d"}`, `{"type":"string","description":"d Must match the regular expression ^(?!x)."}`},
		{"9", `{"pattern":"[a[b]"}`, `{"description":"Must match the regular expression [a[b]."}`},
		{"9", `{"pattern":"[]a]"}`, `{"description":"Must match the regular expression []a]."}`},
		{"9", `{"pattern":"(?<year>\\d{4})"}`, `{"description":"Must match the regular expression (?<year>\\d{4})."}`},
		{"9", `{"pattern":"\\u00e9"}`, `{"description":"Must match the regular expression \\u00e9."}`},
		{"9", `{"not":{"pattern":"(?=a)"}}`, `{"description":"Must not match {\"pattern\":\"(?=a)\"}."}`},
		{"9", `{"patternProperties":{"^(?=a)":{"type":"string"},"^b":{}},"additionalProperties":false}`,
			`{"patternProperties":{"^b":{}},"description":"Properties whose names match ^(?=a) must match {\"type\":\"string\"}. Other properties are not allowed."}`},
		// Narrowing around what is widened.
		{"var", `{"oneOf":[{"type":"string","pattern":"(?=a)"},{"type":"integer"}]}`,
			`{"anyOf":[{"type":"string","description":"Must match the regular expression (?=a)."},{"type":"integer"}],"description":"Exactly one of the alternatives must match."}`},
		{"var", `{"anyOf":[{}],"oneOf":[{"pattern":"(?=a)"},{}]}`,
			`{"anyOf":[{}],"description":"Exactly one of the alternatives must match.","allOf":[{"anyOf":[{"description":"Must match the regular expression (?=a)."},{}]}]}`},
		{"var", `{"oneOf":[{"type":"array"},{"type":"string","nullable":true}]}`,
			`{"oneOf":[{"type":"array","items":{}},{"type":["string","null"]}]}`},
		{"var", `{"if":{"pattern":"(?=a)"},"then":{"minLength":2},"else":{"minLength":3}}`,
			`{"description":"If it matches {\"pattern\":\"(?=a)\"}, it must match {\"minLength\":2}, otherwise it must match {\"minLength\":3}."}`},
		{"var", `{"if":{"type":"string"},"then":{"pattern":"(?=a)"}}`,
			`{"if":{"type":"string"},"then":{"description":"Must match the regular expression (?=a)."}}`},
		{"var", `{"contains":{"pattern":"(?=a)"},"maxContains":2}`,
			`{"description":"Must satisfy \"contains\": {\"pattern\":\"(?=a)\"}."}`},
		// 10 and 11
		{"10", `{"properties":{"$meta":{},"_meta":{},"1st":{},"a b":{},"ok.a-b":{}},"required":["$meta"]}`,
			`{"properties":{"_meta_2":{},"_meta":{},"_1st":{},"a_b":{},"ok.a-b":{}},"required":["_meta_2"]}`},
		{"10", `{"properties":{"":{},"ü":{}},"dependentRequired":{"ü":["","c"]},"propertyNames":{"minLength":1}}`,
			`{"properties":{"_":{},"__2":{}},"dependentRequired":{"__2":["_","c"]},"description":"Must satisfy \"propertyNames\": {\"minLength\":1}."}`},
		{"10", `{"properties":{"a/b":{}},"propertyNames":{"type":"string"},"patternProperties":{"/":{},"^c":{}},"additionalProperties":false,"default":{"a/b":1},"not":{"required":["a/b"]}}`,
			`{"properties":{"a_b":{}},"propertyNames":{"type":"string"},"patternProperties":{"^c":{}},"default":{"a_b":1},"not":{"properties":{"a_b":{}},"required":["a_b"]},"description":"Properties whose names match / must match {}. Other properties are not allowed."}`},
		{"10", `{"properties":{"a b":{}},"enum":[{"a b":1}]}`, `{"properties":{"a_b":{}},"description":"Allowed values: {\"a b\":1}."}`},
		{"11", `{"type":"object","properties":{"$ref":{"type":"string"},"$defs":{},"type":{"enum":["a"]},"nullable":{"type":"boolean"}}}`,
			`{"type":"object","properties":{"_ref":{"type":"string"},"_defs":{},"type":{"enum":["a"]},"nullable":{"type":"boolean"}}}`},
		{"1", `{"$id":"x","$anchor":"y","$dynamicAnchor":"z","$schema":"s","$comment":"stays"}`, `{"$comment":"stays"}`},
	} {
		want := c.want
		if want == "" {
			want = c.in
		}
		out, _ := normal(t, in(c.in))
		assert.Equal(t, in(want), out, "rule %s: %s", c.rule, c.in)
	}
}

func TestNormalizeRootSchemasInPlace(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"allOf with if", `{"type":"object","properties":{"mode":{"type":"string"},"size":{"type":"integer"}},"required":["mode"],"allOf":[{"if":{"required":["size"]},"then":{"required":["mode"]}},{"properties":{"note":{"type":"string"}},"required":["note"]}]}`,
			`{"type":"object","properties":{"mode":{"type":"string"},"size":{"type":"integer"},"note":{"type":"string"}},"required":["mode","note"],"description":"If it matches {\"required\":[\"size\"]}, it must match {\"required\":[\"mode\"]}."}`},
		{"allOf with a conflict", `{"properties":{"a":{"type":"string"}},"allOf":[{"properties":{"a":{"minLength":1}}},{"properties":{"a":{"type":"string"}}}]}`,
			`{"type":"object","properties":{"a":{"allOf":[{"allOf":[{"type":"string"},{"minLength":1}]},{"type":"string"}]}}}`},
		{"allOf that closes", `{"allOf":[{"properties":{"a":{}}},{"properties":{"b":{}},"additionalProperties":false}]}`,
			`{"type":"object","properties":{"a":{},"b":{}},"additionalProperties":false}`},
		{"allOf within allOf", `{"allOf":[{"allOf":[{"properties":{"a":{}}}],"title":"T"}]}`,
			`{"type":"object","title":"T","properties":{"a":{}}}`},
		{"anyOf of required", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b","a"]}],"description":"D."}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"description":"D. Alternatives: a; b, a.","required":["a"]}`},
		{"oneOf with kinds", `{"oneOf":[{"type":"object","properties":{"kind":{"const":"a"},"x":{"type":"string"}},"required":["kind","x"]},{"type":"object","properties":{"kind":{"const":"b"},"x":{"type":"integer"},"y":{"type":"integer"}},"required":["kind"]}]}`,
			`{"type":"object","properties":{"kind":{"anyOf":[{"const":"a"},{"const":"b"}]},"x":{"anyOf":[{"type":"string"},{"type":"integer"}]},"y":{"type":"integer"}},"required":["kind"],"description":"Alternatives: kind = \"a\", x; kind = \"b\"."}`},
		{"oneOf beside properties", `{"type":"object","properties":{"kind":{"type":"string"},"z":{"type":"string"}},"oneOf":[{"properties":{"kind":{"const":"a"},"z":{"const":"c"}}},{"properties":{"kind":{"const":"b"}}}]}`,
			`{"type":"object","properties":{"kind":{"type":"string","anyOf":[{"const":"a"},{"const":"b"}]},"z":{"type":"string"}},"description":"Alternatives: kind = \"a\", z = \"c\"; kind = \"b\"."}`},
		{"closed branches", `{"anyOf":[{"properties":{"a":{}},"additionalProperties":false},{"properties":{"b":{}},"additionalProperties":false}]}`,
			`{"type":"object","properties":{"a":{},"b":{}},"additionalProperties":false,"description":"Alternatives: optionally a; optionally b."}`},
		{"a branch that is open", `{"anyOf":[{"properties":{"a":{}},"additionalProperties":false},{"properties":{"b":{}}}]}`,
			`{"type":"object","properties":{"a":{},"b":{}},"description":"Alternatives: optionally a; optionally b."}`},
		{"branches that are not objects", `{"anyOf":[{"type":"null"},false,{"type":"object","properties":{"a":{}},"required":["a"]}]}`,
			`{"type":"object","properties":{"a":{}},"required":["a"]}`},
		{"not, enum, const", `{"type":"object","properties":{},"not":{"required":["a"]},"enum":[{"a":1}],"const":{"a":1}}`,
			`{"type":"object","properties":{},"description":"Must not match {\"required\":[\"a\"]}. Allowed values: {\"a\":1}. Allowed value: {\"a\":1}."}`},
		{"dependentSchemas", `{"type":"object","properties":{"a":{}},"dependentSchemas":{"a":{"required":["b"]}},"unevaluatedProperties":false}`,
			`{"type":"object","properties":{"a":{}},"description":"Must satisfy \"dependentSchemas\": {\"a\":{\"required\":[\"b\"]}}. Must satisfy \"unevaluatedProperties\": false."}`},
		{"unevaluated over allOf", `{"type":"object","allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":false}`,
			`{"type":"object","properties":{"a":{}},"additionalProperties":false}`},
		{"renamed in a branch", `{"type":"object","anyOf":[{"properties":{"$a":{"type":"integer"}},"required":["$a"]},{"properties":{"_a":{}}}]}`,
			`{"type":"object","properties":{"_a_2":{"type":"integer"},"_a":{}},"description":"Alternatives: _a_2; optionally _a."}`},
	} {
		out, _ := normal(t, c.in)
		assert.Equal(t, c.want, out, c.name)
	}
}

func TestNormalizeReferences(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"defs", `{"type":"object","properties":{"order":{"$ref":"#/$defs/Order","description":"the order"},"status":{"anyOf":[{"$ref":"#/$defs/Status"},{"type":"null"}]}},"required":["order"],"$defs":{"Order":{"type":"object","properties":{"id":{"type":"integer"},"state":{"$ref":"#/$defs/Status"}},"required":["id"],"description":"An order"},"Status":{"type":"string","enum":["open","closed"]}}}`,
			`{"type":"object","properties":{"order":{"type":"object","properties":{"id":{"type":"integer"},"state":{"type":"string","enum":["open","closed"]}},"required":["id"],"description":"the order"},"status":{"anyOf":[{"type":"string","enum":["open","closed"]},{"type":"null"}]}},"required":["order"]}`},
		{"definitions, escapes, a chain", `{"type":"object","properties":{"a":{"$ref":"#/definitions/x~1y%25"}},"definitions":{"x/y%":{"$ref":"#/definitions/z"},"z":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"type":"string"}}}`},
		{"properties", `{"type":"object","properties":{"headers":{"type":"object","properties":{"k":{"type":"string"}}},"actions":{"type":"array","items":{"$ref":"#/properties/headers"}},"odd~name/x":{"type":"string"},"again":{"$ref":"#/properties/odd~0name~1x"}}}`,
			`{"type":"object","properties":{"headers":{"type":"object","properties":{"k":{"type":"string"}}},"actions":{"type":"array","items":{"type":"object","properties":{"k":{"type":"string"}}}},"odd_name_x":{"type":"string"},"again":{"type":"string"}}}`},
		{"nowhere", `{"type":"object","properties":{"screen":{"$ref":"#/$defs/ScreenInstance"},"ext":{"$ref":"https://schemas.example.test/user.json"},"n":{"type":"integer"},"m":{"$ref":"#/required","title":"M"},"o":{"$ref":"#here"},"r":{"$ref":5}},"required":["screen"]}`,
			`{"type":"object","properties":{"screen":{},"ext":{},"n":{"type":"integer"},"m":{"title":"M"},"o":{},"r":{}},"required":["screen"]}`},
		{"recursion", `{"type":"object","properties":{"tree":{"$ref":"#/$defs/Node"}},"$defs":{"Node":{"type":"object","properties":{"children":{"type":"array","items":{"$ref":"#/$defs/Node"}}}}}}`,
			`{"type":"object","properties":{"tree":{"type":"object","properties":{"children":{"type":"array","items":{"type":"object","description":"Its structure repeats that of Node."}}}}}}`},
		{"recursion through two", `{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"object","properties":{"b":{"$ref":"#/$defs/B"}}},"B":{"type":"array","items":{"$ref":"#/$defs/A","description":"d"}}}}`,
			`{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"array","items":{"type":"object","description":"d Its structure repeats that of A."}}}}}}`},
		{"recursion beside what is written out", `{"type":"object","properties":{"l":{"type":"array","items":{"anyOf":[{"$ref":"#/$defs/A"},{"$ref":"#/$defs/B"}]}}},"$defs":{"A":{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#/$defs/A"},{"$ref":"#/$defs/B"}]}}},"B":{"type":"object","properties":{"b":{"$ref":"#/$defs/A"},"p":{"$ref":"#/$defs/P"}}},"P":{"type":"string"}}}`,
			`{"type":"object","properties":{"l":{"type":"array","items":{"anyOf":[{"type":"object","properties":{"a":{"anyOf":[{"type":"object","description":"Its structure repeats that of A."},{"type":"object","description":"Its structure repeats that of B."}]}}},{"type":"object","properties":{"b":{"type":"object","description":"Its structure repeats that of A."},"p":{"type":"string"}}}]}}}}`},
		{"no recursion is written out each time", `{"type":"object","properties":{"p":{"$ref":"#/$defs/P"},"l":{"$ref":"#/$defs/L"}},"$defs":{"P":{"type":"object","properties":{"x":{"type":"integer"}}},"L":{"type":"object","properties":{"from":{"$ref":"#/$defs/P"},"to":{"$ref":"#/$defs/P"}}}}}`,
			`{"type":"object","properties":{"p":{"type":"object","properties":{"x":{"type":"integer"}}},"l":{"type":"object","properties":{"from":{"type":"object","properties":{"x":{"type":"integer"}}},"to":{"type":"object","properties":{"x":{"type":"integer"}}}}}}}`},
		{"recursion of no object", `{"type":"object","properties":{"v":{"$ref":"#/$defs/V"}},"$defs":{"V":{"anyOf":[{"type":"string"},{"type":"array","items":{"$ref":"#/$defs/V"}}]}}}`,
			`{"type":"object","properties":{"v":{"anyOf":[{"type":"string"},{"type":"array","items":{"description":"Its structure repeats that of V."}}]}}}`},
		{"itself", `{"type":"object","properties":{"a":{"$ref":"#/$defs/A"},"next":{"$ref":"#"}},"$defs":{"A":{"$ref":"#/$defs/A"}}}`,
			`{"type":"object","properties":{"a":{"description":"Its structure repeats that of A."},"next":{"type":"object","description":"Its structure repeats that of all parameters."}}}`},
		{"the root is one", `{"$ref":"#/definitions/Args","definitions":{"Args":{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}},"$schema":"http://json-schema.org/draft-07/schema#"}`,
			`{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}`},
		{"siblings that join", in(`{"$ref":"#/$defs/S","minLength":2}`)[:len(in(`{"$ref":"#/$defs/S","minLength":2}`))-1] + `,"$defs":{"S":{"type":"string","maxLength":3}}}`,
			in(`{"type":"string","maxLength":3,"minLength":2}`)},
		{"siblings that do not", `{"type":"object","properties":{"p":{"$ref":"#/$defs/S","properties":{"b":{}},"title":"P"}},"$defs":{"S":{"type":"object","properties":{"a":{}}}}}`,
			in(`{"title":"P","allOf":[{"type":"object","properties":{"a":{}}},{"properties":{"b":{}}}]}`)},
		{"siblings in draft-07", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"p":{"$ref":"#/definitions/S","minLength":2,"description":"d","x-a":1}},"definitions":{"S":{"type":"string"}}}`,
			in(`{"type":"string","description":"d","x-a":1}`)},
		{"newer keywords in draft-07", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"p":{"dependentRequired":{"a":["b"]}}}}`,
			in(`{"description":"Must satisfy \"dependentRequired\": {\"a\":[\"b\"]}."}`)},
		{"unevaluated beside one", `{"type":"object","properties":{"p":{"$ref":"#/$defs/S","unevaluatedProperties":false}},"$defs":{"S":{"type":"object","properties":{"a":{}}}}}`,
			in(`{"allOf":[{"type":"object","properties":{"a":{}}}],"description":"Must satisfy \"unevaluatedProperties\": false."}`)},
		{"anchors and ids", `{"$id":"https://e.test/s","type":"object","properties":{"a":{"$ref":"#x"},"b":{"$ref":"https://e.test/s#/$defs/A"},"c":{"$ref":"other"}},"$defs":{"A":{"$anchor":"x","type":"string"},"B":{"$id":"other","type":"object","properties":{"n":{"$ref":"#/$defs/C"}},"$defs":{"C":{"type":"integer"}}}}}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"object","properties":{"n":{"type":"integer"}}}}}`},
		{"dynamic", `{"type":"object","properties":{"a":{"$dynamicRef":"#m","title":"A"},"b":{"not":{"$dynamicRef":"#m"}}}}`,
			`{"type":"object","properties":{"a":{"title":"A"},"b":{"description":"Must not match {}."}}}`},
		{"a parameter called $ref", `{"type":"object","properties":{"$ref":{"$ref":"#/$defs/S"}},"required":["$ref"],"$defs":{"S":{"type":"string"}}}`,
			`{"type":"object","properties":{"_ref":{"type":"string"}},"required":["_ref"]}`},
		{"in a value", in(`{"default":{"$ref":"#/a"},"const":{"$defs":1}}`), in(`{"default":{"$ref":"#/a"},"const":{"$defs":1}}`)},
		{"under not", `{"type":"object","properties":{"p":{"not":{"$ref":"#/$defs/S"}},"q":{"not":{"$ref":"#/$defs/T"}}},"$defs":{"S":{"type":"string"}}}`,
			`{"type":"object","properties":{"p":{"not":{"type":"string"}},"q":{"description":"Must not match {}."}}}`},
	} {
		out, _ := normal(t, c.in)
		assert.Equal(t, c.want, out, c.name)
	}
}

func TestNormalizeDepth(t *testing.T) {
	nest := func(levels int) string {
		schema := `{"type":"string"}`
		for range levels - 1 {
			schema = `{"type":"object","properties":{"a":` + schema + `}}`
		}
		return schema
	}
	out, _ := normal(t, nest(10))
	assert.Equal(t, nest(10), out)
	out, _ = normal(t, nest(30))
	assert.Equal(t, strings.Replace(nest(10), `{"type":"string"}`, `{"type":"object","description":"Its inner structure is left out."}`, 1), out)

	// In place within one another, many times.
	schema := `{"type":"string"}`
	for range 30 {
		schema = `{"anyOf":[` + schema + `]}`
	}
	out, _ = normal(t, in(schema))
	assert.Equal(t, 8, strings.Count(out, "anyOf"))
}

func TestNormalizeClean(t *testing.T) {
	cleaner := Normalizer{Clean: func(s string) string { return strings.ReplaceAll(s, "\u200b", "") }}
	for in, want := range map[string]string{
		`{"type":"object","properties":{"description":{"title":"a\u200bb","description":"é` + "\u200b" + `","default":"\u200b","x-a":"\u200b"}},"description":"\u200b(?=)"}`: `{"type":"object","properties":{"description":{"title":"ab","description":"é","default":"\u200b","x-a":"\u200b"}},"description":"(?=)"}`,
		`{"type":"object","properties":{},"description":"naïve — text\n"}`:                                                                                                   `{"type":"object","properties":{},"description":"naïve — text\n"}`,
	} {
		out, _, err := cleaner.Normalize([]byte(in))
		require.NoError(t, err)
		assert.Equal(t, want, string(out))
		again, _, err := cleaner.Normalize(out)
		require.NoError(t, err)
		assert.Equal(t, want, string(again))
	}
}

// Texts that are large, or make large ones, within the bounds of size and work:
// they are read, not given up.
func TestNormalizeLarge(t *testing.T) {
	repeat := func(s string, n int) string { return strings.TrimSuffix(strings.Repeat(s+",", n), ",") }
	var doubling bytes.Buffer
	for i := range 300 {
		fmt.Fprintf(&doubling, `"d%d":{"type":"object","properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}},`, i, i+1, i+2)
	}
	for name, schema := range map[string]string{
		"references that double": `{"$ref":"#/$defs/d0","$defs":{` + doubling.String() + `"d300":{"type":"string"},"d301":{}}}`,
		"allOf that doubles":     `{"$defs":{` + list(1000, `"d%":{"allOf":[{"$ref":"#/$defs/d%0"},{"$ref":"#/$defs/d%1"}]}`) + `},"properties":{"a":{"$ref":"#/$defs/d0"}}}`,
		"many branches":          `{"oneOf":[` + list(1500, `{"properties":{"kind":{"const":%},"p%":{}},"required":["kind"]}`) + `]}`,
		"many properties":        `{"properties":{` + list(4000, `"$p%":{"type":"int"}`) + `}}`,
		"names that collide":     `{"properties":{` + list(2000, `"$%":{},"_%":{},"-%":{},"_%_2":{}`) + `}}`,
		"one name":               `{"properties":{` + repeat(`"a":{"type":"int"}`, 5000) + `}}`,
		"many required":          `{"required":[` + list(8000, `"a%"`) + `]}`,
		"a large enum":           in(`{"enum":[` + list(15000, `"%"`) + `,"1"]}`),
		"many patterns":          in(`{"patternProperties":{` + list(3000, `"^a%(?=b)":{"type":"string"}`) + `},"properties":{"$":{}}}`),
		"a deep array":           in(strings.Repeat(`{"type":"array","items":`, 900) + `{}` + strings.Repeat(`}`, 900)),
		"deep in place":          `{"anyOf":` + strings.Repeat(`[{"type":"object","anyOf":`, 450) + `[]` + strings.Repeat(`}]`, 450) + `}`,
		"many references":        `{"$defs":{` + list(2000, `"d%":{}`) + `},"properties":{` + list(2000, `"p%":{"$ref":"#/$defs/d%"}`) + `}}`,
		"references to all":      `{"properties":{` + list(5000, `"%":{"$ref":"#"}`) + `}}`,
		"a long description":     in(`{"not":{"pattern":"(?=a)","enum":["` + strings.Repeat("é", 40000) + `"]}}`),
		"many clauses":           `{"properties":{` + list(4000, `"a%":{"pattern":"("}`) + `}}`,
		"many clauses in one":    `{"allOf":[` + list(3000, `{"not":{"const":%}}`) + `]}`,
		"unions of unions":       `{"allOf":[` + repeat(`{"oneOf":[{"required":["a"]},{"required":["b"]},{"properties":{"c":{"const":1}}}]}`, 1200) + `]}`,
		"unions that conflict":   `{"anyOf":[` + list(2000, `{"properties":{"a":{"const":%},"b":{"enum":[%]}}}`) + `]}`,
		"a chain of references":  `{"$defs":{` + list(3000, `"d%":{"$ref":"#/$defs/d%1"}`) + `},"properties":{"a":{"$ref":"#/$defs/d1"}}}`,
		"references to ids":      `{"$defs":{` + list(2000, `"d%":{"$id":"i%"}`) + `},"properties":{` + list(2000, `"p%":{"$ref":"i%"}`) + `}}`,
		"a large pattern":        in(`{"pattern":"` + strings.Repeat("(a{1,9}|b)?", 9000) + `"}`),
	} {
		t.Run(name, func(t *testing.T) {
			_, plan := normal(t, schema)
			_, err := plan.Repair(t.Context(), []byte(`{"a":[],"b":"1","$p1":"3"}`))
			require.NoError(t, err)
		})
	}
}

func TestNormalizeIsDeterministic(t *testing.T) {
	schema := []byte(`{"anyOf":[{"properties":{"$a":{},"b":{},"c":{}}},{"properties":{"d":{},"-a":{},"b":{"type":"int"}}}],"required":["x","y","z"],"dependencies":{"a":["b"],"c":{}}}`)
	first, _, err := Normalize(schema)
	require.NoError(t, err)
	for range 50 {
		out, _, err := Normalize(schema)
		require.NoError(t, err)
		require.Equal(t, string(first), string(out))
	}
}

var cleanSchema = []byte(`{"type":"object","properties":{"owner":{"type":"string","description":"Repository owner, a user or an organisation"},"repo":{"type":"string","description":"Repository name"},"state":{"type":"string","enum":["open","closed","all"],"description":"Which issues"},"labels":{"type":"array","items":{"type":"string"},"description":"Labels to filter by"},"sort":{"type":"string","enum":["created","updated","comments"]},"since":{"type":"string","format":"date-time","description":"Only those updated after this time"},"page":{"type":"number","minimum":1,"description":"Page number for pagination"},"perPage":{"type":"number","minimum":1,"maximum":100,"default":30,"description":"Results per page"},"filter":{"type":"object","properties":{"author":{"type":["string","null"]},"milestone":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null}},"additionalProperties":false}},"required":["owner","repo"],"additionalProperties":false}`)

var rewritingSchema = []byte(`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"owner":{"type":"string","description":"Repository owner, a user or an organisation"},"repo":{"$ref":"#/definitions/name"},"state":{"type":"string","enum":["open","closed","all"],"description":"Which issues","default":null},"labels":{"type":"array","description":"Labels to filter by"},"sort":{"type":"string","enum":["created","updated","comments"]},"since":{"type":"string","format":"date-time","description":"Only those updated after this time"},"page":{"type":"number","minimum":1,"exclusiveMinimum":true,"description":"Page number for pagination"},"$filter":{"type":"object","properties":{"author":{"$ref":"#/definitions/name"},"milestone":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null}},"additionalProperties":false}},"required":["owner","repo"],"additionalProperties":false,"definitions":{"name":{"type":"string","pattern":"^(?!\\.)[a-z.]+$","description":"A name"}}}`)

func BenchmarkNormalize(b *testing.B) {
	for name, schema := range map[string][]byte{"clean": cleanSchema, "rewriting": rewritingSchema, "dialect": append([]byte(`{"$schema":"http://json-schema.org/draft-07/schema#",`), cleanSchema[1:]...)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(schema)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := Normalize(schema); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestBenchmarkSchemas(t *testing.T) {
	out, _ := normal(t, string(cleanSchema))
	assert.Equal(t, string(cleanSchema), out)
	out, _ = normal(t, string(rewritingSchema))
	assert.NotEqual(t, string(rewritingSchema), out)
	require.True(t, json.Valid([]byte(out)))
}

func TestSuspect(t *testing.T) {
	plain := strings.Repeat(`plain text, 1<2\n\"`, 3)
	assert.False(t, suspect(plain))
	for i := range len(plain) {
		if i > 0 && plain[i-1] == '\\' {
			continue
		}
		for _, odd := range []string{"\x7f", "é", "\xff", `\u200b`, `\b`, `\f`} {
			assert.True(t, suspect(plain[:i]+odd+plain[i:]), "%s at %d", odd, i)
		}
		assert.False(t, suspect(plain[:i]+`\\`+plain[i:]), i)
		assert.False(t, suspect(plain[i:]), i)
	}
}
