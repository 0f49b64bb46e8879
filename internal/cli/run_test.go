package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gocampus/hark/harktest"
)

func init() {
	roles["by-name"] = byName
	roles["echo"] = func() { _, _ = io.Copy(os.Stdout, os.Stdin) }
	roles["env"] = func() { fmt.Println(os.Getenv("HARK_KEY"), os.Getenv("HARK_CAUSE"), os.Getenv("KUBECONFIG")) }
	roles["refusing"] = func() { os.Exit(1) }
	roles["endless"] = func() { fmt.Println("begun"); time.Sleep(time.Hour) }
	roles["streaming"] = streaming
}

// byName is a program that does what the object's name says.
func byName() {
	attempt, _ := strconv.Atoi(os.Getenv("HARK_ATTEMPT"))
	switch os.Getenv("HARK_NAME") {
	case "again":
		if attempt < 4 {
			os.Exit(75)
		}
	case "permanent":
		fmt.Fprintln(os.Stderr, "no such team")
		os.Exit(100)
	case "parks":
		fmt.Println(`{"park":"the quota is used up"}`)
		return
	case "fails":
		os.Exit(3)
	case "recovers":
		if attempt < 3 {
			os.Exit(1)
		}
	case "endless":
		time.Sleep(time.Hour)
	}
	fmt.Println("done with", os.Args[1:])
}

// streaming is a program of --stream that crashes for some and prints what it sees.
func streaming() {
	in := bufio.NewReader(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var r struct {
			Key     struct{ Name string }
			Attempt int
			Object  struct{ Data map[string]string }
		}
		if err := json.Unmarshal(line, &r); err != nil {
			os.Exit(9)
		}
		if r.Key.Name == "crash" && r.Attempt < 3 {
			fmt.Fprintln(os.Stderr, "out of cheese")
			os.Exit(4)
		}
		fmt.Fprintf(out, "saw %s %s\n{}\n", r.Key.Name, r.Object.Data["n"])
		_ = out.Flush()
	}
}

// program makes the test binary play a role when it is run.
func program(t *testing.T, role string) string {
	t.Helper()
	t.Setenv(childVariable, role)
	return os.Args[0]
}

// run starts "hark run" on the cluster.
func (c *cluster) run(args ...string) *live {
	c.t.Helper()
	h := hurried
	h.killAfter = 50 * time.Millisecond
	return startWith(c.t, h, nil, append([]string{"hark", "run", "--kubeconfig", c.kubeconfig}, args...)...)
}

func (c *cluster) createConfigMap(name, n string) *corev1.ConfigMap {
	c.t.Helper()
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Data: map[string]string{"n": n}}
	c.do(c.Create(c.t.Context(), m))
	return m
}

func TestRunAnswersExitCodesWithWhatTheyMean(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	for _, name := range []string{"again", "permanent", "parks", "fails", "recovers", "good"} {
		c.createConfigMap(name, "1")
	}
	hark := c.run("configmaps", "--once", "--max-tries", "3", "--workers", "4",
		"--", program(t, "by-name"), "{kind}/{namespace}/{name}", "$HOME {other}")
	if code := hark.exit(); code != exitError {
		t.Errorf("exit %d; want 1, for keys are parked", code)
	}
	for _, want := range []string{
		"] configmaps/default/good #1 | done with [ConfigMap/default/good $HOME {other}]\n",
		"] configmaps/default/again #4 | done with", "] configmaps/default/recovers #3 | done with",
	} {
		if !strings.Contains(hark.out.String(), want) {
			t.Errorf("stdout lacks %q:\n%s", want, hark.out)
		}
	}
	for _, want := range []string{
		"Running " + filepath.Base(os.Args[0]) + " for changes of ConfigMap in namespace=default, Ctrl+C to end\n",
		"configmaps/default/again: attempt 3 asks to be tried again, next in 40ms\n",
		"] configmaps/default/permanent #1 | no such team\n",
		"configmaps/default/permanent: parked by attempt 1, until it changes: exit code 100: no such team\n",
		"configmaps/default/parks: parked by attempt 1, until it changes: the quota is used up\n",
		"configmaps/default/fails: attempt 1 failed, next in 10ms: exit code 3\n",
		"configmaps/default/fails: parked by attempt 3, until it changes: exit code 3\n",
		"13 runs: 3 done, 7 tried again, 3 parked, 0 broken off\n",
		"  parked: configmaps/default/fails, after 3 attempts: exit code 3\n",
		"error: not every object is done: 3 parked, 0 to be tried again, 0 broken off\ntry: kubectl describe configmaps fails -n default\n",
	} {
		if !strings.Contains(hark.err.String(), want) {
			t.Errorf("stderr lacks %q:\n%s", want, hark.err)
		}
	}
}

