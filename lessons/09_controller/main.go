// Command 09_controller gives Deployments the replicas that their label
// min-replicas asks for. See ../README.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"time"

	"k8s.io/client-go/rest"

	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/lessons/internal/look"
)

// An engine controls a namespace until ctx ends, and prints what it does.
type engine func(ctx context.Context, cfg *rest.Config, namespace string, print func(line string)) error

var engines = map[string]engine{
	"hark":      controlWithHark,
	"client-go": controlWithClientGo,
}

func main() {
	log.SetFlags(0)
	name := flag.String("engine", "hark", "on whose parts: hark or client-go")
	namespace := flag.String("n", "default", "the namespace to look after")
	flag.Parse()
	control, ok := engines[*name]
	if !ok {
		log.Fatalf("there is no engine %q; try: -engine hark", *name)
	}
	cfg, _, err := kube.LoadConfig(kube.ConfigOptions{})
	if err != nil {
		log.Fatalf("%v\ntry: go run ../../cmd/hark demo, and export KUBECONFIG=PATH with the path that it prints", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	fmt.Printf("控制 namespace=%s 中带 %s 标签的 Deployment，Ctrl+C 退出\n", *namespace, minReplicas)
	print := func(line string) { fmt.Println(time.Now().Format("[15:04:05]"), line) }
	if missing := look.Namespace(ctx, cfg, *namespace); missing != "" {
		log.Print(missing)
	}
	if err := control(ctx, cfg, *namespace, print); err != nil {
		log.Fatal(err)
	}
}
