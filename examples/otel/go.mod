module github.com/seed94b59a13/mcp/examples/otel

go 1.26.0

require github.com/seed94b59a13/mcp v0.0.0

replace github.com/seed94b59a13/mcp => ../..

require go.opentelemetry.io/otel v1.47.0

require go.opentelemetry.io/otel/metric v1.47.0

require go.opentelemetry.io/otel/trace v1.47.0

require go.opentelemetry.io/otel/sdk v1.47.0

require go.opentelemetry.io/otel/sdk/metric v1.47.0

require github.com/stretchr/testify v1.12.1

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/go-logr/logr v1.4.4 // indirect
	github.com/go-logr/stdr v1.2.2 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/modelcontextprotocol/go-sdk v1.8.0 // indirect
	github.com/segmentio/asm v1.1.3 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	go.opentelemetry.io/auto/sdk v1.2.1 // indirect
	go.opentelemetry.io/otel/log v1.47.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/oauth2 v0.35.0 // indirect
	golang.org/x/sync v0.20.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/time v0.15.0 // indirect
)
