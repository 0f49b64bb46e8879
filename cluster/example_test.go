package cluster_test

import (
	"context"
	"fmt"
	"os"

	"github.com/gocampus/hark/cluster"
)

func ExampleNew() {
	ctx := context.Background()
	c, err := cluster.New(ctx, cluster.Options{
		Build:        cluster.BuildOptions{Progress: os.Stderr},
		Nodes:        3,
		FeatureGates: map[string]bool{"ShardedListAndWatch": true},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	fmt.Println("export KUBECONFIG=" + c.KubeconfigPath())
	select {
	case <-ctx.Done():
	case <-c.Done():
		fmt.Println(c.Err())
	}
}
