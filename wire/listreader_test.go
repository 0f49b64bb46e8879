package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

// readList reads a list to its end: the items, then the final error. Items that
// are bad are told too.
func readList(r *ListReader) (items []string, err error) {
	for {
		o, err := r.Next()
		if bad, ok := errors.AsType[*Error](err); ok && bad.Object {
			items = append(items, err.Error())
			continue
		}
		if err != nil {
			return items, err
		}
		items = append(items, fmt.Sprintf("%s %+v %q", o.Key(), o.Meta(), o.AppendBytes(nil)))
	}
}

func TestListReaderReadsAStreamedListAndACustomOne(t *testing.T) {
	list := podList(t)
	var streamed bytes.Buffer
	s := protobuf.NewSerializerWithOptions(scheme.Scheme, scheme.Scheme, protobuf.SerializerOptions{StreamingCollectionsEncoding: true})
	if err := s.Encode(withKind(t, list), &streamed); err != nil {
		t.Fatal(err)
	}
	r := NewListReader(&streamed, Protobuf, Options{})
	for i := range list.Items {
		o, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		checkObject(t, o, &list.Items[i])
	}

	custom := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widgets", "metadata": map[string]any{"resourceVersion": "3"}}}
	widget := unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "spec": map[string]any{"size": int64(3)}}}
	widget.SetName("w")
	widget.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "m"}})
	custom.Items = append(custom.Items, widget)
	body, err := custom.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	r = NewListReader(bytes.NewReader(body), JSON, Options{})
	o, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	var got unstructured.Unstructured
	if err := got.UnmarshalJSON(o.AppendBytes(nil)); err != nil {
		t.Fatal(err)
	}
	widget.SetManagedFields(nil)
	if diff := cmp.Diff(widget.Object, got.Object); diff != "" {
		t.Errorf("custom resource (-want +got):\n%s", diff)
	}
}

func TestListReaderTakesMembersInAnyOrder(t *testing.T) {
	want := ListMeta{ResourceVersion: "7", Continue: "c", RemainingItemCount: 2}
	for _, body := range []string{
		`{"metadata":{"resourceVersion":"7","continue":"c","remainingItemCount":2},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}],"kind":"XList"}`,
		` { "items" : [ {"metadata":{"name":"a"}} , {"metadata":{"name":"b"}} ] , "metadata" : { "x":[{}], "resourceVersion":"7","continue":"c","remainingItemCount":2 } , "z":[[]] } ` + "\n",
		`{"message":7,"reason":null,"code":{},"metadata":{"resourceVersion":"6","remainingItemCount":1},"it\u0065ms":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}],` +
			`"metadata":{"resourceVersion":"\u0037","continue":"c","remainingItemCount":null,"remainingItemCount":2},"metadata":null}`,
	} {
		for name, stream := range slowly([]byte(body)) {
			r := NewListReader(stream, JSON, Options{})
			items, err := readList(r)
			if err != io.EOF || len(items) != 2 || !strings.HasPrefix(items[0], "a ") || !strings.HasPrefix(items[1], "b ") {
				t.Errorf("%s, %s: %q, %v; want a, b, io.EOF", body, name, items, err)
			}
			if diff := cmp.Diff(want, r.Meta()); diff != "" {
				t.Errorf("%s, %s: Meta (-want +got):\n%s", body, name, diff)
			}
		}
	}
	r := NewListReader(strings.NewReader(`{"items":[],"metadata":{"remainingItemCount":1,"remainingItemCount":null}}`), JSON, Options{})
	if _, err := r.Next(); err != io.EOF || r.Meta() != (ListMeta{}) {
		t.Errorf("null clears remainingItemCount: %+v, %v", r.Meta(), err)
	}
	for _, body := range []string{`{"items":null}`, `{"items":[ ],"metadata":{}}`, `{"kind":"Status","kind":"PodList","items":[]}`} {
		if items, err := readList(NewListReader(strings.NewReader(body), JSON, Options{})); err != io.EOF || items != nil {
			t.Errorf("%s: %q, %v; want io.EOF", body, items, err)
		}
	}
}

