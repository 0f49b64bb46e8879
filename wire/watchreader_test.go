package wire

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func bookmark(resourceVersion string, annotations map[string]string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: resourceVersion, Annotations: annotations}}
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, ResourceVersion: "5"}}
}

func next(t *testing.T, r *WatchReader) WatchEvent {
	t.Helper()
	e, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestWatchReaderReadsBookmarks(t *testing.T) {
	bothEncodings(t, func(t *testing.T, encoding Encoding) {
		r := NewWatchReader(bytes.NewReader(watchStream(t, encoding,
			sent{"BOOKMARK", bookmark("10", nil)},
			sent{"BOOKMARK", bookmark("11", map[string]string{"a": "b", initialEventsEnd: "true"})},
			sent{"BOOKMARK", bookmark("12", map[string]string{initialEventsEnd: "false"})},
			sent{"bookmark", bookmark("13", nil)},
			sent{"BOOKMARK", bookmark("", nil)},
		)), encoding, Options{})
		for _, want := range []WatchEvent{
			{Type: "BOOKMARK", ResourceVersion: "10"},
			{Type: "BOOKMARK", ResourceVersion: "11", InitialEventsEnd: true},
			{Type: "BOOKMARK", ResourceVersion: "12"},
			{Type: "BOOKMARK", ResourceVersion: "13"},
			{Type: "BOOKMARK"},
		} {
			if diff := cmp.Diff(want, next(t, r)); diff != "" {
				t.Errorf("event (-want +got):\n%s", diff)
			}
		}
	})
}

func TestEventsOutliveTheBufferTheyCameIn(t *testing.T) {
	bothEncodings(t, func(t *testing.T, encoding Encoding) {
		body := watchStream(t, encoding,
			sent{"BOOKMARK", bookmark("10", nil)}, sent{"ERROR", fullStatus()}, sent{"SOMETHING", bookmark("1", nil)}, sent{"ADDED", configMap("a")},
			sent{"X", bookmark("9", map[string]string{"filler": strings.Repeat("#", 2000)})})
		r := NewWatchReader(iotest.OneByteReader(bytes.NewReader(body)), encoding, Options{})
		mark, failed, unknown, added := next(t, r), next(t, r), next(t, r), next(t, r)
		next(t, r) // overwrites the buffer
		if mark.ResourceVersion != "10" || unknown.Type != "SOMETHING" {
			t.Errorf("bookmark %q, type %q", mark.ResourceVersion, unknown.Type)
		}
		if diff := cmp.Diff(wantFullStatus(), failed.Status); diff != "" {
			t.Errorf("status (-want +got):\n%s", diff)
		}
		checkObject(t, added.Object, configMap("a"))
	})
}

func TestWatchReaderReadsTheStatusOfAnError(t *testing.T) {
	bothEncodings(t, func(t *testing.T, encoding Encoding) {
		r := NewWatchReader(bytes.NewReader(watchStream(t, encoding,
			sent{"ERROR", fullStatus()}, sent{"ERROR", configMap("x")}, sent{"ADDED", configMap("x")},
		)), encoding, Options{})
		want := WatchEvent{Type: "ERROR", Status: wantFullStatus()}
		if diff := cmp.Diff(want, next(t, r)); diff != "" {
			t.Errorf("event (-want +got):\n%s", diff)
		}
		e := next(t, r)
		if e.Type != "ERROR" || e.Status == nil || e.Status.Code != 0 || !strings.Contains(e.Status.Message, "its kind is ConfigMap") {
			t.Errorf("ERROR with a ConfigMap = %+v, status %+v; want a status that says so", e, e.Status)
		}
		if e := next(t, r); e.Object == nil {
			t.Errorf("after the errors: %+v; want an object", e)
		}
	})
}

func TestWatchReaderKnowsTypesInAnyCaseAndPassesOthersThrough(t *testing.T) {
	bothEncodings(t, func(t *testing.T, encoding Encoding) {
		r := NewWatchReader(bytes.NewReader(watchStream(t, encoding,
			sent{"PAUSED", configMap("x")}, sent{"PAUSED", bookmark("1", nil)}, sent{"added", configMap("x")},
			sent{"MOD\u0131FIED", configMap("x")}, // a letter that is an I in upper case alone
		)), encoding, Options{})
		if e := next(t, r); e.Type != "PAUSED" || e.Object.Key().Name != "x" {
			t.Errorf("PAUSED with an object = %+v", e)
		}
		if e := next(t, r); e.Type != "PAUSED" || e.Object != nil {
			t.Errorf("PAUSED with an object without a name = %+v; want no object", e)
		}
		if e := next(t, r); e.Type != "ADDED" || e.Object == nil {
			t.Errorf("added = %+v", e)
		}
		if e := next(t, r); e.Type != "MOD\u0131FIED" || e.Object == nil {
			t.Errorf("a type that is not known = %+v", e)
		}
	})
}

func TestWatchReaderKeepsManagedFieldsWhenAsked(t *testing.T) {
	bothEncodings(t, func(t *testing.T, encoding Encoding) {
		pod := withKind(t, pods(t)[0])
		want := encoded(t, encoding, pod)
		r := NewWatchReader(bytes.NewReader(watchStream(t, encoding, sent{"ADDED", pod})), encoding, Options{KeepManagedFields: true})
		if got := next(t, r).Object.AppendBytes(nil); !bytes.Equal(got, want) {
			t.Errorf("got %d bytes:\n%s\nwant %d:\n%s", len(got), got, len(want), want)
		}
	})
}

// protobufFrame frames a WatchEvent made of fields.
func protobufFrame(event fields) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(event))), event...)
}

