package harktest

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/version"

	"github.com/gocampus/hark/harktest/internal/fault"
	"github.com/gocampus/hark/harktest/internal/feed"
	"github.com/gocampus/hark/harktest/internal/httpapi"
	"github.com/gocampus/hark/harktest/internal/kind"
	"github.com/gocampus/hark/harktest/internal/mvcc"
	"github.com/gocampus/hark/harktest/internal/object"
	"github.com/gocampus/hark/harktest/internal/service"
)

// Server is a Kubernetes API server in memory. Its methods are safe for
// concurrent use.
type Server struct {
	options Options
	kinds   *kind.Registry
	store   *mvcc.Store[*object.Version]
	service *service.Service
	handler *httpapi.Handler
	faults  *fault.Set
	feeds   *feed.Set
	http    *http.Server
	tls     *certificate // nil for plain HTTP

	endStory context.CancelFunc

	requests requestLog
	conns    connections

	mu       sync.Mutex // guards the fields below
	listener net.Listener
	accepted chan struct{} // closed when all that listener accepted is in conns
	addr     string
	closed   bool
	serving  sync.WaitGroup // one for each listener and each request
}

// New starts a server; Close ends it. It fails when an option is out of its range,
// when Setup fails, and when the address cannot be listened on.
func New(o Options) (*Server, error) {
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("harktest: %w", err)
	}
	o = o.withDefaults()
	s := &Server{
		options: o,
		kinds:   kind.NewRegistry(),
		store:   mvcc.New[*object.Version](mvcc.Options{Start: o.StartVersion, History: o.History}),
		faults:  &fault.Set{},
		feeds:   &feed.Set{},
	}
	s.requests.limit = o.RequestLimit
	s.service = service.New(s.kinds, s.store, service.Options{TrackFields: o.TrackManagedFields})
	if err := s.service.CreateNamespaces("default", "kube-node-lease", "kube-public", "kube-system"); err != nil {
		return nil, fmt.Errorf("harktest: %w", err)
	}
	s.handler = httpapi.New(s.service, httpapi.Options{
		BookmarkInterval: o.BookmarkInterval, WatchTimeout: o.WatchTimeout, WatchLag: o.WatchBuffer,
		NoCompression: o.NoCompression, NoStreamingLists: o.NoStreamingLists,
		Version: versionInfo(o.Version), Faults: s.faults, Feeds: s.feeds, Record: s.requests.begin,
	})
	if o.TLS {
		var err error
		if s.tls, err = newCertificate(); err != nil {
			return nil, fmt.Errorf("harktest: certificate: %w", err)
		}
	}
	s.http = s.newHTTP()
	story, endStory := context.WithCancel(context.Background())
	s.endStory = endStory
	if o.Setup != nil {
		if err := o.Setup(s); err != nil {
			return nil, err
		}
	}
	if err := s.listen(o.Addr); err != nil {
		return nil, fmt.Errorf("harktest: %w", err)
	}
	s.startStory(story)
	return s, nil
}

// startStory plays the story of the options until the server is closed.
func (s *Server) startStory(ctx context.Context) {
	if s.options.Story == nil {
		return
	}
	s.serving.Go(func() {
		// It ends by Close; the nodes of an empty server can be created.
		_ = s.RunStory(ctx, *s.options.Story)
	})
}

// Start starts a server with default options, which ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	return StartWith(t, Options{})
}

// StartWith starts a server, which ends with the test.
func StartWith(t testing.TB, o Options) *Server {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatalf("harktest: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

func versionInfo(gitVersion string) version.Info {
	major, minor, _ := strings.Cut(strings.TrimPrefix(gitVersion, "v"), ".")
	minor, _, _ = strings.Cut(minor, ".")
	return version.Info{
		Major: major, Minor: minor, GitVersion: gitVersion, GitTreeState: "clean",
		GoVersion: runtime.Version(), Compiler: runtime.Compiler, Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
}

func (s *Server) newHTTP() *http.Server {
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{
		Handler:     http.HandlerFunc(s.serve),
		Protocols:   protocols,
		ConnContext: s.conns.add,
		ConnState:   s.conns.note,
		ErrorLog:    log.New(panicsOnly{}, "", log.LstdFlags),
	}
	if s.tls != nil {
		server.TLSConfig = s.tls.serverConfig()
	}
	return server
}

// panicsOnly keeps the HTTP server's log quiet about broken connections, which are
// the faults' doing, but not about mistakes of this package.
type panicsOnly struct{}

// Write implements io.Writer.
func (panicsOnly) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("panic serving")) {
		return os.Stderr.Write(line)
	}
	return len(line), nil
}

// serve counts the requests in flight, which Close waits for.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		panic(http.ErrAbortHandler)
	}
	s.serving.Add(1)
	s.mu.Unlock()
	defer s.serving.Done()
	s.handler.ServeHTTP(w, r)
}

// listen opens the listener and serves it.
func (s *Server) listen(addr string) error {
	listener, err := s.newListener(addr)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = listener.Close()
		return net.ErrClosed
	}
	accepted := make(chan struct{})
	s.listener, s.accepted, s.addr = listener, accepted, listener.Addr().String()
	s.serving.Go(func() {
		defer close(accepted)
		// It ends by Close or GoDown; nothing else can go wrong with a loopback listener.
		if s.tls != nil {
			_ = s.http.ServeTLS(listener, "", "")
		} else {
			_ = s.http.Serve(listener)
		}
	})
	return nil
}

func (s *Server) newListener(addr string) (net.Listener, error) {
	if s.options.InMemory {
		return newPipeListener(), nil
	}
	return (&net.ListenConfig{}).Listen(context.Background(), "tcp", addr)
}

// Close ends the server: it closes the port and all connections, ends what faults
// hold, and returns when all that was served has ended. It may be called more than once.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	accepted := s.accepted
	s.mu.Unlock()
	s.endStory()
	_ = s.http.Close() // a listener that was closed before is closed all the same
	if accepted != nil {
		<-accepted
	}
	s.conns.breakAll()
	s.serving.Wait()
	s.conns.served.Wait()
}

// URL returns the server's address, such as "http://127.0.0.1:41234".
func (s *Server) URL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tls != nil {
		return "https://" + s.addr
	}
	return "http://" + s.addr
}

// Version returns the newest resourceVersion.
func (s *Server) Version() uint64 { return s.store.Version() }
