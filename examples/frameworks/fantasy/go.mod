module github.com/seed94b59a13/mcp/examples/frameworks/fantasy

go 1.25.0

require github.com/seed94b59a13/mcp v0.0.0

replace github.com/seed94b59a13/mcp => ../../..
require charm.land/fantasy v0.41.2
require github.com/stretchr/testify v1.12.1
