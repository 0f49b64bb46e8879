package cli

import (
	"context"
	"errors"
	"os"
	"sync"
)

// errReaderLeft is the cause of a context that ended because nobody reads
// standard output any more.
var errReaderLeft = errors.New("nobody reads the output any more")

// whileRead returns a context that ends when nobody reads standard output any
// more, such as after "| head -1" has had its line. stop waits until nothing is
// left of it.
func (s *session) whileRead(parent context.Context) (ctx context.Context, stop context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	file, isFile := s.Out.(*os.File)
	var watching sync.WaitGroup
	if isFile {
		watching.Go(func() {
			if readerLeft(ctx, file) {
				cancel(errReaderLeft)
			}
		})
	}
	return ctx, func() {
		cancel(nil)
		watching.Wait()
	}
}
