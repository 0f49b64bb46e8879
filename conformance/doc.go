// Package conformance compares harktest with a real kube-apiserver.
//
// The scenarios of testdata are played, request by request, against both. Each
// play gives a transcript of the answers, in which only what must differ between
// two servers is made equal: uids, times, random names, and resourceVersions,
// which become their rank among the versions of the transcript, so that which
// versions are equal and which is newer is still compared. Two transcripts that
// differ fail the test: what the real server answers is right. The few differences
// that are meant stand in testdata/differences.txt with their reasons.
//
// "make conformance" in the root of the repository runs it. It builds and starts
// the control plane by itself: an API server without controllers, so that nobody
// but the scenarios writes. HARK_CONFORMANCE_KUBECONFIG names another one to
// compare with, HARK_CONFORMANCE_PRINT=1 shows with -v what the real server answered.
//
// # Scenario files
//
// A file holds scenarios on one subject. "=== name" begins one, "#" a comment. A
// blank line ends a step, whose first line is one of
//
//	GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS path   a request; all of a watch is read
//	WATCH name path                               opens a watch and goes on
//	READ name count                               reads so many events of it
//	CLOSE name                                    hangs up
//	COMPACT                                       forgets all versions but the newest
//	$ command                                     a shell command, such as kubectl
//
// followed by "+ Header: value" lines, by the body or standard input, and by
// "let name = path" lines, which keep a field of the answer as {name} for the steps
// after it. Given are {ns}, a namespace of the scenario's own, {core} and {apps}, the
// paths to it in the groups "" and apps/v1, {id}, for names of cluster-scoped
// objects, and {big}, a text too long for any request.
//
// The real server may answer a read at version 0, or at any that is not the newest,
// from a cache that lags behind its writes. What such a read answers is certain only
// after one that has waited for the newest: a list without a version, or a read that
// names the version of the last write.
package conformance