// protobufEvent frames an object, given as the content of its envelope.
func protobufEvent(eventType string, unknown fields) []byte {
	raw := fields{}.add(rawExtensionRaw, append([]byte(envelopePrefix), unknown...))
	return protobufFrame(fields{}.add(1, []byte(eventType)).add(2, raw))
}

func TestWatchReaderGoesOnAfterABadFrame(t *testing.T) {
	good := map[Encoding][]byte{}
	for _, encoding := range []Encoding{JSON, Protobuf} {
		good[encoding] = watchStream(t, encoding, sent{"ADDED", configMap("good")})
	}
	bad := func(meta fields) fields { return fields{}.add(unknownRaw, fields{}.add(1, meta)) }
	for _, tc := range []struct {
		encoding Encoding
		frame    string // » stands before the byte that is wrong, if it is JSON
		offset   int
		what     string
	}{
		{JSON, `»{}`, 0, "event has no type"},
		{JSON, `»{"object":{"metadata":{"name":"a"}}}`, 0, "event has no type"},
		{JSON, `{"type":»1,"object":{}}`, 0, "event's type is not a string"},
		{JSON, `{"type":"ADDED","object":»[]}`, 0, "event's object is not an object"},
		{JSON, `»{"type":"ADDED"}`, 0, "ADDED event has no object"},
		{JSON, `»{"type":"DELETED","object":null}`, 0, "DELETED event has no object"},
		{JSON, `»{"type":"BOOKMARK"}`, 0, "BOOKMARK event has no object"},
		{JSON, `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":»1}}}`, 0, "resourceVersion is not a string"},
		{JSON, `{"type":"BOOKMARK","object":{"metadata":{"annotations":»1}}}`, 0, "annotations is not an object"},
		{JSON, `{"type":"ADDED","object":»{"metadata":{"uid":"x"}}}`, 0, "object has no metadata.name"},
		{JSON, `{"type":"ADDED","object":»{}}`, 0, "object has no metadata.name"},
		{JSON, `{"object":{"metadata":{"managedFields":[],"name":"a","uid":»7}},"type":"ADDED"}`, 0, "metadata.uid is not a string"},
		{JSON, `{"object":{"metadata":{"name":"a","labels":{"b":»7}},"metadata":{}},"type":"ADDED"}`, 0, "is not a string"},
		{Protobuf, string(protobufFrame(nil)), 0, "event has no type"},
		{Protobuf, string(protobufFrame(fields{}.add(1, []byte("ADDED")))), 0, "ADDED event has no object"},
		{Protobuf, string(protobufFrame(fields{}.add(1, []byte("ADDED")).add(2, nil))), 0, "ADDED event has no object"},
		{Protobuf, string(protobufFrame(fields{}.addVarint(1, 1))), 4, "an event's type has protobuf wire type 0"},
		{Protobuf, string(protobufFrame(fields{0x0a, 0x05})), 4, "malformed protobuf field"},
		{Protobuf, string(protobufFrame(fields{}.add(1, []byte("ADDED")).add(2, fields{0x0a, 0x05}))), 4 + 7 + 2, "malformed protobuf field"},
		{Protobuf, string(protobufFrame(fields{}.add(1, []byte("ADDED")).add(2, fields{}.add(1, []byte("{}"))))), 4 + 7 + 4, "without the prefix"},
		{Protobuf, string(protobufEvent("ADDED", nil)), 4 + 7 + 4 + 4, "object has no metadata.name"},
		{Protobuf, string(protobufEvent("ADDED", fields{}.add(unknownRaw, nil))), 4 + 7 + 4 + 4 + 2, "object has no metadata.name"},
		{Protobuf, string(protobufEvent("ADDED", bad(fields{}.add(metaManagedFields, nil).addVarint(metaName, 1)))), 4 + 7 + 4 + 4 + 2 + 2 + 3, "metadata.name has protobuf wire type 0"},
		{Protobuf, string(protobufEvent("ADDED", bad(fields{}.add(metaManagedFields, nil)[:2]))), 4 + 7 + 4 + 4 + 2 + 2, "malformed protobuf field"},
		{Protobuf, string(protobufEvent("BOOKMARK", bad(fields{}.addVarint(metaAnnotations, 1)))), 4 + 10 + 4 + 4 + 2 + 2, "metadata.annotations has protobuf wire type 0"},
	} {
		frame := []byte(tc.frame)
		if tc.encoding == JSON {
			before, after, _ := strings.Cut(tc.frame, "»")
			frame, tc.offset = []byte(before+after), len(before)
		}
		first := good[tc.encoding]
		stream := bytes.Join([][]byte{first, frame, first}, nil)
		r := NewWatchReader(bytes.NewReader(stream), tc.encoding, Options{})
		next(t, r)
		e, err := r.Next()
		if diff := cmp.Diff(WatchEvent{}, e); diff != "" {
			t.Errorf("%q: an event beside the error: %s", tc.frame, diff)
		}
		checkError(t, tc.frame, err, len(first)+tc.offset, true, tc.what)
		if e, err := r.Next(); err != nil || e.Object.Key().Name != "good" {
			t.Errorf("%q: then %+v, %v; want the good event", tc.frame, e, err)
		}
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("%q: at the end %v; want io.EOF", tc.frame, err)
		}
	}
}

