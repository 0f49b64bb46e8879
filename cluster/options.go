package cluster

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Options of a Cluster. The zero value works.
type Options struct {
	// Build says where the binaries are and who is told when they have to be built.
	Build BuildOptions
	// Nodes is how many kwok nodes there are, each with 32 CPUs, 256 GiB and room
	// for 110 pods. Default 1; a negative number stands for none.
	Nodes int
	// FeatureGates are turned on or off in kube-apiserver, kube-scheduler and
	// kube-controller-manager. Default none: each gate as it is released. A gate that
	// the version does not know makes New fail.
	FeatureGates map[string]bool
	// NoScheduler leaves kube-scheduler out: pods stay without a node. Default false.
	NoScheduler bool
	// NoControllerManager leaves kube-controller-manager out: nothing happens to a
	// Deployment, owned objects are not collected, a deleted namespace stays. Nodes
	// are then not tainted when they are created, since nobody would take the taint
	// away. Default false.
	NoControllerManager bool
	// NoKwok leaves kwok out: nodes are never ready, pods never run, and a deleted pod
	// that has a node stays. There are no nodes then, whatever Nodes says. Default
	// false.
	NoKwok bool
	// APIServerArgs are appended to the arguments of kube-apiserver, which has the
	// directory of the run for its working directory; of a flag that is there twice
	// the later wins. Default none.
	APIServerArgs []string
	// StartTimeout bounds the start, the build apart. Default 2 minutes.
	StartTimeout time.Duration
	// TempDir is where the directory of the run is made: the store, the certificates,
	// the logs. Default os.TempDir.
	TempDir string
	// LogDir gets the logs of the servers, which then outlive the cluster. It is
	// created if need be; logs that are there are appended to. Default the directory
	// of the run, which goes with Close.
	LogDir string
}

const defaultStartTimeout = 2 * time.Minute

func (o Options) withDefaults() Options {
	o.Nodes = max(0, cmp.Or(o.Nodes, 1))
	if o.NoKwok {
		o.Nodes = 0
	}
	o.StartTimeout = cmp.Or(o.StartTimeout, defaultStartTimeout)
	o.TempDir = cmp.Or(o.TempDir, os.TempDir())
	return o
}

// binaries lists the programs that a cluster with these options runs.
func (o Options) binaries() []binary {
	wanted := []binary{apiserverBinary, etcdBinary}
	if !o.NoControllerManager {
		wanted = append(wanted, managerBinary)
	}
	if !o.NoScheduler {
		wanted = append(wanted, schedulerBinary)
	}
	if !o.NoKwok {
		wanted = append(wanted, kwokBinary)
	}
	return wanted
}

// gateArgs is the argument for the feature gates, if there are any.
func (o Options) gateArgs() []string {
	if len(o.FeatureGates) == 0 {
		return nil
	}
	gates := make([]string, 0, len(o.FeatureGates))
	for name, on := range o.FeatureGates {
		gates = append(gates, name+"="+strconv.FormatBool(on))
	}
	slices.Sort(gates)
	return []string{"--feature-gates=" + strings.Join(gates, ",")}
}

// ParseFeatureGates reads the notation of the --feature-gates flag, such as
// "ShardedListAndWatch=true,WatchList=false". An empty text has no gates.
func ParseFeatureGates(text string) (map[string]bool, error) {
	gates := map[string]bool{}
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		on, err := strconv.ParseBool(strings.TrimSpace(value))
		if err != nil || strings.TrimSpace(name) == "" {
			return nil, fmt.Errorf("cluster: feature gate %q: want NAME=true or NAME=false", part)
		}
		gates[strings.TrimSpace(name)] = on
	}
	return gates, nil
}
