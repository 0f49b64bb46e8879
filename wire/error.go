package wire

import "fmt"

// Error says what is wrong with the bytes and where.
type Error struct {
	// Offset counts bytes from the start of the stream or object at hand: to
	// what is wrong, or where a stream was cut off to its end.
	Offset int64
	// What is wrong, as a phrase: "frame is longer than 16777216 bytes".
	What string
	// Object is true when one object or frame is bad but its borders are
	// known: the reader can go on with the next one. Otherwise the stream is
	// lost and must be opened again. It is true for what Scan and NewObject
	// return.
	Object bool
	// Err is the cause, such as io.ErrUnexpectedEOF; nil for bad content.
	Err error
}

// Error implements error.
func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("wire: at byte %d: %s: %v", e.Offset, e.What, e.Err)
	}
	return fmt.Sprintf("wire: at byte %d: %s", e.Offset, e.What)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