func TestListReaderNeverTakesAnotherBodyForAnEmptyList(t *testing.T) {
	status := fmt.Sprintf("body is not a list: it is a Status: 429 TooManyRequests: %s", fullStatus().Message)
	pod := podList(t).Items[0].DeepCopy()
	typed := len(envelopePrefix) + 2 + 4 + len("v1") + len("Pod") + 1 + 2 // where the raw of a pod begins
	for _, tc := range []struct {
		encoding Encoding
		body     string
		offset   int
		what     string
	}{
		{JSON, string(listBody(t, JSON, fullStatus())), 0, status},
		{JSON, string(listBody(t, JSON, pod)), 0, `body is not a list: it has no items, and its kind is "Pod"`},
		{JSON, `{}`, 0, `body is not a list: it has no items, and its kind is ""`},
		{JSON, `{"kind":"Status","items":[]}`, 25, "body is not a list: its kind is Status"},
		{JSON, `  []`, 2, "body is not a list: it begins with '['"},
		{JSON, "<html>", 0, "body is not a list: it begins with '<'"},
		{JSON, `{"items":{}}`, 9, "body is not a list: its items begin with '{'"},
		{JSON, " \n", 2, "ends inside a list"},
		{JSON, "", 0, "ends inside a list"},
		{Protobuf, string(listBody(t, Protobuf, fullStatus())), -1, status},
		{Protobuf, string(listBody(t, Protobuf, pod)), typed, `body is not a list: its kind is "Pod"`},
		{Protobuf, "", 0, "ends inside the prefix of a list"},
		{Protobuf, "k8s", 3, "ends inside the prefix of a list"},
		{Protobuf, "k8s\x00", 4, "ends inside the envelope of a list"},
		{Protobuf, `{"kind":"PodList"}`, 0, "body is not a list: it does not begin with"},
	} {
		if tc.offset < 0 {
			tc.offset = typed + len("Status") - len("Pod")
		}
		r := NewListReader(strings.NewReader(tc.body), tc.encoding, Options{})
		for range 2 {
			_, err := r.Next()
			checkError(t, tc.body, err, tc.offset, false, tc.what)
		}
	}
}

func TestListReaderStopsWhereJSONIsWrong(t *testing.T) {
	for _, tc := range []struct{ body, what string }{
		{`{"items":[],"items":»[]}`, "list has items twice"},
		{`{"items":null,"items":»[]}`, "list has items twice"},
		{`{"items":[]}»{"items":[]}`, "body has '{' after the list"},
		{`{"items":[]»]`, `']' instead of ',' or '}'`},
		{`{"items":[»}`, `'}' instead of a value`},
		{`{"items":[{}»}`, `'}' instead of ',' or ']'`},
		{`{"items":[{"a"»}]}`, `'}' instead of ':'`},
		{`{"items":[{},»]}`, `']' instead of a value`},
		{`{"items":[»`, "ends"},
		{`{"items":»`, "ends"},
		{`{"items":[{"metadata":{}}»`, "ends"},
		{`{"metadata":»[]}`, "metadata is not an object"},
		{`{"metadata":{"resourceVersion":»7}}`, "metadata.resourceVersion is not a string"},
		{`{"metadata":{"remainingItemCount":»"7"}}`, "metadata.remainingItemCount is not an integer"},
		{`{"kind":»7}`, "kind is not a string"},
	} {
		before, after, _ := strings.Cut(tc.body, "»")
		_, err := readList(NewListReader(strings.NewReader(before+after), JSON, Options{}))
		checkError(t, tc.body, err, len(before), false, tc.what)
	}
}

// protobufList is the body of a list with the given content.
func protobufList(content fields, more ...byte) []byte {
	typeMeta := fields{}.add(1, []byte("v1")).add(typeMetaKind, []byte("PodList"))
	return append(append([]byte(envelopePrefix), fields{}.add(unknownTypeMeta, typeMeta).add(unknownRaw, content)...), more...)
}

func named(name string) fields { return fields{}.add(1, fields{}.add(metaName, []byte(name))) }

