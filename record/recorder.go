package record

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/gocampus/hark/internal/redact"
	"github.com/gocampus/hark/kube"
)

// Options of a Recorder. The zero value is ready to use.
type Options struct {
	// Server is the version of the API server, for the header; "" if unknown.
	Server string
	// Streams that will be registered, for the header and in this order; others are
	// added when they are registered. Default none.
	Streams []Stream
	// Redact names further fields to hide in all objects, beside the values of
	// Secrets, such as spec.containers.env.value; see docs/record.md for paths.
	// Equal values of one field of one object are still seen to be equal.
	Redact []string
	// FlushInterval is how long what was told may wait in memory; 0 means half a
	// second. A MiB is flushed at once.
	FlushInterval time.Duration
	// MaxSize in bytes from which on a file is rotated, not counting the state
	// that it begins with; 0 means never. See Create.
	MaxSize int64
	// Keep is how many parts of a rotated recording are kept, the newest
	// included; 0 means all.
	Keep int
	// OpenFile opens the files that Create writes; nil opens those of the system,
	// with mode 0600, and refuses to write over one that is not empty.
	OpenFile func(path string) (Output, error)
}

// defaultFlushInterval leaves the other half of a second to the disk.
const defaultFlushInterval = 500 * time.Millisecond

// flushSize is how many bytes are written without waiting for the interval.
const flushSize = 1 << 20

// Output is a file as far as a Recorder needs it; *os.File is one.
type Output interface {
	io.WriteCloser
	// Truncate takes a half-written frame off the end.
	Truncate(size int64) error
	// Sync makes what was written outlive a crash of the machine.
	Sync() error
}

// ErrClosed tells that a Recorder was closed.
var ErrClosed = errors.New("record: the recorder was closed")

// WriteError tells that a recording could not be written on, as when the disk is
// full. What was written before can be read.
type WriteError struct {
	Path string // "" for a writer without one
	Err  error
}

// Error implements error.
func (e *WriteError) Error() string {
	if e.Path == "" {
		return "record: " + e.Err.Error()
	}
	return "record: " + e.Path + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *WriteError) Unwrap() error { return e.Err }

// Recorder writes a recording. Its methods are safe for concurrent use. Whoever
// tells it something waits while a MiB is compressed and written, and no longer:
// nothing piles up in memory. After an error of writing, which Run returns, all
// methods return at once and do nothing.
type Recorder struct {
	options Options
	paths   []redact.Path
	marker  *redact.Marker
	encoder *zstd.Encoder
	failed  chan struct{} // closed with failure

	mu     sync.Mutex // held while the file is written, so that order stays
	out    *part
	buffer []byte // lines that wait for a flush
	packed []byte
	header Header
	begun  bool // the header is in buffer or written
	// rotating tells that a part is being begun.
	rotating bool
	taps     []*Tap
	failure  error
	stats    Stats
}

// Stats is what a Recorder shows of itself.
type Stats struct {
	Events  int   // that were written or wait to be
	Bytes   int64 // that were written, in all parts
	Part    int   // the number of the part that is being written
	Flushed time.Time
}

// New returns a recorder that writes to a writer, without rotation. It writes
// nothing before Run, Flush or Close. The error is about Options.Redact.
func New(w io.Writer, o Options) (*Recorder, error) {
	o.MaxSize, o.Keep = 0, 0
	return newRecorder(&part{out: plainWriter{w}}, o)
}

func newRecorder(out *part, o Options) (*Recorder, error) {
	if o.FlushInterval <= 0 {
		o.FlushInterval = defaultFlushInterval
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	r := &Recorder{options: o, marker: redact.NewMarker(), encoder: encoder, failed: make(chan struct{}), out: out}
	for _, text := range o.Redact {
		path, err := redact.ParsePath(text)
		if err != nil {
			return nil, fmt.Errorf("record: redact: %w", err)
		}
		r.paths = append(r.paths, path)
	}
	for i, stream := range o.Streams {
		r.taps = append(r.taps, &Tap{recorder: r, stream: stream, index: i, announced: true})
	}
	r.header = Header{ID: rand.Text(), Part: 1, Time: time.Now(), Server: o.Server, Redacted: o.Redact}
	return r, nil
}

// Run flushes in time until ctx ends, closes the recording, and returns nil; or
// it returns the error of writing, a *WriteError, as soon as there is one. End
// ctx when nothing is told any more: what comes later is lost.
func (r *Recorder) Run(ctx context.Context) error {
	ticker := time.NewTicker(r.options.FlushInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			r.noteSynced()
			_ = r.Flush() // failed tells
		case <-r.failed:
			return r.Close()
		case <-ctx.Done():
			return r.Close()
		}
	}
}

