package wire

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubejson "k8s.io/apimachinery/pkg/util/json"
)

// random writes JSON objects that are full of what Scan looks for: right and
// wrong types, repeated members, nulls, escapes and white space.
type random struct {
	*rand.Rand
	out strings.Builder
}

func (r *random) pick(choices ...string) { r.out.WriteString(choices[r.IntN(len(choices))]) }

func (r *random) space() {
	if r.IntN(8) == 0 {
		r.pick(" ", "\n", "\t\r")
	}
}

// members writes an object of up to four members of the given keys.
func (r *random) members(value func(key string), keys ...string) {
	r.out.WriteByte('{')
	for i := range r.IntN(5) {
		if i > 0 {
			r.out.WriteByte(',')
		}
		r.space()
		key := keys[r.IntN(len(keys))]
		fmt.Fprintf(&r.out, "%q", key)
		r.space()
		r.out.WriteByte(':')
		r.space()
		value(key)
		r.space()
	}
	r.out.WriteByte('}')
}

func (r *random) text() {
	r.pick(`""`, `"a"`, `"default"`, `"1\u0030"`, `"\ud83d"`, "\"\xff\"", `"\"},{\\"`, `"2026-05-28T20:26:47Z"`)
}

func (r *random) any() {
	r.pick(`null`, `[]`, `{}`, `17`, `-1e3`, `true`, `false`, `"x"`, `[{"a":[1,"]"]},{}]`, `{"metadata":{"name":"decoy"}}`)
}

// mostly writes a value of the right type, or seldom any.
func (r *random) mostly(right func()) {
	switch r.IntN(24) {
	case 0:
		r.any()
	case 1, 2:
		r.out.WriteString("null")
	default:
		right()
	}
}

func (r *random) object() string {
	r.out.Reset()
	r.members(func(key string) {
		if key != "metadata" {
			r.any()
			return
		}
		r.mostly(func() {
			r.members(r.metadata, "name", "namespace", "uid", "resourceVersion", "generation",
				"deletionTimestamp", "labels", "ownerReferences", "managedFields", "annotations", "Name")
		})
	}, "metadata", "metadata", "spec", "kind", "Metadata")
	return r.out.String()
}

func (r *random) metadata(key string) {
	switch key {
	case "generation":
		r.mostly(func() { r.pick("0", "7", "-3", "1.0", "12345678901234567890") })
	case "deletionTimestamp":
		r.mostly(func() { r.pick(`"2026-05-28T20:26:47Z"`, `"2026-05-28T20:26:47.5+02:00"`, `""`) })
	case "labels", "annotations":
		r.mostly(func() { r.members(func(string) { r.mostly(r.text) }, "a", "b") })
	case "ownerReferences":
		r.mostly(func() {
			r.out.WriteByte('[')
			for i := range r.IntN(3) {
				if i > 0 {
					r.out.WriteByte(',')
				}
				r.mostly(r.owner)
			}
			r.out.WriteByte(']')
		})
	case "managedFields", "Name":
		r.any()
	default:
		r.mostly(r.text)
	}
}

func (r *random) owner() {
	r.members(func(key string) {
		if key == "controller" {
			r.mostly(func() { r.pick("true", "true", "false") })
			return
		}
		r.mostly(r.text)
	}, "apiVersion", "kind", "name", "uid", "controller", "controller")
}

// spoil changes one byte, seldom.
func (r *random) spoil(raw []byte) []byte {
	if len(raw) > 0 && r.IntN(8) == 0 {
		raw[r.IntN(len(raw))] = `{}[]:,"\ 0-.ean`[r.IntN(15)]
	}
	return raw
}

func newRandom(t *testing.T) *random {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return &random{Rand: rand.New(rand.NewPCG(seed, 0))}
}

func TestScanAgreesWithADecoderOnRandomJSON(t *testing.T) {
	r := newRandom(t)
	accepted := 0
	for range 20_000 {
		raw := r.spoil([]byte(r.object()))
		if raw[0] != '{' {
			continue
		}
		var got Meta
		err := Scan(JSON, raw, &got)
		want, decodeErr := decodeScanned(raw)
		if (err == nil) != (decodeErr == nil) {
			t.Fatalf("Scan of %q: %v; decoder: %v", raw, err, decodeErr)
		}
		if err != nil {
			continue
		}
		accepted++
		if strings.Count(string(raw), "ownerReferences") > 1 {
			got.Owner, want.Owner = Owner{}, Owner{} // see FuzzScanJSON
		}
		if diff := diffMeta(got, want); diff != "" {
			t.Fatalf("Scan of %q (-want +got):\n%s", raw, diff)
		}
	}
	if accepted < 4000 {
		t.Fatalf("only %d objects were accepted: the test tests little", accepted)
	}
}

func TestLabelAndAnnotationAgreeWithADecoderOnRandomJSON(t *testing.T) {
	r := newRandom(t)
	compared := 0
	for range 20_000 {
		raw := []byte(r.object())
		var want metav1.PartialObjectMetadata
		o, err := NewObject(JSON, raw)
		if err != nil || kubejson.Unmarshal(raw, &want) != nil {
			continue
		}
		for _, name := range []string{"a", "b", ""} {
			wantLabel, wantHas := want.Labels[name]
			if got, has := o.Label(name); got != wantLabel || has != wantHas {
				t.Fatalf("label %s of %q = %q, %v; want %q, %v", name, raw, got, has, wantLabel, wantHas)
			}
			wantValue, wantHas := want.Annotations[name]
			if got, has := o.Annotation(name); got != wantValue || has != wantHas {
				t.Fatalf("annotation %s of %q = %q, %v; want %q, %v", name, raw, got, has, wantValue, wantHas)
			}
			if wantHas {
				compared++
			}
		}
	}
	if compared < 100 {
		t.Fatalf("only %d annotations were compared: the test tests little", compared)
	}
}

func TestReadersAgreeWithADecoderOnRandomJSON(t *testing.T) {
	r := newRandom(t)
	for range 3000 {
		var docs, stream []string
		for range r.IntN(4) {
			docs = append(docs, r.object())
			stream = append(stream, `{"type":"ADDED","object":`+docs[len(docs)-1]+`}`)
		}
		w := NewWatchReader(iotest.OneByteReader(strings.NewReader(strings.Join(stream, "\n"))), JSON, Options{})
		l := NewListReader(iotest.HalfReader(strings.NewReader(`{"items":[`+strings.Join(docs, ",")+`]}`)), JSON, Options{})
		for i, doc := range docs {
			want, wantErr := NewObject(JSON, []byte(doc))
			e, watchErr := w.Next()
			item, listErr := l.Next()
			if (watchErr == nil) != (wantErr == nil) || (listErr == nil) != (wantErr == nil) {
				t.Fatalf("object %d of %q: watch %v, list %v; want %v", i, docs, watchErr, listErr, wantErr)
			}
			if wantErr != nil {
				continue
			}
			kept, _, err := cutJSON([]byte(doc))
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range []*Object{e.Object, item} {
				if o.Key() != want.Key() || o.UID() != want.UID() || o.Deleting() != want.Deleting() || string(o.AppendBytes(nil)) != string(kept) {
					t.Fatalf("object %d of %q = %s %q; want %s %q", i, docs, o.Key(), o.AppendBytes(nil), want.Key(), kept)
				}
			}
		}
		if _, err := w.Next(); err != io.EOF {
			t.Fatalf("watch of %q: at the end %v", docs, err)
		}
		if _, err := l.Next(); err != io.EOF {
			t.Fatalf("list of %q: at the end %v", docs, err)
		}
	}
}
