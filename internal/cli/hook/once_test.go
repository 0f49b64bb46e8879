package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func init() {
	roles["exit"] = func() { // exit CODE [LINE…]
		for _, line := range os.Args[2:] {
			fmt.Print(line)
		}
		fmt.Fprintln(os.Stderr, "said\n ")
		code, _ := strconv.Atoi(os.Args[1])
		os.Exit(code)
	}
	roles["show"] = func() {
		_, _ = io.Copy(os.Stdout, os.Stdin)
		for _, variable := range os.Environ() {
			if strings.HasPrefix(variable, "HARK_") && !strings.HasPrefix(variable, roleVariable) {
				fmt.Println(variable)
			}
		}
		fmt.Println(os.Args[1:])
	}
	roles["flood"] = func() { // 100 MB
		line := []byte(strings.Repeat("x", 99) + "\n")
		block := []byte(strings.Repeat(string(line), 1000))
		for range 1000 {
			_, _ = os.Stdout.Write(block)
		}
		fmt.Println(`{"requeueAfter":"1m"}`)
	}
	roles["binary"] = func() { _, _ = os.Stdout.Write(everyByte()) }
	roles["endless"] = func() { time.Sleep(time.Hour) }
	roles["deaf"] = func() {}
}

// everyByte is binary output with lines of all lengths, longer than one that is
// kept together.
func everyByte() []byte {
	out := make([]byte, 3*maxLine+17)
	for i := range out {
		out[i] = byte(i * i / 7)
		if i > maxLine/2 && out[i] == '\n' { // then one very long line
			out[i] = 0
		}
	}
	return out
}

func TestExitCodesAndLastLinesBecomeOutcomes(t *testing.T) {
	for _, tc := range []struct {
		code   int
		lines  []string
		result Result
		err    string
		passed string
	}{
		{code: 0},
		{code: 0, lines: []string{"hello\n"}, passed: "hello\n"},
		{code: 75, err: ErrAgain.Error()},
		{code: 100, err: "exit code 100: said"},
		{code: 1, err: "exit code 1: said"},
		{code: 42, err: "exit code 42: said"},
		{code: 0, lines: []string{"a\n", `{"requeueAfter":"30s"}`, "\n"}, result: Result{RequeueAfter: 30 * time.Second}, passed: "a\n"},
		{code: 0, lines: []string{`{"requeueAfter":"30s"}`}, result: Result{RequeueAfter: 30 * time.Second}},
		{code: 0, lines: []string{`{"park":"no such team"}`, "\r\n"}, err: "no such team"},
		{code: 100, lines: []string{`{"park":"no such team"}`, "\n"}, err: "no such team"},
		{code: 1, lines: []string{`{"park":"no such team"}`, "\n"}, err: "exit code 1: said"},
		{code: 100, lines: []string{`{"park":""}`, "\n"}, err: "exit code 100: said"},
		{code: 75, lines: []string{`{"requeueAfter":"30s"}`, "\n"}, err: ErrAgain.Error()},
		{code: 0, lines: []string{`{"requeueAfter":"soon"}`, "\n"}, err: `requeueAfter is "soon"; want a time such as 30s`},
		{code: 0, lines: []string{`{"requeueAfter":"30s"}`, "\n", "after\n"}, passed: "{\"requeueAfter\":\"30s\"}\nafter\n"},
		{code: 0, lines: []string{`{"level":"info"}`, "\n"}, passed: "{\"level\":\"info\"}\n"},
		{code: 0, lines: []string{`{}`, "\n"}, passed: "{}\n"},
	} {
		var out collected
		once := &Once{Command: command("exit", append([]string{strconv.Itoa(tc.code)}, tc.lines...)...), Output: &out}
		result, err := once.Run(t.Context(), question("web"))
		said := ""
		if err != nil {
			said = err.Error()
		}
		if result != tc.result || said != tc.err || out.stdout() != tc.passed {
			t.Errorf("exit %d %q: %+v, error %q, passed on %q\nwant %+v, %q, %q", tc.code, tc.lines,
				result, said, out.stdout(), tc.result, tc.err, tc.passed)
		}
		_, parks := errors.AsType[*ParkError](err)
		if wantPark := tc.code == 100 || strings.HasPrefix(tc.err, "no such"); parks != wantPark {
			t.Errorf("exit %d %q parks: %t; want %t", tc.code, tc.lines, parks, wantPark)
		}
		if out.stderr() != "said\n \n" {
			t.Errorf("stderr passed on as %q", out.stderr())
		}
	}
}

