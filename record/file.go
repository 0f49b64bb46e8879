package record

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/gocampus/hark/internal/atomicfile"
)

// File reads a recording with all its parts, from the oldest that is there. It is
// for one goroutine.
type File struct {
	parts  []string // to read yet
	path   string   // that is being read
	file   *os.File
	reader *Reader
	header Header // of the first part
	before Header // of the part that was read last
	err    error  // of opening a part, which is final
}

// Open opens a recording. FILE is read after its parts FILE.1, FILE.2 and so on
// where there are such; a part that is named itself is read alone. Errors are
// those of the file and of Header.
func Open(path string) (*File, error) {
	if target, err := atomicfile.Target(path); err == nil { // what is no file has no parts
		path = target
	}
	parts, err := chain(path)
	if err != nil {
		return nil, err
	}
	f := &File{parts: parts}
	if err := f.open(); err != nil {
		return nil, err
	}
	f.header = f.before
	return f, nil
}

// chain returns the paths of the parts of a recording, from the oldest.
func chain(path string) ([]string, error) {
	newest, err := headerOf(path)
	numbers := partsOf(path)
	if between(err) && len(numbers) > 0 {
		last := numbers[len(numbers)-1]
		older, olderErr := headerOf(partPath(path, last))
		if olderErr == nil {
			parts := append(before(path, numbers[:len(numbers)-1], older), partPath(path, last))
			if !errors.Is(err, fs.ErrNotExist) {
				parts = append(parts, path) // whose reader says that it is cut
			}
			return parts, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, err
	}
	// Of a file that cannot be read Open says so.
	return append(before(path, numbers, newest), path), nil
}

// between tells that a recording ended between two parts, as when the disk was full
// there: the newest file is not there yet, or its header is not.
func between(err error) bool {
	damage, ok := errors.AsType[*DamageError](err)
	return errors.Is(err, fs.ErrNotExist) || ok && damage.Cut
}

// before returns the parts that come before one without a gap.
func before(path string, numbers []int, newest Header) []string {
	var paths []string
	for number := newest.Part - 1; number > 0 && slices.Contains(numbers, number); number-- {
		older, err := headerOf(partPath(path, number))
		if err != nil || older.ID != newest.ID || older.Part != number {
			break
		}
		paths = append(paths, partPath(path, number))
	}
	slices.Reverse(paths)
	return paths
}

// headerOf reads the header of a file.
func headerOf(path string) (Header, error) {
	file, err := os.Open(path)
	if err != nil {
		return Header{}, err
	}
	defer func() { _ = file.Close() }() // it was only read
	r := NewReader(file)
	defer r.Close()
	return r.Header()
}

// open opens the next part.
func (f *File) open() error {
	path := f.parts[0]
	f.parts = f.parts[1:]
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	reader := NewReader(file)
	header, err := reader.Header()
	if err != nil {
		reader.Close()
		return errors.Join(named(err, path), file.Close())
	}
	reader.skipState = f.before.Part > 0 // the part before has told it
	f.path, f.file, f.reader, f.before = path, file, reader, header
	return nil
}

// named adds the path to a *DamageError.
func named(err error, path string) error {
	if damage, ok := errors.AsType[*DamageError](err); ok {
		damage.Path = path
	}
	return err
}

// Header returns the header of the oldest part.
func (f *File) Header() Header { return f.header }

// Streams are those that are known so far, in the order of their indexes.
func (f *File) Streams() []Stream { return f.reader.Streams() }

// Ended tells, once Next has returned io.EOF, whether the recording was ended in
// good order; else its program crashed or still records.
func (f *File) Ended() bool { return f.reader.Ended() }

// Continues tells, once Next has returned io.EOF, that the recording goes on in a
// part that was not asked for, or is not there.
func (f *File) Continues() bool { return f.reader.Continues() }

// Next returns the next event; see Reader.Next.
func (f *File) Next() (Event, error) {
	for {
		if f.err != nil {
			return Event{}, f.err
		}
		e, err := f.reader.Next()
		switch {
		case err == nil:
			return e, nil
		case err != io.EOF:
			return Event{}, named(err, f.path)
		case len(f.parts) == 0:
			return Event{}, io.EOF
		case !f.reader.rotated:
			return Event{}, &DamageError{Path: f.path, Cut: true, Offset: f.reader.frames.offset, Err: io.ErrUnexpectedEOF}
		}
		file, reader := f.file, f.reader
		if f.err = f.open(); f.err != nil {
			return Event{}, f.err
		}
		reader.Close()
		_ = file.Close() // it was only read
	}
}

// Close closes the file.
func (f *File) Close() error {
	f.reader.Close()
	return f.file.Close()
}
