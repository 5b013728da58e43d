package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed94b59a13/mcp"
)

func TestDeferred(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"}}}`)
	chart := mcp.Tool{Name: "draw_chart", Description: "Draws.", InputSchema: schema}
	mail := mcp.Tool{Name: "send_mail", Description: "Sends.", InputSchema: schema}
	function := func(name, description, late string) string {
		return `{"type":"function","name":"` + name + `","description":"` + description + `","parameters":` + string(schema) + `,"strict":false` + late + `}`
	}
	const late = `,"defer_loading":true`
	assert.JSONEq(t, `[{"type":"tool_search"},`+function("draw_chart", "Draws.", late)+`,`+function("send_mail", "Sends.", "")+`]`,
		encode(t, deferred([]mcp.Tool{chart, mail}, "send_mail")))

	search, _ := mcp.SearchTools(func() []mcp.Tool { return []mcp.Tool{chart, mail} })
	assert.JSONEq(t, `{"type":"tool_search","execution":"client","description":`+encode(t, search.Description)+`,"parameters":`+string(search.InputSchema)+`}`,
		encode(t, clientSearch(search)))

	tools := map[string]mcp.Tool{chart.Name: chart, mail.Name: mail}
	for query, want := range map[string]string{"a chart": function("draw_chart", "Draws.", late), "zzz": ""} {
		found, err := search.Handler(t.Context(), json.RawMessage(`{"query":"`+query+`"}`))
		require.NoError(t, err)
		item := encode(t, loaded("c1", found, tools))
		assert.JSONEq(t, `{"type":"tool_search_output","call_id":"c1","execution":"client","status":"completed","tools":[`+want+`]}`, item, query)
		if want != "" {
			assert.Contains(t, item, string(schema), "in the order of the schema")
		}
	}
	assert.Contains(t, encode(t, loaded("c1", mcp.ToolResult{Structured: json.RawMessage(`{"tools":["gone"]}`)}, tools)), `"tools":[]`)
}
