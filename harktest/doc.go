// Package harktest is a Kubernetes API server in memory, for tests and
// demonstrations. It runs in the process, answers over real HTTP on a loopback
// port, and is ready within milliseconds:
//
//	func TestController(t *testing.T) {
//		server := harktest.Start(t)
//		client := kubernetes.NewForConfigOrDie(server.Config())
//		…
//	}
//
// # What it promises
//
// Versions: one resourceVersion for the whole server, increasing by one with each
// change; an object's version is that of its last change; an update that changes
// nothing makes no new version. Lists and watches take resourceVersion,
// resourceVersionMatch, limit, continue, allowWatchBookmarks, sendInitialEvents and
// timeoutSeconds as the API documents them. A watch delivers every change of what
// it selects once and in order; a watcher that falls too far behind is closed,
// and never slows a writer.
//
// Kinds: those of k8s.io/api, kinds registered with [Server.Register], and kinds
// that a client defines with a CustomResourceDefinition. Bodies are JSON, YAML or
// protobuf, watches JSON or protobuf, and kubectl gets its tables.
//
// Semantics: generated names, conflicts, preconditions, finalizers, grace
// periods, generations, the status and scale subresources, JSON, merge, strategic
// merge and apply patches, label and field selectors, and the API's own Status
// errors for what is wrong. The common kinds get their defaults.
//
// Validation: the metadata of all kinds; of pods and pod templates the containers
// (names, images, ports, environment, mounts, resources, probes), the names of volumes,
// policies, tolerations and the plain fields, but not what is within a volume, a security
// context or an affinity; selectors, replicas and strategies of workloads; jobs and the
// schedules of cron jobs; the target and the bounds of autoscalers, but not their
// metrics; ports, types and cluster IPs of services; keys of config maps and secrets;
// the namespace of events; names, versions and changes of CustomResourceDefinitions, but
// not their schemas. What may not change in pods, workloads, config maps, secrets
// and definitions does not. The specs of other kinds are stored as they come.
//
// Faults: [Server.Inject] makes requests and watches fail as they do in the
// field, [Server.Compact], [Server.Restart] and [Server.GoDown] do so for the
// server. [Server.Requests] tells what was asked.
//
// # Load
//
// Objects are kept as bytes, encoded once for all watches and lists, so that a
// client under test is the bottleneck. On two cores a server was ready after 0.2 ms,
// 100,000 pods of 4.5 kB were preloaded in 2.2 s, and one client that threw away what
// it read got 127,000 watch events a second in protobuf, 119,000 in JSON:
//
//	go test ./harktest -run '^$' -bench 'New|Preload|Watch' -benchtime 3s
//
// [Server.Serve] lets a resource be made as it is sent, so that a million objects
// can be listed and watched without being held.
//
// # What it does not do
//
// No authentication and no authorization: everybody may do everything. No
// admission webhooks, no pruning or validation by a definition's schema, no CBOR.
// No controllers, unless the story is started ([Server.RunStory]): finalizers, the
// contents of a deleted namespace and owned objects stay then, as beside a real
// API server that runs alone.
//
// Facts about the API are from https://kubernetes.io/docs/reference/using-api/api-concepts/
// and the behaviour of kube-apiserver.
package harktest
