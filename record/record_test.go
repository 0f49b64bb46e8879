package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func kindOf(version, kind, resource string) kube.Kind {
	gvk := schema.GroupVersionKind{Version: version, Kind: kind}
	return kube.Kind{GVK: gvk, GVR: gvk.GroupVersion().WithResource(resource), Singular: strings.ToLower(kind), Namespaced: true, Watchable: true}
}

var (
	pods    = kindOf("v1", "Pod", "pods")
	secrets = kindOf("v1", "Secret", "secrets")
)

// object makes an object of JSON, "name@version" with an image.
func object(name string, version int, more string) *wire.Object {
	o, err := wire.NewObject(wire.JSON, fmt.Appendf(nil,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"default","name":%q,"uid":"uid-%s","resourceVersion":"%d"}%s}`, name, name, version, more))
	if err != nil {
		panic(err)
	}
	return o
}

func added(cause watch.Cause, o *wire.Object) informer.Event {
	return informer.Event{Type: watch.EventAdded, Key: o.Key(), New: o, Cause: cause}
}

func modified(old, o *wire.Object) informer.Event {
	return informer.Event{Type: watch.EventModified, Key: o.Key(), Old: old, New: o, Cause: watch.CauseWatch}
}

func deleted(o *wire.Object) informer.Event {
	return informer.Event{Type: watch.EventDeleted, Key: o.Key(), Old: o, Cause: watch.CauseWatch}
}

// text is an event for people who read a test's output.
func text(e Event) string {
	line := fmt.Sprintf("%d %s %s %s", e.Stream, e.Type, e.Cause, e.Key.Name)
	if e.Object != nil {
		line += "@" + e.Object.ResourceVersion()
	}
	if e.FinalStateUnknown {
		line += " unknown"
	}
	if e.Merged > 0 {
		line += fmt.Sprint(" merged ", e.Merged)
	}
	if e.Err != "" {
		line += " " + e.Err
	}
	return line
}

// readAll returns what a reader tells until its error.
func readAll(next func() (Event, error)) (events []string, err error) {
	for {
		e, err := next()
		if err != nil {
			return events, err
		}
		events = append(events, text(e))
	}
}

// story tells a recorder a short story, with a flush after each event.
func story(t testing.TB, r *Recorder) (told []string) {
	t.Helper()
	tap := r.Tap(pods, kube.SourceOptions{Namespace: "default", LabelSelector: "app=web"})
	a, b := object("a", 1, ""), object("b", 2, "")
	for _, e := range []informer.Event{
		added(watch.CauseInitial, a), added(watch.CauseInitial, b), modified(a, object("a", 3, "")), deleted(object("b", 4, "")),
		{Type: watch.EventDeleted, Key: key.Key{Namespace: "default", Name: "a"}, Old: object("a", 3, ""), Cause: watch.CauseRelist, FinalStateUnknown: true},
		{Type: watch.EventAdded, Key: key.Key{Namespace: "default", Name: "c"}, New: object("c", 9, ""), Cause: watch.CauseRelist, Merged: 2},
		{Type: watch.EventModified, Key: key.Key{Namespace: "default", Name: "c"}, New: object("c", 9, ""), Cause: watch.CauseResync},
	} {
		if e.Cause == watch.CauseWatch {
			tap.Synced()
		}
		tap.Record(time.Now(), e)
		if err := r.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	return []string{
		"0 ADDED initial a@1", "0 ADDED initial b@2", "0 MODIFIED watch a@3", "0 DELETED watch b@4",
		"0 DELETED relist a@3 unknown", "0 ADDED relist c@9 merged 2",
	}
}

// must fails the test on an error.
func must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func TestWhatIsRecordedIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		r := must(New(&out, Options{Server: "v1.37.2", Redact: []string{"spec.x"}}))(t)
		want := story(t, r)
		late := r.Tap(secrets, kube.SourceOptions{FieldSelector: "type=x"})
		late.Record(time.Now().Add(time.Hour), added(watch.CauseInitial, object("late", 7, "")))
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		in := NewReader(&out)
		defer in.Close()
		header := must(in.Header())(t)
		if header.Server != "v1.37.2" || header.Part != 1 || header.ID == "" || !header.Time.Equal(time.Now()) || !slices.Equal(header.Redacted, []string{"spec.x"}) {
			t.Errorf("header %+v", header)
		}
		wantStreams := []Stream{{Kind: pods, Namespace: "default", LabelSelector: "app=web"}}
		if d := cmp.Diff(wantStreams, header.Streams); d != "" {
			t.Errorf("streams of the header (-want +got):\n%s", d)
		}
		got, err := readAll(in.Next)
		if d := cmp.Diff(append(want, "1 ADDED initial late@7"), got); d != "" || err != io.EOF {
			t.Errorf("%v (-want +got):\n%s", err, d)
		}
		if d := cmp.Diff(append(wantStreams, Stream{Kind: secrets, FieldSelector: "type=x"}), in.Streams()); d != "" {
			t.Errorf("streams (-want +got):\n%s", d)
		}
		if at, ok := in.Synced(0); !ok || !at.Equal(time.Now()) || !in.Ended() {
			t.Errorf("synced %v %v, ended %v", at, ok, in.Ended())
		}
		if _, ok := in.Synced(1); ok {
			t.Error("a stream is synced that never was")
		}
	})
}

func TestStreamsThatAreAnnouncedAreInTheHeaderInTheirOrder(t *testing.T) {
	var out bytes.Buffer
	announced := []Stream{{Kind: secrets, Namespace: "a"}, {Kind: pods, Namespace: "a"}}
	r := must(New(&out, Options{Streams: announced}))(t)
	must(0, r.Flush())(t)
	for range 2 { // the second of a kind is another stream
		r.Tap(pods, kube.SourceOptions{Namespace: "a"}).Record(time.Now(), added(watch.CauseInitial, object("a", 1, "")))
	}
	must(0, r.Close())(t)
	in := NewReader(&out)
	defer in.Close()
	if header := must(in.Header())(t); !cmp.Equal(header.Streams, announced) {
		t.Errorf("header %+v", header)
	}
	got, err := readAll(in.Next)
	if err != io.EOF || !slices.Equal(got, []string{"1 ADDED initial a@1", "2 ADDED initial a@1"}) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestARecordingReadsAsPlainLinesToo(t *testing.T) {
	var out bytes.Buffer
	r := must(New(&out, Options{}))(t)
	want := story(t, r)
	must(0, r.Close())(t)
	frames := newFrames(bytes.NewReader(out.Bytes()))
	defer frames.close()
	var plain bytes.Buffer
	for {
		content, err := frames.next()
		if err == io.EOF {
			break
		}
		plain.Write(must(content, err)(t))
	}
	if n := strings.Count(plain.String(), `{"schema":"hark.record/v1","record":"`); n != bytes.Count(plain.Bytes(), []byte("\n")) {
		t.Errorf("%d of the lines are documents of the schema:\n%s", n, &plain)
	}
	in := NewReader(bytes.NewReader(plain.Bytes()))
	defer in.Close()
	if got, err := readAll(in.Next); err != io.EOF || !slices.Equal(got, want) {
		t.Errorf("%v: %q", err, got)
	}
	in = NewReader(bytes.NewReader(plain.Bytes()[:plain.Len()-1]))
	defer in.Close()
	_, err := readAll(in.Next)
	if damage, ok := errors.AsType[*DamageError](err); !ok || !damage.Cut {
		t.Errorf("without its last line feed: %v", err)
	}
}