func TestWatchReaderStopsWhereBordersAreLost(t *testing.T) {
	good := watchStream(t, JSON, sent{"ADDED", configMap("good")})
	for _, tc := range []struct{ frame, what string }{
		{`»[]`, "'[' instead of an event"},
		{`»,`, "',' instead of an event"},
		{`{"type":"ADDED"»]`, `']' instead of ',' or '}'`},
		{`{"type":"ADDED","object":{"metadata":{"name":"a"»]`, `']' instead of ',' or '}'`},
		{`{"type":"ADDED","object":{"metadata":{"managedFields":[»}`, `'}' instead of a value`},
		{`{"type":»ADDED}`, "'A' instead of a value"},
	} {
		before, after, _ := strings.Cut(tc.frame, "»")
		r := NewWatchReader(strings.NewReader(string(good)+before+after+string(good)), JSON, Options{})
		next(t, r)
		for range 2 {
			_, err := r.Next()
			checkError(t, tc.frame, err, len(good)+len(before), false, tc.what)
		}
	}
}

// readAll reads a watch to its end: the events, then the final error. Frames
// that are bad are told too.
func readAll(r *WatchReader) (events []string, err error) {
	for {
		e, err := r.Next()
		if bad, ok := errors.AsType[*Error](err); ok && bad.Object {
			events = append(events, err.Error())
			continue
		}
		if err != nil {
			return events, err
		}
		text := fmt.Sprintf("%s rv=%s end=%v", e.Type, e.ResourceVersion, e.InitialEventsEnd)
		if e.Object != nil {
			text += fmt.Sprintf(" %s %+v %q", e.Object.Key(), e.Object.Meta(), e.Object.AppendBytes(nil))
		}
		if e.Status != nil {
			text += fmt.Sprintf(" %+v", *e.Status)
		}
		events = append(events, text)
	}
}

