package otel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed94b59a13/mcp"
	"github.com/seed94b59a13/mcp/internal/mcptest"
)

// The server answers with the metadata that it got; with arguments it fails.
func TestMain(m *testing.M) {
	mcptest.Main(map[string]func(*mcptest.Peer){"traced": func(p *mcptest.Peer) {
		p.Call = func(r mcptest.Request) {
			var raw struct {
				Params struct {
					Meta json.RawMessage `json:"_meta"`
				}
			}
			json.Unmarshal([]byte(r.Raw), &raw)
			if string(r.Params.Arguments) != "{}" {
				p.Reply(r, `{"content":[{"type":"text","text":"secret"}],"isError":true}`)
				return
			}
			p.Reply(r, mcptest.Text(string(raw.Params.Meta)))
		}
		p.Serve()
	}})
	os.Exit(m.Run())
}

func TestCalls(t *testing.T) {
	mcptest.NoLeaks(t)
	spans, metrics := tracetest.NewInMemoryExporter(), sdkmetric.NewManualReader()
	traces := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	instrument, err := New(traces, sdkmetric.NewMeterProvider(sdkmetric.WithReader(metrics)), propagation.TraceContext{})
	require.NoError(t, err)
	command, env := mcptest.Command(t, "traced")
	connection, err := mcp.Connect(t.Context(), mcp.Server{Name: "s", Command: command, Env: env})
	require.NoError(t, err)
	defer connection.Close()
	tool := instrument.Wrap(connection.Tools()[0], connection.Info().Protocol, "pipe")

	ctx, parent := traces.Tracer("test").Start(t.Context(), "agent")
	result, err := tool.Handler(ctx, nil)
	require.NoError(t, err)
	failed, err := tool.Handler(ctx, json.RawMessage(`{"a":1}`))
	require.NoError(t, err)
	require.True(t, failed.IsError)
	require.NoError(t, connection.Close())
	_, err = tool.Handler(ctx, nil)
	require.Error(t, err)

	got := spans.GetSpans()
	require.Len(t, got, 3)
	attributes := []attribute.KeyValue{
		attribute.String("mcp.method.name", "tools/call"),
		attribute.String("gen_ai.operation.name", "execute_tool"),
		attribute.String("gen_ai.tool.name", "echo"),
		attribute.String("mcp.protocol.version", "2025-11-25"),
		attribute.String("network.transport", "pipe"),
	}
	for i, kind := range []string{"", "tool_error", "_OTHER"} {
		want, status := attributes, sdktrace.Status{}
		if kind != "" {
			want, status = append(attributes[:5:5], attribute.String("error.type", kind)), sdktrace.Status{Code: codes.Error}
		}
		assert.Equal(t, "tools/call echo", got[i].Name)
		assert.Equal(t, trace.SpanKindClient, got[i].SpanKind)
		assert.Equal(t, parent.SpanContext().SpanID(), got[i].Parent.SpanID())
		assert.Equal(t, want, got[i].Attributes)
		assert.Equal(t, status, got[i].Status)
		assert.NotContains(t, fmt.Sprint(got[i]), "secret")
	}
	assert.JSONEq(t, fmt.Sprintf(`{"traceparent": "00-%s-%s-01"}`, got[0].SpanContext.TraceID(), got[0].SpanContext.SpanID()), result.Content)

	var all metricdata.ResourceMetrics
	require.NoError(t, metrics.Collect(t.Context(), &all))
	require.Len(t, all.ScopeMetrics, 1)
	require.Len(t, all.ScopeMetrics[0].Metrics, 1)
	duration := all.ScopeMetrics[0].Metrics[0]
	assert.Equal(t, "mcp.client.operation.duration", duration.Name)
	assert.Equal(t, "s", duration.Unit)
	var kinds []string
	for _, point := range duration.Data.(metricdata.Histogram[float64]).DataPoints {
		assert.EqualValues(t, 1, point.Count)
		assert.Positive(t, point.Sum)
		name, _ := point.Attributes.Value("gen_ai.tool.name")
		assert.Equal(t, "echo", name.AsString())
		kind, _ := point.Attributes.Value("error.type")
		kinds = append(kinds, kind.AsString())
	}
	assert.ElementsMatch(t, []string{"", "tool_error", "_OTHER"}, kinds)
}

func TestErrorTypes(t *testing.T) {
	for want, err := range map[string]error{
		"canceled":       context.Canceled,
		"timeout":        os.ErrDeadlineExceeded,
		"server_stopped": mcp.ErrServerStopped,
		"503":            &mcp.HTTPError{StatusCode: 503},
		"_OTHER":         errors.New("anything"),
	} {
		assert.Equal(t, want, errorType(mcp.ToolResult{}, fmt.Errorf("calling: %w", err)))
	}
	assert.Equal(t, "timeout", errorType(mcp.ToolResult{}, context.DeadlineExceeded))
}
