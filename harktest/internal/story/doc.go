// Package story plays what happens around an API server in a cluster, as far as
// demonstrations need it: a scheduler, a kubelet for each of some nodes, the
// controllers of deployments and replica sets, the garbage collector and the
// controller of namespaces. It is one goroutine over the service, without HTTP.
package story
