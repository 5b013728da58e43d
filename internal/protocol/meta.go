package protocol

// This file encodes the metadata of requests, that of the caller and that of the
// protocol.

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed94b59a13/mcp/internal/raw"
)

// EncodeMeta returns the metadata of a caller as members of a JSON object, nil
// where there is none. Their order is always the same. The error names a key that
// belongs to the protocol, or whose value cannot be encoded.
func EncodeMeta(meta map[string]any) (members []byte, err error) {
	if len(meta) == 0 {
		return nil, nil // which most calls have: to sort nothing takes three allocations
	}
	for _, key := range slices.Sorted(maps.Keys(meta)) {
		if IsReserved(key) {
			return nil, fmt.Errorf("adding metadata: the key %q belongs to the protocol", key)
		}
		value, err := json.Marshal(meta[key])
		if err != nil {
			return nil, fmt.Errorf("adding metadata: encoding %q: %w", key, err)
		}
		members = raw.AppendMember(members, key, value)
	}
	return members, nil
}

// ClientMeta returns the metadata that each request has from [Stateless] on
// (SEP-2575), as members of a JSON object.
func ClientMeta(version string, client *sdk.Implementation, capabilities *sdk.ClientCapabilities) (members []byte) {
	if version < Stateless {
		return nil
	}
	info, _ := json.Marshal(client) // two strings
	offers := []byte("{}")
	if capabilities.Elicitation != nil { // the SDK's own encoding has roots as well
		elicitation, _ := json.Marshal(capabilities.Elicitation)
		offers = slices.Concat([]byte("{"), raw.AppendMember(nil, "elicitation", elicitation), []byte("}"))
	}
	members = raw.AppendMember(members, sdk.MetaKeyProtocolVersion, raw.AppendQuote(nil, version))
	members = raw.AppendMember(members, sdk.MetaKeyClientInfo, info)
	return raw.AppendMember(members, sdk.MetaKeyClientCapabilities, offers)
}

// IsReserved reports whether the specification keeps a key of metadata for
// itself. Until 2025-06-18 it reserved prefixes with a label mcp or
// modelcontextprotocol before another label (mcp.dev/), since then those with such
// a second label (dev.mcp/).
func IsReserved(key string) bool {
	if key == "progressToken" {
		return true
	}
	prefix, _, ok := strings.Cut(key, "/")
	if !ok {
		return false
	}
	labels := strings.Split(strings.ToLower(prefix), ".")
	for i, label := range labels {
		if (label == "mcp" || label == "modelcontextprotocol") && (i == 1 || i < len(labels)-1) {
			return true
		}
	}
	return false
}
