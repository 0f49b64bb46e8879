package main

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/watch"
)

// everyChange is how many events may wait for the handler, each as its own.
const everyChange = 10_000

// observer is somebody who wants to know what happens to the pods, over a
// connection of its own whose bytes are counted.
type observer struct {
	source watch.Source
	close  func()
	bytes  atomic.Int64 // that came from the server

	// mu guards when.
	mu   sync.Mutex
	when map[string]time.Time // by name of the change: when it was noticed
}

func newObserver(ctx context.Context, cfg *rest.Config) (*observer, error) {
	o := &observer{when: map[string]time.Time{}}
	client, err := kube.New(counted(cfg, &o.bytes), kube.Options{})
	if err != nil {
		return nil, err
	}
	kind, err := kube.KindOf[corev1.Pod](ctx, client)
	if err != nil {
		return nil, err
	}
	o.source = client.Source(kind, kube.SourceOptions{Namespace: namespace})
	o.close = client.CloseIdle
	o.bytes.Store(0) // what discovery cost is the same for everybody
	return o, nil
}

// version and gone name a change: to a state, and to none.
func version(k key.Key, resourceVersion string) string { return k.String() + "@" + resourceVersion }
func gone(k key.Key) string                            { return k.String() + " gone" }

func (o *observer) note(change string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.when[change] = time.Now()
}

// poll asks for everything once a period, and compares with the time before.
func (o *observer) poll(ctx context.Context, period time.Duration) error {
	tick := time.NewTicker(period)
	defer tick.Stop()
	before := map[key.Key]string{}
	for {
		now, err := o.list(ctx)
		if err != nil {
			return unlessEnded(ctx, err)
		}
		for k, v := range now {
			if before[k] != v {
				o.note(version(k, v))
			}
		}
		for k := range before {
			if _, there := now[k]; !there {
				o.note(gone(k))
			}
		}
		before = now
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// list returns the version of each pod.
func (o *observer) list(ctx context.Context) (map[key.Key]string, error) {
	list, err := o.source.List(ctx, watch.ListOptions{})
	if err != nil {
		return nil, err
	}
	defer list.Close()
	versions := map[key.Key]string{}
	for {
		pod, err := list.Next()
		if errors.Is(err, io.EOF) {
			return versions, nil
		}
		if err != nil {
			return nil, err
		}
		versions[pod.Key()] = pod.ResourceVersion()
	}
}

// listen is told.
func (o *observer) listen(ctx context.Context) error {
	pods := informer.New(o.source, informer.Options{})
	if _, err := pods.Handle(o.hear, informer.HandlerOptions{Every: everyChange}); err != nil {
		return err
	}
	return unlessEnded(ctx, pods.Run(ctx))
}

func (o *observer) hear(e informer.Event) {
	if e.Type == watch.EventDeleted {
		o.note(gone(e.Key))
	} else {
		o.note(version(e.Key, e.New.ResourceVersion()))
	}
}

// unlessEnded returns err, unless it is only that ctx has ended.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// counted returns a configuration whose connections add what they read to n.
func counted(cfg *rest.Config, n *atomic.Int64) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	dial := cfg.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return countedConn{conn, n}, nil
	}
	return cfg
}

type countedConn struct {
	net.Conn
	n *atomic.Int64
}

func (c countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.n.Add(int64(n))
	return n, err
}
