package wire

import (
	"bytes"
	"io"
	"math"
	"testing"
)

func benchmarkScan(b *testing.B, encoding Encoding) {
	pod := pods(b)[0]
	pod.ManagedFields = nil
	raw := encoded(b, encoding, pod)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	var m Meta
	for b.Loop() {
		if err := Scan(encoding, raw, &m); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkScanProtobuf(b *testing.B) { benchmarkScan(b, Protobuf) }
func BenchmarkScanJSON(b *testing.B)     { benchmarkScan(b, JSON) }

// loop is a stream that repeats the same bytes until n copies were read.
type loop struct {
	data []byte
	n    int
	pos  int
}

func (l *loop) Read(p []byte) (int, error) {
	if l.n == 0 {
		return 0, io.EOF
	}
	n := copy(p, l.data[l.pos:])
	if l.pos += n; l.pos == len(l.data) {
		l.pos = 0
		l.n--
	}
	return n, nil
}

func benchmarkWatch(b *testing.B, encoding Encoding) {
	var events []sent
	for _, pod := range pods(b) {
		events = append(events, sent{"MODIFIED", pod})
	}
	body := watchStream(b, encoding, events...)
	b.SetBytes(int64(len(body) / len(events)))
	b.ReportAllocs()
	r := NewWatchReader(&loop{data: body, n: math.MaxInt}, encoding, Options{})
	for b.Loop() {
		if _, err := r.Next(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWatchProtobuf(b *testing.B) { benchmarkWatch(b, Protobuf) }
func BenchmarkWatchJSON(b *testing.B)     { benchmarkWatch(b, JSON) }

func benchmarkList(b *testing.B, encoding Encoding) {
	list := podList(b)
	for len(list.Items) < 500 {
		list.Items = append(list.Items, list.Items...)
	}
	body := listBody(b, encoding, list)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		r := NewListReader(bytes.NewReader(body), encoding, Options{})
		n := 0
		for _, err := r.Next(); err != io.EOF; _, err = r.Next() {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != len(list.Items) {
			b.Fatalf("read %d items of %d", n, len(list.Items))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(list.Items)), "ns/item")
}

func BenchmarkListProtobuf(b *testing.B) { benchmarkList(b, Protobuf) }
func BenchmarkListJSON(b *testing.B)     { benchmarkList(b, JSON) }
