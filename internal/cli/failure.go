package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gocampus/hark/internal/text"
)

// failure is an error as a user sees it: what went wrong, what to try, and the
// exit code.
type failure struct {
	code    int
	message string // complete, with kubectl's "error: " where kubectl has it
	try     string // "" when there is nothing to try
	err     error  // the cause, or nil
}

// Error implements error.
func (f *failure) Error() string { return f.message }

// Unwrap returns the cause.
func (f *failure) Unwrap() error { return f.err }

// usageError is a failure of the one who typed: exit code 2.
func usageError(message, try string) *failure {
	return &failure{code: exitUsage, message: "error: " + message, try: try}
}

// tryHelp is what helps with a wrong use of cmd.
func (s *session) tryHelp(cmd *cobra.Command) string {
	return s.say(text.TryHelp, "command", cmd.CommandPath())
}

// finish reports how the command ended and returns the exit code.
func (s *session) finish(err error) int {
	switch {
	case readerGone(s.out.failed()) || readerGone(err):
		return exitDone // whoever read had enough
	case err == nil:
		err = s.out.failed()
	case errors.Is(err, context.Canceled) || errors.Is(err, errInterrupted):
		return exitDone
	}
	if err == nil {
		return exitDone
	}
	f := s.failureOf(err)
	report(s.Err, f)
	return f.code
}

// report writes a failure. Where standard error is closed there is nobody to
// tell, so errors of writing are of no use.
func report(w io.Writer, f *failure) {
	_, _ = fmt.Fprintln(w, text.Printable(oneLine(f.message)))
	if f.try != "" {
		_, _ = fmt.Fprintln(w, "try: "+f.try)
	}
}

// oneLine makes one line of a message of several.
func oneLine(message string) string {
	return strings.Join(strings.FieldsFunc(message, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}
