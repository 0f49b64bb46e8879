package wire

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"
	"time"
)

func TestWindowHandsOutTheStream(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 50 {
		data := make([]byte, rng.IntN(300_000))
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		w := window{r: iotest.HalfReader(bytes.NewReader(data))}
		for pos := 0; ; {
			if w.offset != int64(pos) {
				t.Fatalf("offset = %d; want %d", w.offset, pos)
			}
			if rng.IntN(3) == 0 {
				n := rng.IntN(40_000)
				if err := w.discard(int64(n)); err != nil {
					if err != io.EOF || pos+n <= len(data) {
						t.Fatalf("discard %d at %d of %d: %v", n, pos, len(data), err)
					}
					break
				}
				pos += n
				continue
			}
			n := rng.IntN(40_000)
			if err := w.need(n); err != nil {
				if err != io.EOF || pos+n <= len(data) {
					t.Fatalf("need %d at %d of %d: %v", n, pos, len(data), err)
				}
				break
			}
			if !bytes.Equal(w.bytes()[:n], data[pos:pos+n]) {
				t.Fatalf("%d bytes at %d are not those of the stream", n, pos)
			}
			used := rng.IntN(n + 1)
			w.skip(used)
			pos += used
			if len(w.buf) > 4*40_000 {
				t.Fatalf("a buffer of %d bytes for 40000", len(w.buf))
			}
		}
	}
}

func TestWindowDropsAHugeBufferOnceItIsEmpty(t *testing.T) {
	huge := make([]byte, 4*keepBuffer)
	w := window{r: io.MultiReader(bytes.NewReader(huge), bytes.NewReader([]byte("next")))}
	if err := w.need(len(huge)); err != nil {
		t.Fatal(err)
	}
	if len(w.buf) < len(huge) {
		t.Fatalf("the buffer has %d bytes; want %d at least", len(w.buf), len(huge))
	}
	w.skip(len(huge))
	if err := w.need(4); err != nil || string(w.bytes()) != "next" || len(w.buf) != bufferSize {
		t.Fatalf("then %q, %v, a buffer of %d bytes; want one of %d", w.bytes(), err, len(w.buf), bufferSize)
	}
	w.release(io.EOF)
	if w.buf != nil || w.fill(0) != io.EOF {
		t.Fatal("a released window still has a buffer, or reads")
	}
}

// TestWindowIsLargerWhileMuchComes: and a quiet one is not.
func TestWindowIsLargerWhileMuchComes(t *testing.T) {
	much := bytes.Repeat([]byte("0123456789"), 30_000)
	w := window{r: io.MultiReader(bytes.NewReader(much), bytes.NewReader([]byte("a few")), bytes.NewReader([]byte("more")))}
	const frame = 100
	for range len(much) / frame {
		if err := w.need(frame); err != nil {
			t.Fatal(err)
		}
		w.skip(frame)
	}
	if len(w.buf) != busySize {
		t.Errorf("a buffer of %d bytes for many; want %d", len(w.buf), busySize)
	}
	for _, text := range []string{"a few", "more"} {
		if err := w.need(len(text)); err != nil || string(w.bytes()) != text {
			t.Fatalf("%q, %v; want %q", w.bytes(), err, text)
		}
		w.skip(len(text))
	}
	if len(w.buf) != bufferSize {
		t.Errorf("a buffer of %d bytes for a few; want %d", len(w.buf), bufferSize)
	}
}

// TestWindowStaysLargeWhileReadsAreLarge: though they do not fill it, as those of a
// connection that hands out records.
func TestWindowStaysLargeWhileReadsAreLarge(t *testing.T) {
	const record, frame = bufferSize, bufferSize / 4
	w := window{r: &records{size: record, left: 50}}
	smaller := 0
	for before := 0; w.need(frame) == nil; w.skip(frame) {
		if len(w.buf) < before {
			smaller++
		}
		before = len(w.buf)
	}
	if smaller > 0 {
		t.Errorf("the buffer became smaller %d times while records of %d bytes came", smaller, record)
	}
}

// records hands out one record a Read, as far as there is room.
type records struct{ size, rest, left int }

func (r *records) Read(p []byte) (int, error) {
	if r.rest == 0 {
		if r.left == 0 {
			return 0, io.EOF
		}
		r.left, r.rest = r.left-1, r.size
	}
	n := min(len(p), r.rest)
	r.rest -= n
	return n, nil
}

func TestReadersGiveTheirBufferBackAtTheEnd(t *testing.T) {
	bothEncodings(t, func(t *testing.T, encoding Encoding) {
		body := watchStream(t, encoding, sent{"ADDED", configMap("a")})
		r := NewWatchReader(bytes.NewReader(body), encoding, Options{})
		e := next(t, r)
		kept := e.Object.AppendBytes(nil)
		if _, err := r.Next(); err != io.EOF {
			t.Fatal(err)
		}
		// Another reader overwrites the buffer. What was kept must not notice.
		for range 4 {
			other := NewWatchReader(bytes.NewReader(bytes.Repeat([]byte("x"), bufferSize)), JSON, Options{})
			if _, err := other.Next(); err == nil {
				t.Fatal("read an event from nothing")
			}
		}
		if !bytes.Equal(e.Object.AppendBytes(nil), kept) || e.Object.UID() != "" || e.Object.ResourceVersion() != "5" || e.Object.Key().Name != "a" {
			t.Errorf("the object changed: %s", e.Object.AppendBytes(nil))
		}
	})
}
