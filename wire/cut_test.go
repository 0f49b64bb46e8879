package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// cutJSON returns what a reader keeps of a JSON object, and the cuts.
func cutJSON(raw []byte) (kept []byte, edits []edit, err error) {
	w := window{r: bytes.NewReader(raw)}
	s := pulling(&w, len(raw))
	if err := s.border(); err != nil {
		return nil, nil, err
	}
	var f found
	if s.peek() != '{' || !s.find(&f) {
		return nil, nil, fmt.Errorf("not an object: %w", s.err)
	}
	return appendEdited(nil, s.buf[:s.pos], f.edits), f.edits, nil
}

func TestCutLeavesEveryOtherByteOfJSON(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{`{"metadata":{"managedFields":[{"a":1}]}}`, `{"metadata":{}}`},
		{`{"metadata":{"managedFields":null,"name":"a"}}`, `{"metadata":{"name":"a"}}`},
		{`{"metadata":{"name":"a","managedFields":[]}}`, `{"metadata":{"name":"a"}}`},
		{`{"metadata":{"name":"a","managedFields":[],"uid":"b"}}`, `{"metadata":{"name":"a","uid":"b"}}`},
		{`{"metadata":{ "name" : "a" , "managedFields" : [ ] , "uid" : "b" } }`, `{"metadata":{ "name" : "a"  , "uid" : "b" } }`},
		{`{"metadata":{ "managedFields" : 7 , "uid" : "b" }}`, `{"metadata":{  "uid" : "b" }}`},
		{`{"metadata":{ "managedFields" : "x" }}`, `{"metadata":{  }}`},
		{`{"metadata":{"managedFields":1,"managedFields":2}}`, `{"metadata":{}}`},
		{`{"metadata":{"managedFields":1 , "managedFields":2, "name":"a" , "managedFields":3}}`, `{"metadata":{  "name":"a" }}`},
		{`{"metadata":{"name":"a","managedFields":1,"managedFields":2,"uid":"b"}}`, `{"metadata":{"name":"a","uid":"b"}}`},
		{`{"metadata":{"managed\u0046ields":[],"name":"a"}}`, `{"metadata":{"name":"a"}}`},
		{`{"metadata":{"managedFields":[]},"x":1,"metadata":{"managedFields":[],"a":1}}`, `{"metadata":{},"x":1,"metadata":{"a":1}}`},
		// What only looks like it stays.
		{`{"metadata":{"ManagedFields":[],"managedfields":1}}`, `{"metadata":{"ManagedFields":[],"managedfields":1}}`},
		{`{"managedFields":[],"spec":{"metadata":{"managedFields":[]}}}`, `{"managedFields":[],"spec":{"metadata":{"managedFields":[]}}}`},
		{`{"metadata":[{"managedFields":[]}]}`, `{"metadata":[{"managedFields":[]}]}`},
		{`{"metadata":{"labels":{"managedFields":"x"},"name":"\"managedFields\":1,"}}`, `{"metadata":{"labels":{"managedFields":"x"},"name":"\"managedFields\":1,"}}`},
	} {
		got, _, err := cutJSON([]byte(tc.in))
		if err != nil || string(got) != tc.want {
			t.Errorf("cut of %s\n got %s, %v\nwant %s", tc.in, got, err, tc.want)
		}
	}
}

// fields builds a protobuf message from fields of bytes.
type fields []byte

func (f fields) add(num protowire.Number, body []byte) fields {
	return protowire.AppendBytes(protowire.AppendTag(f, num, protowire.BytesType), body)
}

func (f fields) addVarint(num protowire.Number, v uint64) fields {
	return protowire.AppendVarint(protowire.AppendTag(f, num, protowire.VarintType), v)
}

// editsProtobuf returns what removes managedFields.
func editsProtobuf(raw []byte) ([]edit, error) {
	m := sink{cutting: true}
	err := scanProtobuf(raw, &m)
	return m.edits, err
}

