package mcp

// This file encodes the metadata of calls, that of the caller and that of the
// protocol.

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed94b59a13/mcp/internal/protocol"
	"github.com/seed94b59a13/mcp/internal/raw"
)

type metaKey struct{}

// WithMeta returns a context under which each tool call sends meta as its
// _meta: trace context (traceparent, tracestate, baggage), a tenant and the
// like. The map is copied, its values are encoded as JSON at each call. Under
// a context that has metadata already, meta is added to it and wins where both
// have a key; a nil or empty map changes nothing.
//
// A call fails, with an error that wraps [ErrNotSent], if a value cannot be
// encoded or a key belongs to the protocol: progressToken, and keys whose
// prefix is reserved, such as io.modelcontextprotocol/ and dev.mcp/.
func WithMeta(ctx context.Context, meta map[string]any) context.Context {
	if len(meta) == 0 {
		return ctx
	}
	all := map[string]any{}
	outer, _ := ctx.Value(metaKey{}).(map[string]any)
	maps.Copy(all, outer)
	maps.Copy(all, meta)
	return context.WithValue(ctx, metaKey{}, all)
}

// requestMeta returns the metadata of a call as members of a JSON object, nil
// where there is none.
func requestMeta(ctx context.Context) ([]byte, error) {
	meta, _ := ctx.Value(metaKey{}).(map[string]any)
	if len(meta) == 0 {
		return nil, nil
	}
	var members []byte
	for _, key := range slices.Sorted(maps.Keys(meta)) {
		if isReserved(key) {
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

// protocolMeta returns the metadata that each request has from protocol.Stateless
// on (SEP-2575), as members of a JSON object.
func protocolMeta(version string, client *sdk.Implementation, capabilities *sdk.ClientCapabilities) (members []byte) {
	if version < protocol.Stateless {
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

// isReserved reports whether the specification keeps the key for itself. Until
// 2025-06-18 it reserved prefixes with a label mcp or modelcontextprotocol
// before another label (mcp.dev/), since then those with such a second label
// (dev.mcp/).
func isReserved(key string) bool {
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
