// Command 03_watch prints what happens to the pods of a namespace, as it
// happens. See ../README.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"

	"k8s.io/client-go/rest"

	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/lessons/internal/look"
)

// An engine listens to the pods of a namespace until ctx ends, and prints a line
// for each event.
type engine func(ctx context.Context, cfg *rest.Config, namespace string, print func(line string)) error

var engines = map[string]engine{
	"hark":      listenWithHark,
	"client-go": listenWithClientGo,
}

func main() {
	log.SetFlags(0)
	name := flag.String("engine", "hark", "whose informer listens: hark or client-go")
	namespace := flag.String("n", "default", "the namespace to listen to")
	flag.Parse()
	listen, ok := engines[*name]
	if !ok {
		log.Fatalf("there is no engine %q; try: -engine hark", *name)
	}
	cfg, _, err := kube.LoadConfig(kube.ConfigOptions{})
	if err != nil {
		log.Fatalf("%v\ntry: go run ../../cmd/hark demo, and export KUBECONFIG=PATH with the path that it prints", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	fmt.Printf("监听 namespace=%s 的 Pod 事件，Ctrl+C 退出\n", *namespace)
	if missing := look.Namespace(ctx, cfg, *namespace); missing != "" {
		log.Print(missing)
	}
	if err := listen(ctx, cfg, *namespace, func(line string) { fmt.Println(line) }); err != nil {
		log.Fatal(err)
	}
}
