package hark_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"runtime"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
	"github.com/gocampus/hark/workqueue"
)

// samplePods are realistic pods (about 6 KB each in protobuf).
func samplePods(t testing.TB) []*corev1.Pod {
	t.Helper()
	file, err := os.Open("internal/podgen/pods.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var pods []*corev1.Pod
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		pod := new(corev1.Pod)
		if err := json.Unmarshal(lines.Bytes(), pod); err != nil {
			t.Fatal(err)
		}
		pods = append(pods, pod)
	}
	if len(pods) == 0 {
		t.Fatal("no sample pods")
	}
	return pods
}

// frame encodes one event of a protobuf watch.
func frame(t testing.TB, eventType watch.EventType, object k8sruntime.ProtobufMarshaller) []byte {
	t.Helper()
	raw, err := marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	unknown := k8sruntime.Unknown{TypeMeta: k8sruntime.TypeMeta{APIVersion: "v1", Kind: "Pod"}, Raw: raw}
	enveloped, err := unknown.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	event := metav1.WatchEvent{Type: string(eventType), Object: k8sruntime.RawExtension{Raw: append([]byte("k8s\x00"), enveloped...)}}
	message, err := event.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...)
}

func marshal(object k8sruntime.ProtobufMarshaller) ([]byte, error) {
	return object.(interface{ Marshal() ([]byte, error) }).Marshal()
}

// bytesSource is a watch.Source whose one watch reads a body that was encoded
// before, as the real source reads a connection.
type bytesSource struct{ body io.Reader }

func (s bytesSource) List(context.Context, watch.ListOptions) (watch.ListStream, error) {
	return nil, &watch.Error{Kind: watch.KindUnavailable}
}

func (s bytesSource) Watch(ctx context.Context, o watch.WatchOptions) (watch.Stream, error) {
	return &bytesStream{ctx: ctx, body: s.body}, nil
}

type bytesStream struct {
	ctx    context.Context
	body   io.Reader
	reader *wire.WatchReader
}

func (s *bytesStream) Tune(t watch.Tuning) {
	s.reader = wire.NewWatchReader(hooked{s.body, t.BeforeRead}, wire.Protobuf, wire.Options{Keeper: t.Keeper})
}

// hooked calls before before each Read.
type hooked struct {
	io.Reader
	before func()
}

func (h hooked) Read(p []byte) (int, error) {
	h.before()
	return h.Reader.Read(p)
}

func (s *bytesStream) Next() (watch.Event, error) {
	e, err := s.reader.Next()
	if err == io.EOF {
		<-s.ctx.Done()
		return watch.Event{}, context.Cause(s.ctx)
	}
	return watch.Event{Type: watch.ClassifyEvent(e.Type), Object: e.Object,
		ResourceVersion: e.ResourceVersion, InitialEventsEnd: e.InitialEventsEnd}, err
}

func (s *bytesStream) Close() error { return nil }

// TestEventNeedsNoDecodeAndFewAllocations follows events of realistic pods from
// the bytes of the wire to a worker's hands. Decoding one such pod takes about
// 300 allocations, so the bound also shows that none is decoded.
func TestEventNeedsNoDecodeAndFewAllocations(t *testing.T) {
	const events = 5000
	gate, body := updates(t, events)
	i := informer.New(bytesSource{io.MultiReader(body...)}, informer.Options{})
	queue := workqueue.New(workqueue.Options[key.Key]{})
	if _, err := i.Handle(func(e informer.Event) { queue.Add(e.Key) }, informer.HandlerOptions{Every: events}); err != nil {
		t.Fatal(err)
	}
	runs := make(chan key.Key, 1024)
	go work(queue, runs)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- i.Run(ctx) }()

	<-gate.reached // the first events have passed; what follows is steady
	before := mallocs()
	close(gate.open)
	if err := i.Store().WaitVersion(ctx, strconv.Itoa(lastVersion(events))); err != nil {
		t.Fatal(err)
	}
	perEvent := float64(mallocs()-before) / events
	cancel()
	<-done
	queue.ShutDown()
	t.Logf("%.2f allocations an event", perEvent)
	if perEvent > 3 {
		t.Errorf("%.2f allocations an event; want at most 3", perEvent)
	}
}

// work takes keys as a worker does.
func work(queue *workqueue.Queue[key.Key], runs chan<- key.Key) {
	for {
		k, shutdown := queue.Get()
		if shutdown {
			return
		}
		select {
		case runs <- k:
		default:
		}
		queue.Done(k)
	}
}

func lastVersion(events int) int { return firstVersion + events }

// gate is a reader without content that stops who reads it until it is opened.
type gate struct{ reached, open chan struct{} }

func (g gate) Read([]byte) (int, error) {
	close(g.reached)
	<-g.open
	return 0, io.EOF
}

// updates is the body of a watch: an initial state, a gate, and n updates of
// the sample pods.
func updates(t testing.TB, n int) (gate, []io.Reader) {
	pods := samplePods(t)
	var head bytes.Buffer
	tail := &updateReader{left: n, version: firstVersion}
	for _, pod := range pods {
		pod.ResourceVersion = "1000000"
		head.Write(frame(t, watch.EventAdded, pod))
		pod.ResourceVersion = strconv.Itoa(firstVersion)
		tail.frames = append(tail.frames, frame(t, watch.EventModified, pod))
	}
	end := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "1000001",
		Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}}}
	head.Write(frame(t, watch.EventBookmark, end))
	g := gate{make(chan struct{}), make(chan struct{})}
	return g, []io.Reader{&head, g, tail}
}

// updateReader makes MODIFIED frames as they are read: one after the other of
// its frames, with the next version written over the one in it, so that a
// benchmark measures the reader and not the maker.
type updateReader struct {
	frames  [][]byte
	version int
	left    int
	rest    []byte
}

const firstVersion = 2_000_000

func (r *updateReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		if r.left == 0 {
			return 0, io.EOF
		}
		r.next()
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func (r *updateReader) next() {
	frame := r.frames[r.left%len(r.frames)]
	at := bytes.Index(frame, versionField)
	r.left--
	r.version++
	strconv.AppendInt(frame[:at+len(versionField)], int64(r.version), 10)
	r.rest = frame
}

// versionField is the tag and length of ObjectMeta.resourceVersion.
var versionField = []byte{6<<3 | 2, 7}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// BenchmarkEvent measures an update of a realistic pod from the bytes of the
// wire to a worker's hands, HTTP left out.
func BenchmarkEvent(b *testing.B) {
	g, body := updates(b, b.N)
	i := informer.New(bytesSource{io.MultiReader(body...)}, informer.Options{})
	queue := workqueue.New(workqueue.Options[key.Key]{})
	if _, err := i.Handle(func(e informer.Event) { queue.Add(e.Key) }, informer.HandlerOptions{}); err != nil {
		b.Fatal(err)
	}
	go work(queue, make(chan key.Key))
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error)
	go func() { done <- i.Run(ctx) }()
	<-g.reached
	b.ReportAllocs()
	b.ResetTimer()
	close(g.open)
	if err := i.Store().WaitVersion(ctx, strconv.Itoa(lastVersion(b.N))); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	cancel()
	<-done
	queue.ShutDown()
}
