package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

func TestAFileIsRotatedAndReadAsOneOrInParts(t *testing.T) {
	for _, keep := range []int{0, 3} {
		path := filepath.Join(t.TempDir(), "tape")
		r := must(Create(path, Options{MaxSize: 1500, Keep: keep}))(t)
		tap := r.Tap(pods, kube.SourceOptions{})
		var want []string
		tell := func(e informer.Event) {
			want = append(want, text(Event{Type: e.Type, Cause: e.Cause, Key: e.Key, Object: e.Object()}))
			tap.Record(time.Now(), e)
			must(0, r.Flush())(t)
		}
		a := object("a", 1, "")
		tell(added(watch.CauseInitial, a))
		tap.Synced()
		for version := 2; r.Stats().Part < 6; version++ {
			next := object("a", version, fmt.Sprintf(`,"spec":{"x":%d}`, version*version))
			tell(modified(a, next))
			a = next
			passing := object(fmt.Sprint("p", version), version, "")
			tell(added(watch.CauseWatch, passing))
			if version%2 == 0 {
				tell(deleted(passing))
			}
		}
		late := r.Tap(secrets, kube.SourceOptions{})
		late.Record(time.Now(), added(watch.CauseInitial, object("late", 1, "")))
		want = append(want, "1 ADDED initial late@1")
		must(0, r.Close())(t)

		whole := must(Load(path, LoadOptions{}))(t)
		parts := partsOf(path)
		wantParts := []int{1, 2, 3, 4, 5}
		if keep > 0 {
			wantParts = []int{4, 5}
		}
		if !slices.Equal(parts, wantParts) || whole.Damage != nil || !whole.Ended || whole.Header.Part != parts[0] {
			t.Fatalf("parts %v, header %+v, damage %v", parts, whole.Header, whole.Damage)
		}
		if keep == 0 {
			file := must(Open(path))(t)
			got, err := readAll(file.Next)
			if d := cmp.Diff(want, got); d != "" || err != io.EOF {
				t.Errorf("%v (-want +got):\n%s", err, d)
			}
			must(0, file.Close())(t)
		}
		// The newest alone, as a copy elsewhere, ends in the same state.
		alone := filepath.Join(t.TempDir(), "alone")
		must(0, os.WriteFile(alone, must(os.ReadFile(path))(t), 0o600))(t)
		last := must(Load(alone, LoadOptions{}))(t)
		for stream, state := range whole.Final() {
			got := last.Final()[stream]
			if len(got) != len(state) || len(state) == 0 {
				t.Errorf("stream %d: %d objects; want %d", stream, len(got), len(state))
			}
			for k, o := range state {
				if got[k] == nil || !got[k].Equal(o) {
					t.Errorf("%s: %v; want %v", k, got[k], o)
				}
			}
		}
		// Older parts are not replaced by another recording.
		must(0, os.Remove(path))(t)
		if _, err := Create(path, Options{MaxSize: 100}); err == nil {
			t.Error("a recording began beside the parts of another")
		}
		if again, err := Load(path, LoadOptions{}); err != nil || again.Ended || len(again.Final()[0]) == 0 {
			t.Errorf("without the newest part: %v", err)
		}
		part := must(Open(partPath(path, 5)))(t)
		if _, err := readAll(part.Next); err != io.EOF || part.Ended() || !part.Continues() {
			t.Errorf("a part alone: %v, ended %v, continues %v", err, part.Ended(), part.Continues())
		}
		must(0, part.Close())(t)
		// Neither do those vanish whose successor has no header yet.
		for _, size := range []int{0, 20} {
			must(0, os.WriteFile(path, must(os.ReadFile(alone))(t)[:size], 0o600))(t)
			again := must(Load(path, LoadOptions{}))(t)
			if again.Damage == nil || again.Damage.Path != path || !again.Damage.Cut || len(again.Final()[0]) == 0 {
				t.Errorf("the newest part has %d bytes: %v, %d events", size, again.Damage, len(again.Events))
			}
			file := must(Open(path))(t)
			_, err := readAll(file.Next)
			if _, again := file.Next(); err == io.EOF || again != err {
				t.Errorf("errors of a file: %v, then %v", err, again)
			}
			must(0, file.Close())(t)
		}
		must(0, os.Remove(path))(t)
		// A part that is damaged ends the reading there.
		if keep == 0 {
			must(0, os.Truncate(partPath(path, 3), 400))(t)
			cut := must(Load(path, LoadOptions{}))(t)
			if cut.Damage == nil || cut.Damage.Path != partPath(path, 3) || !cut.Damage.Cut {
				t.Errorf("a cut part: %v", cut.Damage)
			}
		}
	}
}