// frameEnds returns where the frames of a recording end, and how many events had
// been told by then.
func frameEnds(t *testing.T, file []byte) (ends []int, events []int) {
	t.Helper()
	frames := newFrames(bytes.NewReader(file))
	defer frames.close()
	told := 0
	for {
		content, err := frames.next()
		if err == io.EOF {
			return ends, events
		}
		told += bytes.Count(must(content, err)(t), []byte(`"record":"event"`))
		ends, events = append(ends, int(frames.offset)), append(events, told)
	}
}

// A crash can end a file at any byte: everything that was flushed before is read,
// and the error says where it ends.
func TestAFileThatIsCutAnywhereIsReadUpToTheCut(t *testing.T) {
	var out bytes.Buffer
	r := must(New(&out, Options{}))(t)
	want := story(t, r)
	must(0, r.Close())(t)
	ends, told := frameEnds(t, out.Bytes())
	if len(ends) < 6 {
		t.Fatalf("only %d frames", len(ends))
	}
	for size := range out.Len() {
		whole := 0
		for whole < len(ends) && ends[whole] <= size {
			whole++
		}
		events, offset := 0, 0
		if whole > 0 {
			events, offset = told[whole-1], ends[whole-1]
		}
		in := NewReader(bytes.NewReader(out.Bytes()[:size]))
		got, err := readAll(in.Next)
		in.Close()
		if !slices.Equal(got, want[:events]) {
			t.Errorf("%d bytes: read %q; want %d events", size, got, events)
		}
		if offset == size && size > 0 {
			if err != io.EOF || in.Ended() {
				t.Errorf("%d bytes, whole frames: %v, ended %v; want io.EOF without an end", size, err, in.Ended())
			}
			continue
		}
		damage, ok := errors.AsType[*DamageError](err)
		if !ok || !damage.Cut || damage.Offset != int64(offset) || !strings.Contains(err.Error(), fmt.Sprint("at byte ", offset)) {
			t.Errorf("%d bytes: %v; want it to be cut in the frame at %d", size, err, offset)
		}
	}
}