func TestAProgramIsToldAll(t *testing.T) {
	var out collected
	r := question("we$b {name}")
	once := &Once{Command: command("show", "{namespace}/{name}", "{kind} {}", "$HOME;*", "{other}"), Output: &out}
	if _, err := once.Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.stdout(), "\n"), "\n")
	want := []string{
		`{"schema":"hark.run/v1","key":{"apiVersion":"v1","kind":"Pod","resource":"pods","namespace":"default","name":"we$b {name}"},` +
			`"type":"MODIFIED","object":{"kind":"Pod","metadata":{"name":"we$b {name}","resourceVersion":"7"},"text":"<&>"},"last":null,` +
			`"causes":[{"type":"MODIFIED","cause":"watch","resourceVersion":"6","time":"0001-01-01T00:00:00Z","diff":[{"path":"spec.x","old":1,"new":2}]},` +
			`{"type":"MODIFIED","cause":"watch","resourceVersion":"7","time":"0001-01-01T00:00:00Z","own":true,"diff":[{"path":"spec.x","old":1,"new":2}]},` +
			`{"type":"MODIFIED","cause":"resync","resourceVersion":"7","time":"0001-01-01T00:00:00Z","diff":[]}],` +
			`"merged":1,"attempt":2,"deadline":"2026-01-02T03:04:05.000000006Z"}`,
		"HARK_SCHEMA=hark.run/v1", "HARK_KEY=pods/default/we$b {name}", "HARK_TYPE=MODIFIED", "HARK_API_VERSION=v1",
		"HARK_KIND=Pod", "HARK_RESOURCE=pods", "HARK_NAMESPACE=default", "HARK_NAME=we$b {name}", "HARK_RESOURCE_VERSION=7",
		"HARK_CAUSE=watch,resync", "HARK_MERGED=1", "HARK_ATTEMPT=2", "HARK_DEADLINE=2026-01-02T03:04:05.000000006Z",
		"[default/we$b {name} Pod {} $HOME;* {other}]",
	}
	if d := cmp.Diff(want, lines); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestADeletedObjectIsNullAndItsLastStateTold(t *testing.T) {
	r := question("web")
	r.Object, r.Last, r.Deadline = nil, r.Object, nil
	line, err := r.line()
	if err != nil {
		t.Fatal(err)
	}
	var told map[string]any
	if err := json.Unmarshal(line, &told); err != nil {
		t.Fatal(err)
	}
	if object, has := told["object"]; object != nil || !has || told["last"] == nil || told["deadline"] != nil {
		t.Errorf("told %s", line)
	}
	if env := strings.Join(r.environment(), "\n"); !strings.Contains(env, "HARK_RESOURCE_VERSION=7\n") || !strings.HasSuffix(env, "HARK_DEADLINE=") {
		t.Errorf("environment %s", env)
	}
}

func TestAHundredMegabytesPassThrough(t *testing.T) {
	out := collected{forget: true}
	once := &Once{Command: command("flood"), Output: &out}
	result, err := once.Run(t.Context(), question("web"))
	if err != nil || result.RequeueAfter != time.Minute || out.bytes != 100_000_000 {
		t.Errorf("%+v, %v, %d bytes; want one minute and 100,000,000", result, err, out.bytes)
	}
}

func TestBinaryOutputLosesNoByte(t *testing.T) {
	var out collected
	once := &Once{Command: command("binary"), Output: &out}
	if _, err := once.Run(t.Context(), question("web")); err != nil {
		t.Fatal(err)
	}
	// Pieces of long lines get line ends, "\r" before one goes; all else is there.
	same := func(s string) string { return strings.NewReplacer("\n", "", "\r", "").Replace(s) }
	if got, want := same(out.stdout()), same(string(everyByte())); got != want {
		t.Errorf("%d bytes came, of %d", len(got), len(want))
	}
	for line := range strings.Lines(out.stdout()) {
		if len(line) > maxLine+1 {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
}

var errTime = errors.New("its time is up")

// soon is a context that ends with errTime.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithCancelCause(t.Context())
	timer := time.AfterFunc(200*time.Millisecond, func() { cancel(errTime) })
	t.Cleanup(func() { timer.Stop() })
	return ctx
}

func TestAProgramThatNeverEndsIsEnded(t *testing.T) {
	once := &Once{Command: command("endless"), Output: &collected{}, KillAfter: 50 * time.Millisecond}
	if _, err := once.Run(soon(t), question("web")); err != errTime {
		t.Errorf("error %v; want the cause", err)
	}
}

func TestAProgramNeedNotReadWhatItIsTold(t *testing.T) {
	once := &Once{Command: command("deaf"), Output: &collected{}}
	r := question("web")
	r.Object["huge"] = strings.Repeat("x", 1<<20)
	if _, err := once.Run(t.Context(), r); err != nil {
		t.Errorf("error %v", err)
	}
}

func TestAProgramThatIsNotThereIsAFailure(t *testing.T) {
	once := &Once{Command: Command{Path: os.Args[0] + "-is-not-there"}, Output: &collected{}}
	if _, err := once.Run(t.Context(), question("web")); err == nil {
		t.Error("no error")
	}
}
