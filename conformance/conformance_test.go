package conformance

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gocampus/hark/harktest"
)

func TestMain(m *testing.M) {
	if isKubectl() {
		kubectl()
	}
	os.Exit(m.Run())
}

// TestHarktestAnswersAsTheRealServer plays each scenario against both.
func TestHarktestAnswersAsTheRealServer(t *testing.T) {
	t.Parallel()
	comparison := newComparison(t, realServer(t))
	files, err := filepath.Glob("testdata/*.scenario")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		subject := strings.TrimSuffix(filepath.Base(file), ".scenario")
		for _, s := range readScenarios(t, file) {
			t.Run(subject+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				comparison.run(t, subject, s)
			})
		}
	}
}

// TestHarktestForgetsAsTheRealServer plays what needs a server that forgets, one
// scenario after the other, since the server is restarted for it.
func TestHarktestForgetsAsTheRealServer(t *testing.T) {
	t.Parallel()
	comparison := newComparison(t, forgetfulServer(t))
	for _, s := range readScenarios(t, "testdata/forgotten/compaction.scenario") {
		t.Run("compaction/"+s.name, func(t *testing.T) { comparison.run(t, "compaction", s) })
	}
}

// comparison plays scenarios against harktest and a real server.
type comparison struct {
	actual *server
	bin    string // a directory with kubectl
	known  []*difference
}

func newComparison(t *testing.T, actual *server) *comparison {
	c := &comparison{actual: actual, bin: t.TempDir(), known: readDifferences(t)}
	if err := linkKubectl(c.bin); err != nil {
		t.Fatal(err)
	}
	return c
}

// run plays a scenario against a new harktest and against the real server, at the
// same time.
func (c *comparison) run(t *testing.T, subject string, s scenario) {
	var want *transcript
	var wantErr error
	var other sync.WaitGroup
	id := fmt.Sprintf("c%08x", rand.Uint32())
	other.Go(func() { want, wantErr = play(t, s, c.bin, c.actual, id) })
	got, err := play(t, s, c.bin, inProcess(t), id)
	other.Wait()
	if wantErr != nil {
		t.Fatalf("the real server: %v", wantErr)
	}
	if err != nil {
		t.Fatalf("harktest: %v\nthe real server:\n%s", err, strings.Join(want.lines(), "\n"))
	}
	wantLines, gotLines := want.lines(), got.lines()
	if os.Getenv("HARK_CONFORMANCE_PRINT") != "" {
		t.Log("the real server:\n" + strings.Join(wantLines, "\n"))
	}
	for _, d := range differencesOf(c.known, subject+"/"+s.name) {
		wantLines, gotLines = d.forgive(wantLines), d.forgive(gotLines)
	}
	if diff := diffLines(wantLines, gotLines); diff != "" {
		t.Errorf("the answers differ (- the real server, + harktest; each line begins with that of the step):\n%s", diff)
	}
}

// play plays a scenario in a namespace of its own.
func play(t *testing.T, s scenario, bin string, to *server, id string) (*transcript, error) {
	p := &player{server: to, bin: bin, home: t.TempDir(), watches: map[string]*watch{}, vars: map[string]string{
		"id": id, "ns": id, "core": "/api/v1/namespaces/" + id, "apps": "/apis/apps/v1/namespaces/" + id,
		"big": strings.Repeat("x", 4<<20),
	}}
	ctx := t.Context()
	made, err := p.play(ctx, []step{{verb: "POST", target: "/api/v1/namespaces", body: `{"metadata":{"name":"{ns}"}}`}})
	if err != nil {
		return nil, err
	}
	if made.answers[0].status != "201 Created" {
		return nil, fmt.Errorf("namespace: %s", strings.Join(made.lines(), "\n"))
	}
	defer func() {
		_, _ = p.play(context.WithoutCancel(ctx), []step{{verb: "DELETE", target: "/api/v1/namespaces/{ns}"}}) // the next play takes another
	}()
	answers, err := p.play(ctx, s.steps)
	if err != nil {
		return nil, err
	}
	answers.normalize([]string{id, "ID"})
	return answers, nil
}

// inProcess starts harktest as the real server is: it tracks all field managers.
func inProcess(t *testing.T) *server {
	s := harktest.StartWith(t, harktest.Options{TLS: true, TrackManagedFields: true})
	config := filepath.Join(t.TempDir(), "kubeconfig")
	if err := s.WriteKubeconfig(config); err != nil {
		t.Fatal(err)
	}
	harktest := serverOf(t, s.Config(), config)
	harktest.compact = func(context.Context) error {
		s.Compact()
		return nil
	}
	return harktest
}

func readScenarios(t *testing.T, file string) []scenario {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all, err := parseScenarios(string(text))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return all
}

func readDifferences(t *testing.T) []*difference {
	t.Helper()
	text, err := os.ReadFile("testdata/differences.txt")
	if err != nil {
		t.Fatal(err)
	}
	all, err := parseDifferences(string(text))
	if err != nil {
		t.Fatalf("testdata/differences.txt: %v", err)
	}
	return all
}
