// Package store keeps the newest version of every object of one kind, as wire
// bytes, with indexes. A compact store keeps what objects have in common once.
//
// A Store has one Writer and any number of readers. Readers never wait for
// handlers or for the network: they take a read lock for a map access. All and
// the index iterators walk a snapshot: what they yield was true together at one
// moment, and writing goes on meanwhile.
//
// A controller that has just written an object may lay the server's answer over
// the store (Writer.Observe), so that it reads its own write at once. The watch
// stays the truth: it ends an observation by reaching its version.
//
// What a reader gets is immutable, so that no reader can damage what another
// one reads.
package store
