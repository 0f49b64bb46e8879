package demo

import (
	"io"
	"sync"
	"time"

	"github.com/gocampus/hark/internal/text"
)

// screen is what the audience sees: lines of events and of narration, one at a
// time, in the order in which they happen.
type screen struct {
	lang text.Lang

	mu  sync.Mutex
	out io.Writer
	err error // the first one of writing
}

// Write writes one event, for a follower.
func (s *screen) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.out.Write(line)
	s.err = err
	return n, err
}

// line writes one line as it is.
func (s *screen) line(line string) {
	_, _ = s.Write([]byte(line + "\n")) // failed tells
}

// say writes narration.
func (s *screen) say(m text.Message, pairs ...string) { s.line(s.lang.Say(m, pairs...)) }

// title begins a part.
func (s *screen) title(m text.Message, pairs ...string) {
	s.line("\n" + s.lang.Say(m, pairs...))
}

// stamped writes narration of a moment, in the form of an event's line.
func (s *screen) stamped(m text.Message, pairs ...string) {
	s.line(time.Now().Format("[15:04:05] ") + s.lang.Say(m, pairs...))
}

// typed shows the command that does what was just done.
func (s *screen) typed(command string) { s.line("$ " + command) }

// failed returns the first error of writing.
func (s *screen) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}
