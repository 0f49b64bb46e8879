// Package hark is the listening and working half of a Kubernetes controller:
//
//	Watch → Reflector → Store + Delta → handlers → Workqueue → workers
//
// Hark keeps the bytes that come over the wire and decodes on demand. On arrival
// only an object's frame and metadata are scanned; a handler takes the key and
// enqueues it; a worker later reads, and only then decodes, the newest version.
//
// This package is the façade: a Controller joins an informer, a queue and
// workers. The parts stand alone as well, each in a package that says what it
// promises:
//
//	key        namespace and name of an object
//	wire       reads the wire formats without decoding: frames, metadata
//	watch      events, causes, errors, and the Source that they come from
//	reflector  the list/watch protocol: a pure machine, and the loop that runs it
//	store      newest versions as bytes, indexes, snapshots
//	delta      what one handler has still to be told, coalesced by key
//	informer   a reflector, a store, and a delta queue a handler, or one for all quick ones
//	workqueue  dedupe, delay, backoff, priority, fairness, inspection
//	worker     N workers over a queue: retry, timeout, parking, drain
//	kube       configuration, discovery, the REST source, decoding, shared informers
//	record     keeps what a watch delivered, and plays it again
//	harktest   an API server in the process, for tests and demos
//	cluster    a real control plane, built and started (a module of its own)
//
// # Guarantees
//
// They are numbered; docs/guarantees.md names the test that holds each.
//
//	G1   the store converges to the server
//	G2   a handler hears of one object in order
//	G3   no key is lost between its last change and a successful run
//	G4   a key is never run by two workers at once
//	G5   a failed run is retried until it succeeds, fails for good or reaches the limit
//	G6   the memory of what waits is bounded by the number of keys
//	G7   stop returns at once and leaves no goroutine
//	G8   nothing that a server sends panics or allocates without bound
//	G9   an event needs no decode, and few allocations, from the wire to a worker's key
//	G10  an object made again under the same name is another object
//	G11  a failure is a state with a reason, and heals without a restart
//	G12  removing objects gives the memory back
//	G13  a handler that was closed is not called again
//	G14  a controller reads its own write once it hands in the server's answer
package hark
