// Package object holds versions of API objects and their encodings. A Version is
// encoded at most once for each encoding, whoever asks and however many watch.
package object