// A checksum finds a flipped bit: what was told before is told, and nothing that
// was not.
func TestAFlippedBitIsFoundAndEverythingBeforeIsRead(t *testing.T) {
	var out bytes.Buffer
	r := must(New(&out, Options{}))(t)
	want := story(t, r)
	must(0, r.Close())(t)
	ends, told := frameEnds(t, out.Bytes())
	for bit := 0; bit < 8*out.Len(); bit += 3 { // each byte, and in the end each place of a bit
		file := bytes.Clone(out.Bytes())
		file[bit/8] ^= 1 << (bit % 8)
		frame := 0
		for ends[frame] <= bit/8 {
			frame++
		}
		before := 0
		if frame > 0 {
			before = told[frame-1]
		}
		in := NewReader(bytes.NewReader(file))
		got, err := readAll(in.Next)
		in.Close()
		if len(got) > len(want) || !slices.Equal(got, want[:len(got)]) || len(got) < before {
			t.Errorf("bit %d in frame %d: read %q", bit, frame, got)
		}
		if err == io.EOF {
			// Bits that mean nothing to a decoder, such as the size of its window.
			if len(got) != len(want) {
				t.Errorf("bit %d: %d events are missing and nothing is said", bit, len(want)-len(got))
			}
		} else if _, ok := errors.AsType[*DamageError](err); !ok {
			t.Errorf("bit %d: %v; want a DamageError", bit, err)
		}
	}
}

func TestAFileThatIsNoRecordingIsRefused(t *testing.T) {
	for content, want := range map[string]string{
		"": "cut off", "hello": "magic", "apiVersion: v1\n": "magic", `{"apiVersion":"v1"}` + "\n": "not a recording of hark",
		`{"schema":"hark.record/v2","record":"header"}` + "\n":                                                          "only a newer version can read",
		`{"schema":"hark.record/v1","record":"event"}` + "\n":                                                           "does not begin with a header",
		`{"schema":"hark.record/v1","record":"header"}` + "\n" + `{"schema":"hark.record/v1","record":"event"}` + "\n":  "stream that is not there",
		`{"schema":"hark.record/v1","record":"header"}` + "\n" + `{"schema":"hark.record/v1","record":"stream"}` + "\n": "says nothing of itself",
	} {
		in := NewReader(strings.NewReader(content))
		if got, err := readAll(in.Next); err == nil || !strings.Contains(err.Error(), want) || len(got) > 0 {
			t.Errorf("%q: %v; want %q", content, err, want)
		}
		in.Close()
	}
}

