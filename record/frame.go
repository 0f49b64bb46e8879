package record

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// MaxFrame bounds what one frame holds, before compression and after. A Recorder
// writes frames of little more than 1 MiB, or of one object. Files that were
// compressed again by another program may have larger ones, and have to be read
// decompressed.
const MaxFrame = 64 << 20

// maxBlock is the most that one block of a frame can hold, by RFC 8878, 3.1.1.2.4.
const maxBlock = 128 << 10

// frames reads a file frame by frame. A frame is handed out whole and verified, or
// not at all. A file that is not compressed is handed out line by line.
type frames struct {
	in      *bufio.Reader
	decoder *zstd.Decoder
	plain   bool
	began   bool
	offset  int64 // of the next frame
	start   int64 // of the frame that was returned last
	packed  []byte
	content []byte
}

func newFrames(in io.Reader) *frames {
	return &frames{in: bufio.NewReaderSize(in, maxBlock)}
}

// next returns the content of the next frame, valid until the next call, or io.EOF
// between two frames.
func (f *frames) next() ([]byte, error) {
	if !f.began {
		f.began = true
		first, err := f.in.Peek(1)
		if err != nil {
			return nil, err
		}
		f.plain = first[0] == '{'
	}
	f.start = f.offset
	if f.plain {
		return f.line()
	}
	for {
		skipped, err := f.pack()
		if err != nil {
			return nil, err
		}
		if !skipped {
			break
		}
		f.start = f.offset
	}
	return f.unpack()
}

// line reads one line of a file that is not compressed, with its line feed: one
// without was cut.
func (f *frames) line() ([]byte, error) {
	f.content = f.content[:0]
	for {
		part, err := f.in.ReadSlice('\n')
		f.content = append(f.content, part...)
		switch {
		case err == nil:
			f.offset += int64(len(f.content))
			return f.content, nil
		case err == io.EOF && len(f.content) > 0:
			return nil, io.ErrUnexpectedEOF
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(f.content) > MaxFrame:
			return nil, fmt.Errorf("a line is longer than %d bytes", MaxFrame)
		}
	}
}

// pack reads the bytes of one frame into packed, as far as to know its end. It
// grows with what has come, not with what is announced.
func (f *frames) pack() (skipped bool, err error) {
	f.packed = f.packed[:0]
	var header zstd.Header
	begin, err := f.in.Peek(zstd.HeaderMaxSize)
	switch {
	case err == io.EOF && len(begin) == 0:
		return false, io.EOF
	case err != nil && err != io.EOF:
		return false, err
	}
	if err := header.Decode(begin); err != nil {
		return false, err
	}
	if header.Skippable {
		size := int64(header.HeaderSize) + int64(header.SkippableSize)
		n, err := io.CopyN(io.Discard, f.in, size)
		f.offset += n
		return true, unexpected(err)
	}
	if err := f.take(header.HeaderSize); err != nil {
		return false, err
	}
	for last := false; !last; {
		if last, err = f.block(); err != nil {
			return false, err
		}
	}
	if header.HasCheckSum {
		if err := f.take(4); err != nil {
			return false, err
		}
	}
	f.offset += int64(len(f.packed))
	return false, nil
}

// block reads one block: three bytes that say its type and size, and its content.
// See RFC 8878, 3.1.1.2.
func (f *frames) block() (last bool, err error) {
	if err := f.take(3); err != nil {
		return false, err
	}
	var four [4]byte
	copy(four[:], f.packed[len(f.packed)-3:])
	header := binary.LittleEndian.Uint32(four[:])
	size := int(header >> 3)
	switch kind := header >> 1 & 3; {
	case kind == 1:
		size = 1 // one byte, repeated
	case kind == 3 || size > maxBlock:
		return false, fmt.Errorf("a block of type %d and %d bytes cannot be", kind, size)
	}
	return header&1 == 1, f.take(size)
}

// take appends n bytes of the file to packed.
func (f *frames) take(n int) error {
	if len(f.packed)+n > MaxFrame {
		return fmt.Errorf("a frame is longer than %d bytes", MaxFrame)
	}
	have := len(f.packed)
	f.packed = append(f.packed, make([]byte, n)...)
	_, err := io.ReadFull(f.in, f.packed[have:])
	return unexpected(err)
}

// unpack decodes packed and checks its checksum.
func (f *frames) unpack() ([]byte, error) {
	if f.decoder == nil {
		var err error
		f.decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxFrame), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
	}
	var err error
	f.content, err = f.decoder.DecodeAll(f.packed, f.content[:0])
	return f.content, err
}

// unexpected is err within a frame, where no end is expected.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// close frees the decoder.
func (f *frames) close() {
	if f.decoder != nil {
		f.decoder.Close()
	}
}
