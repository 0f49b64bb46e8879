package watch

import (
	"fmt"
	"time"
)

// ErrorKind is the closed set of what can go wrong with a source, as far as a
// reflector treats it differently.
type ErrorKind uint8

const (
	// KindUnavailable: no answer, or a server error; trying again helps.
	KindUnavailable ErrorKind = iota
	// KindExpired: 410, the version or continue token is too old.
	KindExpired
	// KindTooLargeVersion: 504 with cause ResourceVersionTooLarge, the server
	// has not reached the version asked for.
	KindTooLargeVersion
	// KindTooManyRequests: 429, with RetryAfter where the server said it.
	KindTooManyRequests
	// KindUnauthorized: 401.
	KindUnauthorized
	// KindForbidden: 403.
	KindForbidden
	// KindNotFound: 404, the server does not have this resource (now).
	KindNotFound
	// KindInvalid: 400, 405, 406, 415, 422: the server refuses the parameters.
	KindInvalid
	// KindMalformed: the answer breaks the protocol; the stream is lost.
	KindMalformed
	// KindObject: one object or frame is bad; the stream goes on.
	KindObject
)

var errorKindNames = [...]string{
	"unavailable", "expired", "too large resource version", "too many requests",
	"unauthorized", "forbidden", "not found", "invalid", "malformed", "bad object",
}

// String returns the kind in lower-case words.
func (k ErrorKind) String() string {
	if int(k) >= len(errorKindNames) {
		return fmt.Sprintf("error kind %d", uint8(k))
	}
	return errorKindNames[k]
}

// MarshalText implements encoding.TextMarshaler.
func (k ErrorKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Error is what a Source and its streams return.
type Error struct {
	Kind ErrorKind
	// Code is the HTTP status code, 0 where there was none.
	Code int
	// Message for people, with the verb, the resource and the namespace.
	Message string
	// RetryAfter is the server's wish, 0 where it has none.
	RetryAfter time.Duration
	// Err is the cause, or nil.
	Err error
}

// Error implements error.
func (e *Error) Error() string {
	switch {
	case e.Message != "":
		return e.Message
	case e.Err != nil:
		return e.Kind.String() + ": " + e.Err.Error()
	}
	return e.Kind.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
