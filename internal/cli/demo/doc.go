// Package demo is "hark demo": it plays live how a change in a cluster becomes
// work that is done, on an API server inside the process.
//
// Everything on the way is the real thing: requests go over HTTP, kube reads
// them, informers follow, queues hold keys, pools run them. What is printed was
// measured, and each step waits for the one before to have been seen.
package demo
