// Package goid tells one goroutine from another.
//
// Go hides goroutine identities for good reasons. The one use here is to notice
// that a callback closes its own registration: waiting for the call in flight
// would then wait for itself. See docs/decisions/0004-close-from-inside.md.
package goid

import (
	"bytes"
	"runtime"
	"strconv"
)

// Current returns the number of the calling goroutine, as stack traces show it.
// It costs about a microsecond; 0 means that the trace could not be read.
func Current() uint64 {
	var buf [64]byte
	trace := bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine "))
	digits, _, _ := bytes.Cut(trace, []byte(" "))
	id, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		return 0
	}
	return id
}
