package cluster

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheAPIServersArguments(t *testing.T) {
	want := []string{
		"--etcd-servers=unix://etcd.sock",
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--secure-port=12345",
		"--permit-port-sharing=true",
		"--tls-cert-file=apiserver.crt",
		"--tls-private-key-file=apiserver.key",
		"--client-ca-file=ca.crt",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=service-account.key",
		"--service-account-signing-key-file=service-account.key",
		"--authorization-mode=RBAC",
		"--service-cluster-ip-range=10.0.0.0/24",
		"--disable-admission-plugins=ServiceAccount",
		"--endpoint-reconciler-type=none",
		"--allow-privileged=true",
		"--shutdown-watch-termination-grace-period=2s",
	}
	if diff := cmp.Diff(want, apiserverArgs(12345, Options{})); diff != "" {
		t.Errorf("by default (-want +got):\n%s", diff)
	}
	own := []string{"--watch-cache=false", "--v=4"}
	got := apiserverArgs(12345, Options{APIServerArgs: own, FeatureGates: map[string]bool{"A": true}})
	if diff := cmp.Diff(own, got[len(got)-2:]); diff != "" {
		t.Errorf("the caller's own are not the last (-want +got):\n%s", diff)
	}
}

func TestNodesAreNotTaintedWhenNobodyWouldTakeTheTaintAway(t *testing.T) {
	got := apiserverArgs(1, Options{NoControllerManager: true})
	if want := "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition"; !slices.Contains(got, want) {
		t.Errorf("got %q; want %s among them", got, want)
	}
}

func TestFeatureGatesGoToAllOfKubernetesSorted(t *testing.T) {
	o := Options{FeatureGates: map[string]bool{"Z": true, "A": false, "M": true}}
	const want = "--feature-gates=A=false,M=true,Z=true"
	for name, args := range map[string][]string{
		"kube-apiserver": apiserverArgs(1, o), "kube-scheduler": schedulerArgs(o), "kube-controller-manager": managerArgs(o),
	} {
		if !slices.Contains(args, want) {
			t.Errorf("%s: got %q; want %s among them", name, args, want)
		}
	}
	for _, args := range [][]string{apiserverArgs(1, Options{}), schedulerArgs(Options{}), managerArgs(Options{})} {
		if slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--feature-gates") }) {
			t.Errorf("got %q; want no gates", args)
		}
	}
}

func TestParseFeatureGates(t *testing.T) {
	for text, want := range map[string]map[string]bool{
		"":                       {},
		"A=true":                 {"A": true},
		"A=true,B=false":         {"A": true, "B": false},
		" A = true , B=false, ,": {"A": true, "B": false},
	} {
		got, err := ParseFeatureGates(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	for _, text := range []string{"A", "A=", "=true", "A=maybe", "A=true;B=true"} {
		if got, err := ParseFeatureGates(text); err == nil {
			t.Errorf("%q: got %v; want an error", text, got)
		}
	}
}

func TestOptionsDecideWhatRuns(t *testing.T) {
	all := Options{}.withDefaults()
	if got := len(all.binaries()); got != 5 || all.Nodes != 1 {
		t.Errorf("by default: got %d binaries and %d nodes; want 5 and 1", got, all.Nodes)
	}
	if got := (Options{Nodes: -1}).withDefaults().Nodes; got != 0 {
		t.Errorf("-1 nodes: got %d; want 0", got)
	}
	bare := Options{Nodes: 3, NoScheduler: true, NoControllerManager: true, NoKwok: true}.withDefaults()
	if bare.Nodes != 0 {
		t.Errorf("without kwok: got %d nodes; want 0, since none would get ready", bare.Nodes)
	}
	var names []string
	for _, b := range bare.binaries() {
		names = append(names, b.name)
	}
	if diff := cmp.Diff([]string{"kube-apiserver", "etcd"}, names); diff != "" {
		t.Errorf("bare (-want +got):\n%s", diff)
	}
}
