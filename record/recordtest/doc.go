// Package recordtest runs code under test against a recording, in virtual time.
//
// Play is for a function that works on one object at a time: it puts hark's own
// informer, queue and workers between the recording and the function, and checks
// at the end that nothing was lost, that no key was run twice at once, and what
// state was reached. Runs are delayed by times that depend on a seed, so that each
// seed is another interleaving of the workers, and the same one gives the same
// again.
//
// Stage and Probe are for a controller as it is, of hark or of another library: a
// Stage plays the recording on a harktest server, and a Probe around the
// controller's function does the checks.
//
//	recording := recordtest.Load(t, "testdata/rollout.hark")
//	for seed := range uint64(100) {
//		result := recordtest.Play(t, recording, recordtest.Options{Seed: seed, Work: …})
//		…
//	}
package recordtest
