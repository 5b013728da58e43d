package mcp

// This file opens to the tests what has no other way in.

// ReadResult reads a result that was checked.
var ReadResult = readResult

// ReadAnswer reads whatever a server answered a call with.
func ReadAnswer(server *Server, tool string, result, err []byte) ToolResult {
	if err != nil {
		return server.refuse(refusal(err))
	}
	return readResult(server, tool, result)
}