func TestLinesThatALaterVersionAddsAreSkipped(t *testing.T) {
	head := `{"schema":"hark.record/v1","record":"header","color":"red","streams":[{"version":"v1","kind":"Pod","resource":"pods"}]}` + "\n\n"
	event := `{"schema":"hark.record/v1","record":"event","stream":0,"type":"ADDED","cause":"watch","name":"a","object":{"metadata":{"name":"a"}}}` + "\n"
	in := NewReader(strings.NewReader(head + `{"schema":"hark.record/v1","record":"mood"}` + "\n" + event))
	defer in.Close()
	if got, err := readAll(in.Next); err != io.EOF || !slices.Equal(got, []string{"0 ADDED watch a@"}) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestEventsThatCannotBeAreRefused(t *testing.T) {
	head := `{"schema":"hark.record/v1","record":"header","streams":[{"version":"v1","kind":"Pod","resource":"pods"}]}` + "\n"
	for _, wrong := range []string{
		`"stream":1,"type":"ADDED","cause":"watch","name":"a","object":{"metadata":{"name":"a"}}`,
		`"stream":-1,"type":"ADDED","cause":"watch","name":"a","object":{"metadata":{"name":"a"}}`,
		`"stream":0,"type":"GONE","cause":"watch","name":"a","object":{"metadata":{"name":"a"}}`,
		`"stream":0,"type":"ADDED","cause":"resync","name":"a","object":{"metadata":{"name":"a"}}`,
		`"stream":0,"type":"ADDED","cause":"watch","object":{"metadata":{"name":"a"}}`,
		`"stream":0,"type":"ADDED","cause":"watch","name":"a"`,
		`"stream":0,"type":"MODIFIED","cause":"watch","name":"a","object":null`,
		`"stream":0,"type":"ADDED","cause":"watch","name":"a","object":{"metadata":{"name":"b"}}`,
		`"stream":0,"type":"ADDED","cause":"watch","name":"a","object":[]`,
	} {
		in := NewReader(strings.NewReader(head + `{"schema":"hark.record/v1","record":"event",` + wrong + "}\n"))
		if got, err := readAll(in.Next); err == io.EOF || len(got) > 0 {
			t.Errorf("%s: %q, %v", wrong, got, err)
		}
		in.Close()
	}
	in := NewReader(strings.NewReader(head + `{"schema":"hark.record/v1","record":"event","stream":0,"type":"DELETED","cause":"relist","name":"a"}` + "\n"))
	defer in.Close()
	if got, err := readAll(in.Next); err != io.EOF || !slices.Equal(got, []string{"0 DELETED relist a"}) {
		t.Errorf("a deletion of what was never known: %q, %v", got, err)
	}
}

// What a crash loses is what was told within the last second.
func TestARecorderFlushesWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &memory{}
		r := must(New(out, Options{}))(t)
		tap := r.Tap(pods, kube.SourceOptions{})
		go func() { _ = r.Run(t.Context()) }()
		o := object("a", 1, "")
		for i := range 20 {
			time.Sleep(330 * time.Millisecond)
			tap.Record(time.Now(), added(watch.CauseInitial, o))
			before := len(out.now())
			time.Sleep(time.Second)
			synctest.Wait()
			if len(out.now()) == before {
				t.Fatalf("event %d is not written a second later", i)
			}
			before = len(out.now())
			time.Sleep(3 * time.Second)
			if len(out.now()) != before {
				t.Fatal("something is written though nothing happened")
			}
		}
	})
}

// memory is a file that may be read while it is written.
type memory struct {
	mu      sync.Mutex
	content []byte
}

// Write implements io.Writer.
func (m *memory) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.content = append(m.content, p...)
	return len(p), nil
}

