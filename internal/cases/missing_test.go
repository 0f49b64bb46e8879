package cases

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocampus/hark/harktest"
	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/reflector"
	"github.com/gocampus/hark/watch"
)

// widgets is an informer of a custom kind that was defined, with tapes of its
// events and of its states.
func (w *world) widgets(o reflector.Options) (i *informer.Informer, heard, states *tape) {
	w.make(widgetDefinition(), newWidget("x", int64(1)), newWidget("y", int64(1)))
	heard, states = &tape{}, &tape{}
	o.OnStatus = func(s reflector.Status) { states.add(s.Phase.String()) }
	i = informer.New(w.client.Source(widgetKind, kube.SourceOptions{}), informer.Options{Reflector: o})
	w.handle(i, func(e informer.Event) { heard.add(string(e.Type) + " " + e.Key.Name) }, informer.HandlerOptions{Every: 100})
	w.run(i)
	settle(time.Second)
	expect(w.t, "the beginning", heard.take(), "ADDED x, ADDED y")
	return i, heard, states
}

// hourly checks what an hour of waiting for the kind costs.
func (w *world) hourly(i *informer.Informer, states *tape, most int) {
	w.t.Helper()
	settle(10 * time.Second)
	w.ForgetRequests()
	states.take()
	settle(time.Hour)
	if n := len(w.Requests()); n > most {
		w.t.Errorf("%d requests in an hour; want at most %d", n, most)
	}
	expect(w.t, "states in an hour", states.take(), "")
	s := status(i)
	if s.Phase != reflector.Waiting || s.Reason == nil || s.Reason.Kind != watch.KindNotFound || !strings.Contains(s.Reason.Error(), "widgets.example.com") {
		w.t.Errorf("status %+v; want waiting for the kind, by name", s)
	}
}

// TestCase13_DefinitionIsDeletedAndMadeAgain: the deletion of the objects is
// heard; then there is silence; then it is there again at once.
func TestCase13_DefinitionIsDeletedAndMadeAgain(t *testing.T) {
	play(t, bothOf, func(t *testing.T, w *world) {
		i, l, states := w.widgets(reflector.Options{})
		must(t, w.Delete(t.Context(), widgetDefinition()))
		w.hourly(i, states, 60) // some 15 questions, each with a list and a watch of the definition
		expect(t, "deleted with their definition", l.take(), "DELETED x, DELETED y")
		w.make(widgetDefinition(), newWidget("x", int64(2)))
		synctest.Wait()
		expect(t, "without any time passed", l.take(), "ADDED x")
		w.make(newWidget("z", int64(2)))
		expect(t, "then", l.take(), "ADDED z")
		if s := status(i); s.Reason != nil || s.Phase != reflector.Watching {
			t.Errorf("status %+v; want all well", s)
		}
	})
}

// The definition goes while nobody is connected, and comes back with versions
// that are lower: what is cached is kept, or dropped if that was chosen.
func TestCase13_DefinitionGoesUnseenAndVersionsCountAnew(t *testing.T) {
	policies := map[string]bool{"kept": false, "dropped": true}
	playAll(t, bothOf, policies, func(t *testing.T, w *world, drop bool) {
		i, l, states := w.widgets(reflector.Options{DropMissing: drop})
		w.gap(true, func() { must(t, w.Delete(t.Context(), widgetDefinition())) })
		w.hourly(i, states, 60)
		wantEvents, wantStore := "", "x, y"
		if drop {
			wantEvents, wantStore = "DELETED x, DELETED y", ""
		}
		events := l.take()
		slices.Sort(events)
		expect(t, "events", events, wantEvents)
		expect(t, "store", names(i), wantStore)
		w.Restart(harktest.RestartOptions{Renumber: true, StartVersion: 10})
		w.make(widgetDefinition(), newWidget("x", int64(2)))
		settle(6 * time.Minute) // definitions are watched from the future, in silence
		wantEvents = "ADDED x, DELETED x, DELETED y"
		if drop {
			wantEvents = "ADDED x"
		}
		events = l.take()
		slices.Sort(events)
		expect(t, "events, again", events, wantEvents)
		expect(t, "store, again", names(i), "x")
		if v := i.Store().Version(); v != w.rv() {
			t.Errorf("version = %s; want the server's, %s", v, w.rv())
		}
	})
}

// Who may not watch definitions asks, rarely, and hears of the kind within
// minutes.
func TestCase13_WithoutPermissionForDefinitions(t *testing.T) {
	play(t, bothOf, func(t *testing.T, w *world) {
		i, l, states := w.widgets(reflector.Options{})
		w.Inject(harktest.Fault{Resource: "customresourcedefinitions", Code: 403})
		must(t, w.Delete(t.Context(), widgetDefinition()))
		w.hourly(i, states, 60)
		l.take()
		w.make(widgetDefinition(), newWidget("x", int64(2)))
		settle(6 * time.Minute)
		expect(t, "events", l.take(), "ADDED x")
	})
}

// The definition is made again and again, at once and later, and the version is
// not served for a while.
func TestCase13_DefinitionComesAndGoes(t *testing.T) {
	play(t, bothOf, func(t *testing.T, w *world) {
		i, l, _ := w.widgets(reflector.Options{})
		for _, pause := range []time.Duration{0, time.Second, time.Minute, 10 * time.Minute} {
			must(t, w.Delete(t.Context(), widgetDefinition()))
			settle(pause)
			w.make(widgetDefinition(), newWidget("x", int64(2)))
			settle(30 * time.Second)
			expect(t, "store after "+pause.String(), names(i), "x")
		}
		l.take()
		must(t, w.Delete(t.Context(), widgetDefinition()))
		settle(time.Minute)
		expect(t, "events", l.take(), "DELETED x")
	})
}
