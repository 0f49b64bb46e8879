package demo

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/internal/cli/follow"
	"github.com/gocampus/hark/internal/printer"
	"github.com/gocampus/hark/internal/sleep"
	"github.com/gocampus/hark/internal/text"
	"github.com/gocampus/hark/kube"
)

// Options of a demo. Out is needed.
type Options struct {
	// Out takes the whole play.
	Out io.Writer
	// Lang of the narration; English when empty.
	Lang text.Lang
	// Color marks event types.
	Color bool
	// Pause between steps, so that people can read along. Pods take about as long
	// to start and stop. 0 means 1 s.
	Pause time.Duration
	// For is after how long the context ends with context.DeadlineExceeded, to be
	// told; 0 when it goes on until somebody ends it.
	For time.Duration
	// Cluster is a control plane to play on, which somebody else ends. Nil stands for
	// a server in this process.
	Cluster Cluster
}

// Cluster is a control plane that runs elsewhere.
type Cluster interface {
	// Kubeconfig is the path of its kubeconfig.
	Kubeconfig() string
	// Ended returns an error when the control plane has ended, and the cause of ctx
	// when that has ended before.
	Ended(ctx context.Context) error
}

const (
	namespace = "default"
	// patience bounds each wait for something to have happened.
	patience = 30 * time.Second
	// playSeconds is about how long the parts take with the default pauses.
	playSeconds = "15"
)

// errPlayed is the cause with which a part's helpers end.
var errPlayed = errors.New("demo: the part was played")

// Run plays all parts and then goes on, until ctx ends. The end of ctx, whenever
// it comes, is no error; a cause that is context.DeadlineExceeded is told of.
func Run(ctx context.Context, o Options) error {
	if o.Lang == "" {
		o.Lang = text.English
	}
	if o.Pause == 0 {
		o.Pause = time.Second
	}
	started := time.Now()
	stage, err := openStage(o)
	if err != nil {
		return err
	}
	p := &play{
		options: o, started: started, stage: stage, api: stage.api, client: stage.client,
		screen: &screen{lang: o.Lang, out: o.Out},
	}
	return errors.Join(p.run(ctx), stage.close())
}

// play is one performance.
type play struct {
	options  Options
	started  time.Time
	stage    *stage
	client   *kube.Client
	api      kubernetes.Interface
	screen   *screen
	audience audience

	part int // that is played, from 1
}

// run plays the parts while the helpers are at work.
func (p *play) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	helpers := &helpers{cancel: cancel}
	defer helpers.running.Wait()
	defer cancel(errPlayed)

	helpers.start(ctx, p.stage.goOn)
	p.screen.line("kubeconfig: " + p.stage.kubeconfig)
	if p.options.Cluster == nil {
		p.screen.say(text.DemoIntro, "path", p.stage.kubeconfig)
	} else {
		p.screen.say(text.PlaneIntro, "path", p.stage.kubeconfig)
	}
	err := p.parts(ctx, helpers)
	switch {
	case p.screen.failed() != nil:
		return p.screen.failed()
	case ctx.Err() == nil && err == nil:
		p.yourTurn(ctx)
		p.timeUp(ctx, text.DemoTimeUp)
	case ctx.Err() != nil && helpers.failed() == nil:
		p.timeUp(ctx, text.DemoCutShort, "seconds", playSeconds)
		return nil
	}
	return errors.Join(err, helpers.failed())
}

// timeUp says that the time given to the demo ended it, when that is so.
func (p *play) timeUp(ctx context.Context, m text.Message, pairs ...string) {
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		p.screen.line("")
		p.screen.say(m, pairs...)
	}
}

// parts plays one part after the other.
func (p *play) parts(ctx context.Context, h *helpers) error {
	if err := p.showPods(ctx, h); err != nil {
		return err
	}
	for i, part := range []func(context.Context, *helpers) error{p.podLife, p.burst, p.retry, p.controller} {
		p.part = i + 1
		if err := part(ctx, h); err != nil {
			return err
		}
		p.pause(ctx)
	}
	return nil
}

// yourTurn waits for the end and shows meanwhile what the user does.
func (p *play) yourTurn(ctx context.Context) {
	p.screen.line("")
	p.screen.say(text.DemoYourTurn)
	for _, command := range []string{
		"run hello --image=nginx:1.27", "delete pod hello", "scale deployment web --replicas=1",
	} {
		p.screen.typed("kubectl --kubeconfig " + p.stage.kubeconfig + " " + command)
	}
	p.screen.say(text.DemoShown, "namespace", namespace)
	if p.options.For == 0 {
		p.screen.say(text.DemoGoesOn)
	} else {
		left := max(0, p.options.For-time.Since(p.started)).Round(time.Second)
		p.screen.say(text.DemoGoesOnFor, "time", left.String(), "limit", p.options.For.String())
	}
	<-ctx.Done()
}

// pause lets people read.
func (p *play) pause(ctx context.Context) {
	_ = sleep.For(ctx, p.options.Pause) // the next step sees the end itself
}

// StuckError tells that a step did not come to pass.
type StuckError struct {
	Part   int // from 1
	After  time.Duration
	Reason error
}

// Error implements error.
func (e *StuckError) Error() string { return "demo: stuck: " + e.Reason.Error() }

// Unwrap returns the reason.
func (e *StuckError) Unwrap() error { return e.Reason }

// await waits until something has happened, but not for ever.
func (p *play) await(ctx context.Context, happened <-chan struct{}) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-happened:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return &StuckError{Part: p.part, After: patience, Reason: context.DeadlineExceeded}
	}
}

// helpers are what goes on beside the parts. The first error ends the play.
type helpers struct {
	running sync.WaitGroup
	cancel  context.CancelCauseFunc

	mu  sync.Mutex
	err error
}

// start runs a helper until ctx ends.
func (h *helpers) start(ctx context.Context, run func(context.Context) error) {
	h.running.Go(func() {
		err := run(ctx)
		if err == nil || ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
			return
		}
		h.mu.Lock()
		if h.err == nil {
			h.err = err
		}
		h.mu.Unlock()
		h.cancel(err)
	})
}

func (h *helpers) failed() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}

// show prints what happens to all objects of a kind, as "hark watch" does. It
// returns when what exists is on the screen.
func (p *play) show(ctx context.Context, h *helpers, kind kube.Kind, printing printer.Options) error {
	ready := make(chan struct{})
	printing.Color, printing.Lang = p.options.Color, p.options.Lang
	f := follow.New(follow.Options{
		Client: p.client, Namespace: namespace, Printer: printer.New(printing),
		Out: p.screen, Say: p.screen.line, Lang: p.options.Lang, Ready: func() { close(ready) },
		Printed: func(e informer.Event) {
			if object := e.Object(); object != nil {
				version, _ := object.Version() // a number, as every server writes it
				p.stage.shown.move(kind.GVR, version)
			}
			p.audience.saw(e)
		},
	})
	target := follow.Target{Resolve: func(context.Context) (kube.Kind, error) { return kind, nil }}
	h.start(ctx, func(ctx context.Context) error { return f.Run(ctx, []follow.Target{target}) })
	if err := p.await(ctx, ready); err != nil {
		return err
	}
	p.stage.shown.move(kind.GVR, 0)
	return nil
}
