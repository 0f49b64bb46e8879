package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kubejson "k8s.io/apimachinery/pkg/util/json"
)

func nested(depth int) string {
	return `{"a":` + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1) + `}`
}

func TestScanOfUnusualJSON(t *testing.T) {
	deleted := time.Date(2026, 5, 28, 20, 26, 47, 0, time.UTC)
	for _, tc := range []struct {
		raw  string
		want Meta
	}{
		{`{}`, Meta{}},
		{" {\t\r\n} ", Meta{}},
		{`{"metadata":null}`, Meta{}},
		{nested(maxDepth), Meta{}},
		// Null leaves scalars alone and clears what is a pointer, a map or a slice.
		{`{"metadata":{"name":"a","name":null}}`, Meta{Name: "a"}},
		{`{"metadata":{"name":"a"},"metadata":null}`, Meta{Name: "a"}},
		{`{"metadata":{"generation":3,"generation":null}}`, Meta{Generation: 3}},
		{`{"metadata":{"deletionTimestamp":"2026-05-28T20:26:47Z","deletionTimestamp":null}}`, Meta{}},
		{`{"metadata":{"labels":{"a":"1"},"labels":null,"labels":{"b":null}}}`, Meta{Labels: []Label{{"b", ""}}}},
		{`{"metadata":{"ownerReferences":[{"name":"o","controller":true}],"ownerReferences":null}}`, Meta{}},
		{`{"metadata":{"ownerReferences":[null,{"controller":null},{"name":"o","controller":true}]}}`, Meta{Owner: Owner{Name: "o"}}},
		// Repeated members add up.
		{`{"metadata":{"name":"a","uid":"u"},"metadata":{"name":"b"}}`, Meta{Name: "b", UID: "u"}},
		{`{"metadata":{"labels":{"a":"1"},"labels":{"a":"2"}}}`, Meta{Labels: []Label{{"a", "1"}, {"a", "2"}}}},
		// The first controlling owner counts.
		{`{"metadata":{"ownerReferences":[{"controller":true},{"name":"o","controller":true}]}}`, Meta{}},
		{`{"metadata":{"ownerReferences":[{"name":"n","controller":true,"controller":false},{"name":"o","controller":true}]}}`, Meta{Owner: Owner{Name: "o"}}},
		// Keys are case-sensitive, and may be escaped.
		{`{"Metadata":{"name":"x"},"metadata":{"Name":"y"}}`, Meta{}},
		{`{"metad\u0061ta":{"\u006eame":"a"}}`, Meta{Name: "a"}},
		// Strings.
		{`{"metadata":{"name":"\"\\\/\b\f\n\r\tä\u00e4\u4F60\ud83d\ude00"}}`, Meta{Name: "\"\\/\b\f\n\r\tää你😀"}},
		{`{"metadata":{"name":"\ud83d","uid":"\ude00\ud83d\u0061","namespace":"\ud83d\ud83d\ude00"}}`,
			Meta{Name: "\ufffd", UID: "\ufffd\ufffda", Namespace: "\ufffd😀"}},
		{"{\"metadata\":{\"name\":\"a\xffb\xc3\"}}", Meta{Name: "a\ufffdb\ufffd"}},
		{"{\"metadata\":{\"labels\":{\"\\n\xff\":\"\\u0000\"}}}", Meta{Labels: []Label{{"\n\ufffd", "\x00"}}}},
		// Numbers and times.
		{`{"metadata":{"generation":-0}}`, Meta{}},
		{`{"metadata":{"generation":9223372036854775807}}`, Meta{Generation: 9223372036854775807}},
		{`{"metadata":{"deletionTimestamp":"2026-05-28T22:26:47+02:00"}}`, Meta{DeletionTimestamp: deleted}},
		// What is not scanned may have any type.
		{`{"kind":7,"metadata":{"annotations":[],"creationTimestamp":{},"finalizers":[0.1e-2,-0E+10,5E0],"selfLink":true},"spec":"x"}`, Meta{}},
	} {
		var got Meta
		if err := Scan(JSON, []byte(tc.raw), &got); err != nil {
			t.Errorf("Scan of %.80s: %v", tc.raw, err)
		} else if fmt.Sprint(got) != fmt.Sprint(tc.want) {
			t.Errorf("Scan of %.80s\n got %+v\nwant %+v", tc.raw, got, tc.want)
		}
	}
}