// strange has a field of each wire type, groups among them.
func strange() fields {
	f := fields{}.addVarint(90, 1<<63).add(91, []byte("x"))
	f = protowire.AppendFixed32(protowire.AppendTag(f, 92, protowire.Fixed32Type), 7)
	f = protowire.AppendFixed64(protowire.AppendTag(f, 93, protowire.Fixed64Type), 7)
	f = protowire.AppendTag(f, 94, protowire.StartGroupType)
	f = protowire.AppendTag(f, 95, protowire.StartGroupType)
	f = append(f, fields{}.add(2, named("decoy"))...)
	f = protowire.AppendTag(f, 95, protowire.EndGroupType)
	return protowire.AppendTag(f, 94, protowire.EndGroupType)
}

func TestListReaderTakesProtobufFieldsInAnyOrder(t *testing.T) {
	meta := fields{}.add(listContinue, []byte("c")).add(listResourceVersion, []byte("7")).addVarint(listRemainingItemCount, 2)
	content := strange().add(listItems, named("a")).add(listMetadata, nil)
	content = append(content, strange()...).add(listMetadata, meta).add(listItems, named("b"))
	content = append(content, strange()...)
	body := protobufList(content, strange()...)
	typed := 4 + 2 + 4 + 9
	body = bytes.Join([][]byte{body[:typed], strange(), body[typed:]}, nil)
	for name, stream := range slowly(body) {
		r := NewListReader(stream, Protobuf, Options{})
		items, err := readList(r)
		if err != io.EOF || len(items) != 2 || !strings.HasPrefix(items[0], "a ") || !strings.HasPrefix(items[1], "b ") {
			t.Errorf("%s: %q, %v; want a, b, io.EOF", name, items, err)
		}
		if diff := cmp.Diff(ListMeta{"7", "c", 2}, r.Meta()); diff != "" {
			t.Errorf("%s: Meta (-want +got):\n%s", name, diff)
		}
	}
}

func TestListReaderStopsWhereProtobufIsWrong(t *testing.T) {
	const at = 4 + 2 + 4 + 9 + 2 // where the content of a short protobufList begins
	for _, tc := range []struct {
		name   string
		body   []byte
		offset int
		what   string
	}{
		{"field number 0", protobufList(fields{0x02, 0x00}), at, "malformed protobuf field"},
		{"a wire type that does not exist", protobufList(fields{0x1f}), at + 1, "malformed protobuf field"},
		{"an end without a group", protobufList(fields{0x1c}), at + 1, "malformed protobuf field"},
		{"a varint of 11 bytes", protobufList(bytes.Repeat([]byte{0xff}, 11)), at, "malformed protobuf varint"},
		{"an item longer than the list", protobufList(fields{0x12, 0x05, 0, 0}, make([]byte, 9)...), at, "protobuf field is longer than the message"},
		{"an item of 2^63 bytes", protobufList(fields{0x12, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01}), at, "protobuf field is longer than the message"},
		{"a tag that crosses the end", protobufList(fields{0x92}, 0x01, 0x00), at, "protobuf field is longer than the message"},
		{"a number that crosses the end", protobufList(fields{0x18, 0x80}, 0x01), at + 1, "protobuf field is longer than the message"},
		{"a list of 2^63 bytes", append([]byte(envelopePrefix), 0x12, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01), 4, "protobuf field is longer than the message"},
		{"a second list", protobufList(nil, fields{}.add(unknownRaw, nil)...), at + 2, "envelope holds a second list"},
		{"an item that is a number", protobufList(fields{}.addVarint(listItems, 1)), at + 1, "an item has protobuf wire type 0"},
		{"metadata that is a number", protobufList(fields{}.addVarint(listMetadata, 1)), at + 1, "the metadata of a list has protobuf wire type 0"},
		{"a list that is a number", append([]byte(envelopePrefix), 0x10, 0x00), 5, "the list has protobuf wire type 0"},
		{"a version that is a number", protobufList(fields{}.add(listMetadata, fields{}.addVarint(listResourceVersion, 1))), at + 2, "metadata.resourceVersion has protobuf wire type 0"},
		{"a kind that is a number", append([]byte(envelopePrefix), fields{}.add(unknownTypeMeta, fields{}.addVarint(typeMetaKind, 1))...), 6, "typeMeta.kind has protobuf wire type 0"},
	} {
		items, err := readList(NewListReader(bytes.NewReader(tc.body), Protobuf, Options{}))
		checkError(t, tc.name, err, tc.offset, false, tc.what)
		if items != nil {
			t.Errorf("%s: got items %q", tc.name, items)
		}
	}
}

