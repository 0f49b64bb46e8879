package harktest

import (
	"cmp"
	"fmt"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gocampus/hark/harktest/internal/fault"
)

// Fault says which requests go wrong and how. All that is set applies; faults
// that match the same request apply in the order in which they were injected.
// Direct access ([Server.Create] and so on) never fails by a fault. No number or
// time may be negative.
type Fault struct {
	// Verb of the requests: get, list, watch, create, update, patch, delete or
	// deletecollection; "" for any.
	Verb string
	// Resource as the plural ("pods") or with its group ("deployments.apps"); "" for
	// any, discovery included.
	Resource string
	// Namespace, Name and Subresource of the requests; "" for any.
	Namespace   string
	Name        string
	Subresource string
	// Skip lets the first matching requests through.
	Skip int
	// Times is how many requests go wrong; 0 for all until the fault is lifted.
	Times int

	// Code, from 200 to 599, answers with a Status of this HTTP code, in the API's
	// words. Reason and Message replace the ones that belong to the code, Status all of
	// it; one without a code gets Code or, without that, 500. RetryAfter is sent in
	// whole seconds, rounded up.
	Code       int
	Reason     metav1.StatusReason
	Message    string
	Status     *metav1.Status
	RetryAfter time.Duration

	// Refuse closes the connection without an answer.
	Refuse bool
	// Silent reads the request and says nothing until the client gives up, the server
	// closes, goes down or restarts, or the fault is lifted, which breaks the
	// connection. A watch falls silent after AfterEvents events, and outlives its timeout.
	Silent bool
	// Delay the answer, counted from the end of the request's body.
	Delay time.Duration
	// BytesPerSecond slows the body down.
	BytesPerSecond int
	// CutAfterBytes breaks the connection within the body.
	CutAfterBytes int

	// AfterEvents is how many events a watch delivers before the fault begins;
	// bookmarks do not count. The following are faults of watches.
	AfterEvents int
	// CutEvent breaks the connection in the middle of an event.
	CutEvent bool
	// EventError sends the Status (of Code and so on; without one, of 500) as an ERROR
	// event and ends the watch.
	EventError bool
	// MalformedEvent makes the object of one event undecodable; its frame is whole.
	MalformedEvent bool
	// DropEvents is how many events are left out.
	DropEvents int
	// DoubleEvents is how many events are sent twice.
	DoubleEvents int
	// ReplayEvents is how many of the last events are sent once more.
	ReplayEvents int
	// NoBookmarks withholds all bookmarks, the one that ends the initial events included.
	NoBookmarks bool
	// NoInitialEvents withholds the initial events of a watch.
	NoInitialEvents bool
	// NoInitialEnd withholds the bookmark that ends the initial events.
	NoInitialEnd bool
}

// Inject makes requests go wrong until lift is called. lift may be called more than
// once. It panics on a fault that cannot be: with a code out of range or a negative number.
func (s *Server) Inject(f Fault) (lift func()) {
	if err := f.validate(); err != nil {
		panic("harktest: Inject: " + err.Error())
	}
	return s.faults.Inject(fault.Rule(f))
}

func (f Fault) validate() error {
	status := 0
	if f.Status != nil {
		status = int(f.Status.Code)
	}
	return cmp.Or(
		httpCode("Code", f.Code), httpCode("Status.Code", status),
		notNegative("Skip", f.Skip), notNegative("Times", f.Times),
		notNegative("RetryAfter", f.RetryAfter), notNegative("Delay", f.Delay),
		notNegative("BytesPerSecond", f.BytesPerSecond), notNegative("CutAfterBytes", f.CutAfterBytes),
		notNegative("AfterEvents", f.AfterEvents), notNegative("DropEvents", f.DropEvents),
		notNegative("DoubleEvents", f.DoubleEvents), notNegative("ReplayEvents", f.ReplayEvents),
	)
}

// httpCode refuses codes that do not answer a request.
func httpCode(field string, code int) error {
	if code != 0 && (code < http.StatusOK || code > 599) {
		return fmt.Errorf("%s is %d; want 200 to 599", field, code)
	}
	return nil
}

// FaultsMet is how often an injected fault was applied to a request, so that a test
// can tell that what it injected has happened.
func (s *Server) FaultsMet() int { return s.faults.Met() }

// Compact forgets all past versions: a watch or list from one of them is answered
// by 410. Watches that are open go on.
func (s *Server) Compact() { s.store.Compact(0) }

// CompactTo forgets the versions below one.
func (s *Server) CompactTo(version uint64) { s.store.Compact(version) }

// CloseWatches ends all watches regularly, as their timeout would. What is written
// after it has returned is not sent on them.
func (s *Server) CloseWatches() { s.handler.CloseWatches() }

// RestartOptions say what a server forgets when it restarts.
type RestartOptions struct {
	// Forget the history: only the newest version of each object is known after it.
	Forget bool
	// Renumber gives all objects new versions, beginning after StartVersion, as
	// when another storage was restored from a backup. It implies Forget. Versions
	// become lower than before unless StartVersion is high. It is at most 1<<62.
	Renumber     bool
	StartVersion uint64
}

// Restart breaks all connections. The server is there again at once, on the same
// port. It panics when StartVersion is out of range.
func (s *Server) Restart(o RestartOptions) {
	if err := startVersion(o.StartVersion); err != nil {
		panic("harktest: Restart: " + err.Error())
	}
	switch {
	case o.Renumber:
		s.store.Rebase(o.StartVersion, renewed)
	case o.Forget:
		s.store.Compact(0)
	}
	s.conns.breakAll()
}

// GoDown closes the port and breaks all connections: clients are refused until up
// is called, which listens on the same address again. up fails when somebody took
// the address meanwhile, and may then be called again. GoDown panics within Options.Setup.
func (s *Server) GoDown() (up func() error) {
	s.mu.Lock()
	listener, accepted, addr := s.listener, s.accepted, s.addr
	s.mu.Unlock()
	if listener == nil {
		panic("harktest: GoDown: the server is not up yet")
	}
	_ = listener.Close()
	<-accepted
	s.conns.breakAll()
	return func() error { return s.listen(addr) }
}
