package cluster

import (
	"bytes"
	"io"
	"os"
	"strings"
)

// Bounds of what an error shows of an output or a log.
const (
	tailLines = 30
	lineBytes = 500
)

// tail keeps the last lines of a text.
type tail struct {
	lines []string
	limit int
}

func newTail(limit int) *tail { return &tail{limit: limit} }

// add appends a line, cut to lineBytes.
func (t *tail) add(line string) {
	if len(line) > lineBytes {
		line = line[:lineBytes] + "…"
	}
	if len(t.lines) == t.limit {
		t.lines = append(t.lines[:0], t.lines[1:]...)
	}
	t.lines = append(t.lines, line)
}

// String joins the lines.
func (t *tail) String() string { return strings.Join(t.lines, "\n") }

// tailOfFile returns the last lines of a file, or why there are none.
func tailOfFile(name string) string {
	data, err := readEnd(name, tailLines*lineBytes)
	if err != nil {
		return err.Error()
	}
	t := newTail(tailLines)
	for line := range strings.Lines(string(data)) {
		t.add(strings.TrimRight(line, "\r\n"))
	}
	return t.String()
}

// readEnd reads at most the last limit bytes of a file: a log can be long.
func readEnd(name string, limit int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	start := max(0, info.Size()-limit)
	return io.ReadAll(io.NewSectionReader(file, start, limit))
}

// indent sets each line off from the message around it.
func indent(text string) string {
	return "    " + strings.ReplaceAll(text, "\n", "\n    ")
}

// lineWriter cuts what is written to it into lines. A line longer than maxLine is
// passed on in pieces.
type lineWriter struct {
	line    func(string)
	pending []byte
}

const maxLine = 64 << 10

// Write implements io.Writer.
func (w *lineWriter) Write(data []byte) (int, error) {
	w.pending = append(w.pending, data...)
	for {
		i := bytes.IndexByte(w.pending, '\n')
		if i < 0 && len(w.pending) < maxLine {
			return len(data), nil
		}
		if i < 0 {
			w.flush()
			return len(data), nil
		}
		w.line(strings.TrimRight(string(w.pending[:i]), "\r"))
		w.pending = w.pending[i+1:]
	}
}

// flush passes on a last line without an end.
func (w *lineWriter) flush() {
	if len(w.pending) > 0 {
		w.line(string(w.pending))
		w.pending = nil
	}
}
