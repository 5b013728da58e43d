package schema

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Schemas of the kinds that real servers had trouble with, by the case's number.
// Where the result is the same as the input, it is "".
func TestNormalizeCases(t *testing.T) {
	for _, c := range []struct{ id, in, want string }{
		{"S01", `{"type":"object"}`,
			`{"type":"object","properties":{}}`},
		{"S02", `null`,
			`{"type":"object","properties":{}}`},
		{"S02", ``,
			`{"type":"object","properties":{}}`},
		{"S02", `{"type":null,"properties":{}}`,
			`{"type":"object","properties":{}}`},
		{"S02", `{"type":"object","properties":null}`,
			`{"type":"object","properties":{}}`},
		{"S02", `{"type":"object","properties":[]}`,
			`{"type":"object","properties":{}}`},
		{"S02", `{}`,
			`{"type":"object","properties":{}}`},
		{"S03", `{"properties":{"q":{"type":"string"}},"required":["q"]}`,
			`{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}`},
		{"S04", `true`,
			`{"type":"object","properties":{}}`},
		{"S07", `{"type":"object","properties":{"mode":{"type":"string","enum":["small","large"]},"size":{"type":"integer"}},"required":["mode"],"allOf":[{"if":{"properties":{"mode":{"const":"small"}}},"then":{"properties":{"size":{"maximum":10}}}},{"properties":{"note":{"type":"string"}}}]}`,
			`{"type":"object","properties":{"mode":{"type":"string","enum":["small","large"]},"size":{"type":"integer"},"note":{"type":"string"}},"required":["mode"],"description":"If it matches {\"properties\":{\"mode\":{\"const\":\"small\"}}}, it must match {\"properties\":{\"size\":{\"maximum\":10}}}."}`},
		{"S08", `{"type":"object","properties":{"order":{"$ref":"#/$defs/Order","description":"the order to change"},"status":{"anyOf":[{"$ref":"#/$defs/Status"},{"type":"null"}]}},"required":["order"],"$defs":{"Order":{"type":"object","properties":{"id":{"type":"integer"},"state":{"$ref":"#/$defs/Status"}},"required":["id"]},"Status":{"type":"string","enum":["open","closed"]}}}`,
			`{"type":"object","properties":{"order":{"type":"object","properties":{"id":{"type":"integer"},"state":{"type":"string","enum":["open","closed"]}},"required":["id"],"description":"the order to change"},"status":{"anyOf":[{"type":"string","enum":["open","closed"]},{"type":"null"}]}},"required":["order"]}`},
		{"S09", `{"type":"object","properties":{"headers":{"type":"object","properties":{"k":{"type":"string"}}},"actions":{"type":"array","items":{"$ref":"#/properties/headers"}},"odd~name/x":{"type":"string"},"again":{"$ref":"#/properties/odd~0name~1x"}}}`,
			`{"type":"object","properties":{"headers":{"type":"object","properties":{"k":{"type":"string"}}},"actions":{"type":"array","items":{"type":"object","properties":{"k":{"type":"string"}}}},"odd_name_x":{"type":"string"},"again":{"type":"string"}}}`},
		{"S10", `{"type":"object","properties":{"screen":{"$ref":"#/$defs/ScreenInstance"},"ext":{"$ref":"https://schemas.example.test/user.json"},"n":{"type":"integer"}},"required":["screen"]}`,
			`{"type":"object","properties":{"screen":{},"ext":{},"n":{"type":"integer"}},"required":["screen"]}`},
		{"S13", `{"type":"object","properties":{"texts":{"type":"array"},"grid":{"type":"array","items":{"type":"array"}},"opts":{"type":"object","properties":{"ids":{"type":"array","description":"ids"}}}}}`,
			`{"type":"object","properties":{"texts":{"type":"array","items":{}},"grid":{"type":"array","items":{"type":"array","items":{}}},"opts":{"type":"object","properties":{"ids":{"type":"array","description":"ids","items":{}}}}}}`},
		{"S14", `{"type":"object","properties":{"lang":{"type":["array","null"],"items":{"type":["object","null"],"properties":{"v":{"type":["string","null"]}}}},"mode":{"type":["string","null"],"enum":["a","b",null]},"id":{"type":["integer","string"]}}}`,
			``},
		{"S15", `{"type":"object","properties":{"payload":true,"list":{"type":"array","items":true},"never":false,"u":{"anyOf":[{"type":"array","items":true},{"type":"null"}]}},"additionalProperties":true}`,
			`{"type":"object","properties":{"payload":{},"list":{"type":"array","items":{}},"u":{"anyOf":[{"type":"array","items":{}},{"type":"null"}]}},"additionalProperties":true,"description":"Not allowed: never."}`},
		{"S18", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","additionalProperties":false,"properties":{"limit":{"type":"integer","exclusiveMinimum":0,"multipleOf":5},"email":{"type":"string","format":"email"},"kind":{"const":"insert"},"map":{"type":"object","additionalProperties":{"type":"string"},"propertyNames":{"pattern":"^x"}}}}`,
			`{"type":"object","additionalProperties":false,"properties":{"limit":{"type":"integer","exclusiveMinimum":0,"multipleOf":5},"email":{"type":"string","format":"email"},"kind":{"const":"insert"},"map":{"type":"object","additionalProperties":{"type":"string"},"propertyNames":{"pattern":"^x"}}}}`},
		{"S20", `{"type":"object","properties":{"action":{"type":"string","enum":["list","open",""]},"only":{"type":"string","enum":[""]},"n":{"anyOf":[{"type":"string","enum":["","x"]},{"type":"null"}]}}}`,
			``},
		{"S21", `{"type":"object","properties":{"a":{"anyOf":[{"type":"string","enum":["A","B"]},{"type":"null","enum":["A","B"]}]},"b":{"type":"array","enum":[0,1],"items":{"type":"integer"}}}}`,
			`{"type":"object","properties":{"a":{"anyOf":[{"type":"string","enum":["A","B"]},{"type":"null"}]},"b":{"type":"array","items":{"type":"integer"},"description":"Allowed values: 0,1."}}}`},
		{"S22", `{"type":"object","properties":{"p":{"type":"string"}},"required":["p","p","ghost"]}`,
			`{"type":"object","properties":{"p":{"type":"string"},"ghost":{}},"required":["p","ghost"]}`},
		{"S22", `{"type":"object","properties":{"p":{"type":"string"}},"required":null}`,
			`{"type":"object","properties":{"p":{"type":"string"}}}`},
		{"S22", `{"type":"object","required":["x"]}`,
			`{"type":"object","properties":{"x":{}},"required":["x"]}`},
		{"S22", `{"type":"object","properties":{"p":{"type":"string","required":true}}}`,
			`{"type":"object","properties":{"p":{"type":"string","description":"Required."}}}`},
		{"S24", `{"type":"object","properties":{"window":{"type":"array","items":[{"type":"integer"},{"type":"integer"}],"additionalItems":false,"minItems":2},"p":{"type":"array","prefixItems":[{"type":"string"},{"type":"number"}]}}}`,
			`{"type":"object","properties":{"window":{"type":"array","prefixItems":[{"type":"integer"},{"type":"integer"}],"minItems":2,"items":{},"maxItems":2},"p":{"type":"array","prefixItems":[{"type":"string"},{"type":"number"}],"items":{}}}}`},
		{"S27", `{"type":"object","properties":{"pattern":{"type":"string"},"max_results":{"type":"integer","default":20}},"required":["pattern"]}`,
			``},
		{"S28", `{"type":"object","properties":{"data":{"type":"string","properties":{"x":{"type":"string"}},"required":["x"]},"n":{"type":"integer","items":{"type":"string"}}}}`,
			`{"type":"object","properties":{"data":{"type":"string"},"n":{"type":"integer"}}}`},
		{"S32", `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"ttl":{"type":"integer","minimum":0,"exclusiveMinimum":true,"maximum":86400,"exclusiveMaximum":false},"len":{"type":"integer","exclusiveMinimum":0,"exclusiveMaximum":1000000}}}`,
			`{"type":"object","properties":{"ttl":{"type":"integer","exclusiveMinimum":0,"maximum":86400},"len":{"type":"integer","exclusiveMinimum":0,"exclusiveMaximum":1000000}}}`},
		{"S30", `{"type":"object","properties":{"a":{"type":"","description":"anything"},"b":{"description":"anything"},"c":{"type":"any"},"d":{"type":"int"}}}`,
			`{"type":"object","properties":{"a":{"description":"anything"},"b":{"description":"anything"},"c":{},"d":{"type":"integer"}}}`},
	} {
		want := c.want
		if want == "" {
			want = c.in
		}
		out, _ := normal(t, c.in)
		assert.Equal(t, want, out, c.id)
	}
}