func TestListReaderGoesOnAfterABadItem(t *testing.T) {
	const head = `{"items":[{"metadata":{"name":"a"}},`
	for _, tc := range []struct{ item, what string }{
		{`»7`, "item is not an object"},
		{`»null`, "item is not an object"},
		{`»[{"metadata":{"name":"x"}}]`, "item is not an object"},
		{`»{}`, "object has no metadata.name"},
		{`{"metadata":{"managedFields":[],"name":"x","generation":»"1"}}`, "metadata.generation is not an integer"},
	} {
		before, after, _ := strings.Cut(tc.item, "»")
		r := NewListReader(strings.NewReader(head+before+after+`,{"metadata":{"name":"b"}}]}`), JSON, Options{})
		checkBadItem(t, r, tc.item, len(head)+len(before), tc.what)
	}
	const at = 4 + 2 + 4 + 9 + 2 + 2 + 5 + 2 // where the second item begins
	for _, tc := range []struct {
		item   fields
		offset int
		what   string
	}{
		{nil, at, "object has no metadata.name"},
		{fields{}.add(1, fields{}.add(metaManagedFields, nil)), at, "object has no metadata.name"},
		{fields{0x0a, 0x01}, at, "malformed protobuf field"},
		{fields{}.add(1, fields{}.add(metaManagedFields, nil).addVarint(metaUID, 1)), at + 2 + 3, "metadata.uid has protobuf wire type 0"},
	} {
		body := protobufList(fields{}.add(listItems, named("a")).add(listItems, tc.item).add(listItems, named("b")))
		checkBadItem(t, NewListReader(bytes.NewReader(body), Protobuf, Options{}), string(tc.item), tc.offset, tc.what)
	}
}

// checkBadItem reads a, a bad item, and b.
func checkBadItem(t *testing.T, r *ListReader, item string, offset int, what string) {
	t.Helper()
	if o, err := r.Next(); err != nil || o.Key().Name != "a" {
		t.Errorf("%q: before it %v, %v; want a", item, o, err)
	}
	o, err := r.Next()
	if o != nil {
		t.Errorf("%q: an item beside the error: %v", item, o)
	}
	checkError(t, item, err, offset, true, what)
	if o, err := r.Next(); err != nil || o.Key().Name != "b" {
		t.Errorf("%q: after it %v, %v; want b", item, o, err)
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("%q: at the end %v; want io.EOF", item, err)
	}
}

func TestListReaderNeverTakesACutOffListForAWholeOne(t *testing.T) {
	list := &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}, Items: []corev1.ConfigMap{*configMap("a"), *configMap("b")}}
	bothEncodings(t, func(t *testing.T, encoding Encoding) {
		body := listBody(t, encoding, list)
		whole, err := readList(NewListReader(bytes.NewReader(body), encoding, Options{}))
		if err != io.EOF || len(whole) != 2 {
			t.Fatalf("whole: %q, %v", whole, err)
		}
		// The list is whole without the line feed, or without the two empty
		// fields at the end of the envelope.
		complete := map[int]bool{len(body): true, len(body) - 1: encoding == JSON, len(body) - 2: encoding == Protobuf, len(body) - 4: encoding == Protobuf}
		for n := range len(body) + 1 {
			items, err := readList(NewListReader(iotest.HalfReader(bytes.NewReader(body[:n])), encoding, Options{}))
			for i, item := range items {
				if item != whole[i] {
					t.Fatalf("cut off at %d: item %s; want %s", n, item, whole[i])
				}
			}
			if complete[n] {
				if err != io.EOF || len(items) != 2 {
					t.Fatalf("cut off at %d: %v after %d items; want io.EOF", n, err, len(items))
				}
				continue
			}
			checkError(t, n, err, n, false, "ends inside")
		}
	})
}
