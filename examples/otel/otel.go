// Package otel traces and measures tool calls by OpenTelemetry's conventions
// for MCP (semantic conventions of generative AI, in development):
//
//	for i, tool := range tools {
//		tools[i] = instrument.Wrap(tool, connection.Info().Protocol, "pipe")
//	}
package otel

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed94b59a13/mcp"
)

const scope = "github.com/seed94b59a13/mcp/examples/otel"

// An Instrument makes a span and a measurement of each call. It may be used
// concurrently.
type Instrument struct {
	tracer   trace.Tracer
	duration metric.Float64Histogram
	carrier  propagation.TextMapPropagator
}

// New returns an Instrument. The propagator is what goes to the server with each
// call: propagation.TraceContext as a rule. Baggage may hold what the server
// must not learn.
func New(traces trace.TracerProvider, metrics metric.MeterProvider, propagator propagation.TextMapPropagator) (*Instrument, error) {
	duration, err := metrics.Meter(scope).Float64Histogram("mcp.client.operation.duration",
		metric.WithUnit("s"),
		metric.WithDescription("The duration of the MCP request or notification as observed on the sender from the time it was sent until the response or ack is received."),
		metric.WithExplicitBucketBoundaries(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300))
	return &Instrument{traces.Tracer(scope), duration, propagator}, err
}

// Wrap returns the tool with a Handler that is observed. The protocol is that of
// Connection.Info, the transport "pipe" for a Command and "tcp" for a URL. What
// is called and answered is in no span: it may be secret.
func (o *Instrument) Wrap(tool mcp.Tool, protocol, transport string) mcp.Tool {
	attributes := []attribute.KeyValue{
		attribute.String("mcp.method.name", "tools/call"),
		attribute.String("gen_ai.operation.name", "execute_tool"),
		attribute.String("gen_ai.tool.name", tool.ServerTool),
		attribute.String("mcp.protocol.version", protocol),
		attribute.String("network.transport", transport),
	}
	call := tool.Handler
	tool.Handler = func(ctx context.Context, arguments json.RawMessage) (mcp.ToolResult, error) {
		start := time.Now()
		ctx, span := o.tracer.Start(ctx, "tools/call "+tool.ServerTool,
			trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
		defer span.End()

		carrier := propagation.MapCarrier{}
		o.carrier.Inject(ctx, carrier)
		meta := make(map[string]any, len(carrier))
		for key, value := range carrier {
			meta[key] = value
		}
		result, err := call(mcp.WithMeta(ctx, meta), arguments)

		measured := attributes
		if kind := errorType(result, err); kind != "" {
			failure := attribute.String("error.type", kind)
			span.SetAttributes(failure)
			// Its text may quote arguments, and becomes no description.
			span.SetStatus(codes.Error, "")
			measured = append(attributes[:len(attributes):len(attributes)], failure)
		}
		o.duration.Record(ctx, time.Since(start).Seconds(), metric.WithAttributes(measured...))
		return result, err
	}
	return tool
}

// errorType names what went wrong by few words, as the conventions want; it is
// empty where nothing did. A Handler does not tell the code of a refusal, which
// is a failure of the tool for the model.
func errorType(result mcp.ToolResult, err error) string {
	var status *mcp.HTTPError // what came in place of an answer
	switch {
	case err == nil && result.IsError:
		return "tool_error"
	case err == nil:
		return ""
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return "timeout"
	case errors.Is(err, mcp.ErrServerStopped):
		return "server_stopped"
	case errors.As(err, &status):
		return strconv.Itoa(status.StatusCode)
	}
	return "_OTHER"
}
