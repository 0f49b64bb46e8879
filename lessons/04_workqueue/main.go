// Command 04_workqueue lets two workers work on three keys. See ../README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"sync/atomic"

	"github.com/gocampus/hark/lessons/04_workqueue/answer"
)

const workers = 2

func main() {
	log.SetFlags(0)
	engine := flag.String("engine", "own", "whose queue: own, hark or client-go")
	failures := flag.Int64("fail", 0, "how often the first key fails before it succeeds")
	flag.Parse()
	keys := []string{"default/nginx-1", "default/nginx-2", "default/nginx-3"}
	q, process, err := choose(*engine, unreliable(keys[0], *failures))
	if err != nil {
		log.Fatal(err)
	}
	for _, key := range keys {
		q.Add(key)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	RunWorker(ctx, q, workers, process)
}

// choose returns the engine's queue, and process as it retries there.
func choose(engine string, process ProcessFunc) (Queue, ProcessFunc, error) {
	switch engine {
	case "own":
		return NewMiniQueue(), process, nil
	case "hark":
		q := answer.Hark()
		return q, answer.WithBackoff(q, process), nil
	case "client-go":
		q := answer.ClientGo()
		return q, answer.WithBackoff(q, process), nil
	default:
		return nil, nil, fmt.Errorf("there is no engine %q; try: -engine own", engine)
	}
}

// unreliable returns work that prints what it does, and fails for one key as
// often as it is told.
func unreliable(bad string, failures int64) ProcessFunc {
	var left atomic.Int64
	left.Store(failures)
	return func(key string) error {
		if key == bad && left.Add(-1) >= 0 {
			return errors.New("模拟的失败")
		}
		fmt.Println("处理", key)
		return nil
	}
}
