// Package cluster builds and starts a real Kubernetes control plane on this machine,
// for tests and demonstrations: kube-apiserver, etcd, kube-controller-manager,
// kube-scheduler and, in place of kubelets, kwok.
//
//	func TestOnTheRealThing(t *testing.T) {
//		c := cluster.Start(t)
//		client := kubernetes.NewForConfigOrDie(c.Config())
//		…
//	}
//
// # Where the programs come from
//
// Build compiles them with the go command, from modules, when they are first wanted.
// Nothing else is downloaded, and only by the go command, from where its settings
// (GOPROXY and so on) say. This package embeds a module for each group of programs
// with its go.mod and go.sum: versions and contents are pinned. The module of this
// package itself, and of whoever imports it, requires none of that.
//
// The binaries are kept in a directory of the user's cache whose name has their
// versions and a hash of the recipe. The first build takes about ten minutes on two
// cores, less with modules and compiled packages in the go command's caches;
// afterwards a cluster is ready in about three seconds.
//
// # What it promises
//
//   - When New or RestartAPIServer has returned, the API server answers, applies RBAC
//     and has the system namespaces; after New the nodes are ready and take pods.
//   - Only loopback is used: one port of the API server, which is the cluster's until
//     Close, also while the server is down. etcd listens on sockets in a directory
//     that only its owner can enter. Neither a route nor a resolver is needed.
//   - The servers end with the process that started them, however that ends. Their
//     directory is removed by Close or, after a violent end, by the next New.
//   - Clusters do not share anything but binaries: as many as memory allows (about
//     600 MB each) may run at once.
//   - The servers see neither the environment nor the configuration files of the user.
//
// # How it differs from a real cluster
//
// Kubernetes' own defaults hold except where the arguments say otherwise: the
// ServiceAccount admission plugin is off (pods have no token volume), the service
// "kubernetes" has no endpoints, etcd does not wait for the disk, and watches are
// ended within two seconds when the API server is asked to stop. Pods on kwok nodes
// are running as soon as they are scheduled and gone as soon as they are deleted;
// they run nothing, and have neither logs nor exec.
//
// It runs on Linux and, not regularly tested, on other Unix systems. Elsewhere New
// fails with errors.ErrUnsupported.
package cluster
