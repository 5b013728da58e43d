package progress

import (
	"context"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, watch := Follow(t.Context(), nil, time.Second)
		for _, params := range []string{
			`{"progress":1}`, `{"progress":"2"}`, `{"progress":"30%"}`, `{"progress":null}`, `{"progress":"half"}`, `{"progress":{}}`,
			`{"progress":-1}`, `{"message":"working"}`, `{}`, `[1]`, ``,
		} {
			time.Sleep(999 * time.Millisecond)
			watch.Take([]byte(params))
			require.NoError(t, ctx.Err(), "whatever it says, the server is alive: %s", params)
		}
		time.Sleep(999 * time.Millisecond)
		synctest.Wait()
		require.NoError(t, ctx.Err())
		time.Sleep(time.Millisecond)
		synctest.Wait()
		require.ErrorIs(t, context.Cause(ctx), os.ErrDeadlineExceeded)
		assert.EqualError(t, context.Cause(ctx), "no answer or progress for 1s")
		watch.End()

		ctx, watch = Follow(t.Context(), nil, time.Second)
		watch.End()
		watch.Take([]byte(`{"progress":1}`)) // late: it must not wind the clock again
		time.Sleep(time.Hour)
		assert.Equal(t, context.Canceled, context.Cause(ctx))
	})
}

func TestRead(t *testing.T) {
	for params, want := range map[string]Update{
		`{"progress":2.5,"total":10,"message":"half way"}`: {2.5, 10, "half way"},
		`{"progress":"2.5","total":"10"}`:                  {2.5, 10, ""},
		`{"progress":" 30 %"}`:                             {30, 100, ""},
		`{"progress":"30%","total":200}`:                   {30, 200, ""},
		`{"progress":null,"message":"loading"}`:            {0, 0, "loading"},
		`{"progress":"Infinity","message":"x"}`:            {0, 0, "x"},
	} {
		got, ok := read([]byte(params))
		assert.True(t, ok, params)
		assert.Equal(t, want, got, params)
	}
	long, ok := read([]byte(`{"message":"` + strings.Repeat("x", 1<<20) + `"}`))
	assert.True(t, ok)
	assert.Less(t, len(long.Message), maxMessage+40)
	for _, params := range []string{`{"progress":null}`, `{"progress":"half"}`, `{"progress":"1e999"}`, `{"progress":"NaN"}`, `{"total":1}`, `{}`, `[]`, ``} {
		_, ok := read([]byte(params))
		assert.False(t, ok, params)
	}
}