func TestARunThatNeverEndsIsEndedAndTriedAgain(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	c.createConfigMap("endless", "1")
	hark := c.run("configmaps", "--once", "--max-tries", "2", "--timeout", "200ms", "--", program(t, "by-name"))
	if code := hark.exit(); code != exitError {
		t.Errorf("exit %d; want 1", code)
	}
	for _, want := range []string{
		"configmaps/default/endless: attempt 1 failed, next in 10ms: timed out after 200ms\n",
		"  parked: configmaps/default/endless, after 2 attempts: timed out after 200ms\n",
	} {
		if !strings.Contains(hark.err.String(), want) {
			t.Errorf("stderr lacks %q:\n%s", want, hark.err)
		}
	}
}

func TestRunGoesOnWithEachChangeUntilItIsInterrupted(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	m := c.createConfigMap("a", "1")
	hark := c.run("configmaps", "--", program(t, "env")).listens(1)
	hark.prints("| configmaps/default/a initial " + c.kubeconfig)
	c.do(c.Change(t.Context(), m, func() { m.Data["n"] = "2" }))
	hark.prints("| configmaps/default/a watch")
	if code := hark.interrupt(); code != exitDone {
		t.Errorf("exit %d; want 0", code)
	}
	if !strings.Contains(hark.err.String(), "2 runs: 2 done, 0 tried again, 0 parked, 0 broken off\n") {
		t.Errorf("no summary:\n%s", hark.err)
	}
}

func TestRunBreaksRunsOffWhenTheGraceIsOver(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	c.createConfigMap("a", "1")
	hark := c.run("configmaps", "--grace", "50ms", "--", program(t, "endless"))
	hark.prints("#1 | begun")
	if code := hark.interrupt(); code != exitError {
		t.Errorf("exit %d; want 1", code)
	}
	for _, want := range []string{
		"configmaps/default/a: attempt 1 was broken off, the time for it was up\n",
		"1 run: 0 done, 0 tried again, 0 parked, 1 broken off\n",
	} {
		if !strings.Contains(hark.err.String(), want) {
			t.Errorf("stderr lacks %q:\n%s", want, hark.err)
		}
	}
}

func TestRunTellsTheProgramWhatTheServerHas(t *testing.T) {
	c := newCluster(t, harktest.Options{TrackManagedFields: true})
	c.createConfigMap("a", "<1>")
	hark := c.run("configmaps", "--once", "--", program(t, "echo"))
	if code := hark.exit(); code != exitDone {
		t.Errorf("exit %d\n%s", code, hark.err)
	}
	got := normal(regexp.MustCompile(`"(resourceVersion|deadline)":"[^"]*"`).ReplaceAllString(hark.out.String(), `"$1":"…"`))
	want := `[hh:mm:ss] configmaps/default/a #1 | {"schema":"hark.run/v1",` +
		`"key":{"apiVersion":"v1","kind":"ConfigMap","resource":"configmaps","namespace":"default","name":"a"},"type":"ADDED",` +
		`"object":{"apiVersion":"v1","data":{"n":"<1>"},"kind":"ConfigMap","metadata":{"creationTimestamp":"TIME","name":"a","namespace":"default","resourceVersion":"…","uid":"UID"}},` +
		`"last":null,"causes":[{"type":"ADDED","cause":"initial","resourceVersion":"…","time":"TIME"}],"merged":0,"attempt":1,"deadline":"…"}` + "\n"
	if got != want {
		t.Errorf("told\n%s\nwant\n%s", got, want)
	}
}

func TestADryRunSaysWhatAndWhyAndHidesSecrets(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s"}, StringData: map[string]string{"password": "hunter2hunter2"}}
	c.do(c.Create(t.Context(), secret))
	hark := c.run("secrets", "--dry-run", "--", program(t, "by-name"), "a b", "{name}").listens(1)
	hark.prints("secrets/default/s: would run " + os.Args[0] + " 'a b' s because of ADDED (initial)\n")
	c.do(c.Change(t.Context(), secret, func() { secret.Data["password"] = []byte("swordfish99") }))
	hark.prints(`    ~ data.password: "REDACTED" → "REDACTED/CHANGED"` + "\n")
	hark.interrupt()
	if strings.Contains(hark.out.String(), "done with") {
		t.Errorf("the program was run:\n%s", hark.out)
	}
}

func TestRunKeepsParkedKeysInAFile(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	m := c.createConfigMap("permanent", "1")
	state := filepath.Join(t.TempDir(), "state.json")
	args := []string{"configmaps", "--once", "--state", state, "--", program(t, "by-name")}
	for i, want := range []string{"1 run: 0 done", "0 runs: 0 done", "1 run: 0 done"} {
		if i == 2 {
			c.do(c.Change(t.Context(), m, func() { m.Data["n"] = "2" }))
		}
		hark := c.run(args...)
		if code := hark.exit(); code != exitError || !strings.Contains(hark.err.String(), want) ||
			!strings.Contains(hark.err.String(), "parked: configmaps/default/permanent, after 1 attempt: exit code 100: no such team") {
			t.Errorf("invocation %d: exit %d; want 1 and %q\n%s", i+1, code, want, hark.err)
		}
	}
	write(t, state, "a diary")
	if hark := c.run(args...); hark.exit() != exitError || !strings.Contains(hark.err.String(), "error: --state: "+state+": this is no state of hark run") {
		t.Errorf("a foreign file:\n%s", hark.err)
	}
}

