package wire

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubejson "k8s.io/apimachinery/pkg/util/json"
)

// fuzzLimit is small, so that a fuzzer comes across it.
const fuzzLimit = 600

// checkSame compares what was read at once with what was read byte by byte.
func checkSame(t *testing.T, input []byte, got, want []string, gotErr, wantErr error) {
	t.Helper()
	if diff := cmp.Diff(strings.Join(want, "\n"), strings.Join(got, "\n")); diff != "" || gotErr.Error() != wantErr.Error() {
		t.Fatalf("%q byte by byte (-want +got):\n%s%v; want %v", input, diff, gotErr, wantErr)
	}
}

// checkEnd checks the error that ends a stream.
func checkEnd(t *testing.T, input []byte, err error) {
	t.Helper()
	if err == io.EOF {
		return
	}
	if e, ok := err.(*Error); !ok || e.Object || e.Offset < 0 || e.Offset > int64(len(input)) {
		t.Fatalf("%q: %v, which is no good *Error", input, err)
	}
}

func fuzzWatch(f *testing.F, encoding Encoding) {
	f.Add(watchStream(f, encoding, sent{"ADDED", configMap("a")}, sent{"DELETED", configMap("b")}))
	f.Add(watchStream(f, encoding, sent{"BOOKMARK", bookmark("1", map[string]string{initialEventsEnd: "true"})}))
	f.Add([]byte(`{"type":"ADDED","object":{"` + strings.Repeat("x", fuzzLimit) + `\n":1}}`))
	f.Add(watchStream(f, encoding, sent{"ERROR", fullStatus()}, sent{"LATER", configMap("c")}))
	f.Fuzz(func(t *testing.T, body []byte) {
		o := Options{MaxObject: fuzzLimit}
		want, wantErr := readAll(NewWatchReader(bytes.NewReader(body), encoding, o))
		got, gotErr := readAll(NewWatchReader(iotest.OneByteReader(bytes.NewReader(body)), encoding, compacting(o)))
		checkSame(t, body, got, want, gotErr, wantErr)
		checkEnd(t, body, gotErr)
		if encoding == JSON {
			checkDocuments(t, body, len(got), gotErr)
		}
	})
}

// checkDocuments compares the number of frames with that of encoding/json.
func checkDocuments(t *testing.T, body []byte, frames int, end error) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(body))
	for n := 0; ; n++ {
		var document json.RawMessage
		err := decoder.Decode(&document)
		if err == nil && document[0] == '{' {
			continue
		}
		if n != frames || (err == io.EOF) != (end == io.EOF) {
			t.Fatalf("%q: %d frames, then %v; encoding/json: %d, then %v", body, frames, end, n, err)
		}
		return
	}
}

func FuzzWatchProtobuf(f *testing.F) { fuzzWatch(f, Protobuf) }
func FuzzWatchJSON(f *testing.F)     { fuzzWatch(f, JSON) }

func fuzzList(f *testing.F, encoding Encoding, more ...string) {
	list := podList(f)
	list.Items = nil
	f.Add(listBody(f, encoding, list))
	f.Add(listBody(f, encoding, fullStatus()))
	for _, body := range more {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		o := Options{MaxObject: fuzzLimit}
		r := NewListReader(bytes.NewReader(body), encoding, o)
		slow := NewListReader(iotest.OneByteReader(bytes.NewReader(body)), encoding, compacting(o))
		want, wantErr := readList(r)
		got, gotErr := readList(slow)
		checkSame(t, body, got, want, gotErr, wantErr)
		checkEnd(t, body, gotErr)
		if r.Meta() != slow.Meta() {
			t.Fatalf("%q: Meta byte by byte %+v; want %+v", body, slow.Meta(), r.Meta())
		}
		if encoding == JSON && gotErr == io.EOF {
			checkItems(t, body, len(got))
		}
	})
}

// checkItems compares the number of items with that of a decoder.
func checkItems(t *testing.T, body []byte, items int) {
	t.Helper()
	var list map[string]json.RawMessage
	var decoded []json.RawMessage
	if err := json.Unmarshal(body, &list); err != nil {
		t.Fatalf("%q was read as a list: %v", body, err)
	}
	if err := json.Unmarshal(list["items"], &decoded); err != nil || len(decoded) != items {
		t.Fatalf("%q: %d items; encoding/json %d, %v", body, items, len(decoded), err)
	}
}

func FuzzListProtobuf(f *testing.F) {
	content := strange().add(listItems, named("a")).add(listMetadata, fields{}.add(listResourceVersion, []byte("7")))
	fuzzList(f, Protobuf, string(protobufList(append(content, strange()...), strange()...)))
}

func FuzzListJSON(f *testing.F) {
	fuzzList(f, JSON, ` { "items" : [ {"metadata":{"name":"a","managedFields":[]}} , 7 ] , "metadata" : { "resourceVersion":"7"}, "z":[[]] } `)
}

func FuzzParseStatus(f *testing.F) {
	f.Add(true, listBody(f, Protobuf, fullStatus()))
	f.Add(false, listBody(f, JSON, fullStatus()))
	f.Fuzz(func(t *testing.T, isProtobuf bool, body []byte) {
		encoding := JSON
		if isProtobuf {
			encoding = Protobuf
		}
		got, err := ParseStatus(encoding, body)
		if (got == nil) != (err != nil) {
			t.Fatalf("%q: %v, %v", body, got, err)
		}
		want, ok := decodeStatus(encoding, body)
		if !ok {
			return
		}
		if err != nil {
			t.Fatalf("%q: %v; want %v", body, err, want)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%q (-want +got):\n%s", body, diff)
		}
	})
}

// decodeStatus decodes with the decoders of the API.
func decodeStatus(encoding Encoding, body []byte) (*Status, bool) {
	var in metav1.Status
	if encoding == JSON {
		// Of a second array of causes decoders write the elements over those of
		// the first, field by field; ParseStatus takes the last array alone.
		if kubejson.Unmarshal(body, &in) != nil || in.Kind != statusKind || bytes.Count(body, []byte("cause")) > 1 {
			return nil, false
		}
	} else {
		objects, _, _ := serializers(encoding)
		var unknown runtime.Unknown
		_, _, err := objects.Decode(body, nil, &unknown)
		if err != nil || unknown.Kind != statusKind || in.Unmarshal(unknown.Raw) != nil || !wellFormed(body[len(envelopePrefix):], statusShape) {
			return nil, false
		}
	}
	out := &Status{Code: in.Code, Reason: string(in.Reason), Message: in.Message}
	if in.Details != nil {
		out.RetryAfterSeconds = in.Details.RetryAfterSeconds
		for _, cause := range in.Details.Causes {
			out.Causes = append(out.Causes, string(cause.Type))
		}
	}
	return out, true
}
