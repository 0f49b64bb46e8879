// Package fault decides which requests of a server go wrong, and how. It is the
// decision alone: the HTTP layer carries it out.
package fault