// Flush writes what waits.
func (r *Recorder) Flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flush()
	return r.failure
}

// Close ends the recording and closes its file. It returns the error of writing,
// if there was one. Closing again changes nothing.
func (r *Recorder) Close() error {
	r.noteSynced()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure == nil {
		r.append(&line{Record: endLine, Time: time.Now()})
		r.flush()
	}
	if err := r.out.close(); r.failure == nil {
		r.fail(err)
	}
	if r.failure == nil {
		r.failure = ErrClosed
	}
	if errors.Is(r.failure, ErrClosed) {
		return nil
	}
	return r.failure
}

// Stats returns the current numbers.
func (r *Recorder) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.stats
	s.Part = r.header.Part
	return s
}

// fail ends the recording with an error; nil is none. The caller holds mu.
func (r *Recorder) fail(err error) {
	if err == nil || r.failure != nil {
		return
	}
	r.failure = &WriteError{Path: r.out.path, Err: err}
	r.buffer, r.packed = nil, nil
	for _, t := range r.taps {
		t.state = nil
	}
	close(r.failed)
}

// append adds a line to what waits, after the header if that was not written yet.
// The caller holds mu.
func (r *Recorder) append(l *line) {
	if r.failure != nil {
		return
	}
	if !r.begun {
		r.begun = true
		r.append(r.headerLine())
	}
	l.Time = l.Time.UTC()
	var err error
	if r.buffer, err = l.appendTo(r.buffer); err != nil {
		r.fail(err) // an object that is not JSON: kube.Kind.JSON has no such result
		return
	}
	if len(r.buffer) >= flushSize {
		r.write()
	}
}

func (r *Recorder) headerLine() *line {
	l := &line{
		Record: headerLine, Time: r.header.Time, ID: r.header.ID, Part: r.header.Part,
		Server: r.header.Server, Redacted: r.header.Redacted,
	}
	for _, t := range r.taps {
		l.Streams = append(l.Streams, lineOf(t.stream))
	}
	return l
}

// flush writes what waits, the header at least, and makes it last. The caller holds mu.
func (r *Recorder) flush() {
	if r.failure == nil && !r.begun {
		r.begun = true
		r.append(r.headerLine())
	}
	if r.failure != nil || len(r.buffer) == 0 {
		return
	}
	r.write()
	if r.failure == nil {
		r.fail(r.out.sync())
	}
}

// write writes what waits as one frame and rotates when it is time. The caller
// holds mu.
func (r *Recorder) write() {
	r.packed = r.encoder.EncodeAll(r.buffer, r.packed[:0])
	if err := r.out.write(r.packed); err != nil {
		r.fail(err)
		return
	}
	r.stats.Bytes += int64(len(r.packed))
	r.stats.Flushed = time.Now()
	if r.buffer = r.buffer[:0]; cap(r.buffer) > 4*flushSize {
		r.buffer, r.packed = nil, nil // after one huge object
	}
	if r.options.MaxSize > 0 && !r.rotating && r.out.size-r.out.state >= r.options.MaxSize {
		r.rotate()
	}
}

// Tap registers a stream and returns what to tell its events. Streams come into the
// header if they are in Options.Streams or registered before the first flush.
func (r *Recorder) Tap(kind kube.Kind, o kube.SourceOptions) *Tap {
	t := &Tap{recorder: r, stream: StreamOf(kind, o)}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, known := range r.taps {
		if known.announced && known.stream == t.stream {
			known.announced = false
			return known
		}
	}
	t.index = len(r.taps)
	r.taps = append(r.taps, t)
	if r.begun {
		described := lineOf(t.stream)
		r.append(&line{Record: newStream, Time: time.Now(), New: &described, Stream: &t.index})
	}
	return t
}