func TestScanSaysWhereJSONIsWrong(t *testing.T) {
	// The character » stands before the byte that is wrong.
	for _, tc := range []struct{ raw, what string }{
		{`»`, "ends"},
		{` »[]`, `'[' instead of an object`},
		{`»null`, `'n' instead of an object`},
		{`{»`, "ends"},
		{`{»a":1}`, `'a' instead of a key`},
		{`{"a"»}`, `'}' instead of ':'`},
		{`{"a":»}`, `'}' instead of a value`},
		{`{"a":1»]`, `']' instead of ',' or '}'`},
		{`{"a":1,»}`, `'}' instead of a key`},
		{`{"a":1}»}`, `'}' instead of the end`},
		{`{"a":[1»}`, `'}' instead of ',' or ']'`},
		{`{"a":[1,»]}`, `']' instead of a value`},
		{`{"a":[»,1]}`, `',' instead of a value`},
		{`{"a":tr»x}`, `'x' instead of true`},
		{`{"a":nul»`, "ends"},
		{`{"a":fals»E}`, "instead of false"},
		{`{"a":0»1}`, `'1' instead of`},
		{`{"a":-»}`, `'}' instead of a digit`},
		{`{"a":»+1}`, `'+' instead of a value`},
		{`{"a":1.»}`, `instead of a digit`},
		{`{"a":1e+»,}`, `instead of a digit`},
		{`{"a":"»`, "ends"},
		{"{\"a\":\"0123456789»\n\"}", `'\n' instead of a character of a string`},
		{"{\"a\":\"0123»\x1f4567\"}", `'\x1f' instead of a character of a string`},
		{"{\"a\":»\x00}", `'\x00' instead of a value`},
		{`{"a":"\»x"}`, `'x' instead of an escape`},
		{`{"a":"\u00»g0"}`, `'g' instead of a hexadecimal digit`},
		{`{"a":"\»`, "ends"},
		{`{"a":` + strings.Repeat("[", maxDepth-1) + "»[", "nests deeper"},
		{`{"a":` + strings.Repeat("[", maxDepth-1) + "»[]" + strings.Repeat("]", maxDepth-1) + "}", "nests deeper"},
		{`{"a":` + strings.Repeat("[", maxDepth-1) + "»{}" + strings.Repeat("]", maxDepth-1) + "}", "nests deeper"},
		{`{"a":` + strings.Repeat("[", maxDepth-1) + `»{"b":1}` + strings.Repeat("]", maxDepth-1) + "}", "nests deeper"},
		{`{"metadata":»[]}`, "metadata is not an object"},
		{`{"metadata":»"x"}`, "metadata is not an object"},
		{`{"metadata":{"name":»1}}`, "metadata.name is not a string"},
		{`{"metadata":{"namespace":»{}}}`, "metadata.namespace is not a string"},
		{`{"metadata":{"uid":»[]}}`, "metadata.uid is not a string"},
		{`{"metadata":{"resourceVersion":»17}}`, "metadata.resourceVersion is not a string"},
		{`{"metadata":{"generation":»"1"}}`, "metadata.generation is not an integer"},
		{`{"metadata":{"generation":»1.0}}`, "metadata.generation is not an integer of 64 bits"},
		{`{"metadata":{"generation":»9223372036854775808}}`, "metadata.generation is not an integer of 64 bits"},
		{`{"metadata":{"deletionTimestamp":»0}}`, "metadata.deletionTimestamp is not a string"},
		{`{"metadata":{"deletionTimestamp":»""}}`, "metadata.deletionTimestamp is not a time"},
		{`{"metadata":{"deletionTimestamp":»"yesterday"}}`, "metadata.deletionTimestamp is not a time"},
		{`{"metadata":{"labels":»[]}}`, "metadata.labels is not an object"},
		{`{"metadata":{"labels":{"a":»1}}}`, "a label is not a string"},
		{`{"metadata":{"ownerReferences":»{}}}`, "metadata.ownerReferences is not an array"},
		{`{"metadata":{"ownerReferences":[»1]}}`, "an owner reference is not an object"},
		{`{"metadata":{"ownerReferences":[{"uid":»1}]}}`, "an owner's uid is not a string"},
		{`{"metadata":{"ownerReferences":[{"controller":»"true"}]}}`, "an owner's controller is not a boolean"},
	} {
		before, after, _ := strings.Cut(tc.raw, "»")
		var m Meta
		checkError(t, tc.raw, Scan(JSON, []byte(before+after), &m), len(before), true, tc.what)
	}
}

