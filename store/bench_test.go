package store

import (
	"bytes"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/gocampus/hark/internal/podgen"
	"github.com/gocampus/hark/wire"
)

const benchPods = 2000

// forms runs a benchmark for stores that keep objects whole and compact ones, of
// pods that are siblings and such that are strangers.
func forms(b *testing.B, bench func(b *testing.B, s *Store, w *Writer, pods podgen.Options, encoding wire.Encoding)) {
	for _, encoding := range []wire.Encoding{wire.Protobuf, wire.JSON} {
		for _, siblings := range []int{50, 1} {
			for _, compact := range []bool{false, true} {
				b.Run(fmt.Sprintf("%s/siblings=%d/compact=%t", encoding, siblings, compact), func(b *testing.B) {
					s, w := New(Options{Indexes: map[string]IndexFunc{NamespaceIndex: Namespace()}, Compact: compact})
					b.ReportAllocs()
					bench(b, s, w, podgen.Options{Siblings: siblings}, encoding)
				})
			}
		}
	}
}

// fill puts the pods of one generation into w.
func fill(b *testing.B, w *Writer, o podgen.Options, encoding wire.Encoding) {
	b.Helper()
	for i := range benchPods {
		w.Put(readPod(i, o, encoding), false)
	}
}

// BenchmarkUpdate reads a list of pods and stores them over others of the same
// keys: ns/op is that of one.
func BenchmarkUpdate(b *testing.B) {
	forms(b, func(b *testing.B, _ *Store, w *Writer, o podgen.Options, encoding wire.Encoding) {
		var bodies [][]byte
		for o.Generation = range 2 {
			var pods []*corev1.Pod
			for i := range benchPods {
				pods = append(pods, podgen.Pod(i, o))
			}
			body, err := podgen.List(encoding == wire.Protobuf, pods...)
			if err != nil {
				b.Fatal(err)
			}
			bodies = append(bodies, body)
		}
		fill(b, w, o, encoding)
		var r *wire.ListReader
		left, round := 0, 0
		for b.Loop() {
			if left == 0 {
				r = wire.NewListReader(bytes.NewReader(bodies[round%2]), encoding, wire.Options{Keeper: w})
				left, round = benchPods, round+1
				w.Begin(true, true)
			}
			left--
			object, err := r.Next()
			if err != nil {
				b.Fatal(err)
			}
			w.Put(object, true)
		}
	})
}

// BenchmarkRead reads all bytes of a stored pod, as decoding does.
func BenchmarkRead(b *testing.B) {
	forms(b, func(b *testing.B, s *Store, w *Writer, o podgen.Options, encoding wire.Encoding) {
		fill(b, w, o, encoding)
		var buffer []byte
		for {
			for object := range s.All() {
				if !b.Loop() {
					return
				}
				buffer = object.AppendBytes(buffer[:0])
			}
		}
	})
}

// BenchmarkLabel reads one label of a stored pod.
func BenchmarkLabel(b *testing.B) {
	forms(b, func(b *testing.B, s *Store, w *Writer, o podgen.Options, encoding wire.Encoding) {
		fill(b, w, o, encoding)
		for {
			for object := range s.All() {
				if !b.Loop() {
					return
				}
				if _, ok := object.Label("app"); !ok {
					b.Fatal("a pod has no label")
				}
			}
		}
	})
}