func (m *memory) now() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return bytes.Clone(m.content)
}

func TestARecorderAttachedToAnInformerRecordsItAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		recording := &Recording{Streams: []Stream{{Kind: pods}}}
		for i := range 3 {
			o := object(fmt.Sprint("p", i), i+1, "")
			recording.Initial = append(recording.Initial, Event{Type: watch.EventAdded, Key: o.Key(), Object: o, Cause: watch.CauseInitial, Time: time.Now()})
		}
		o := object("p0", 9, "")
		recording.Events = []Event{{Time: time.Now().Add(time.Hour), Type: watch.EventModified, Key: o.Key(), Object: o, Cause: watch.CauseWatch}}
		player := NewPlayer(recording, PlayerOptions{})
		i := informer.New(player.Source(0), informer.Options{})
		out := &memory{}
		r := must(New(out, Options{}))(t)
		must(r.Attach(i, pods, kube.SourceOptions{}))(t)
		go func() { _ = i.Run(t.Context()) }()
		go func() { _ = r.Run(t.Context()) }()
		time.Sleep(time.Minute)
		synctest.Wait()
		in := NewReader(bytes.NewReader(out.now()))
		if got, err := readAll(in.Next); len(got) != 3 || err != io.EOF {
			t.Errorf("%q, %v", got, err)
		}
		if at, ok := in.Synced(0); !ok || time.Since(at) < 58*time.Second {
			t.Errorf("synced at %v, %v", at, ok)
		}
		in.Close()
		if err := player.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		must(0, r.Close())(t)
		in = NewReader(bytes.NewReader(out.now()))
		defer in.Close()
		got, err := readAll(in.Next)
		if len(got) != 4 || got[3] != "0 MODIFIED watch p0@9" || err != io.EOF || !in.Ended() {
			t.Errorf("%q, %v", got, err)
		}
		if _, err := r.Attach(i, pods, kube.SourceOptions{}); err != nil {
			t.Errorf("attaching to an informer that runs: %v", err)
		}
	})
}

func TestTheFileIsForItsOwnerAloneAndNeverWrittenOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tape")
	must(0, os.WriteFile(path, nil, 0o644))(t)
	r := must(Create(path, Options{}))(t) // as after mktemp
	story(t, r)
	must(0, r.Close())(t)
	info := must(os.Stat(path))(t)
	if info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("mode %v", info.Mode())
	}
	_, err := Create(path, Options{})
	if wrong, ok := errors.AsType[*NotEmptyError](err); !ok || wrong.Path != path || !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second recording: %v", err)
	}
	if again := must(os.Stat(path))(t); again.Size() != info.Size() {
		t.Errorf("%d bytes were %d", again.Size(), info.Size())
	}
	if _, err := Create(filepath.Join(path, "x"), Options{}); err == nil {
		t.Error("a file below a file was created")
	}
	if _, err := Create(path+"2", Options{Redact: []string{"metadata.name"}}); err == nil {
		t.Error("the name is redacted")
	}
	if _, err := os.Stat(path + "2"); err == nil {
		t.Error("a file was made before the options were checked")
	}
}