// checkError checks an *Error's fields, and part of what it says.
func checkError(t *testing.T, input any, err error, offset int, object bool, what string) {
	t.Helper()
	e, ok := errors.AsType[*Error](err)
	switch {
	case !ok:
		t.Errorf("%.100q: %v; want an *Error: %s", input, err, what)
	case e.Offset != int64(offset) || e.Object != object || !strings.Contains(e.Error(), what):
		t.Errorf("%.100q: offset %d, object %v: %v\nwant offset %d, object %v: … %s …", input, e.Offset, e.Object, e, offset, object, what)
	}
	if strings.HasPrefix(what, "ends") && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%.100q: %v; want io.ErrUnexpectedEOF", input, err)
	}
}

func TestScanSaysWhereProtobufIsWrong(t *testing.T) {
	spec := fields{}.add(2, []byte("spec"))
	in := func(meta fields) []byte { return append(spec[:len(spec):len(spec)], fields{}.add(1, meta)...) }
	at := len(spec) + 2 // where the metadata begins
	for _, tc := range []struct {
		name   string
		raw    []byte
		offset int
		what   string
	}{
		{"a tag that is cut off", append(spec[:len(spec):len(spec)], 0x80), len(spec), "malformed protobuf field: unexpected EOF"},
		{"a field that is cut off", spec[:len(spec)-1], 0, "malformed protobuf field: unexpected EOF"},
		{"field number 0", in(fields{0x02, 0x00}), at, "malformed protobuf field"},
		{"an end without a group", in(fields{0x0c}), at, "malformed protobuf field"},
		{"a wire type that does not exist", in(fields{0x0f}), at, "malformed protobuf field"},
		{"metadata that is a number", fields{}.add(2, nil).addVarint(1, 1), 2, "metadata has protobuf wire type 0 instead of 2"},
		{"a name that is a number", in(fields{}.add(2, nil).addVarint(metaName, 1)), at + 2, "metadata.name has protobuf wire type 0 instead of 2"},
		{"a generation that is a string", in(fields{}.add(metaGeneration, nil)), at, "metadata.generation has protobuf wire type 2 instead of 0"},
		{"a label that is a number", in(fields{}.addVarint(metaLabels, 1)), at, "metadata.labels has protobuf wire type 0"},
		{"a label's value that is a number", in(fields{}.add(metaLabels, fields{}.add(entryKey, nil).addVarint(entryValue, 1))), at + 4, "a map entry's value has"},
		{"an owner that is cut off", in(fields{}.add(metaOwnerReferences, fields{0x0a, 0x05})), at + 2, "malformed protobuf field: unexpected EOF"},
		{"a time whose nanos are a string", in(fields{}.add(metaDeletionTimestamp, fields{}.addVarint(timeSeconds, 1).add(timeNanos, nil))), at + 4, "a time's nanos has"},
	} {
		var m Meta
		checkError(t, tc.name, Scan(Protobuf, tc.raw, &m), tc.offset, true, tc.what)
	}
}

