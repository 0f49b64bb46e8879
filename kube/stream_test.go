package kube

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

// open opens a watch of pods.
func open(t testing.TB, client *Client) watch.Stream {
	t.Helper()
	stream, err := client.Source(podKind, SourceOptions{}).Watch(t.Context(), watch.WatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stream.Close() })
	return stream
}

func bookmark(version string, end bool) *corev1.Pod {
	b := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}}
	if end {
		b.Annotations = map[string]string{"k8s.io/initial-events-end": "true"}
	}
	return b
}

func TestAWatchDeliversEventsInBothEncodings(t *testing.T) {
	both(t, func(t *testing.T, mediaType string) {
		client := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", mediaType+";stream=watch")
			writeEvent(t, w, mediaType, "ADDED", pod("a", "1"))
			writeEvent(t, w, mediaType, "BOOKMARK", bookmark("5", true))
			writeEvent(t, w, mediaType, "MODIFIED", pod("a", "6"))
			writeEvent(t, w, mediaType, "BOOKMARK", bookmark("7", false))
			writeEvent(t, w, mediaType, "DELETED", pod("a", "8"))
		})
		stream := open(t, client)
		var got []string
		for {
			event, err := stream.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			line := string(event.Type) + " " + event.ResourceVersion
			if event.Object != nil {
				line += event.Object.Key().String() + "@" + event.Object.ResourceVersion()
			}
			if event.InitialEventsEnd {
				line += " end"
			}
			got = append(got, line)
		}
		want := []string{"ADDED default/a@1", "BOOKMARK 5 end", "MODIFIED default/a@6", "BOOKMARK 7", "DELETED default/a@8"}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("the events are (-got +want):\n%s", diff)
		}
		if _, err := stream.Next(); err != io.EOF {
			t.Errorf("Next after the end: %v; want io.EOF again", err)
		}
	})
}

// frames returns events as they are on the wire.
func frames(t testing.TB, mediaType string, objects ...*corev1.Pod) []byte {
	t.Helper()
	var all bytes.Buffer
	for _, object := range objects {
		writeEvent(t, &all, mediaType, "ADDED", object)
	}
	return all.Bytes()
}

// dripping delivers its parts one Read each and notes that.
type dripping struct {
	parts [][]byte
	log   *[]string
}

func (d *dripping) Read(p []byte) (int, error) {
	*d.log = append(*d.log, "read")
	if len(d.parts) == 0 {
		return 0, io.EOF
	}
	n := copy(p, d.parts[0])
	if d.parts[0] = d.parts[0][n:]; len(d.parts[0]) == 0 {
		d.parts = d.parts[1:]
	}
	return n, nil
}

func (*dripping) Close() error { return nil }

// TestAStreamSaysBeforeEachReadThatItMayWait: within an event too.
func TestAStreamSaysBeforeEachReadThatItMayWait(t *testing.T) {
	both(t, func(t *testing.T, mediaType string) {
		encoding, err := wire.EncodingOf(mediaType)
		if err != nil {
			t.Fatal(err)
		}
		var log []string
		whole := frames(t, mediaType, pod("a", "1"), pod("b", "2"))
		cut := len(whole) - 4 // within the second
		s := newStream(&body{
			encoding: encoding,
			stream:   &dripping{[][]byte{whole[:cut], whole[cut:]}, &log},
			cause:    func() error { return nil },
			cancel:   func(error) {},
		}, wire.Options{})
		s.Tune(watch.Tuning{BeforeRead: func() { log = append(log, "flush") }})
		for {
			event, err := s.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			log = append(log, event.Object.Key().Name)
		}
		if diff := cmp.Diff(log, strings.Fields("flush read a flush read b flush read")); diff != "" {
			t.Errorf("(-got +want):\n%s", diff)
		}
	})
}

