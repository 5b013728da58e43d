package raw

// This file reads numbers.

import "strconv"

// Whole reads a value as a whole number that is not negative, such as an id, a
// size or a token. Some servers write 1 as "1" or as 1.0.
func Whole(value []byte) (n int64, ok bool) {
	if IsString(value) {
		value = value[1 : len(value)-1]
	}
	if len(value) == 0 || len(value) > 24 {
		return 0, false
	}
	if n, err := strconv.ParseInt(string(value), 10, 64); err == nil {
		return n, n >= 0
	}
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil || f != float64(int64(f)) || f > 1<<53 || f < 0 {
		return 0, false
	}
	return int64(f), true
}