func TestAStreamSurvivesCrashesOfItsProgram(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	for _, name := range []string{"a", "b", "crash", "d"} {
		c.createConfigMap(name, "1")
	}
	hark := c.run("configmaps", "--once", "--stream", "--", program(t, "streaming"))
	if code := hark.exit(); code != exitDone {
		t.Errorf("exit %d; want 0\n%s", code, hark.err)
	}
	for _, name := range []string{"a", "b", "crash", "d"} {
		if !strings.Contains(hark.out.String(), "| saw "+name+" 1\n") {
			t.Errorf("%s was not seen:\n%s", name, hark.out)
		}
	}
	if want := "configmaps/default/crash: attempt 2 failed, next in 20ms: exit code 4: out of cheese\n"; !strings.Contains(hark.err.String(), want) {
		t.Errorf("stderr lacks %q:\n%s", want, hark.err)
	}
}

func TestOnlyWhatTheExpressionSelectsIsRun(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	m := c.createConfigMap("a", "1")
	c.createConfigMap("b", "5")
	c.do(c.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "empty"}}))
	hark := c.run("configmaps", "--when", `int(object.data.n) > 3`, "--on", "add,update", "--", program(t, "by-name")).listens(1)
	hark.prints("configmaps/default/b #1 | done")
	hark.says("configmaps/default/empty: --when gives no answer, which counts as no: no such key: data\ntry: object != null && has(object.spec.x)")
	c.do(c.Change(t.Context(), m, func() { m.Data["n"] = "4" }))
	hark.prints("configmaps/default/a #1 | done")
	hark.interrupt()
	if got := strings.Count(hark.out.String(), "done with"); got != 2 {
		t.Errorf("%d runs; want 2\n%s", got, hark.out)
	}
}

func TestKindsThatShareANameAreRunEach(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	c.createConfigMap("same", "1")
	c.createPod("same")
	hark := c.run("pods,configmaps", "--once", "--fair-by", "namespace", "--", program(t, "by-name"))
	if code := hark.exit(); code != exitDone || !strings.Contains(hark.out.String(), "pods/default/same #1") ||
		!strings.Contains(hark.out.String(), "configmaps/default/same #1") {
		t.Errorf("exit %d\n%s%s", code, hark.out, hark.err)
	}
}

func TestRunSpeaksChinese(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	c.createConfigMap("permanent", "1")
	hark := c.run("configmaps", "--once", "--lang", "zh", "--", program(t, "by-name"))
	hark.exit()
	for _, want := range []string{"namespace=default 的 ConfigMap 每次变化都运行", "第 1 次尝试后搁置", "共运行 1 次：完成 0", "并非所有对象都已完成"} {
		if !strings.Contains(hark.err.String(), want) {
			t.Errorf("stderr lacks %q:\n%s", want, hark.err)
		}
	}
}

func TestOutputThatCannotBeWrittenEndsTheRun(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	c.createConfigMap("good", "1")
	hark := c.run("configmaps", "--", program(t, "by-name"))
	hark.out.fail(fmt.Errorf("no space left on device"))
	c.createConfigMap("more", "1")
	if code := hark.exit(); code != exitError || !strings.Contains(hark.err.String(), "error: no space left on device\n") {
		t.Errorf("exit %d\n%s", code, hark.err)
	}
}

func TestNothingOnATerminalIsSteeredByOutput(t *testing.T) {
	if got, want := string(withPrefix("p| ", []byte("a\tb\x1b[2J\nc\n"), true)), "p| a    b\ufffd[2J\np| c\n"; got != want {
		t.Errorf("on a terminal %q; want %q", got, want)
	}
	if got, want := string(withPrefix("p| ", []byte("a\tb\x1b[2J\xff\nc\n"), false)), "p| a\tb\x1b[2J\xff\np| c\n"; got != want {
		t.Errorf("elsewhere %q; want %q", got, want)
	}
}

func TestTabOffersTypesThenFilesForRun(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	at := "--kubeconfig=" + c.kubeconfig
	if got := c.complete("run", at, "pods,deploy"); len(got) != 1 || got[0] != "pods,deployments.apps" {
		t.Errorf("types: %q", got)
	}
	if got := c.complete("run", at, "pods", "--fair-by", ""); len(got) != 1 || got[0] != "namespace" {
		t.Errorf("--fair-by: %q", got)
	}
	after := run(t.Context(), nil, "hark", "__complete", "run", at, "pods", "--", "./scr").out
	if !strings.HasPrefix(after, ":0\n") { // cobra's word for: complete files
		t.Errorf("after --: %q", after)
	}
}
