// Package record keeps what a watch delivered, and plays it again.
//
//	Recorder ── file ── Reader ── Recording ── Player ── watch.Source
//
// A Recorder is told what handlers of informers are told and writes it to a file;
// a Reader reads the file record by record, and a File all parts of a recording
// that was rotated; a Recording is a file in memory; a Player moves through it at
// a pace and is the watch.Source of each stream, which informers take for a
// server. Package recordtest runs code under test against one, in virtual time.
//
// # Format
//
// A recording (schema hark.record/v1) is newline-delimited JSON in zstd frames:
//
//	zstdcat FILE | jq
//
// The first line is the header; lines follow in the order in which things were
// heard of. Each flush writes one frame of its own, with a checksum, so that the
// file is whole up to its last flush at any time: what a crash cuts off is the last
// frame. A recording that is not compressed is read as well, for those that are
// kept beside tests. docs/record.md describes every line.
//
// # Promises
//
// A Recorder flushes what it was told within FlushInterval (half a second), so that
// a crash loses less than a second. Values of Secrets never reach the file. After
// an error of writing nothing is written any more, what was written stays
// readable, and the program goes on.
//
// A Reader returns everything before the first damage, then a *DamageError that
// says where it is. Whatever bytes come in, it neither panics nor holds more than
// one frame, of at most MaxFrame.
//
// Objects are kept as JSON: as the server sent them, or made of the server's
// protobuf by way of the generated types of k8s.io/api, which lack fields that are
// newer than they are.
package record
