package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/gocampus/hark/internal/text"
	"github.com/gocampus/hark/record"
)

// tape is a recording that is open: a file with its parts, or standard input.
type tape struct {
	record.Events
	header record.Header
	name   string // for people
	path   string // as it was given
	close  func()
}

// openTape opens a recording.
func (s *session) openTape(path string) (*tape, error) {
	if path == standardInput {
		reader := record.NewReader(s.In)
		header, err := reader.Header()
		if err != nil {
			reader.Close()
			return nil, s.notARecording("stdin", err)
		}
		return &tape{Events: reader, header: header, name: "stdin", path: path, close: reader.Close}, nil
	}
	file, err := record.Open(path)
	if wrong, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, s.unreadable(path, wrong)
	}
	if err != nil {
		return nil, s.notARecording(path, err)
	}
	// It was only read: an error of closing says nothing.
	return &tape{Events: file, header: file.Header(), name: path, path: path, close: func() { _ = file.Close() }}, nil
}

// notARecording says that a file cannot be read at all.
func (s *session) notARecording(name string, err error) error {
	reason := err
	if damage, ok := errors.AsType[*record.DamageError](err); ok && !damage.Cut {
		reason = damage.Err
	}
	message := "error: " + s.say(text.NotARecording, "file", name, "reason", reason.Error())
	return &failure{code: exitError, message: message, try: s.say(text.TryFile, "file", shellWord(name)), err: err}
}

// openEnd says on standard error that a recording has no end, or not here.
func (s *session) openEnd(t *tape) {
	said := text.RecordingOpen
	switch {
	case t.Ended():
		return
	case t.Continues():
		said = text.RecordingGoesOn
	}
	_, _ = fmt.Fprintln(s.Err, s.say(said)) // else there is nobody to tell
}

// damaged says where a recording cannot be read on. That its end was cut off, as by
// a crash, is no error: what was recorded was played.
func (s *session) damaged(err error) error {
	damage, ok := errors.AsType[*record.DamageError](err)
	if !ok || errors.Is(err, io.EOF) {
		return err
	}
	name, offset := damage.Path, fmt.Sprint(damage.Offset)
	if name == "" {
		name = "stdin"
	}
	if damage.Cut {
		_, _ = fmt.Fprintln(s.Err, text.Printable(s.say(text.RecordingCut, "offset", offset, "file", name))) // likewise
		return nil
	}
	message := "error: " + s.say(text.RecordingDamage, "reason", err.Error())
	return &failure{code: exitError, message: message, try: s.say(text.TryWhole, "file", shellWord(name), "offset", offset), err: err}
}
