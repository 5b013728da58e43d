package mcp

// This file adds the caller's metadata to requests.

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
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

// requestMeta returns the metadata of a call, a map of its own, to which the
// SDK adds the protocol's keys; nil where there is none.
func requestMeta(ctx context.Context) (sdk.Meta, error) {
	meta, _ := ctx.Value(metaKey{}).(map[string]any)
	if len(meta) == 0 {
		return nil, nil
	}
	encoded := make(sdk.Meta, len(meta)+1)
	for _, key := range slices.Sorted(maps.Keys(meta)) {
		if isReserved(key) {
			return nil, fmt.Errorf("adding metadata: the key %q belongs to the protocol", key)
		}
		value, err := json.Marshal(meta[key])
		if err != nil {
			return nil, fmt.Errorf("adding metadata: encoding %q: %w", key, err)
		}
		encoded[key] = json.RawMessage(value)
	}
	return encoded, nil
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
