package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/gocampus/hark/harktest"
	"github.com/gocampus/hark/internal/text"
)

// apiServerSchema names the document of apiserver -o json.
const apiServerSchema = "hark.apiserver/v1"

// readyServer tells that a server is ready, and where it is.
type readyServer struct {
	Schema     string `json:"schema"`
	URL        string `json:"url"`
	Kubeconfig string `json:"kubeconfig"` // absolute path
	Loaded     int    `json:"loaded"`     // objects
}

// errServed is the cause with which a server's story ends.
var errServed = errors.New("the server has served")

// serve runs an API server until ctx ends. What it announces, works.
func (s *session) serve(ctx context.Context, f *apiServerFlags) (err error) {
	if err := s.mayWrite(f.kubeconfig); err != nil {
		return err
	}
	show := &recordings{session: s, flags: f}
	server, loaded, err := s.newServer(ctx, f, show)
	if err != nil {
		return err
	}
	defer server.Close()
	kubeconfig, address, err := reachable(server)
	if err != nil {
		return err
	}
	file, err := newKubeFile(f.kubeconfig, kubeconfig)
	if err != nil {
		return s.notWritten(f.kubeconfig, err)
	}
	defer func() { err = errors.Join(err, file.remove()) }()
	ready := readyServer{Schema: apiServerSchema, URL: address, Kubeconfig: file.path, Loaded: loaded}
	return s.untilEnd(ctx, server, f, show, ready)
}

// newServer starts a server with the objects of files, of which no client sees a
// half.
func (s *session) newServer(ctx context.Context, f *apiServerFlags, show *recordings) (server *harktest.Server, loaded int, err error) {
	var loading error
	server, err = harktest.New(harktest.Options{Addr: f.addr, TLS: f.tls, TrackManagedFields: true, Setup: func(server *harktest.Server) error {
		if loading = show.open(server); loading != nil {
			return loading
		}
		if loaded, loading = s.loadAll(ctx, server, show.others); loading != nil {
			return loading
		}
		var played int
		played, loading = show.load()
		loaded += played
		return loading
	}})
	if err != nil && loading == nil {
		try := s.say(text.TryFreePort, "command", s.command+" apiserver")
		err = &failure{code: exitError, message: "error: " + listenError(err), try: try, err: err}
	}
	return server, loaded, err
}

// untilEnd announces the server and waits for the end, while the story is played.
func (s *session) untilEnd(ctx context.Context, server *harktest.Server, f *apiServerFlags, show *recordings, ready readyServer) error {
	playing, cancel := context.WithCancelCause(ctx)
	var story sync.WaitGroup
	defer story.Wait()
	defer cancel(errServed)
	if f.story {
		story.Go(func() { cancel(server.RunStory(playing, harktest.StoryOptions{})) })
	}
	if f.open {
		_, _ = fmt.Fprintln(s.Err, s.say(text.APIServerOpen, "addr", f.addr)) // else there is nobody to tell
	}
	if err := s.announce(f.output, ready); err != nil {
		return err
	}
	story.Go(func() { // from now on: whoever waited for the server sees it all
		if err := show.play(playing); err != nil {
			cancel(err)
		}
	})
	<-playing.Done()
	return s.ended(ctx, context.Cause(playing))
}

// announce tells that a server is ready.
func (s *session) announce(format string, ready readyServer) error {
	if format == "json" {
		return writeJSON(s.out, ready)
	}
	path := shellWord(ready.Kubeconfig)
	lines := s.say(text.APIServerReady, "url", ready.URL, "path", path) + "\n" + s.say(text.TryKubectl, "path", path) + "\n"
	_, err := s.out.Write([]byte(lines))
	return err
}

// reachable returns a kubeconfig for a server, and its address, as a client on
// this machine needs them. A server that listens on every address is there under
// a loopback one; the certificate is for this machine's names alone, whatever the
// address.
func reachable(server *harktest.Server) (kubeconfig []byte, address string, err error) {
	config, err := clientcmd.Load(server.Kubeconfig())
	if err != nil {
		return nil, "", err
	}
	at, err := url.Parse(server.URL())
	if err != nil {
		return nil, "", err
	}
	ip := net.ParseIP(at.Hostname()) // nil for one with a zone
	if ip != nil && ip.IsUnspecified() {
		at.Host = net.JoinHostPort("127.0.0.1", at.Port())
	}
	for _, c := range config.Clusters {
		c.Server = at.String()
		if ip == nil || !ip.IsLoopback() {
			c.TLSServerName = "localhost"
		}
	}
	kubeconfig, err = clientcmd.Write(*config)
	return kubeconfig, at.String(), err
}

// listenError is the system's message, without what harktest puts before it.
func listenError(err error) string {
	if inner, ok := errors.AsType[*net.OpError](err); ok {
		return inner.Error()
	}
	return err.Error()
}
