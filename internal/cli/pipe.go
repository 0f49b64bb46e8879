package cli

import (
	"errors"
	"io"
)

// closedPipe tells the same of pipes inside the process.
func closedPipe(err error) bool { return errors.Is(err, io.ErrClosedPipe) }