func TestScanOfUnusualProtobuf(t *testing.T) {
	name := func(s string) fields { return fields{}.add(metaName, []byte(s)) }
	group := protowire.AppendTag(protowire.AppendTag(nil, 9, protowire.StartGroupType), 9, protowire.EndGroupType)
	owner := func(name string) fields {
		return fields{}.addVarint(ownerController, 1).add(ownerName, []byte(name))
	}
	for _, tc := range []struct {
		name string
		raw  []byte
		want Meta
	}{
		{"nothing", nil, Meta{}},
		{"metadata in two parts", fields{}.add(1, name("a").addVarint(metaGeneration, 2)).add(1, name("b")), Meta{Name: "b", Generation: 2}},
		{"the last scalar counts, also when empty", fields{}.add(1, append(name("a"), name("")...)), Meta{}},
		{"a bool of more than one bit", fields{}.add(1, fields{}.add(metaOwnerReferences, fields{}.addVarint(ownerController, 2).add(ownerName, []byte("o")))), Meta{Owner: Owner{Name: "o"}}},
		{"a group", append(group, fields{}.add(1, name("a"))...), Meta{Name: "a"}},
		{"an empty deletionTimestamp", fields{}.add(1, name("a").add(metaDeletionTimestamp, nil)), Meta{Name: "a"}},
		{"a negative generation", fields{}.add(1, name("a").addVarint(metaGeneration, ^uint64(0))), Meta{Name: "a", Generation: -1}},
		{"a map entry without a key", fields{}.add(1, fields{}.add(metaLabels, nil)), Meta{Labels: []Label{{}}}},
		{"the first controlling owner", fields{}.add(1, fields{}.add(metaOwnerReferences, owner(""))).
			add(1, fields{}.add(metaOwnerReferences, owner("o"))), Meta{}},
	} {
		var got Meta
		if err := Scan(Protobuf, tc.raw, &got); err != nil || fmt.Sprint(got) != fmt.Sprint(tc.want) {
			t.Errorf("%s: %+v, %v; want %+v", tc.name, got, err, tc.want)
		}
	}
}

func TestScanRefusesAnUnknownEncoding(t *testing.T) {
	var m Meta
	checkError(t, "", Scan(0, nil, &m), 0, true, "unknown encoding(0)")
}

// decodeScanned decodes with the API's decoder into what Scan reads, and no more.
func decodeScanned(raw []byte) (Meta, error) {
	var in struct {
		Metadata struct {
			Name              string            `json:"name"`
			Namespace         string            `json:"namespace"`
			UID               string            `json:"uid"`
			ResourceVersion   string            `json:"resourceVersion"`
			Generation        int64             `json:"generation"`
			DeletionTimestamp *metav1.Time      `json:"deletionTimestamp"`
			Labels            map[string]string `json:"labels"`
			OwnerReferences   []struct {
				APIVersion string `json:"apiVersion"`
				Kind       string `json:"kind"`
				Name       string `json:"name"`
				UID        string `json:"uid"`
				Controller *bool  `json:"controller"`
			} `json:"ownerReferences"`
		} `json:"metadata"`
	}
	if err := kubejson.Unmarshal(raw, &in); err != nil {
		return Meta{}, err
	}
	object := &metav1.ObjectMeta{
		Name: in.Metadata.Name, Namespace: in.Metadata.Namespace, UID: types.UID(in.Metadata.UID),
		ResourceVersion: in.Metadata.ResourceVersion, Generation: in.Metadata.Generation,
		DeletionTimestamp: in.Metadata.DeletionTimestamp, Labels: in.Metadata.Labels,
	}
	for _, o := range in.Metadata.OwnerReferences {
		object.OwnerReferences = append(object.OwnerReferences, metav1.OwnerReference{
			APIVersion: o.APIVersion, Kind: o.Kind, Name: o.Name, UID: types.UID(o.UID), Controller: o.Controller,
		})
	}
	return metaOf(object), nil
}