func TestValuesOfSecretsAndNamedFieldsNeverReachTheFile(t *testing.T) {
	secret := func(version int, password string) *wire.Object {
		data := map[string]any{
			"apiVersion": "v1", "kind": "Secret", "data": map[string]string{"password": password},
			"metadata": map[string]any{"namespace": "default", "name": "login", "uid": "u", "resourceVersion": fmt.Sprint(version),
				"annotations": map[string]string{"kubectl.kubernetes.io/last-applied-configuration": password, "plain": "x"}},
		}
		return must(wire.NewObject(wire.JSON, must(json.Marshal(data))(t)))(t)
	}
	var out bytes.Buffer
	r := must(New(&out, Options{Redact: []string{"spec.tokens", "spec.users[*].name"}}))(t)
	tap := r.Tap(secrets, kube.SourceOptions{})
	v1, v2, v3 := secret(1, "cGFzc3dvcmQtb25l"), secret(2, "cGFzc3dvcmQtdHdv"), secret(3, "cGFzc3dvcmQtdHdv")
	for _, e := range []informer.Event{added(watch.CauseInitial, v1), modified(v1, v2), modified(v2, v3)} {
		tap.Record(time.Now(), e)
	}
	pod := object("a", 4, `,"spec":{"tokens":{"x":"token-value","n":12.50},"users":[{"name":"alice-b"},{"name":"carol-d"}],"keep":1.50}`)
	r.Tap(pods, kube.SourceOptions{}).Record(time.Now(), added(watch.CauseInitial, pod))
	plain := object("b", 5, `,"spec":{"keep":"<&>","n":1.50}`)
	r.Tap(pods, kube.SourceOptions{}).Record(time.Now(), added(watch.CauseInitial, plain))
	must(0, r.Close())(t)
	in := NewReader(bytes.NewReader(out.Bytes()))
	defer in.Close()
	recording := must(ReadAll(in, LoadOptions{}))(t)
	var marks []string
	for _, e := range append(recording.Initial[:1:1], recording.Events...) {
		var s struct{ Data map[string]string }
		must(0, json.Unmarshal(e.Object.AppendBytes(nil), &s))(t)
		marks = append(marks, s.Data["password"])
	}
	if len(marks) != 3 || !strings.HasPrefix(marks[0], "REDACTED/") || marks[0] == marks[1] || marks[1] != marks[2] {
		t.Errorf("marks %q; want two of three equal", marks)
	}
	for _, e := range append(recording.Initial, recording.Events...) {
		raw := string(e.Object.AppendBytes(nil))
		for _, secret := range []string{"cGFzc3", "token-value", "12.50", "alice-b", "carol-d"} {
			if strings.Contains(raw, secret) {
				t.Errorf("%s in %s", secret, raw)
			}
		}
		switch e.Key.Name {
		case "a":
			if !strings.Contains(raw, `"keep":1.50`) || !strings.Contains(raw, `"n":null`) {
				t.Errorf("other fields changed: %s", raw)
			}
		case "b":
			if !e.Object.Equal(plain) {
				t.Errorf("%s; want it as the server sent it", raw)
			}
		}
	}
}