func TestACutAnywhereInTheStreamIsTold(t *testing.T) {
	both(t, func(t *testing.T, mediaType string) {
		whole := frames(t, mediaType, pod("a", "1"))
		for _, tc := range []struct {
			name  string
			abort bool // the connection breaks; else the body ends as if in order
			bytes []byte
			want  error // io.EOF or nil for unavailable
		}{
			{"in order, between frames", false, whole, io.EOF},
			{"in order, within a frame", false, append(whole, whole[:len(whole)/2]...), nil},
			{"by breaking, between frames", true, whole, nil},
			{"by breaking, within a frame", true, append(whole, whole[:len(whole)/2]...), nil},
			{"in order, within the length of a frame", false, append(whole, whole[:2]...), nil},
		} {
			t.Run(tc.name, func(t *testing.T) {
				client := serve(t, func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", mediaType)
					w.Write(tc.bytes)
					w.(http.Flusher).Flush()
					if tc.abort {
						panic(http.ErrAbortHandler)
					}
				})
				stream := open(t, client)
				if event, err := stream.Next(); err != nil || event.Object.ResourceVersion() != "1" {
					t.Fatalf("the first event is %+v, %v", event, err)
				}
				_, err := stream.Next()
				if tc.want != nil {
					if err != tc.want {
						t.Errorf("the end is %v; want %v", err, tc.want)
					}
					return
				}
				if e := watchError(t, err); e.Kind != watch.KindUnavailable || !strings.Contains(e.Message, "cut") {
					t.Errorf("the end is %s, %q; want unavailable, and that it was cut", e.Kind, e.Message)
				}
				if _, again := stream.Next(); again != err {
					t.Errorf("Next after the end: %v; want %v again", again, err)
				}
			})
		}
	})
}

func TestOneBadFrameDoesNotEndTheWatch(t *testing.T) {
	nameless := pod("", "2")
	both(t, func(t *testing.T, mediaType string) {
		client := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", mediaType)
			w.Write(frames(t, mediaType, pod("a", "1"), nameless, pod("c", "3")))
		})
		stream := open(t, client)
		stream.Next()
		_, err := stream.Next()
		if e := watchError(t, err); e.Kind != watch.KindObject {
			t.Errorf("the second frame: %s; want a bad object", e.Kind)
		}
		if event, err := stream.Next(); err != nil || event.Object.Key().Name != "c" {
			t.Errorf("the third event is %+v, %v; want c", event, err)
		}
	})
}

func TestAFrameOverTheLimitIsABadObject(t *testing.T) {
	both(t, func(t *testing.T, mediaType string) {
		huge := pod("huge", "2")
		huge.Annotations = map[string]string{"x": strings.Repeat("x", 10<<10)}
		client := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", mediaType)
			w.Write(frames(t, mediaType, huge, pod("a", "3")))
		})
		stream, err := client.Source(podKind, SourceOptions{MaxObject: 4 << 10}).Watch(t.Context(), watch.WatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Close()
		_, err = stream.Next()
		if e := watchError(t, err); e.Kind != watch.KindObject {
			t.Errorf("the huge frame: %s (%v); want a bad object", e.Kind, err)
		}
		if event, err := stream.Next(); err != nil || event.Object.Key().Name != "a" {
			t.Errorf("the next event is %+v, %v; want a", event, err)
		}
	})
}

func TestBytesThatAreNoFramesAreMalformed(t *testing.T) {
	for _, tc := range []struct {
		mediaType string
		body      string
		want      watch.ErrorKind
	}{
		{wire.ContentTypeJSON, "<html>not what the header says</html>", watch.KindMalformed},
		{wire.ContentTypeProtobuf, "\x00\x00\x00\x04\xff\xff\xff\xff", watch.KindObject}, // its end is known
		{wire.ContentTypeProtobuf, "\xff\xff\xff\xff", watch.KindUnavailable},            // ends too early
	} {
		client := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", tc.mediaType)
			io.WriteString(w, tc.body)
		})
		_, err := open(t, client).Next()
		if e := watchError(t, err); e.Kind != tc.want {
			t.Errorf("%s %q: %s (%v); want %s", tc.mediaType, tc.body, e.Kind, err, tc.want)
		}
	}
}

func TestCloseMakesABlockedNextReturn(t *testing.T) {
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", wire.ContentTypeJSON)
		w.Write(frames(t, wire.ContentTypeJSON, pod("a", "1")))
		w.(http.Flusher).Flush()
		<-r.Context().Done() // half-open: nothing comes any more
	})
	stream := open(t, client)
	if _, err := stream.Next(); err != nil {
		t.Fatal(err)
	}
	blocked := make(chan error)
	go func() {
		_, err := stream.Next()
		blocked <- err
	}()
	stream.Close()
	if err := watchError(t, <-blocked); err.Kind != watch.KindUnavailable || !errors.Is(err, net.ErrClosed) {
		t.Errorf("the blocked Next returned %s, %v; want that it was closed", err.Kind, err)
	}
	if _, err := stream.Next(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Next after Close: %v; want net.ErrClosed", err)
	}
	if err := stream.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}