// Arguments of the same kind.
func TestRepairCases(t *testing.T) {
	const open = `{"type":"object","properties":{}}`
	for _, c := range []struct{ id, schema, in, want string }{
		{"A02", open, "null", `{}`},
		{"A02", open, "{}", `{}`},
		{"A02", open, " \n", `{}`},
		{"A02", open, "", `{}`},
		{"A03", `{"type":"object","properties":{"query":{"type":"string"},"country":{"type":"string"},"parent":{"type":["string","null"]},"clear":{"anyOf":[{"type":"string"},{"type":"null"}]}},"required":["query"]}`,
			`{"query":"x","country":null,"parent":null,"clear":null}`, `{"query":"x","parent":null,"clear":null}`},
		{"A10", `{"type":"object","properties":{"q":{"type":"string"}}}`, `{"q":"a<b && c>d \u2028 \ud83d\ude00 \/"}`, `{"q":"a<b && c>d \u2028 \ud83d\ude00 \/"}`},
		{"A11", `{"type":"object","properties":{"s":{"type":"string"},"b":{"type":"boolean"},"n":{"type":"integer"},"l":{"type":"array","items":{"type":"string"}}}}`,
			`{"s":"","b":false,"n":0,"l":[]}`, `{"s":"","b":false,"n":0,"l":[]}`},
		{"A12", `{"type":"object","properties":{"a":{}}}`, `{"a":"\ud83d"}`, `{"a":"\ufffd"}`},
		{"S31", `{"type":"object","patternProperties":{"^x-":{"type":"string"}},"additionalProperties":false}`, `{"x-foo":"bar"}`, `{"x-foo":"bar"}`},
	} {
		_, plan := normal(t, c.schema)
		out, err := plan.Repair(t.Context(), []byte(c.in))
		require.NoError(t, err, c.id)
		assert.Equal(t, c.want, string(out), c.id)
	}
}
