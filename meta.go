package mcp

// This file adds metadata to calls.

import (
	"context"
	"maps"
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
	maps.Copy(all, metaOf(ctx))
	maps.Copy(all, meta)
	return context.WithValue(ctx, metaKey{}, all)
}

func metaOf(ctx context.Context) map[string]any {
	meta, _ := ctx.Value(metaKey{}).(map[string]any)
	return meta
}
