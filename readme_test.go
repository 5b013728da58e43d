package mcp_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The blocks of the README compile: each is the body of a function that has
// the values which the text speaks of.
func TestReadme(t *testing.T) {
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go command is not there")
	}
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	here, err := os.Getwd()
	require.NoError(t, err)
	dir := t.TempDir()
	mod, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	sum, err := os.ReadFile("go.sum")
	require.NoError(t, err)
	mod = regexp.MustCompile(`(?m)^module .*`).ReplaceAll(mod, []byte("module example.test/readme"))
	mod = fmt.Appendf(mod, "\nrequire github.com/seed94b59a13/mcp v0.0.0\nreplace github.com/seed94b59a13/mcp => %s\n", filepath.ToSlash(here))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), mod, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o600))

	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(readme, -1)
	require.Greater(t, len(blocks), 5)
	for i, block := range blocks {
		body := string(block[1])
		var imports []string
		for _, path := range []string{"context", "encoding/json", "errors", "fmt", "net/http", "net/http/httptest", "os", "time",
			"sdk github.com/modelcontextprotocol/go-sdk/mcp", "github.com/seed94b59a13/mcp", "github.com/seed94b59a13/mcp/oauth"} {
			name := path[strings.LastIndex(path, "/")+1:]
			alias, path, ok := strings.Cut(path, " ")
			if ok {
				name = alias
			} else {
				alias, path = "", alias
			}
			if name == "context" || name == "json" || name == "mcp" || strings.Contains(body, name+".") {
				imports = append(imports, fmt.Sprintf("%s %q", alias, path))
			}
		}
		source := fmt.Sprintf(`package readme

import (
	%s
)

func block%d(ctx context.Context, connection *mcp.Connection, server mcp.Server, servers []mcp.Server, tool mcp.Tool, result mcp.ToolResult, arguments json.RawMessage, approved map[string]string) error {
	{
%s
	}
%s
}

var _ = block%d
`, strings.Join(imports, "\n\t"), i, used(body), end(body), i)
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("block%d.go", i)), []byte(source), 0o600))
	}
	command := exec.Command(goCommand, "vet", "./...")
	command.Dir = dir
	command.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
}

// used adds a use of what a block only declares.
func used(body string) string {
	for _, name := range []string{"result", "err", "tools", "definition"} {
		if regexp.MustCompile(`(?m)^(\w+, )?`+name+`(, \w+)? :=`).MatchString(body) && strings.Count(body, name) == 1 {
			body += "_ = " + name + "\n"
		}
	}
	if strings.Contains(body, "result, err :=") && !strings.Contains(body, "if err") {
		body += "_ = err\n"
	}
	return body
}

// end is the return of a block that does not end in an endless loop.
func end(body string) string {
	if strings.HasPrefix(body, "for {") || strings.HasPrefix(body, "for wait") {
		return ""
	}
	return "return nil"
}