func TestWatchReaderToldOfACutOffFrame(t *testing.T) {
	bothEncodings(t, func(t *testing.T, encoding Encoding) {
		events := []sent{{"ADDED", configMap("a")}, {"BOOKMARK", bookmark("7", nil)}, {"ERROR", fullStatus()}}
		body := watchStream(t, encoding, events...)
		whole, err := readAll(NewWatchReader(bytes.NewReader(body), encoding, Options{}))
		if err != io.EOF || len(whole) != 3 {
			t.Fatalf("whole: %q, %v", whole, err)
		}
		borders := map[int]int{} // offset of a border: events before it
		for i := range len(events) + 1 {
			n := len(watchStream(t, encoding, events[:i]...))
			borders[n] = i
			if encoding == JSON && n > 0 {
				borders[n-1] = i // before the line feed
			}
		}
		complete := 0
		for n := range len(body) + 1 {
			got, err := readAll(NewWatchReader(iotest.HalfReader(bytes.NewReader(body[:n])), encoding, Options{}))
			at, border := borders[n]
			if border {
				complete = at
			}
			if diff := cmp.Diff(whole[:complete], got, cmp.Transformer("", func(s []string) string { return strings.Join(s, "\n") })); diff != "" {
				t.Fatalf("cut off at %d (-want +got):\n%s", n, diff)
			}
			if border && err != io.EOF {
				t.Fatalf("cut off at the border %d: %v; want io.EOF", n, err)
			}
			if !border {
				checkError(t, n, err, n, false, "ends inside")
			}
		}
	})
}

func TestWatchReaderPassesTheErrorOfItsStream(t *testing.T) {
	bothEncodings(t, func(t *testing.T, encoding Encoding) {
		body := watchStream(t, encoding, sent{"ADDED", configMap("a")})
		for _, n := range []int{0, 3, len(body) - 2, len(body)} {
			r := NewWatchReader(io.MultiReader(bytes.NewReader(body[:n]), iotest.ErrReader(context.Canceled)), encoding, Options{})
			if n == len(body) {
				next(t, r) // what came whole is delivered first
			}
			for range 2 {
				_, err := r.Next()
				if !errors.Is(err, context.Canceled) {
					t.Errorf("after %d bytes: %v; want context.Canceled", n, err)
				}
				checkError(t, n, err, n, false, "the stream cannot be read")
			}
		}
	})
}

// noMore fails the test when it is read.
type noMore struct{ t *testing.T }

func (n noMore) Read([]byte) (int, error) {
	n.t.Error("the reader wants more than what it has to deliver")
	return 0, io.EOF
}

func TestReadersDeliverWithoutWaitingForMore(t *testing.T) {
	bothEncodings(t, func(t *testing.T, encoding Encoding) {
		body := watchStream(t, encoding, sent{"ADDED", configMap("a")}, sent{"BOOKMARK", bookmark("7", nil)})
		body = bytes.TrimSuffix(body, []byte("\n"))
		w := NewWatchReader(io.MultiReader(bytes.NewReader(body), noMore{t}), encoding, Options{})
		next(t, w)
		next(t, w)
		list := protobufList(fields{}.add(listItems, named("a")))
		if encoding == JSON {
			list = []byte(`{"items":[{"metadata":{"name":"a"}}`)
		}
		if _, err := NewListReader(io.MultiReader(bytes.NewReader(list), noMore{t}), encoding, Options{}).Next(); err != nil {
			t.Error(err)
		}
	})
}

// uncomparable is an error that must not be compared.
type uncomparable struct{ _ []int }

func (uncomparable) Error() string { return "uncomparable" }

// stuckReader returns what a Reader must not.
type stuckReader struct{ n int }

func (s stuckReader) Read(p []byte) (int, error) { return s.n, nil }

func TestReadersSurviveBadStreams(t *testing.T) {
	bothEncodings(t, func(t *testing.T, encoding Encoding) {
		for _, tc := range []struct {
			r    io.Reader
			want string
		}{
			{iotest.ErrReader(uncomparable{}), "uncomparable"},
			{stuckReader{0}, io.ErrNoProgress.Error()},
			{stuckReader{-1}, "impossible count"},
			{stuckReader{1 << 30}, "impossible count"},
		} {
			_, err := NewWatchReader(tc.r, encoding, Options{}).Next()
			checkError(t, tc.want, err, 0, false, tc.want)
			_, err = NewListReader(tc.r, encoding, Options{}).Next()
			checkError(t, tc.want, err, 0, false, tc.want)
		}
	})
	_, err := NewWatchReader(nil, 0, Options{}).Next()
	checkError(t, "watch", err, 0, false, "unknown encoding(0)")
	list := NewListReader(nil, 9, Options{})
	_, err = list.Next()
	checkError(t, "list", err, 0, false, "unknown encoding(9)")
	if list.Meta() != (ListMeta{}) {
		t.Errorf("Meta = %+v; want none", list.Meta())
	}
}
