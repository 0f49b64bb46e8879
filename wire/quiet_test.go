package wire

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestAQuietWatchHoldsASmallBufferAlone: nothing that a reader keeps of a frame that
// it has handed out holds on to the buffer that the frame was in.
func TestAQuietWatchHoldsASmallBufferAlone(t *testing.T) {
	const readers, huge = 8, 1 << 20
	large := configMap("large")
	large.Data = map[string]string{"text": strings.Repeat("x", huge)}
	managed := configMap("managed")
	managed.Data, managed.ManagedFields = large.Data, []metav1.ManagedFieldsEntry{{Manager: "m"}}
	bothEncodings(t, func(t *testing.T, encoding Encoding) {
		for _, last := range []sent{{"ADDED", large}, {"ADDED", managed}, {"BOOKMARK", managed}} {
			body := watchStream(t, encoding, last)
			o := compacting(Options{}) // equal ones take nothing, but for the first
			before := heapInUse()
			var open []*WatchReader
			for range readers {
				open = append(open, blocked(t, body, encoding, o))
			}
			if held := heapInUse() - before; held > 3*huge {
				t.Errorf("%d quiet watches hold %d bytes after %s %s", readers, held, last.eventType, last.object.(*corev1.ConfigMap).Name)
			}
			runtime.KeepAlive(open)
		}
	})
}

// blocked returns a reader that has handed out the one event of a body and waits
// for the next one.
func blocked(t *testing.T, body []byte, encoding Encoding, o Options) *WatchReader {
	t.Helper()
	silence, end := io.Pipe()
	t.Cleanup(func() { end.Close() })
	asked := make(chan struct{})
	r := NewWatchReader(io.MultiReader(bytes.NewReader(body), &announced{silence, asked}), encoding, o)
	next(t, r)
	go r.Next()
	<-asked
	return r
}

// TestAScannerLeavesABufferThatItsWindowGaveBack: somebody else may write to it.
func TestAScannerLeavesABufferThatItsWindowGaveBack(t *testing.T) {
	w := window{r: strings.NewReader(`"` + strings.Repeat("x", bufferSize-1))}
	s := pulling(&w, DefaultMaxObject)
	if s.skip() || s.err == nil {
		t.Fatal("read a string without an end")
	}
	if len(w.buf) != busySize || len(s.buf) != bufferSize || &s.buf[0] != &w.buf[0] {
		t.Errorf("%d bytes of %d, not those of the window's %d", len(s.buf), bufferSize, len(w.buf))
	}
}

// announced closes asked before it reads.
type announced struct {
	io.Reader
	asked chan struct{}
}

func (a *announced) Read(p []byte) (int, error) {
	close(a.asked)
	return a.Reader.Read(p)
}

func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
