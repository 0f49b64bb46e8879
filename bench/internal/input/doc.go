// Package input makes the objects that the benchmark is fed with, as encoded
// bytes and in any number, the same bytes for the same number each time.
//
// Pods are like the ones of testdata/pods.ndjson: those of one ReplicaSet, 50 of
// them, are equal but for what is unique of real pods: name, UID, version, node,
// addresses, container IDs, times. One object of each group is encoded by the
// generated code; the others are that one with the bytes of the unique values
// exchanged, so that making an object costs a fraction of what reading it costs.
package input