func TestCutLeavesEveryOtherByteOfProtobuf(t *testing.T) {
	entry := bytes.Repeat([]byte("m"), 200)
	name := fields{}.add(metaName, []byte("a"))
	for _, tc := range []struct {
		what     string
		in, want []byte
	}{
		{"no metadata", fields{}.add(2, entry), fields{}.add(2, entry)},
		{"an entry between others",
			fields{}.add(1, append(fields{}.add(metaManagedFields, entry).add(metaManagedFields, entry), name...)).add(2, entry),
			fields{}.add(1, name).add(2, entry)},
		{"entries apart and unknown fields",
			fields{}.add(9, nil).add(1, fields{}.add(metaManagedFields, entry).addVarint(99, 5).add(metaManagedFields, entry).add(98, entry)),
			fields{}.add(9, nil).add(1, fields{}.addVarint(99, 5).add(98, entry))},
		{"metadata in two parts",
			fields{}.add(1, fields{}.add(metaManagedFields, entry)).add(3, nil).add(1, append(name, fields{}.add(metaManagedFields, nil)...)),
			fields{}.add(1, nil).add(3, nil).add(1, name)},
		{"a length of more bytes than needed, and nothing to cut",
			append([]byte{0x0a, 0x83, 0x00}, name...),
			append([]byte{0x0a, 0x83, 0x00}, name...)},
		{"a tag and a length of more bytes than needed",
			append(append([]byte{0x8a, 0x00, 0x86, 0x80, 0x00}, name...), fields{}.add(metaManagedFields, nil)...),
			append([]byte{0x8a, 0x00, 0x03}, name...)},
		{"field 17 elsewhere, or a number",
			fields{}.add(metaManagedFields, entry).add(1, fields{}.addVarint(metaManagedFields, 1)),
			fields{}.add(metaManagedFields, entry).add(1, fields{}.addVarint(metaManagedFields, 1))},
	} {
		edits, err := editsProtobuf(tc.in)
		got := appendEdited(nil, tc.in, edits)
		if err != nil || !bytes.Equal(got, tc.want) {
			t.Errorf("%s: cut of %x\n got %x, %v\nwant %x", tc.what, tc.in, got, err, tc.want)
		}
	}
}

func TestCutSaysWhereProtobufIsWrong(t *testing.T) {
	meta := fields{}.add(metaManagedFields, nil).add(metaName, nil)
	for _, tc := range []struct {
		raw    []byte
		offset int
	}{
		{fields{}.add(2, nil).add(1, meta[:len(meta)-1]), 2 + 2 + 3},
		{append(fields{}.add(1, meta), 0x80), 2 + 5},
	} {
		_, err := editsProtobuf(tc.raw)
		checkError(t, string(tc.raw), err, tc.offset, true, "malformed protobuf field: unexpected EOF")
	}
}

// cutProtobufModel cuts by encoding anew, field by field.
func cutProtobufModel(raw []byte) (kept []byte, ok bool) {
	for len(raw) > 0 {
		num, typ, n := protowire.ConsumeField(raw)
		if n < 0 {
			return nil, false
		}
		field := raw[:n]
		raw = raw[n:]
		if num != 1 || typ != protowire.BytesType {
			kept = append(kept, field...)
			continue
		}
		_, _, tag := protowire.ConsumeTag(field)
		body, _ := protowire.ConsumeBytes(field[tag:])
		var meta []byte
		for rest := body; len(rest) > 0; {
			num, typ, n := protowire.ConsumeField(rest)
			if n < 0 {
				return nil, false
			}
			if num != metaManagedFields || typ != protowire.BytesType {
				meta = append(meta, rest[:n]...)
			}
			rest = rest[n:]
		}
		if len(meta) == len(body) {
			kept = append(kept, field...)
			continue
		}
		kept = protowire.AppendBytes(append(kept, field[:tag]...), meta)
	}
	return kept, true
}