func TestASourceTellsWhatHappensAndExpiresWhereAListTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		event := func(seconds int, typ watch.EventType, cause watch.Cause, o *wire.Object) Event {
			return Event{Time: began.Add(time.Duration(seconds) * time.Second), Type: typ, Cause: cause, Key: o.Key(), Object: o}
		}
		gone := event(30, watch.EventDeleted, watch.CauseRelist, object("a", 5, ""))
		gone.FinalStateUnknown = true
		r := &Recording{
			Header: Header{Time: began}, Streams: []Stream{{Kind: pods}},
			Initial: []Event{event(0, watch.EventAdded, watch.CauseInitial, object("a", 5, ""))},
			Events: []Event{
				event(10, watch.EventAdded, watch.CauseWatch, object("b", 9, "")),
				event(20, watch.EventAdded, watch.CauseWatch, object("d", 7, "")), // b was merged: out of order
				gone, event(30, watch.EventAdded, watch.CauseRelist, object("c", 12, "")),
				event(200, watch.EventModified, watch.CauseWatch, object("c", 20, "")),
			},
		}
		player := NewPlayer(r, PlayerOptions{Speed: 2})
		source := player.Source(0)
		stream := must(source.Watch(t.Context(), watch.WatchOptions{SendInitialEvents: true}))(t)
		var told []string
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for {
				e, err := stream.Next()
				if err != nil {
					told = append(told, err.Error())
					return
				}
				line := fmt.Sprint(time.Since(began).Seconds(), " ", e.Type, " ", e.ResourceVersion)
				if e.Object != nil {
					line += e.Object.String()
				}
				if e.Err != nil {
					line += e.Err.Kind.String()
				}
				told = append(told, line)
			}
		}()
		if err := player.Run(t.Context()); err != nil || time.Since(began) != 100*time.Second {
			t.Errorf("%v after %v; want 100 s at twice the speed", err, time.Since(began))
		}
		<-ended
		want := []string{
			"0 ADDED default/a@5", "0 BOOKMARK 5", "5 ADDED default/d@7", "10 ADDED default/b@9", "15 ERROR expired", "EOF",
		}
		if d := cmp.Diff(want, told); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
		list := must(source.List(t.Context(), watch.ListOptions{}))(t)
		if v := list.Meta().ResourceVersion; v != "20" {
			t.Errorf("list version %s; want 20", v)
		}
		for _, old := range []string{"1", "4"} {
			_, err := source.Watch(t.Context(), watch.WatchOptions{ResourceVersion: old})
			if e, ok := errors.AsType[*watch.Error](err); !ok || e.Kind != watch.KindExpired {
				t.Errorf("a watch from %s: %v", old, err)
			}
		}
		if _, err := source.Watch(t.Context(), watch.WatchOptions{ResourceVersion: "x"}); err == nil {
			t.Error("a watch from nowhere")
		}
		resumed := must(source.Watch(t.Context(), watch.WatchOptions{ResourceVersion: "12", Timeout: 90 * time.Second}))(t)
		if e := must(resumed.Next())(t); e.Type != watch.EventModified || e.Object.ResourceVersion() != "20" {
			t.Errorf("after 12 comes %+v", e)
		}
		if e := must(resumed.Next())(t); e.Type != watch.EventBookmark || e.ResourceVersion != "20" {
			t.Errorf("a minute later comes %+v", e)
		}
		at := time.Now()
		if _, err := resumed.Next(); err != io.EOF || time.Since(at) != 30*time.Second {
			t.Errorf("at the time limit: %v after %v", err, time.Since(at))
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		open := must(source.Watch(ctx, watch.WatchOptions{ResourceVersion: "20"}))(t)
		why := errors.New("enough")
		time.AfterFunc(time.Second, func() { cancel(why) })
		if _, err := open.Next(); err != why {
			t.Errorf("%v; want the cause", err)
		}
		closed := must(source.Watch(t.Context(), watch.WatchOptions{ResourceVersion: "20"}))(t)
		time.AfterFunc(time.Second, func() { _ = closed.Close() })
		if _, err := closed.Next(); err == nil || err == io.EOF {
			t.Errorf("closed: %v", err)
		}
	})
}

func TestSpeedsScaleTime(t *testing.T) {
	for _, tc := range []struct {
		speed float64
		want  time.Duration
	}{{0, time.Minute}, {1, time.Minute}, {10, 6 * time.Second}, {0.5, 2 * time.Minute}, {-1, 0}, {1e-30, 1<<63 - 1}} {
		if got := Scaled(time.Minute, tc.speed); got != tc.want {
			t.Errorf("a minute at %v is %v; want %v", tc.speed, got, tc.want)
		}
	}
}

func TestALoadIsBounded(t *testing.T) {
	var out bytes.Buffer
	r := must(New(&out, Options{}))(t)
	story(t, r)
	must(0, r.Close())(t)
	in := NewReader(&out)
	defer in.Close()
	if _, err := ReadAll(in, LoadOptions{MaxBytes: 300}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("%v; want ErrTooLarge", err)
	}
}

// FuzzReader: whatever a file holds, reading it ends, without a panic, and what was
// read can be played.
func FuzzReader(f *testing.F) {
	var out bytes.Buffer
	r := must(New(&out, Options{}))(f)
	story(f, r)
	must(0, r.Close())(f)
	f.Add(out.Bytes())
	f.Add(out.Bytes()[:out.Len()/2])
	f.Add([]byte(`{"schema":"hark.record/v1","record":"header","streams":[{"version":"v1","kind":"Pod","resource":"pods"}]}` + "\n" +
		`{"schema":"hark.record/v1","record":"event","stream":0,"type":"ADDED","cause":"relist","name":"a","object":{"metadata":{"name":"a","resourceVersion":"3"}}}` + "\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		in := NewReader(bytes.NewReader(file))
		defer in.Close()
		recording, err := ReadAll(in, LoadOptions{MaxBytes: 1 << 20})
		if err != nil {
			if !errors.Is(err, ErrTooLarge) {
				t.Errorf("%v", err)
			}
			return
		}
		player := NewPlayer(recording, PlayerOptions{Speed: -1})
		for player.Step() {
		}
		final := recording.Final()
		for stream := range recording.Streams {
			list, err := player.Source(stream).List(t.Context(), watch.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for {
				if _, err := list.Next(); err != nil {
					break
				}
				n++
			}
			if n != len(final[stream]) {
				t.Errorf("stream %d lists %d objects; want %d", stream, n, len(final[stream]))
			}
		}
	})
}
