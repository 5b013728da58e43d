package text

import (
	"strings"
	"testing"
	"time"

	"github.com/seed94b59a13/mcp/internal/raw"
)

// BenchmarkDecode compares decoding and cleaning a text of 32 MiB with decoding
// alone, by the best time of each: 1.15 is the target for plain text.
func BenchmarkDecode(b *testing.B) {
	for _, text := range []struct{ name, unit string }{
		{"plain", "The quick brown fox jumps over the lazy dog. "},
		{"lines", "The quick brown fox jumps over the lazy dog.\n"},
		{"windows", "The quick brown fox jumps over the lazy dog.\r\n"},
		{"german", "Zwölf Boxkämpfer jagen Viktor quer über den Sylter Deich.\n"},
		{"chinese", "我能吞下玻璃而不伤身体。"},
	} {
		b.Run(text.name, func(b *testing.B) {
			value := raw.AppendQuote(nil, strings.Repeat(text.unit, 32<<20/len(text.unit)))
			decode, both := time.Hour, time.Hour
			best := func(best *time.Duration, f func()) {
				start := time.Now()
				f()
				*best = min(*best, time.Since(start))
			}
			for b.Loop() {
				best(&decode, func() { raw.String(value) })
				best(&both, func() { Decode(value) })
			}
			b.ReportMetric(float64(both)/float64(decode), "of-decoding")
			b.ReportMetric(float64(both)/1e6, "ms")
		})
	}
}
