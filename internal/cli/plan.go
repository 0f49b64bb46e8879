package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/internal/cli/follow"
	"github.com/gocampus/hark/internal/printer"
	"github.com/gocampus/hark/internal/sleep"
	"github.com/gocampus/hark/internal/text"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/record"
	"github.com/gocampus/hark/wire"
)

// watchPlan is a "hark watch" whose flags and arguments are in order.
type watchPlan struct {
	session  *session
	flags    *watchFlags
	targets  []target
	printing printer.Options

	client    *kube.Client
	namespace string // "" for all

	recording  *recordFlags // nil for a command that does not record
	recordOnly bool         // nothing is printed
	recorder   *record.Recorder

	mu sync.Mutex // one line at a time on standard error
}

// run gets to know the server, says what is watched, and watches.
func (p *watchPlan) run(ctx context.Context) error {
	if err := p.connect(); err != nil {
		return err
	}
	defer p.client.CloseIdle()
	found, err := p.prepare(ctx)
	if err != nil {
		return err
	}
	return p.recorded(ctx, found, p.follow)
}

// prepare finds what is to be watched, and looks whether it can be.
func (p *watchPlan) prepare(ctx context.Context) ([]finding, error) {
	found, err := p.find(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.checkNamespace(ctx, found); err != nil {
		return nil, err
	}
	return found, p.checkSelectors(ctx, found)
}

func (p *watchPlan) connect() error {
	client, namespace, err := p.flags.connection.client()
	if err != nil {
		return err
	}
	if p.flags.allNamespaces {
		namespace = ""
	}
	p.client, p.namespace = client, namespace
	return nil
}

// finding is a target and its kind, or the error that tells that the server
// does not have the kind yet.
type finding struct {
	target  target
	kind    kube.Kind
	missing *kube.NoKindError
}

// find looks up the kind of each target, once. A kind that two arguments name
// ("po", "pods") is watched once.
func (p *watchPlan) find(ctx context.Context) ([]finding, error) {
	var out []finding
	for _, t := range p.targets {
		kind, err := p.resolve(ctx, t.kind)
		missing, isMissing := errors.AsType[*kube.NoKindError](err)
		switch {
		case isMissing && neverComes(t.kind):
			return nil, &failure{code: exitError, message: "error: " + missing.Error(), try: p.insteadOf(t.kind), err: err}
		case isMissing && p.waitsFor(t.kind):
			out = append(out, finding{target: t, missing: missing})
			continue
		case err != nil:
			return nil, err
		case !kind.Watchable:
			return nil, &failure{code: exitError, try: p.session.say(text.TryWatchable), message: fmt.Sprintf(
				"Error from server (MethodNotAllowed): the server does not allow this method on the requested resource: watch %s", kind)}
		}
		same := func(f finding) bool { return f.kind == kind && f.target.name == t.name }
		if !slices.ContainsFunc(out, same) {
			out = append(out, finding{target: t, kind: kind})
		}
	}
	return out, nil
}

// waitsFor tells whether an unknown type is waited for: --wait says so, or it
// was written with its group.
func (p *watchPlan) waitsFor(kind string) bool {
	return p.flags.wait || fullForm(kind) && !p.flags.noWait
}

// insteadOf is what to type instead of a type that never comes.
func (p *watchPlan) insteadOf(kind string) string {
	if kind == categoryAll {
		return p.session.say(text.TryTypes, "command", p.session.command)
	}
	name, _, _ := strings.Cut(kind, ".")
	return p.session.say(text.TryCoreGroup, "command", p.session.command, "name", name, "kind", kind)
}

func (p *watchPlan) resolve(ctx context.Context, kind string) (kube.Kind, error) {
	return briefly(ctx, p.client, func(ctx context.Context) (kube.Kind, error) {
		return p.client.Resolve(ctx, kind)
	})
}

// checkNamespace refuses a namespace that does not exist, or waits for it. A
// server that does not let this user look is taken at its word later on.
func (p *watchPlan) checkNamespace(ctx context.Context, found []finding) error {
	namespaced := func(f finding) bool { return f.missing != nil || f.kind.Namespaced }
	if p.namespace == "" || p.namespace == metav1.NamespaceDefault || !slices.ContainsFunc(found, namespaced) {
		return nil
	}
	err := p.getNamespace(ctx)
	if !apierrors.IsNotFound(err) || !p.flags.wait {
		return err
	}
	p.say(text.WaitingForNamespace, "namespace", p.namespace)
	err = p.poll(ctx, func() bool { return p.getNamespace(ctx) == nil })
	if err == nil {
		p.say(text.NamespaceAppeared, "namespace", p.namespace)
	}
	return err
}

func (p *watchPlan) getNamespace(ctx context.Context) error {
	_, err := briefly(ctx, p.client, func(ctx context.Context) (any, error) {
		clients, err := kubernetes.NewForConfigAndClient(p.client.Config(), p.client.HTTP())
		if err != nil {
			return nil, err
		}
		return clients.CoreV1().Namespaces().Get(ctx, p.namespace, metav1.GetOptions{})
	})
	if apierrors.IsForbidden(err) {
		return nil
	}
	return err
}

// firstPoll is the first pause of poll.
func (s *session) firstPoll() time.Duration { return cmp.Or(s.hooks.poll, time.Second) }

// poll calls done, at first every second, then less often, until it is.
func (p *watchPlan) poll(ctx context.Context, done func() bool) error {
	first := p.session.firstPoll()
	for pause := first; ; pause = min(2*pause, 5*first) {
		if err := sleep.For(ctx, pause); err != nil {
			return err
		}
		if done() {
			return nil
		}
	}
}

// follow says what is watched and watches it.
func (p *watchPlan) follow(ctx context.Context, found []finding) error {
	for _, f := range found {
		if f.missing == nil {
			p.printing.Kinds = append(p.printing.Kinds, follow.PrintedKind(f.kind))
		}
	}
	p.printing.ShowKind = len(found) > 1
	p.banner(found)
	options := follow.Options{
		Client: p.client, Namespace: p.namespace,
		LabelSelector: p.flags.selector, FieldSelector: p.flags.fieldSelector,
		Printer: printer.New(p.printing), Out: p.session.out,
		NoWait: p.flags.noWait, KeepManagedFields: p.flags.managedFields,
		Lang: p.session.lang, Say: p.line, Reflector: p.session.hooks.reflector, Ready: p.session.hooks.ready, Record: p.recorder,
	}
	if p.recorder != nil {
		options.Encoding = wire.JSON // is recorded as the server wrote it
	}
	if p.recordOnly {
		options.Handle = func(kube.Kind, informer.Event) {}
	}
	return follow.New(options).Run(ctx, p.followed(found))
}

// followed are the things to follow.
func (p *watchPlan) followed(found []finding) []follow.Target {
	var targets []follow.Target
	for _, f := range found {
		targets = append(targets, follow.Target{Name: f.target.name, Resolve: p.kindOf(f)})
	}
	return targets
}

// kindOf returns how the kind of a target comes to be known.
func (p *watchPlan) kindOf(f finding) func(context.Context) (kube.Kind, error) {
	return func(ctx context.Context) (kube.Kind, error) {
		if f.missing == nil {
			return f.kind, nil
		}
		p.say(text.WaitingForKind, "kind", f.target.kind, "reason", f.missing.Error())
		var kind kube.Kind
		err := p.poll(ctx, func() bool {
			var err error
			kind, err = p.resolve(ctx, f.target.kind)
			return err == nil && kind.Watchable
		})
		if err == nil {
			p.say(text.KindAppeared, "kind", f.target.kind)
		}
		return kind, err
	}
}

// banner says what is watched, in the words of the chapter.
func (p *watchPlan) banner(found []finding) {
	list, namespaced := p.named(found)
	switch {
	case p.recordOnly:
		p.say(text.Recording, "kinds", list, "file", p.recording.said(p.session))
	case !namespaced:
		p.say(text.WatchingCluster, "kinds", list)
	case p.namespace == "":
		p.say(text.WatchingAll, "kinds", list)
	default:
		p.say(text.WatchingNamespace, "kinds", list, "namespace", p.namespace)
	}
}

// named lists what is watched, and tells whether any of it is in namespaces.
func (p *watchPlan) named(found []finding) (list string, namespaced bool) {
	var kinds []string
	for _, f := range found {
		name := f.kind.GVK.Kind
		if f.missing != nil {
			name = f.target.kind
		}
		if f.target.name != "" {
			name += "/" + f.target.name
		}
		kinds = append(kinds, name)
		namespaced = namespaced || f.missing != nil || f.kind.Namespaced
	}
	return p.session.lang.List(kinds), namespaced
}

func (p *watchPlan) say(m text.Message, pairs ...string) { p.line(p.session.say(m, pairs...)) }

// line writes a line to standard error; where that is closed there is nobody to
// tell.
func (p *watchPlan) line(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = fmt.Fprintln(p.session.Err, line)
}