func TestAHalfOpenWatchEndsWithItsContext(t *testing.T) {
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", wire.ContentTypeProtobuf)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	deaf := errors.New("nothing was heard")
	ctx, cancel := context.WithCancelCause(t.Context())
	stream, err := client.Source(podKind, SourceOptions{}).Watch(ctx, watch.WatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	go cancel(deaf)
	if _, err := stream.Next(); err != deaf {
		t.Errorf("Next: %v; want the cause of the context, unwrapped", err)
	}
}

// TestCloseNeverMeetsARead holds that a body is not closed while it is read,
// which not every reader allows, and is closed exactly once.
func TestCloseNeverMeetsARead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 200 {
			guarded := &guardedBody{t: t}
			client := connect(t, &rest.Config{Host: "server.test", Transport: transport(func(r *http.Request) (*http.Response, error) {
				a := answer(http.StatusOK, wire.ContentTypeJSON, "")
				guarded.ctx = r.Context
				a.Body = guarded
				return a, nil
			})}, Options{})
			stream := open(t, client)
			var all sync.WaitGroup
			all.Go(func() {
				for {
					if _, err := stream.Next(); err != nil {
						return
					}
				}
			})
			all.Go(func() { stream.Close() })
			all.Go(func() { stream.Close() })
			all.Wait()
			if guarded.closed != 1 {
				t.Fatalf("the body was closed %d times; want once", guarded.closed)
			}
		}
	})
}

// closingBody closes its stream in the middle of a read that succeeds.
type closingBody struct {
	closeCounter
	stream watch.Stream
}

func (c *closingBody) Read(p []byte) (int, error) {
	if c.stream != nil {
		c.stream.Close()
	}
	return c.closeCounter.Read(p)
}

func TestACloseDuringAReadThatSucceedsStillFreesTheConnection(t *testing.T) {
	body := &closingBody{closeCounter: closeCounter{Reader: bytes.NewReader(frames(t, wire.ContentTypeJSON, pod("a", "1")))}}
	client := connect(t, &rest.Config{Host: "server.test", Transport: transport(func(*http.Request) (*http.Response, error) {
		a := answer(http.StatusOK, wire.ContentTypeJSON, "")
		a.Body = body
		return a, nil
	})}, Options{})
	body.stream = open(t, client)
	if event, err := body.stream.Next(); err != nil || event.Object.Key().Name != "a" || body.closed != 1 {
		t.Errorf("Next returned %+v, %v and the body was closed %d times; want the event, and once", event, err, body.closed)
	}
	if _, err := body.stream.Next(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the next Next: %v; want that it was closed", err)
	}
}

// guardedBody repeats an event for ever and notices when it is closed during a read.
type guardedBody struct {
	t      *testing.T
	ctx    func() context.Context
	frame  []byte
	mu     sync.Mutex
	closed int
}

func (g *guardedBody) Read(p []byte) (int, error) {
	if !g.mu.TryLock() {
		g.t.Error("Read met Close")
	}
	defer g.mu.Unlock()
	if err := g.ctx().Err(); err != nil {
		return 0, err
	}
	if g.closed > 0 {
		g.t.Error("Read after Close")
	}
	if len(g.frame) == 0 {
		g.frame = frames(g.t, wire.ContentTypeJSON, pod("a", "1"))
	}
	n := copy(p, g.frame[:min(len(g.frame), 100)])
	g.frame = g.frame[n:]
	return n, nil
}

func (g *guardedBody) Close() error {
	if !g.mu.TryLock() {
		g.t.Error("Close met a Read")
	}
	defer g.mu.Unlock()
	g.closed++
	return nil
}

// endless repeats bytes for ever.
type endless struct {
	frame []byte
	at    int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.frame[e.at:])
	e.at = (e.at + n) % len(e.frame)
	return n, nil
}

func (e *endless) Close() error { return nil }

func TestTheStreamAllocatesNoMoreThanItsReader(t *testing.T) {
	both(t, func(t *testing.T, mediaType string) {
		raw := frames(t, mediaType, pod("a", "1"))
		encoding, _ := wire.EncodingOf(mediaType)
		reader := wire.NewWatchReader(&endless{frame: raw}, encoding, wire.Options{})
		bare := testing.AllocsPerRun(1000, func() {
			if _, err := reader.Next(); err != nil {
				t.Fatal(err)
			}
		})
		client := connect(t, &rest.Config{Host: "server.test", Transport: transport(func(*http.Request) (*http.Response, error) {
			a := answer(http.StatusOK, mediaType, "")
			a.Body = &endless{frame: raw}
			return a, nil
		})}, Options{})
		stream := open(t, client)
		wrapped := testing.AllocsPerRun(1000, func() {
			if _, err := stream.Next(); err != nil {
				t.Fatal(err)
			}
		})
		t.Logf("%.0f allocations an event", wrapped)
		if wrapped > bare {
			t.Errorf("an event takes %.1f allocations; the reader alone %.1f", wrapped, bare)
		}
	})
}
