package wire

import (
	"errors"
	"io"
	"sync"
)

const (
	// bufferSize is what a reader starts with, and has while little comes.
	bufferSize = 16 << 10
	// busySize is what it has while more comes than that: a quarter of the system
	// calls. A quiet watch does not hold it.
	busySize = 64 << 10
	// keepBuffer is the largest buffer that is kept once it is empty, so that
	// one huge object does not stay in memory for the life of a watch.
	keepBuffer = 256 << 10
	// maxEmptyReads is how often in a row a Read may return nothing at all.
	maxEmptyReads = 100
)

var (
	buffers     = sync.Pool{New: func() any { return new([bufferSize]byte) }}
	busyBuffers = sync.Pool{New: func() any { return new([busySize]byte) }}
)

// window is the part of a stream that is in memory: what was read and not yet
// skipped. It grows only when it is full of bytes that have arrived, so that no
// length that the stream claims can make it allocate.
type window struct {
	r          io.Reader
	buf        []byte // from a pool, or larger and our own
	start, end int    // the window is buf[start:end]
	busy       bool   // much comes: the last read filled its room, or would have filled a first buffer
	offset     int64  // of buf[start] in the stream
	err        error  // what ended the stream: io.EOF or an *Error; final
}

// bytes returns what is at hand. It is valid until the next fill or release.
func (w *window) bytes() []byte { return w.buf[w.start:w.end] }

// size returns how many bytes are at hand.
func (w *window) size() int { return w.end - w.start }

// skip drops the first n bytes of those at hand.
func (w *window) skip(n int) {
	w.start += n
	w.offset += int64(n)
}

// need gets n bytes at hand.
func (w *window) need(n int) error {
	for w.size() < n {
		if err := w.fill(n); err != nil {
			return err
		}
	}
	return nil
}

// discard skips n bytes, whether they are at hand or not.
func (w *window) discard(n int64) error {
	for {
		if size := int64(w.size()); size < n {
			n -= size
			w.skip(int(size))
		} else {
			w.skip(int(n))
			return nil
		}
		if err := w.fill(0); err != nil {
			return err
		}
	}
}

// fill reads at least one byte more, or returns io.EOF or an *Error. A full buffer
// is doubled, or grown to the number of bytes that are wanted in all if that is
// less.
func (w *window) fill(want int) error {
	if w.err != nil {
		return w.err
	}
	w.makeRoom(want)
	for range maxEmptyReads {
		n, err := w.r.Read(w.buf[w.end:])
		if n < 0 || n > len(w.buf)-w.end {
			n, err = 0, errors.New("the reader returned an impossible count")
		}
		w.end += n
		w.busy = n >= bufferSize || w.end == len(w.buf)
		if err != nil {
			w.fail(err)
		}
		if n > 0 {
			return nil // an error that came along counts once these are used up
		}
		if err != nil {
			return w.err
		}
	}
	w.fail(io.ErrNoProgress)
	return w.err
}

// fail ends the stream because its reader failed with err.
func (w *window) fail(err error) {
	if err != io.EOF {
		err = &Error{Offset: w.offset + int64(w.size()), What: "the stream cannot be read", Err: err}
	}
	w.err = err
}

// makeRoom sees to it that buf has room at its end.
func (w *window) makeRoom(want int) {
	size := w.size()
	if size == 0 {
		w.start, w.end = 0, 0
		if len(w.buf) > keepBuffer || len(w.buf) == busySize && !w.busy {
			w.recycle()
		}
	}
	switch room := len(w.buf) - w.end; {
	case w.buf == nil:
		w.buf = buffers.Get().(*[bufferSize]byte)[:]
	case len(w.buf) == bufferSize && w.busy:
		w.moveTo(busyBuffers.Get().(*[busySize]byte)[:])
	case w.start > 0 && (room < len(w.buf)/4 || size < len(w.buf)/8):
		copy(w.buf, w.bytes())
		w.start, w.end = 0, size
	case room == 0:
		w.moveTo(make([]byte, min(2*size, max(want, size+bufferSize))))
	}
}

// moveTo makes another, larger buffer the window's.
func (w *window) moveTo(buf []byte) {
	n := copy(buf, w.bytes())
	w.recycle()
	w.buf, w.start, w.end = buf, 0, n
}

// recycle gives buf back to the pool that it came from, if any.
func (w *window) recycle() {
	switch len(w.buf) {
	case bufferSize:
		buffers.Put((*[bufferSize]byte)(w.buf))
	case busySize:
		busyBuffers.Put((*[busySize]byte)(w.buf))
	}
	w.buf = nil
}

// release ends the window; every later fill returns err.
func (w *window) release(err error) {
	w.start, w.end = 0, 0
	w.err = err
	w.recycle()
}

// broken returns the error for a stream that ended inside something: err, or if
// that is io.EOF an *Error at the place where the stream ended.
func (w *window) broken(err error, inside string) error {
	if err == io.EOF {
		return &Error{Offset: w.offset + int64(w.size()), What: "stream ends inside " + inside, Err: io.ErrUnexpectedEOF}
	}
	return err
}
