package harktest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocampus/hark/harktest"
)

// wait is a way in which a server keeps a client waiting.
type wait struct {
	name  string
	fault harktest.Fault
	query string // of the request
	large bool   // the answer is
}

var waits = []wait{
	{name: "silent", fault: harktest.Fault{Silent: true}},
	{name: "delay", fault: harktest.Fault{Delay: 1000 * time.Hour}},
	{name: "bandwidth", fault: harktest.Fault{BytesPerSecond: 1}},
	{name: "watch", query: "?watch=1&timeoutSeconds=3600000"},
	{name: "slow watch", fault: harktest.Fault{BytesPerSecond: 1}, query: "?watch=1&timeoutSeconds=3600000"},
	{name: "half-open watch", fault: harktest.Fault{Silent: true, AfterEvents: 1}, query: "?watch=1&timeoutSeconds=3600000"},
	{name: "unread list", large: true},
}

// ends are what ends a wait. None of them may leave a request in flight.
var ends = map[string]func(s *harktest.Server, leave func()){
	"Close":           func(s *harktest.Server, _ func()) { s.Close() },
	"GoDown":          func(s *harktest.Server, _ func()) { s.GoDown() },
	"Restart":         func(s *harktest.Server, _ func()) { s.Restart(harktest.RestartOptions{}) },
	"the client goes": func(_ *harktest.Server, leave func()) { leave() },
}

// waitingTransport is a transport of its own, by HTTP/1.1 or HTTP/2.
func waitingTransport(t *testing.T, s *harktest.Server, http2 bool) *http.Transport {
	t.Helper()
	transport := httpClient(t, s).Transport.(*http.Transport)
	transport.DisableCompression = true // a large answer stays large
	transport.Protocols = &http.Protocols{}
	transport.Protocols.SetHTTP1(!http2)
	transport.Protocols.SetHTTP2(http2)
	transport.Protocols.SetUnencryptedHTTP2(http2)
	return transport
}

// endsWait keeps a request waiting in one of the ways and ends the wait.
func endsWait(t *testing.T, o harktest.Options, w wait, http2 bool, body, end string, settled func(inFlight func() int, want int)) {
	t.Helper()
	s, err := harktest.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	size := 100
	if w.large {
		size = 8 << 20 // more than the buffers of a connection hold
	}
	for i := range 8 { // a config map holds no more than 1 MiB
		create(t, s, configMap("default", fmt.Sprintf("a%d", i), map[string]string{"x": strings.Repeat("y", size/8)}))
	}
	s.Inject(w.fault)

	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	method := http.MethodGet
	if body != "" && w.query == "" && !w.large {
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(ctx, method, s.URL()+"/api/v1/namespaces/default/configmaps"+w.query, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", jsonType)
	transport := waitingTransport(t, s, http2)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		response, err := transport.RoundTrip(r)
		if err != nil {
			return
		}
		if w.large {
			<-ctx.Done()
		} else {
			_, _ = io.Copy(io.Discard, response.Body)
		}
		response.Body.Close()
	}()
	inFlight := func() (n int) {
		for _, r := range s.Requests() {
			if !r.Ended {
				n++
			}
		}
		return n
	}
	eventually(t, func() bool { return len(s.Requests()) == 1 })
	settled(inFlight, 1)
	ends[end](s, leave)
	settled(inFlight, 0)
	leave()
	<-answered
	transport.CloseIdleConnections()
	s.Close()
}

// everyWait calls test for each way of waiting, protocol, body and end.
func everyWait(t *testing.T, test func(t *testing.T, w wait, http2 bool, body, end string)) {
	const object = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}}`
	for _, w := range waits {
		for _, http2 := range []bool{false, true} {
			for _, body := range []string{"", object, object + strings.Repeat(" ", 4<<20)} {
				if w.large && body != "" || w.query != "" && len(body) > 3<<20 {
					continue // it would be the same again
				}
				for end := range ends {
					t.Run(fmt.Sprintf("%s HTTP2 %v body %d %s", w.name, http2, len(body), end), func(t *testing.T) {
						test(t, w, http2, body, end)
					})
				}
			}
		}
	}
}

func TestEveryWaitEndsWithItsConnection(t *testing.T) {
	for name, options := range map[string]harktest.Options{"plain": {}, "TLS": {TLS: true}} {
		t.Run(name, func(t *testing.T) {
			everyWait(t, func(t *testing.T, w wait, http2 bool, body, end string) {
				endsWait(t, options, w, http2, body, end, func(inFlight func() int, want int) {
					if want == 0 { // the kernel's buffers may hold a large answer, which then waits for nobody
						eventually(t, func() bool { return inFlight() == 0 })
					}
				})
			})
		})
	}
}

func TestEveryWaitInABubbleEndsWithItsConnection(t *testing.T) {
	everyWait(t, func(t *testing.T, w wait, http2 bool, body, end string) {
		synctest.Test(t, func(t *testing.T) {
			endsWait(t, harktest.Options{InMemory: true}, w, http2, body, end, func(inFlight func() int, want int) {
				synctest.Wait()
				if got := inFlight(); got != want {
					t.Errorf("%d requests are in flight; want %d", got, want)
				}
			})
		})
	})
}

// eventually waits until a condition holds.
func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); {
		if time.Now().After(deadline) {
			t.Fatal("what is awaited does not happen")
		}
		time.Sleep(time.Millisecond)
	}
}
