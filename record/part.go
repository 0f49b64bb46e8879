package record

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gocampus/hark/internal/atomicfile"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/watch"
)

// part is the file that is being written. Its user serializes calls.
type part struct {
	path  string // "" for a writer
	out   Output
	size  int64 // of whole frames
	state int64 // of what it began with
}

// write writes a frame whole or, as far as the file lets itself be cut, not at all.
func (p *part) write(frame []byte) error {
	n, err := p.out.Write(frame)
	if err == nil && n < len(frame) {
		err = io.ErrShortWrite
	}
	if err != nil {
		if n > 0 {
			_ = p.out.Truncate(p.size) // else the reader sees where it is cut
		}
		return err
	}
	p.size += int64(n)
	return nil
}

// sync is Sync, where there is such a thing: not of pipes and devices.
func (p *part) sync() error {
	err := p.out.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrInvalid) || notSyncable(err) {
		return nil
	}
	return err
}

func (p *part) close() error {
	if p.out == nil {
		return nil
	}
	out := p.out
	p.out = nil
	return out.Close()
}

// plainWriter makes an Output of a writer, which stays open.
type plainWriter struct{ io.Writer }

// Close implements Output.
func (plainWriter) Close() error { return nil }

// Truncate implements Output.
func (plainWriter) Truncate(int64) error { return errors.ErrUnsupported }

// Sync implements Output.
func (plainWriter) Sync() error { return nil }

// NotEmptyError tells that a file to record to holds something already.
type NotEmptyError struct{ Path string }

// Error implements error.
func (e *NotEmptyError) Error() string {
	return fmt.Sprintf("record: %s exists and is not empty", e.Path)
}

// Is makes errors.Is(err, fs.ErrExist) true.
func (e *NotEmptyError) Is(target error) bool { return target == fs.ErrExist }

// openNew opens a file for writing that only its owner can read. One that exists
// must be empty, as after mktemp; devices and pipes always are.
func openNew(path string) (Output, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	switch {
	case err == nil && info.Mode().IsRegular() && info.Size() > 0:
		err = &NotEmptyError{Path: path}
	case err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0:
		err = file.Chmod(0o600)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Create returns a recorder that writes to a file, which it opens: mode 0600, and
// it must not exist or be empty. It writes nothing before Run, Flush or Close.
//
// A file that has grown by Options.MaxSize is renamed: FILE.1 is the oldest part,
// FILE.2 the next, FILE is the newest. A part begins with the state at that time,
// so that it can be read alone. Parts of an older recording must not be in the way.
//
// Errors: a *NotEmptyError, one of the file, or one about Options.Redact.
func Create(path string, o Options) (*Recorder, error) {
	if o.OpenFile == nil {
		o.OpenFile = openNew
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		o.MaxSize = 0 // a pipe has no parts
	}
	var err error
	if o.MaxSize > 0 {
		if path, err = readyForParts(path); err != nil {
			return nil, err
		}
	}
	r, err := newRecorder(&part{path: path}, o)
	if err != nil {
		return nil, err
	}
	if r.out.out, err = o.OpenFile(path); err != nil {
		return nil, err
	}
	return r, nil
}

// partPath is the name of a part that is complete.
func partPath(path string, number int) string { return path + "." + strconv.Itoa(number) }

// PartOf tells which file a name FILE.N is a complete part of, by its form alone, and its
// number from 1. The number of other names is 0.
func PartOf(name string) (file string, number int) {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return name, 0
	}
	number, err := strconv.Atoi(name[dot+1:])
	if err != nil || number <= 0 || strconv.Itoa(number) != name[dot+1:] {
		return name, 0
	}
	return name[:dot], number
}

// manyParts is a number that no recording reaches.
const manyParts = 99_999_999

// readyForParts returns where a file's links lead to, as the file is renamed and not the
// link, and refuses what is in the way of parts.
func readyForParts(path string) (string, error) {
	target, err := atomicfile.Target(path)
	if err != nil {
		return "", err
	}
	if older := partsOf(target); len(older) > 0 {
		return "", &NotEmptyError{Path: partPath(target, older[0])} // it would be replaced
	}
	if _, err := os.Lstat(partPath(target, manyParts)); errors.Is(err, syscall.ENAMETOOLONG) {
		return "", &fs.PathError{Op: "rotate", Path: path, Err: errors.New("the names of the parts would be too long")}
	}
	return target, nil
}

// partsOf returns the numbers of the complete parts beside a file, sorted.
func partsOf(path string) []int {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil // whoever opens the file will be told
	}
	var numbers []int
	for _, entry := range entries {
		if base, number := PartOf(entry.Name()); number > 0 && base == filepath.Base(path) {
			numbers = append(numbers, number)
		}
	}
	slices.Sort(numbers)
	return numbers
}

// rotate begins the next part. The caller holds mu.
func (r *Recorder) rotate() {
	old := r.out
	r.fail(r.finishPart(old))
	if r.failure != nil {
		return
	}
	next := &part{path: old.path}
	var err error
	if next.out, err = r.options.OpenFile(next.path); err != nil {
		r.fail(err)
		return
	}
	r.out = next
	if gone := r.header.Part + 1 - r.options.Keep; r.options.Keep > 0 && gone > 0 {
		_ = os.Remove(partPath(old.path, gone)) // one more part is no reason to stop
	}
	r.begin()
	next.state = next.size
}

// finishPart closes a part and gives it its name.
func (r *Recorder) finishPart(old *part) error {
	last := &line{Schema: Schema, Record: rotatedLine, Time: time.Now().UTC()}
	text, err := last.appendTo(nil)
	if err == nil {
		err = old.write(r.encoder.EncodeAll(text, nil))
	}
	if err == nil {
		err = old.sync()
	}
	if err = errors.Join(err, old.close()); err != nil {
		return err
	}
	return os.Rename(old.path, partPath(old.path, r.header.Part))
}

// begin writes a part's header and the state that it begins with.
func (r *Recorder) begin() {
	r.rotating = true // the state is not rotated itself
	defer func() { r.rotating = false }()
	r.header.Part++
	r.header.Time = time.Now()
	r.append(r.headerLine())
	for _, t := range r.taps {
		t.appendState(r.header.Time)
	}
	if r.failure == nil && len(r.buffer) > 0 {
		r.write()
	}
}

// appendState writes what is true of a stream, in the order of the keys.
func (t *Tap) appendState(at time.Time) {
	keys := make([]key.Key, 0, len(t.state))
	for k := range t.state {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, key.Key.Compare)
	for _, k := range keys {
		l := t.line(stateLine, k, t.state[k])
		l.Time, l.Type, l.Cause = at, string(watch.EventAdded), watch.CauseInitial.String()
		t.recorder.append(l)
	}
	if t.synced {
		t.recorder.append(&line{Record: syncedLine, Time: at, Stream: &t.index})
	}
}
