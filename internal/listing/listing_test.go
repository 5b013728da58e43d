package listing

import (
	"context"
	"errors"
	"hash/maphash"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed94b59a13/mcp/internal/rpc"
)

// What is read of a list that came ends with its context, between two tools and
// within one.
func TestReadEnds(t *testing.T) {
	closed := errors.New("closed")
	large := `{"properties":{"a":{"enum":[` + strings.Repeat(`"a",`, 100_000) + `1]}}}`
	for _, text := range []string{
		`{"tools":[` + strings.Repeat(`{"name":"t"},`, 1000) + `{"name":"last"}]}`,
		`{"tools":[{"name":"t","inputSchema":` + large + `}]}`,
	} {
		work, stop := context.WithCancelCause(t.Context())
		list, err := Read(t.Context(), Config{
			Name:  func(tool string) string { return tool },
			Seed:  maphash.MakeSeed(),
			Work:  work,
			Begin: func(int) {},
			Take:  func(*Tool) {},
			Ask: func(context.Context, string) (rpc.Response, int, error) {
				stop(closed)
				return rpc.Response{Result: []byte(text)}, 0, nil
			},
		}, &List{})
		assert.ErrorIs(t, err, closed)
		assert.Nil(t, list)
	}
}
