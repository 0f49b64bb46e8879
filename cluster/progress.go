package cluster

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// progressInterval is the time between two lines about one step.
const progressInterval = 10 * time.Second

// progress writes lines about a build: each step's begin and end and, between them,
// how far it is. All methods are safe for concurrent use.
type progress struct {
	mu  sync.Mutex // held for each write: one line after the other is all it is for
	out io.Writer  // nil for none

	step   *step // the step between begin and end, of the goroutine that calls them
	ticker sync.WaitGroup
}

// step is what is known of the part of a build that is going on.
type step struct {
	name  string
	start time.Time
	stop  chan struct{}

	mu         sync.Mutex // guards the fields below
	downloaded int
	compiled   int
	current    string // the package that was compiled last
}

func newProgress(out io.Writer) *progress { return &progress{out: out} }

// printf writes a line. The writer's errors are its own affair: a build goes on
// without somebody to watch it.
func (p *progress) printf(format string, args ...any) {
	if p.out == nil {
		return
	}
	line := fmt.Sprintf("cluster: "+format+"\n", args...)
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = io.WriteString(p.out, line)
}

// begin starts a step, about which a line is written every progressInterval until
// end.
func (p *progress) begin(name string) {
	s := &step{name: name, start: time.Now(), stop: make(chan struct{})}
	p.step = s
	p.printf("%s …", name)
	p.ticker.Go(func() {
		tick := time.NewTicker(progressInterval)
		defer tick.Stop()
		for {
			select {
			case <-s.stop:
				return
			case <-tick.C:
				p.printf("%s", s)
			}
		}
	})
}

// line takes in a line that the go command printed.
func (p *progress) line(line string) {
	s := p.step
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case strings.HasPrefix(line, "go: downloading "):
		s.downloaded++
	case isPackageLine(line):
		s.compiled++
		s.current = line
	}
}

// end ends the step.
func (p *progress) end(err error) {
	s := p.step
	close(s.stop)
	p.ticker.Wait()
	if err != nil {
		p.printf("%s failed after %s", s.name, s.elapsed())
		return
	}
	p.printf("%s done in %s", s.name, s.elapsed())
}

func (s *step) elapsed() time.Duration { return time.Since(s.start).Round(time.Second) }

// String says how far the step is.
func (s *step) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := fmt.Sprintf("%s %s", s.name, s.elapsed())
	if s.downloaded > 0 {
		line += fmt.Sprintf(", %d modules fetched", s.downloaded)
	}
	if s.compiled > 0 {
		line += fmt.Sprintf(", %d packages compiled, now %s", s.compiled, s.current)
	}
	return line
}
