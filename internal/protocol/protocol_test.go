package protocol

import (
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
)

func TestInstead(t *testing.T) {
	const none = "no attempt"
	for _, test := range []struct {
		code          int64
		message, data string
		want          string
	}{
		{-32602, "Unsupported protocol version", `{"supported":["2024-11-05","2025-03-26"],"requested":"2025-11-25"}`, "2025-03-26"},
		{-32602, "Unsupported protocolVersion 2025-11-25", `{"supportedVersions":["2025-06-18","2024-11-05"]}`, "2025-06-18"},
		{-32602, "Unsupported protocol version: 2025-11-25. Supported: 2024-11-05", ``, "2024-11-05"},
		{-32602, "Unsupported protocol version", `"supported versions: 2025-06-18, 2024-11-05"`, "2025-06-18"},
		{-32602, "Unsupported protocol version", `null`, Oldest},
		{-32602, "Invalid params", ``, Oldest},
		{-32000, "version mismatch: this server supports 2025-03-26", ``, "2025-03-26"},
		{-32000, "This protocol version is unknown", ``, Oldest},
		{-32600, "Incompatible MCP version 2025-11-25", ``, Oldest},
		{sdk.CodeUnsupportedProtocolVersion, "no", `{"supported":["2026-07-28"]}`, ""},
		{-32602, "Unsupported protocol version", `{"supported":["1.0"]}`, none},
		{-32602, "Unsupported protocol version", `{"supported":["2031-01-01"]}`, none},
		{-32602, "Only 2031-01-01 is supported", ``, none},
		{-32603, "no database", ``, none},
		{-32603, "node version 18 is required", ``, none},
	} {
		words, ok := Refused(&jsonrpc.Error{Code: test.code, Message: test.message, Data: json.RawMessage(test.data)}, Newest)
		got := none
		if version, again := Instead(words, Newest); ok && again {
			got = version
		}
		assert.Equal(t, test.want, got, "%s %s", test.message, test.data)
	}
	_, ok := Instead([]byte("no"), Oldest)
	assert.False(t, ok)
}