// A link's file is renamed when a part is complete, and not the link; whether the file is
// there at first or not.
func TestPartsAreBesideTheFileThatALinkLeadsTo(t *testing.T) {
	for _, there := range []bool{false, true} {
		dir := t.TempDir()
		near, far := filepath.Join(dir, "near"), filepath.Join(dir, "far")
		must(0, errors.Join(os.Mkdir(near, 0o700), os.Mkdir(far, 0o700)))(t)
		link, file := filepath.Join(near, "tape"), filepath.Join(far, "tape")
		if err := os.Symlink("../far/tape", link); err != nil {
			t.Skip(err)
		}
		if there {
			must(0, os.WriteFile(file, nil, 0o600))(t)
		}
		r := must(Create(link, Options{MaxSize: 300}))(t)
		story(t, r)
		must(0, r.Close())(t)
		if entries := must(os.ReadDir(near))(t); len(entries) != 1 || entries[0].Type() != fs.ModeSymlink {
			t.Errorf("there %t: beside the link are %v", there, entries)
		}
		if _, err := os.Stat(partPath(file, 2)); err != nil {
			t.Errorf("there %t: no second part: %v", there, err)
		}
		if there { // as between two parts, when the program ended there
			must(0, os.Remove(file))(t)
		}
		f := must(Open(link))(t)
		if h := f.Header(); h.Part != 1 {
			t.Errorf("there %t: the link is read from part %d", there, h.Part)
		}
		must(0, f.Close())(t)
		if _, err := Create(link, Options{MaxSize: 300}); !errors.Is(err, fs.ErrExist) {
			t.Errorf("there %t: parts in the way: %v", there, err)
		}
	}
}

func TestANameThatPartsWouldMakeTooLongIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), strings.Repeat("n", 254))
	if _, err := Create(path, Options{MaxSize: 300}); err == nil {
		t.Error("with parts it is created")
	}
	r, err := Create(path, Options{})
	if err != nil {
		t.Skip(err) // of a system that takes no such name
	}
	must(0, r.Close())(t)
}

// fullDisk is an Output with room for so many bytes.
type fullDisk struct {
	*os.File
	room int
}

func (d *fullDisk) Write(p []byte) (int, error) {
	n := min(len(p), d.room)
	d.room -= n
	written, err := d.File.Write(p[:n])
	if err == nil && n < len(p) {
		err = &fs.PathError{Op: "write", Path: d.Name(), Err: syscall.ENOSPC}
	}
	return written, err
}

// Whatever the room is: the error is the disk's, nothing is written any more, and
// what was flushed before is read without damage.
func TestADiskThatFillsUpKeepsWhatWasWritten(t *testing.T) {
	var whole bytes.Buffer
	r := must(New(&whole, Options{}))(t)
	want := story(t, r)
	must(0, r.Close())(t)
	for room := 0; room < whole.Len()-60; room += 7 {
		path := filepath.Join(t.TempDir(), "tape")
		var disk *fullDisk
		r := must(Create(path, Options{OpenFile: func(path string) (Output, error) {
			file, err := os.Create(path)
			disk = &fullDisk{file, room}
			return disk, err
		}}))(t)
		tap := r.Tap(pods, kube.SourceOptions{})
		ran := make(chan error, 1)
		go func() { ran <- r.Run(t.Context()) }()
		a, b := object("a", 1, ""), object("b", 2, "")
		for _, e := range []informer.Event{added(watch.CauseInitial, a), added(watch.CauseInitial, b), modified(a, object("a", 3, "")), deleted(object("b", 4, ""))} {
			tap.Record(time.Now(), e)
			_ = r.Flush()
		}
		if r.Flush() == nil {
			disk.room = 0
			tap.Record(time.Now(), added(watch.CauseWatch, object("z", 9, "")))
		}
		failed := r.Flush()
		if wrong, ok := errors.AsType[*WriteError](failed); !ok || wrong.Path != path || !errors.Is(failed, syscall.ENOSPC) {
			t.Fatalf("room %d: %v", room, failed)
		}
		if err := <-ran; !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("room %d: Run returned %v", room, err)
		}
		disk.room = 1 << 20
		tap.Record(time.Now(), added(watch.CauseWatch, a)) // nobody minds
		if err := r.Close(); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("room %d: Close returned %v", room, err)
		}
		file, err := Open(path)
		if err != nil {
			if damage, ok := errors.AsType[*DamageError](err); !ok || !damage.Cut || room > 400 {
				t.Errorf("room %d: %v", room, err)
			}
			continue
		}
		got, err := readAll(file.Next)
		if err != io.EOF || len(got) > 4 || !slices.Equal(got, want[:len(got)]) {
			t.Errorf("room %d: %q, %v", room, got, err)
		}
		must(0, file.Close())(t)
	}
}
