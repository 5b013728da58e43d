module github.com/seed94b59a13/mcp/examples/frameworks/bedrock

go 1.25.0

require github.com/seed94b59a13/mcp v0.0.0

replace github.com/seed94b59a13/mcp => ../../..

require github.com/aws/aws-sdk-go-v2/service/bedrockruntime v1.63.13

require github.com/stretchr/testify v1.12.1

require (
	github.com/aws/smithy-go v1.28.9 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/modelcontextprotocol/go-sdk v1.8.0 // indirect
	github.com/segmentio/asm v1.1.3 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/oauth2 v0.35.0 // indirect
	golang.org/x/sync v0.20.0 // indirect
	golang.org/x/sys v0.41.0 // indirect
	golang.org/x/time v0.15.0 // indirect
)
