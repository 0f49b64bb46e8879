package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"google.golang.org/protobuf/encoding/protowire"
)

func TestWatchReaderSkipsAFrameOverTheLimit(t *testing.T) {
	bothEncodings(t, func(t *testing.T, encoding Encoding) {
		good := watchStream(t, encoding, sent{"ADDED", configMap("a")})
		large := configMap("large")
		large.Data = map[string]string{"x": strings.Repeat(`[{"`, 20_000)}
		frame := watchStream(t, encoding, sent{"MODIFIED", large})
		size := len(frame) - frameHeader
		if encoding == JSON {
			size = len(frame) - 1 // the line feed
		}
		for name, stream := range slowly(bytes.Join([][]byte{good, frame, good}, nil)) {
			r := NewWatchReader(stream, encoding, Options{MaxObject: size - 1})
			next(t, r)
			_, err := r.Next()
			checkError(t, name, err, len(good), true, fmt.Sprintf("frame of %d bytes is longer than the limit of %d", size, size-1))
			if e := next(t, r); e.Object.Key().Name != "a" {
				t.Errorf("%s: after it %v; want a", name, e.Object.Key())
			}
			if _, err := r.Next(); err != io.EOF {
				t.Errorf("%s: at the end %v; want io.EOF", name, err)
			}
		}
		for name, stream := range slowly(frame) {
			if e, err := NewWatchReader(stream, encoding, Options{MaxObject: size}).Next(); err != nil || e.Object.Key().Name != "large" {
				t.Errorf("%s: a frame of just the limit: %v", name, err)
			}
		}
	})
}

func TestListReaderSkipsAnItemOverTheLimit(t *testing.T) {
	filler := strings.Repeat(`[{"`, 20_000)
	jsonItem := fmt.Sprintf(`{"metadata":{"name":"large"},"x":%q}`, filler)
	protobufItem := named("large").add(2, []byte(filler))
	for _, tc := range []struct {
		encoding Encoding
		body     []byte
		size, at int
	}{
		{JSON, []byte(`{"items":[{"metadata":{"name":"a"}},` + jsonItem + ` ,{"metadata":{"name":"b"}}]}`), len(jsonItem), 36},
		{Protobuf, protobufList(fields{}.add(listItems, named("a")).add(listItems, protobufItem).add(listItems, named("b"))),
			len(protobufItem), 4 + 2 + 4 + 9 + 1 + protowire.SizeVarint(60_000) + 2 + 5 + 1 + protowire.SizeVarint(60_000)},
	} {
		for name, stream := range slowly(tc.body) {
			r := NewListReader(stream, tc.encoding, Options{MaxObject: tc.size - 1})
			checkBadItem(t, r, name, tc.at, fmt.Sprintf("item of %d bytes is longer than the limit of %d", tc.size, tc.size-1))
		}
		for name, stream := range slowly(tc.body) {
			items, err := readList(NewListReader(stream, tc.encoding, Options{MaxObject: tc.size}))
			if err != io.EOF || len(items) != 3 || !strings.HasPrefix(items[1], "large ") {
				t.Errorf("%s: an item of just the limit: %.60q, %v", name, items, err)
			}
		}
	}
}

func TestListReaderLimitsTheRestOfAList(t *testing.T) {
	filler := strings.Repeat("x", 40_000)
	meta := `{"resourceVersion":"` + filler + `"}`
	const limit = 20_000
	for _, tc := range []struct {
		encoding Encoding
		body     string
		offset   int
		what     string
	}{
		{JSON, `{"metadata":` + meta + `,"items":[]}`, 12, "the list's metadata is longer than the limit of 20000 bytes"},
		{JSON, `{"kind":"` + filler + `","items":[]}`, 8, "the list's kind is longer than the limit of 20000 bytes"},
		{Protobuf, string(protobufList(fields{}.add(listMetadata, []byte(filler)))), 4 + 2 + 4 + 9 + 4 + 4, "the metadata of a list of 40000 bytes is longer than the limit of 20000"},
		{Protobuf, string(append([]byte(envelopePrefix), fields{}.add(unknownTypeMeta, []byte(filler))...)), 4 + 4, "the type of a list of 40000 bytes is longer"},
	} {
		_, err := NewListReader(iotest.HalfReader(strings.NewReader(tc.body)), tc.encoding, Options{MaxObject: limit}).Next()
		checkError(t, tc.what, err, tc.offset, false, tc.what)
	}
	// What nobody reads may be as long as it likes, and so may keys.
	body := `{"x":` + meta + `,"message":"` + filler + `","` + filler + `":[],"items":[{"metadata":{"name":"a"}}]}`
	items, err := readList(NewListReader(iotest.HalfReader(strings.NewReader(body)), JSON, Options{MaxObject: limit}))
	if err != io.EOF || len(items) != 1 {
		t.Errorf("long members: %q, %v; want one item, io.EOF", items, err)
	}
}