func FuzzCutProtobuf(f *testing.F) {
	for _, raw := range seeds(f, Protobuf) {
		f.Add(raw)
	}
	f.Add([]byte{0x8a, 0x00, 0x86, 0x80, 0x00, 0x0a, 0x01, 'a', 0x8a, 0x01, 0x00})
	f.Fuzz(func(t *testing.T, raw []byte) {
		edits, err := editsProtobuf(raw)
		want, ok := cutProtobufModel(raw)
		if err == nil && !ok {
			t.Fatalf("edits of %x; the model does not read it", raw)
		}
		if err != nil { // the metadata is of other types than it should be
			return
		}
		got := appendEdited(nil, raw, edits)
		if !bytes.Equal(got, want) {
			t.Fatalf("cut of %x\n got %x\nwant %x", raw, got, want)
		}
		checkKept(t, raw, got)
		var before, after metav1.PartialObjectMetadata
		if before.Unmarshal(raw) != nil {
			return
		}
		if err := after.Unmarshal(got); err != nil {
			t.Fatalf("decode what is kept of %x: %v", raw, err)
		}
		before.ManagedFields = nil
		if !equality.Semantic.DeepEqual(before, after) {
			t.Fatalf("cut of %x decodes to %v; want %v", raw, after, before)
		}
	})
}

// checkKept compares the object that a reader keeps of raw with that of what is
// left of raw: it is described by a scan of the former.
func checkKept(t *testing.T, raw, left []byte) {
	t.Helper()
	want, err := NewObject(Protobuf, left)
	k := newKeeper(Protobuf, Options{})
	got, keepErr := k.keep(&frame{object: raw})
	if (err == nil) != (keepErr == nil) {
		t.Fatalf("keep of %x: %v; of what is left: %v", raw, keepErr, err)
	}
	if err != nil {
		return
	}
	expectSame(t, got, want)
	if got.body.head != want.body.head || got.body.labels != want.body.labels {
		t.Fatalf("%x: metadata to %d, labels from %d; want %d, %d", raw, got.body.head, got.body.labels, want.body.head, want.body.labels)
	}
	for _, label := range want.Meta().Labels {
		if value, ok := got.Label(label.Name); !ok || value != labelOf(want, label.Name) {
			t.Fatalf("%x: label %q = %q, %t", raw, label.Name, value, ok)
		}
	}
}

// labelOf reads a label by a scan.
func labelOf(o *Object, name string) string {
	m := o.Meta()
	value, _ := m.Label(name)
	return value
}

func FuzzCutJSON(f *testing.F) {
	for _, raw := range seeds(f, JSON) {
		f.Add(raw)
	}
	f.Add([]byte(`{"metadata":{"managedFields":1 , "managedFields":2, "name":"a" , "managed\u0046ields":3}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		kept, edits, err := cutJSON(raw)
		if err != nil {
			return
		}
		var got, want map[string]any
		if err := json.Unmarshal(kept, &got); err != nil {
			t.Fatalf("kept %q of %q: %v", kept, raw, err)
		}
		raw = bytes.TrimLeft(raw, " \t\r\n")
		whole := json.NewDecoder(bytes.NewReader(raw))
		if err := whole.Decode(&want); err != nil {
			t.Fatalf("found an object in %q: %v", raw, err)
		}
		size := int(whole.InputOffset())
		for _, e := range edits {
			size -= e.end - e.start
			checkRemoved(t, string(raw[e.start:e.end]))
		}
		if len(kept) != size {
			t.Fatalf("kept %d bytes of %q; want %d", len(kept), raw, size)
		}
		if meta, ok := want["metadata"].(map[string]any); ok {
			delete(meta, "managedFields")
		}
		if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
			t.Fatalf("kept %s of %q; want %s", g, raw, w)
		}
	})
}

// checkRemoved checks that what was cut is nothing but managedFields members.
func checkRemoved(t *testing.T, text string) {
	t.Helper()
	members := strings.Trim(text, ", \t\r\n")
	var keys map[string]any
	if err := json.Unmarshal([]byte("{"+members+"}"), &keys); err != nil {
		t.Fatalf("removed %q: %v", text, err)
	}
	if _, ok := keys["managedFields"]; !ok || len(keys) != 1 {
		t.Fatalf("removed %q", text)
	}
}
