// Command 02_polling measures what polling costs and misses, beside a watch. It
// needs no cluster. See ../README.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"time"

	"github.com/gocampus/hark/harktest"
)

func main() {
	log.SetFlags(0)
	period := flag.Duration("period", 5*time.Second, "how often the poller asks")
	duration := flag.Duration("for", 30*time.Second, "how long pods come, change and go")
	flag.Parse()
	if *period <= 0 {
		log.Fatal("-period must be positive; try: -period 5s")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	server, err := harktest.New(harktest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	fmt.Printf("测量 %v：同样的变化，一边每 %v 轮询一次，一边 Watch …\n\n", *duration, *period)
	changes, polled, watched, err := measure(ctx, server, *period, *duration)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("               %12s %12s\n", "poll", "watch")
	fmt.Printf("平均延迟       %12v %12v\n", round(polled.Delay), round(watched.Delay))
	fmt.Printf("收到的数据     %12s %12s\n", kib(polled.Bytes), kib(watched.Bytes))
	fmt.Printf("没看见的变化   %12s %12s\n", of(polled.Missed, changes), of(watched.Missed, changes))
}

func round(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }

func kib(bytes int64) string { return fmt.Sprintf("%d KiB", bytes>>10) }

func of(part, whole int) string { return fmt.Sprintf("%d/%d", part, whole) }