// TestListReaderTakesAnyWhiteSpaceBetweenMembers: it is of no member, so that none
// is over the limit, and none is overlooked.
func TestListReaderTakesAnyWhiteSpaceBetweenMembers(t *testing.T) {
	const limit = 4096
	for _, size := range []int{limit - 1, limit + 100, 3 * bufferSize, 2 * busySize} {
		space := strings.Repeat(" ", size)
		list := strings.ReplaceAll(`~{~"kind"~:~"PodList"~,~"metadata"~:~{"resourceVersion":"7"}~,~"items"~:~[~{"metadata":{"name":"a"}}~,~{"metadata":{"name":"b"}}~]~}~`, "~", space)
		for name, stream := range slowly([]byte(list)) {
			r := NewListReader(stream, JSON, Options{MaxObject: limit})
			if items, err := readList(r); err != io.EOF || len(items) != 2 || r.Meta().ResourceVersion != "7" {
				t.Errorf("%s, white space of %d: %q, %v, version %q; want both, io.EOF and 7", name, size, items, err, r.Meta().ResourceVersion)
			}
		}
		for name, stream := range slowly([]byte(strings.ReplaceAll(`{~"kind"~:~"Status"~,"items":[]}`, "~", space))) {
			_, err := NewListReader(stream, JSON, Options{MaxObject: limit}).Next()
			if e, ok := err.(*Error); !ok || e.Object || !strings.Contains(e.What, "Status") {
				t.Errorf("%s, white space of %d: a Status is %v; want an error", name, size, err)
			}
		}
	}
}

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestReadersDoNotAllocateWhatAStreamOnlyClaims(t *testing.T) {
	claim := binary.BigEndian.AppendUint32(nil, 15<<20)[:4:4]
	item := protowire.AppendVarint(protowire.AppendTag(nil, listItems, protowire.BytesType), 15<<20)
	list := protowire.AppendVarint(protowire.AppendTag([]byte(envelopePrefix), unknownRaw, protowire.BytesType), 1<<40)
	for _, tc := range []struct {
		name string
		read func() error
	}{
		{"a frame", func() error {
			_, err := NewWatchReader(bytes.NewReader(append(claim, 1, 2, 3)), Protobuf, Options{}).Next()
			return err
		}},
		{"a frame of which some came", func() error {
			_, err := NewWatchReader(bytes.NewReader(append(claim, make([]byte, bufferSize)...)), Protobuf, Options{}).Next()
			return err
		}},
		{"a frame over the limit", func() error {
			_, err := NewWatchReader(bytes.NewReader([]byte{0xff, 0xff, 0xff, 0xff, 1, 2, 3}), Protobuf, Options{}).Next()
			return err
		}},
		{"an item", func() error {
			_, err := NewListReader(bytes.NewReader(bytes.Join([][]byte{list, item, {1, 2, 3}}, nil)), Protobuf, Options{}).Next()
			return err
		}},
	} {
		var err error
		if got := allocated(func() { err = tc.read() }); got > busySize+3*bufferSize {
			t.Errorf("%s: allocated %d bytes", tc.name, got)
		}
		if e, ok := err.(*Error); !ok || e.Err != io.ErrUnexpectedEOF || e.Object {
			t.Errorf("%s: %v; want io.ErrUnexpectedEOF", tc.name, err)
		}
	}
}

// repeated reads as head, n times the same byte, and tail.
func repeated(head string, b byte, n int, tail string) io.Reader {
	return io.MultiReader(strings.NewReader(head), &loop{data: bytes.Repeat([]byte{b}, 1<<16), n: n >> 16}, strings.NewReader(tail))
}

func TestReadersDoNotHoldWhatIsOverTheLimit(t *testing.T) {
	const size, limit = 8 << 20, 256 << 10
	list := string(protowire.AppendVarint(protowire.AppendTag([]byte(envelopePrefix), unknownRaw, protowire.BytesType), 1<<40))
	item := string(protowire.AppendVarint(protowire.AppendTag(nil, listItems, protowire.BytesType), size))
	for _, tc := range []struct {
		name     string
		encoding Encoding
		stream   io.Reader
		list     bool
		object   bool
	}{
		{"a frame", Protobuf, repeated(string(binary.BigEndian.AppendUint32(nil, size)), 0, size, ""), false, true},
		{"a frame with a long string", JSON, repeated(`{"type":"ADDED","object":{"x":"`, 'x', size, `"}}`), false, true},
		{"a frame with a long key", JSON, repeated(`{"type":"ADDED","object":{"`, 'x', size, `":1}}`), false, true},
		{"a frame with a long number", JSON, repeated(`{"type":"ADDED","object":{"metadata":{"generation":1`, '0', size, `}}}`), false, true},
		{"a frame with a long type", JSON, repeated(`{"type":"`, 'x', size, `"}`), false, true},
		{"white space in a frame", JSON, repeated(`{"type":"ADDED"`, ' ', size, `}`), false, true},
		{"white space between frames", JSON, repeated("", ' ', size, `{}`), false, true},
		{"brackets", JSON, repeated(`{"type":`, '[', size, `}`), false, false},
		{"an item", Protobuf, repeated(list+item, 0, size, ""), true, true},
		{"an item with a long string", JSON, repeated(`{"items":[{"x":"`, 'x', size, `"}]}`), true, true},
		{"an item that is a long string", JSON, repeated(`{"items":["`, 'x', size, `"]}`), true, true},
		{"metadata of a list", JSON, repeated(`{"metadata":{"x":"`, 'x', size, `"}}`), true, false},
		{"white space in a list", JSON, repeated(`{"items":[`, ' ', size, `7]}`), true, true},
	} {
		var err error
		got := allocated(func() {
			if o := (Options{MaxObject: limit}); tc.list {
				_, err = NewListReader(tc.stream, tc.encoding, o).Next()
			} else {
				_, err = NewWatchReader(tc.stream, tc.encoding, o).Next()
			}
		})
		if got > 4*limit {
			t.Errorf("%s: allocated %d bytes", tc.name, got)
		}
		if e, ok := err.(*Error); !ok || e.Object != tc.object || e.Err != nil {
			t.Errorf("%s: %v; want an error of one object: %v", tc.name, err, tc.object)
		}
	}
}
