package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/gocampus/hark/harktest"
	"github.com/gocampus/hark/internal/text"
)

// standardInput is the name of standard input where a file is expected.
const standardInput = "-"

// loadAll loads files into a server, one after the other, and returns how many
// objects they held. It ends early, with the cause, when ctx ends.
func (s *session) loadAll(ctx context.Context, server *harktest.Server, paths []string) (objects int, err error) {
	for _, path := range paths {
		n, err := s.load(ctx, server, path)
		if objects += n; err != nil {
			return objects, err
		}
	}
	return objects, nil
}

// load loads one file.
func (s *session) load(ctx context.Context, server *harktest.Server, path string) (int, error) {
	in, name := interruptible{Reader: s.In}, "stdin"
	if path != standardInput {
		file, err := os.Open(path)
		if err != nil {
			return 0, s.unreadable(path, err)
		}
		in, name = interruptible{Reader: file, Closer: file}, path
	}
	n, err := in.read(ctx, server.Load)
	switch {
	case err == nil:
		return n, nil
	case ctx.Err() != nil:
		return n, context.Cause(ctx)
	}
	if wrong, ok := errors.AsType[*fs.PathError](err); ok {
		return n, s.unreadable(path, wrong)
	}
	return n, s.badObject(name, n+1, err)
}

// unreadable words what is wrong with a file.
func (s *session) unreadable(path string, err error) *failure {
	try := s.say(text.TryFile, "file", shellWord(path))
	return &failure{code: exitError, message: "error: " + err.Error(), try: try, err: err}
}

// badObject words what is wrong with an object of a file, counted from 1.
func (s *session) badObject(name string, number int, err error) *failure {
	place := fmt.Sprintf("object %d: ", number)
	message := err.Error()
	for _, said := range []string{"harktest: ", "load: ", place} {
		message = strings.TrimPrefix(message, said)
	}
	return &failure{code: exitError, message: "error: " + name + ": " + place + message, try: s.say(text.TryObject), err: err}
}

// interruptible is an input that is read until a context ends.
type interruptible struct {
	io.Reader
	// Closer ends a Read that waits. Without one, as for standard input, such a Read
	// goes on, alone, until something is typed or the process ends.
	io.Closer
}

// read gives the input to a function. When ctx ends, what the function reads from
// fails. Closer is closed at the end.
func (in interruptible) read(ctx context.Context, do func(io.Reader) (int, error)) (int, error) {
	reader, writer := io.Pipe()
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, err := io.Copy(writer, in.Reader)
		_ = writer.CloseWithError(err) // it never fails
	}()
	stop := context.AfterFunc(ctx, func() { _ = reader.CloseWithError(context.Cause(ctx)) }) // the same
	defer stop()
	n, err := do(reader)
	_ = reader.Close()
	if in.Closer != nil {
		_ = in.Close() // it was only read
		<-copied
	}
	return n, err
}
