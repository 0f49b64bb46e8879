package cli

import (
	"io"
	"sync"
)

// output is standard output. It remembers the first error, so that a reader
// that went away is told apart from everything else that can fail.
type output struct {
	mu  sync.Mutex
	w   io.Writer
	err error
}

// Write implements io.Writer. After an error nothing is written any more.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(p)
	o.err = err
	return n, err
}

// failed returns the first error of Write.
func (o *output) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
