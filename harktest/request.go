package harktest

import (
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/gocampus/hark/harktest/internal/httpapi"
)

// Request is a request that the server has got.
type Request struct {
	// Method, Path, Query and UserAgent as the client sent them.
	Method    string
	Path      string
	Query     url.Values
	UserAgent string
	// Verb is get, list, watch, create, update, patch, delete or deletecollection.
	Verb string
	// Group, Resource, Namespace, Name and Subresource as the path names them;
	// Resource is empty for discovery and the like.
	Group       string
	Version     string
	Resource    string
	Namespace   string
	Name        string
	Subresource string
	// Code is the HTTP status, 0 when none has been sent (yet).
	Code int
	// Start is when the request arrived. Ended tells whether the answer is over,
	// and Duration how long it took; a watch that is open has not ended.
	Start    time.Time
	Ended    bool
	Duration time.Duration
}

// requestLog keeps the last requests.
type requestLog struct {
	limit int

	mu   sync.Mutex // guards list and the requests in it
	list []*Request
}

// begin records a request that has arrived; the result records what becomes of it.
func (l *requestLog) begin(r *http.Request, info httpapi.Info) func(code int, ended bool) {
	request := &Request{
		Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), UserAgent: r.UserAgent(),
		Verb: info.Verb, Group: info.Group, Version: info.Version, Resource: info.Resource,
		Namespace: info.Namespace, Name: info.Name, Subresource: info.Subresource, Start: time.Now(),
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) >= 2*l.limit { // halved rarely, so that an addition is cheap
		l.list = slices.Delete(l.list, 0, len(l.list)-l.limit)
	}
	l.list = append(l.list, request)
	return func(code int, ended bool) {
		l.mu.Lock()
		defer l.mu.Unlock()
		request.Code, request.Ended = code, ended
		request.Duration = time.Since(request.Start)
	}
}

// Requests returns the last requests, at most Options.RequestLimit, in the order in
// which they arrived. An answer may reach its client a moment before it has ended here.
func (s *Server) Requests() []Request {
	l := &s.requests
	l.mu.Lock()
	defer l.mu.Unlock()
	last := l.list[max(0, len(l.list)-l.limit):]
	requests := make([]Request, len(last))
	for i, r := range last {
		requests[i] = *r
	}
	return requests
}

// ForgetRequests empties the list of requests.
func (s *Server) ForgetRequests() {
	l := &s.requests
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = nil
}