// FuzzScanJSON compares with the API's decoder, given a type that has just what
// is scanned: both accept the same objects and read the same from them. What
// PartialObjectMetadata accepts is accepted too.
func FuzzScanJSON(f *testing.F) {
	for _, raw := range seeds(f, JSON) {
		f.Add(raw)
	}
	f.Add([]byte(`{"metadata":{"name":"\ud83d\ude00\ud83d","labels":{"a":null},"labels":null,"ownerReferences":[null,{"controller":true}]}}`))
	f.Add([]byte(`{"a":[{},[],1.5e-3,true,false,null,"\\"],"metadata":{"generation":-1,"deletionTimestamp":"2026-05-28T20:26:47Z"}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var got Meta
		err := Scan(JSON, raw, &got)
		want, decodeErr := decodeScanned(raw)
		if object := strings.HasPrefix(strings.TrimLeft(string(raw), " \t\r\n"), "{"); !object {
			if err == nil {
				t.Fatalf("Scan accepts %q", raw)
			}
			return
		}
		if (err == nil) != (decodeErr == nil) {
			t.Fatalf("Scan of %q: %v; decoder: %v", raw, err, decodeErr)
		}
		var partial metav1.PartialObjectMetadata
		if kubejson.Unmarshal(raw, &partial) == nil && err != nil {
			t.Fatalf("Scan of %q: %v; PartialObjectMetadata accepts it", raw, err)
		}
		if err != nil {
			if json.Valid(raw) && strings.Contains(err.Error(), ": JSON ") {
				t.Fatalf("Scan of %q: %v; it is valid", raw, err)
			}
			return
		}
		if strings.Count(string(raw), "ownerReferences") != 1 {
			// Decoders write the elements of a second array over those of the
			// first, field by field; Scan takes the last array alone.
			got.Owner, want.Owner = Owner{}, Owner{}
		}
		if diff := diffMeta(got, want); diff != "" {
			t.Fatalf("Scan of %q (-want +got):\n%s", raw, diff)
		}
	})
}

// shape names the fields that are read as bytes, and, where it is not nil, the
// shape of the message in them.
type shape map[protowire.Number]shape

var (
	objectShape = shape{1: {metaDeletionTimestamp: {}, metaOwnerReferences: {}, metaLabels: {entryKey: nil, entryValue: nil}}}
	statusShape = shape{unknownTypeMeta: {}, unknownRaw: {statusDetails: {detailsCauses: {}}}}
)

// wellFormed tells whether the strict parser of protobuf takes a message: the
// generated decoders of the API are laxer, and misread a map entry whose key is
// a number.
func wellFormed(raw []byte, walked shape) bool {
	for len(raw) > 0 {
		num, typ, n := protowire.ConsumeField(raw)
		if n < 0 {
			return false
		}
		field := raw[:n]
		raw = raw[n:]
		inside, ok := walked[num]
		if !ok {
			continue
		}
		if typ != protowire.BytesType {
			return false
		}
		_, _, tag := protowire.ConsumeTag(field)
		body, _ := protowire.ConsumeBytes(field[tag:])
		if inside != nil && !wellFormed(body, inside) {
			return false
		}
	}
	return true
}

func FuzzScanProtobuf(f *testing.F) {
	for _, raw := range seeds(f, Protobuf) {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var got Meta
		err := Scan(Protobuf, raw, &got)
		if err != nil && err.(*Error).Offset > int64(len(raw)) {
			t.Fatalf("Scan of %x: %v, beyond its end", raw, err)
		}
		var want metav1.PartialObjectMetadata
		if want.Unmarshal(raw) != nil || !wellFormed(raw, objectShape) {
			return
		}
		if err != nil {
			t.Fatalf("Scan of %x: %v", raw, err)
		}
		if diff := diffMeta(got, metaOf(&want)); diff != "" {
			t.Fatalf("Scan of %x (-want +got):\n%s", raw, diff)
		}
	})
}
