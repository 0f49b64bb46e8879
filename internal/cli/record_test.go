package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/gocampus/hark/harktest"
	"github.com/gocampus/hark/internal/text"
	"github.com/gocampus/hark/record"
)

// shop makes an initial state with a Secret.
func (c *cluster) shop() {
	c.t.Helper()
	c.createPod("first")
	c.do(c.Create(c.t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "login", Annotations: map[string]string{"note": "is hunter22, sadly"}},
		StringData: map[string]string{}, Data: map[string][]byte{"password": []byte("hunter22"), "user": []byte("admin-user")},
	}))
}

// trade changes it.
func (c *cluster) trade() {
	c.t.Helper()
	c.chapter()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "login"}}
	c.do(c.Change(c.t.Context(), secret, func() {
		secret.Data["password"] = []byte("correct-horse")
		secret.Annotations["note"] = "is correct-horse now"
	}))
	c.do(c.Change(c.t.Context(), secret, func() { secret.Labels = map[string]string{"a": "b"} }))
	c.setPhase("first", corev1.PodFailed)
}

// replayed is the standard output of a replay.
func replayed(t *testing.T, args ...string) string {
	t.Helper()
	got := run(t.Context(), nil, append([]string{"hark", "replay", "--speed", "max"}, args...)...)
	if got.code != exitDone {
		t.Fatalf("replay: %s", got)
	}
	return got.out
}

// What hark watch prints live is, to the byte, what a replay of its recording prints.
func TestAReplayPrintsWhatWatchPrinted(t *testing.T) {
	for _, format := range []string{"-o=text --explain --diff", "-o=json --diff", "-o=yaml", "-o=name", "-o=text --color=always --lang=zh"} {
		t.Run(format, func(t *testing.T) {
			c := newCluster(t, harktest.Options{})
			c.shop()
			path := filepath.Join(t.TempDir(), "tape")
			flags := strings.Fields(format)
			hark := c.watch(append([]string{"pods,secrets", "--record", path}, flags...)...).listens(2)
			c.trade()
			// The events of a kind come in order, those of two kinds in any.
			hark.until(hark.out, "the last events", func(out string) bool { return lastOf(out, format) })
			if code := hark.interrupt(); code != exitDone {
				t.Fatalf("exit %d: %s", code, hark.err)
			}
			if !strings.Contains(hark.err.String(), path) {
				t.Errorf("the recording is not named:\n%s", hark.err)
			}
			if d := gocmp.Diff(hark.out.String(), replayed(t, append(flags, path)...)); d != "" {
				t.Errorf("live and replayed differ (-live +replayed):\n%s", d)
			}
			if _, err := os.Stat(path); err != nil {
				t.Fatal(err)
			}
			leaks(t, path)
		})
	}
}

// lastOf tells whether all of trade was printed: 2 that existed, 4 of a pod, 2 of the
// secret, 1 of the first pod.
func lastOf(out, format string) bool {
	mark := "\n[" // of a line
	switch {
	case strings.Contains(format, "json"):
		mark = "\n{"
	case strings.Contains(format, "yaml"):
		mark = "\nschema: "
	case strings.Contains(format, "name"):
		mark = "\n"
		return strings.Count(out, mark) == 9
	}
	return strings.HasSuffix(out, "\n") && strings.Count("\n"+out, mark) == 9
}

// leaks fails the test when a recording has a value of a Secret.
func leaks(t *testing.T, path string) {
	t.Helper()
	plain := decompressed(t, path)
	for _, secret := range []string{"hunter22", "aHVudGVyMjI", "correct-horse", "Y29ycmVjdC1ob3JzZQ", "admin-user", "YWRtaW4tdXNlcg"} {
		if strings.Contains(plain, secret) {
			t.Errorf("the recording has %s:\n%s", secret, plain)
		}
	}
	if !strings.Contains(plain, `"password":"REDACTED/`) {
		t.Errorf("the recording has no redacted password:\n%s", plain)
	}
}

