// Package watch names what a watch delivers: events, their types and causes,
// the Source that they come from, and the kinds of error that a source may
// return. It has no behaviour of its own beyond naming.
package watch
