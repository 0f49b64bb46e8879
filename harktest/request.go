package harktest

import (
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/gocampus/hark/harktest/internal/httpapi"
)

// Request is a request that the server has answered. A watch is recorded when it ends.
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
	// Code is the HTTP status, 0 when the connection was broken before one was sent.
	Code int
	// Start is when the request arrived, Duration how long the answer took.
	Start    time.Time
	Duration time.Duration
}

// requestLog keeps the last requests.
type requestLog struct {
	limit int

	mu   sync.Mutex // guards list
	list []Request
}

func (l *requestLog) add(r httpapi.Record) {
	query, err := url.ParseQuery(r.Query)
	if err != nil {
		query = url.Values{} // the server has read no parameter of it either
	}
	request := Request{
		Method: r.Method, Path: r.Path, Query: query, UserAgent: r.UserAgent,
		Verb: r.Verb, Group: r.Group, Version: r.Version, Resource: r.Resource, Namespace: r.Namespace, Name: r.Name, Subresource: r.Subresource,
		Code: r.Code, Start: r.Start, Duration: r.Duration,
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) >= 2*l.limit { // halved rarely, so that an addition is cheap
		l.list = slices.Delete(l.list, 0, len(l.list)-l.limit)
	}
	l.list = append(l.list, request)
}

// Requests returns the last requests, at most Options.RequestLimit, in the order in
// which they ended.
func (s *Server) Requests() []Request {
	l := &s.requests
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.list[max(0, len(l.list)-l.limit):])
}

// ForgetRequests empties the list of requests.
func (s *Server) ForgetRequests() {
	l := &s.requests
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = nil
}