// decompressed is what zstdcat prints.
func decompressed(t *testing.T, path string) string {
	t.Helper()
	in, err := zstd.NewReader(strings.NewReader(read(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var out bytes.Buffer
	if _, err := in.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// tape records the story with hark record and returns the file.
func (c *cluster) tape(args ...string) string {
	c.t.Helper()
	c.shop()
	path := filepath.Join(c.t.TempDir(), "tape")
	hark := start(c.t, nil, append([]string{"hark", "record", "--kubeconfig", c.kubeconfig, "-o", path, "pods,secrets"}, args...)...)
	hark.listens(2)
	c.trade()
	limit := time.Now().Add(patience)
	for c.recorded(path) < 9 {
		if time.Now().After(limit) {
			c.t.Fatalf("%d events: %s", c.recorded(path), hark.err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	if code := hark.interrupt(); code != exitDone || hark.out.String() != "" ||
		!strings.Contains(hark.err.String(), "Recording Pod, Secret events to "+path) ||
		!strings.Contains(hark.err.String(), "recorded 9 events") || !strings.Contains(hark.err.String(), "try: hark record show "+path) {
		c.t.Errorf("exit %d: %s%s", code, hark.out, hark.err)
	}
	return path
}

// recorded counts the events in a file that may be being written.
func (c *cluster) recorded(path string) int {
	recording, err := record.Load(path, record.LoadOptions{})
	if err != nil {
		return 0
	}
	return len(recording.Initial) + len(recording.Events)
}

func TestRecordKeepsWhatHappensAndShowShowsIt(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	path := c.tape("--redact", "spec.containers.image", "-A")
	leaks(t, path)
	if strings.Contains(decompressed(t, path), "nginx") {
		t.Error("the image is not redacted")
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info, err)
	}
	got := run(t.Context(), nil, "hark", "record", "show", path)
	for _, want := range []string{
		path + ": recorded ", "server v1.37.2", "redacted: values of Secrets, spec.containers.image",
		"Pod in all namespaces: 1 at the beginning, 5 events, 1 at the end", "Secret in all namespaces: 1 at the beginning, 2 events, 1 at the end",
		"- Pod default/tmp", "  Pod default/first", "  Secret default/login",
	} {
		if !strings.Contains(got.out, want) {
			t.Errorf("show has no %q:\n%s", want, got)
		}
	}
	if got.code != exitDone || got.err != "" {
		t.Errorf("show: %s", got)
	}
	one := run(t.Context(), nil, "hark", "record", "show", path, "secret/login", "--lang", "zh")
	for _, want := range []string{"录制于", "Secret default/login", "~ data.password: \"REDACTED\" → \"REDACTED/CHANGED\"", "+ metadata.labels"} {
		if !strings.Contains(one.out, want) {
			t.Errorf("show of one has no %q:\n%s", want, one)
		}
	}
	if strings.Contains(one.out, "Pod default/") {
		t.Errorf("show of one has others:\n%s", one)
	}
	none := run(t.Context(), nil, "hark", "record", "show", path, "pod/none")
	if none.code != exitError || !strings.Contains(none.err, "the recording has no pod/none\ntry: ") {
		t.Errorf("show of what is not there: %s", none)
	}
	var document recordingShown
	shown := run(t.Context(), nil, "hark", "record", "show", path, "-o", "json")
	if err := json.Unmarshal([]byte(shown.out), &document); err != nil || document.Schema != showSchema || len(document.Objects) != 3 || !document.Ended {
		t.Errorf("%v: %s", err, shown)
	}
}

func TestAPartOfARecordingIsReplayed(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	path := c.tape()
	recording, err := record.Load(path, record.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	third := recording.Events[2].Time
	from, to := third.Format(time.RFC3339Nano), recording.Events[4].Time.Format(time.RFC3339Nano)
	got := replayed(t, path, "--from", from, "--to", to, "-o", "json")
	causes := strings.Count(got, `"cause":"initial"`)
	changes := strings.Count(got, `"cause":"watch"`)
	state, wantInitial, wantChanges, passed := record.NewState(), 0, 0, false
	for _, e := range append(recording.Initial, recording.Events...) { // nearly in the order of time
		switch passed = passed || !e.Time.Before(third); {
		case !passed:
			state.Apply(e)
			wantInitial = len(state.Events(third))
		case !e.Time.After(recording.Events[4].Time):
			wantChanges++
		}
	}
	if causes != wantInitial || changes != wantChanges || changes == 0 {
		t.Errorf("%d initial and %d changes; want %d and %d:\n%s", causes, changes, wantInitial, wantChanges, got)
	}
	if all := replayed(t, path, "--from", "0s"); strings.Count(all, "\n") != 9 {
		t.Errorf("from the beginning:\n%s", all)
	}
	if got := run(t.Context(), nil, "hark", "replay", path, "--from", "2s", "--to", "1s"); got.code != exitUsage || !strings.Contains(got.err, "--from must not be after --to\n") {
		t.Errorf("to a time before the beginning: %s", got)
	}
	if none := replayed(t, path, "--to", "2001-01-01T00:00:00Z"); none != "" {
		t.Errorf("before the beginning:\n%s", none)
	}
}

func TestADamagedRecordingIsPlayedUpToTheDamage(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	path := c.tape()
	file := read(t, path)
	cut := path + "-cut"
	write(t, cut, file[:len(file)-3])
	for _, args := range [][]string{{"replay", "--speed", "max"}, {"record", "show"}} {
		got := run(t.Context(), nil, append(append([]string{"hark"}, args...), cut)...)
		if got.code != exitDone || strings.Count(got.out, "\n") < 7 || !strings.Contains(got.err, "it was cut off (byte ") {
			t.Errorf("%v of a file that was cut: %s", args, got)
		}
	}
	bad := path + "-bad"
	write(t, bad, file+strings.Repeat("x", 40))
	got := run(t.Context(), nil, "hark", "replay", "--speed", "max", bad)
	if got.code != exitError || strings.Count(got.out, "\n") != 9 || !strings.Contains(got.err, "the recording is damaged") || !strings.Contains(got.err, "try: zstd -t "+bad) {
		t.Errorf("a damaged file: %s", got)
	}
	t.Setenv(childVariable, "env")
	got = run(t.Context(), nil, "hark", "replay", "--speed", "max", bad, "--", os.Args[0])
	if got.code != exitError || !strings.Contains(got.out, "pods/default/first") || !strings.Contains(got.err, "the recording is damaged") {
		t.Errorf("a damaged file and a program: %s", got)
	}
	open := path + "-open"
	write(t, open, `{"schema":"hark.record/v1","record":"header"}`+"\n")
	got = run(t.Context(), nil, "hark", "replay", open)
	if got.code != exitDone || !strings.Contains(got.err, "the recording has no end") {
		t.Errorf("a recording without an end: %s", got)
	}
	write(t, open, `{"schema":"hark.record/v1","record":"header"}`+"\n"+`{"schema":"hark.record/v1","record":"next"}`+"\n")
	got = run(t.Context(), nil, "hark", "record", "show", open)
	if got.code != exitDone || got.err != "the recording goes on in its next part\n" {
		t.Errorf("a part of a recording: %s", got)
	}
}

// A kind that the server had late is told apart from those that it had from the
// beginning.
func TestAReplayNamesTheKindsThatCameLate(t *testing.T) {
	path := filepath.Join(home(t), "late")
	event := func(stream int) string {
		return fmt.Sprintf(`{"schema":"hark.record/v1","record":"event","time":"2026-03-01T10:00:00Z","stream":%d,"type":"ADDED","cause":"watch","name":"x","object":{"metadata":{"name":"x"}}}`+"\n", stream)
	}
	write(t, path, `{"schema":"hark.record/v1","record":"header","streams":[{"version":"v1","kind":"Node","resource":"nodes"}]}`+"\n"+event(0)+
		`{"schema":"hark.record/v1","record":"stream","stream":1,"new":{"group":"g","version":"v1","kind":"Gadget","resource":"gadgets"}}`+"\n"+event(1)+event(0))
	lines := strings.Split(replayed(t, path), "\n")
	for i, want := range []string{" Added    x", " Added    Gadget x", " Added    Node   x"} {
		if len(lines) <= i || !strings.HasSuffix(lines[i], want) {
			t.Errorf("line %d of %q; want %q", i, lines, want)
		}
	}
}

// disk is a disk that can fill up.
type disk struct {
	*os.File
	full    *atomic.Bool
	written chan struct{} // closed by the first write
	once    sync.Once
}

func (d *disk) Write(p []byte) (int, error) {
	if !d.full.Load() {
		defer d.once.Do(func() { close(d.written) })
		return d.File.Write(p)
	}
	n, err := d.File.Write(p[:len(p)/2])
	return n, cmp.Or(err, error(&fs.PathError{Op: "write", Path: d.Name(), Err: syscall.ENOSPC}))
}

func TestADiskThatFillsUpEndsARecordingAndNotTheWatching(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	c.createPod("first")
	dir := t.TempDir()
	for _, command := range []string{"record -o", "watch --record"} {
		path := filepath.Join(dir, strings.ReplaceAll(command, " ", "_"))
		args := append(append([]string{"hark"}, strings.Fields(command)...), path, "pods", "--kubeconfig", c.kubeconfig)
		full, written := &atomic.Bool{}, make(chan struct{})
		h := hurried
		h.recordTo = func(path string) (record.Output, error) {
			file, err := os.Create(path)
			return &disk{File: file, full: full, written: written}, err
		}
		hark := startWith(t, h, nil, args...).listens(1)
		<-written
		full.Store(true)
		c.createPod(strings.Fields(command)[0])
		if strings.HasPrefix(command, "watch") {
			hark.says("the recording ends here, watching goes on: ")
			c.createPod("after")
			hark.prints("Added    default/after\n")
			hark.interrupt()
		}
		if code := hark.exit(); code != exitError {
			t.Errorf("%s: exit %d", command, code)
		}
		for _, want := range []string{"error: the recording could not be written on: write " + path + ": no space left on device\n", "try: df " + dir} {
			if !strings.Contains(hark.err.String(), want) {
				t.Errorf("%s does not say %q:\n%s", command, want, hark.err)
			}
		}
		recording, err := record.Load(path, record.LoadOptions{})
		if err != nil || recording.Damage != nil || len(recording.Initial) == 0 {
			t.Errorf("%s: what was written: %+v, %v", command, recording, err)
		}
	}
}

func TestARecordingGoesToStandardOutputAndComesFromStandardInput(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	c.createPod("first")
	got := run(t.Context(), nil, "hark", "record", "-o", "-", "pods", "--for", "1500ms", "--kubeconfig", c.kubeconfig)
	if got.code != exitDone || !strings.Contains(got.err, "recorded 1 event,") {
		t.Fatalf("exit %d: %s", got.code, got.err)
	}
	var out, said bytes.Buffer
	code := Main(t.Context(), Process{
		Args: []string{"hark", "replay", "-"}, In: strings.NewReader(got.out), Out: &out, Err: &said, Getenv: environment(nil).get,
	})
	if code != exitDone || !strings.HasSuffix(out.String(), "Added    default/first\n") || !strings.Contains(said.String(), "Replaying Pod events of ") {
		t.Errorf("exit %d: %s%s", code, &out, &said)
	}
}

func TestMistakesWithRecordingsAreSaidWithWhatToTry(t *testing.T) {
	dir := home(t)
	taken := filepath.Join(dir, "taken")
	write(t, taken, "something")
	for args, want := range map[string]string{
		"record pods": "a file is needed: -o FILE",
		"record -o x": "Required resource not specified.",
		"record -o x pods --redact metadata.name": "cannot be redacted",
		"record -o x pods --rotate large":         "--rotate must be a size such as 100M or 64Mi, not large",
		"record -o x pods --keep 3":               "--keep must be a number from 0, and needs --rotate",
		"record -o - pods --rotate 1M":            "--rotate needs a file",
		"record -o x pods --for -1s":              "--for must not be negative",
		"watch pods --redact data":                "--redact needs --record FILE",
		"watch pods --record -":                   "--record needs a file",
		"replay":                                  "hark replay needs one recording",
		"replay a b":                              "hark replay needs one recording",
		"replay a -o wide":                        "unable to match a printer",
		"replay a --speed 0":                      `--speed must be a number above 0, or max, not "0"`,
		"replay a --workers 3":                    "--workers needs a program: -- CMD",
		"replay a --":                             "a program",
		"replay a -o json -- true":                "--output is for what is printed",
		"replay a -- no-such-program-here":        "no-such-program-here",
		"replay a --speed fast":                   `not "fast"`,
		"record show":                             "hark record show needs one recording",
		"record show a -o yaml":                   "yaml",
		"record show " + taken + " pods":          "is not a recording",
		"replay nothing-here":                     "nothing-here: ",
		"replay " + taken:                         taken + " is not a recording: ",
		"apiserver --replay":                      "--replay needs a recording",
		"apiserver --replay --speed -1":           "--speed must be a number",
		"apiserver --replay --load " + taken:      "try: ",
	} {
		for _, lang := range []string{"en", "zh"} {
			got := run(t.Context(), nil, append([]string{"hark", "--lang", lang}, strings.Fields(args)...)...)
			if got.code == exitDone || got.out != "" || !strings.Contains(got.err, "\ntry: ") {
				t.Errorf("%s in %s: %s", args, lang, got)
			}
			if lang == "en" && !strings.Contains(got.err, want) {
				t.Errorf("%s: %s; want %q", args, got, want)
			}
		}
	}
	c := newCluster(t, harktest.Options{})
	got := run(t.Context(), nil, "hark", "record", "-o", taken, "pods", "--kubeconfig", c.kubeconfig)
	if got.code != exitError || !strings.Contains(got.err, "error: "+taken+" exists and is not empty\ntry: ") || read(t, taken) != "something" {
		t.Errorf("a file that is taken: %s", got)
	}
}

func TestAServerReplaysARecordingToAnInformerOfClientGo(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	path := c.tape()
	if got := run(t.Context(), nil, "hark", "apiserver", "--load", path); got.code != exitUsage || !strings.Contains(got.err, "is a recording\ntry: hark apiserver --load "+path+" --replay") {
		t.Errorf("without --replay: %s", got)
	}
	_, ready := serves(t, "--load", path, "--replay")
	if ready.Loaded != 2 {
		t.Errorf("%d objects loaded; want 2", ready.Loaded)
	}
	api := clientOf(t, ready.Kubeconfig)
	// An informer comes to the state of the end, whenever it joins.
	factory := informers.NewSharedInformerFactory(api, 0)
	ended := make(chan struct{})
	once := sync.OnceFunc(func() { close(ended) })
	heard := func(object any) {
		if p, ok := object.(*corev1.Pod); ok && p.Name == "first" && p.Status.Phase == corev1.PodFailed {
			once()
		}
	}
	pods := factory.Core().V1().Pods().Informer()
	if _, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: heard, UpdateFunc: func(_, o any) { heard(o) }}); err != nil {
		t.Fatal(err)
	}
	factory.StartWithContext(t.Context())
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatalf("the informer has %v", pods.GetStore().ListKeys())
	}
	// The server's history has every step, in order.
	watching, err := api.CoreV1().Pods("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: "1"})
	if err != nil {
		t.Fatal(err)
	}
	defer watching.Stop()
	var seen []string
	for len(seen) < 6 {
		event, ok := <-watching.ResultChan()
		if !ok {
			break
		}
		p, _ := event.Object.(*corev1.Pod)
		seen = append(seen, fmt.Sprintf("%s %s %s", event.Type, p.Name, p.Status.Phase))
	}
	want := []string{"ADDED first Pending", "ADDED tmp Pending", "MODIFIED tmp Pending", "MODIFIED tmp Running", "DELETED tmp Running", "MODIFIED first Failed"}
	if d := gocmp.Diff(want, seen); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestTheFlagsOfRecordShowAreInTheCatalogue(t *testing.T) {
	s := newSession(Process{Args: []string{"hark"}, Getenv: environment(nil).get})
	cmd, _, err := newRoot(s).Find([]string{"record", "show"})
	if err != nil || cmd.Name() != "show" {
		t.Fatal(cmd, err)
	}
	for _, flag := range visibleFlags(cmd) {
		if _, ok := text.Flag(flag); !ok {
			t.Errorf("--%s is not in the catalogue", flag)
		}
	}
	for _, lang := range []string{"en", "zh"} {
		for _, command := range []string{"record", "record show", "replay", "apiserver"} {
			got := run(t.Context(), nil, append(append([]string{"hark"}, strings.Fields(command)...), "--help", "--lang", lang)...)
			if got.code != exitDone || command != "apiserver" && strings.ContainsAny(got.out, "{}") || !strings.Contains(got.out, "hark "+command) {
				t.Errorf("help of %s in %s: %s", command, lang, got)
			}
		}
	}
}

func TestTimesOfARecordingAreReadInThreeForms(t *testing.T) {
	var said bytes.Buffer
	s := newSession(Process{Args: []string{"hark"}, Getenv: environment(nil).get, Err: &said})
	cmd := newReplay(s)
	start := time.Date(2026, 3, 1, 23, 30, 15, 500, time.Local)
	for value, want := range map[string]time.Time{
		"": {}, "90s": start.Add(90 * time.Second), "23:31:00": start.Truncate(time.Minute).Add(time.Minute),
		"23:30:15": start.Truncate(time.Second), "00:10:00": start.Truncate(time.Minute).Add(40 * time.Minute),
		"2026-03-01T10:12:00Z": time.Date(2026, 3, 1, 10, 12, 0, 0, time.UTC),
	} {
		got, err := s.parseTime(cmd, "from", value, start)
		if err != nil || !got.Equal(want) {
			t.Errorf("%q is %v, %v; want %v", value, got, err, want)
		}
	}
	if want := "the recording began later in the day: --from is taken for 2026-03-02 00:10:00\n"; said.String() != want {
		t.Errorf("it says %q; want %q", said.String(), want)
	}
	for _, value := range []string{"now", "-5s", "10:12", "25:00:00"} {
		_, err := s.parseTime(cmd, "from", value, start)
		if wrong, ok := errors.AsType[*failure](err); !ok || wrong.code != exitUsage {
			t.Errorf("%q: %v", value, err)
		}
	}
}

// A program is run for a recording as for a cluster, and the end of the recording is
// the end.
func TestAProgramIsRunForARecording(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	path := c.tape()
	t.Setenv(childVariable, "env")
	got := run(t.Context(), nil, "hark", "replay", path, "--speed", "max", "--workers", "1", "--", os.Args[0])
	if got.code != exitDone || !strings.Contains(got.err, "for the Pod, Secret events of ") {
		t.Errorf("%s", got)
	}
	for _, key := range []string{"pods/default/first", "secrets/default/login"} {
		if !strings.Contains(got.out, key) {
			t.Errorf("no run of %s:\n%s", key, got)
		}
	}
}

// The cluster of a recording is not at hand: what failed is looked up where it was read.
func TestWhatFailedForARecordingIsShownInTheRecording(t *testing.T) {
	path := newCluster(t, harktest.Options{}).tape()
	t.Setenv(childVariable, "refusing")
	args := []string{"hark", "replay", "--speed", "max", "--workers", "1", "--max-tries", "1", path, "--", os.Args[0]}
	got := run(t.Context(), nil, args...)
	if got.code != exitError || !strings.Contains(got.err, "\ntry: hark record show "+path+" ") || strings.Contains(got.err, "kubectl") {
		t.Fatalf("%s", got)
	}
	try := got.err[strings.LastIndex(got.err, "try: ")+len("try: "):]
	if shown := run(t.Context(), nil, strings.Fields(try)...); shown.code != exitDone {
		t.Errorf("%s: %s", try, shown)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	args[len(args)-3] = "-"
	var out, said strings.Builder
	process := Process{Args: args, In: file, Out: &out, Err: &said, Getenv: environment(nil).get}
	if code := Main(t.Context(), process); code != exitError || strings.Contains(said.String(), "try: ") {
		t.Errorf("of standard input: %d\n%s", code, said.String())
	}
}

// What hark run hears is recorded as what hark watch hears.
func TestRunRecordsWhatItHears(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	c.createPod("first")
	path := filepath.Join(t.TempDir(), "tape")
	t.Setenv(childVariable, "env")
	got := run(t.Context(), nil, "hark", "run", "pods", "--once", "--record", path, "--kubeconfig", c.kubeconfig, "--", os.Args[0])
	if got.code != exitDone || !strings.Contains(got.err, "recorded 1 event,") {
		t.Errorf("%s", got)
	}
	if out := replayed(t, path); !strings.HasSuffix(out, "Added    default/first\n") {
		t.Errorf("replayed %q", out)
	}
}
