package cluster

import (
	"path/filepath"
	"strconv"
	"strings"
)

// The servers run in the run directory, so that the names of files and sockets in
// their arguments are relative and short: a socket's path has at most 107 bytes.
const (
	etcdSocket           = "etcd.sock"
	etcdPeerSocket       = "peer.sock"
	schedulerKubeconfig  = "scheduler.kubeconfig"
	managerKubeconfig    = "controller-manager.kubeconfig"
	kwokKubeconfig       = "kwok.kubeconfig"
	serviceRange         = "10.0.0.0/24"
	nodeLeaseSeconds     = 40
	clientRateForManager = 500
)

// etcdArgs give etcd a store in dir and no port: it listens on sockets that only this
// user reaches. It does not wait for the disk, since nobody wants this store after a
// power failure.
func etcdArgs() []string {
	return []string{
		"--name=hark",
		"--data-dir=etcd",
		"--listen-client-urls=unix://" + etcdSocket,
		"--advertise-client-urls=unix://" + etcdSocket,
		"--listen-peer-urls=unix://" + etcdPeerSocket,
		"--initial-advertise-peer-urls=unix://" + etcdPeerSocket,
		"--initial-cluster=hark=unix://" + etcdPeerSocket,
		"--unsafe-no-fsync=true",
	}
}

// apiserverArgs are the arguments of kube-apiserver, the caller's last.
//
// The ServiceAccount admission plugin is off: a pod would be refused until the
// controllers have made its namespace's account. The server advertises itself
// nowhere, so that no route to the outside is needed. Watches end within two seconds
// when it is asked to stop; by default it stays for a minute.
func apiserverArgs(port int, o Options) []string {
	disabled := []string{"ServiceAccount"}
	if o.NoControllerManager {
		disabled = append(disabled, "TaintNodesByCondition")
	}
	args := []string{
		"--etcd-servers=unix://" + etcdSocket,
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(port),
		"--permit-port-sharing=true",
		"--tls-cert-file=" + serverCertFile,
		"--tls-private-key-file=" + serverKeyFile,
		"--client-ca-file=" + caFile,
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + tokenKeyFile,
		"--service-account-signing-key-file=" + tokenKeyFile,
		"--authorization-mode=RBAC",
		"--service-cluster-ip-range=" + serviceRange,
		"--disable-admission-plugins=" + strings.Join(disabled, ","),
		"--endpoint-reconciler-type=none",
		"--allow-privileged=true",
		"--shutdown-watch-termination-grace-period=2s",
	}
	args = append(args, o.gateArgs()...)
	return append(args, o.APIServerArgs...)
}

// managerArgs are the arguments of kube-controller-manager. Without the higher rate it
// throttles itself for seconds while it starts its controllers.
func managerArgs(o Options) []string {
	rate := strconv.Itoa(clientRateForManager)
	return append([]string{
		"--kubeconfig=" + managerKubeconfig,
		"--leader-elect=false",
		"--secure-port=0",
		"--use-service-account-credentials=true",
		"--service-account-private-key-file=" + tokenKeyFile,
		"--root-ca-file=" + caFile,
		"--kube-api-qps=" + rate,
		"--kube-api-burst=" + rate,
	}, o.gateArgs()...)
}

// schedulerArgs are the arguments of kube-scheduler.
func schedulerArgs(o Options) []string {
	return append([]string{
		"--kubeconfig=" + schedulerKubeconfig,
		"--leader-elect=false",
		"--secure-port=0",
	}, o.gateArgs()...)
}

// kwokArgs are the arguments of kwok; the stages are in the directory of the binaries.
func kwokArgs(bin string) []string {
	return []string{
		"--kubeconfig=" + kwokKubeconfig,
		"--manage-all-nodes=true",
		"--node-lease-duration-seconds=" + strconv.Itoa(nodeLeaseSeconds),
		"--config=" + filepath.Join(bin, stagesFile),
	}
}
