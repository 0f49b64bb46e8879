package conformance

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestScenariosAreReadStepByStep(t *testing.T) {
	got, err := parseScenarios(strings.Join([]string{
		"# a comment", "", "=== one",
		"PUT {core}/configmaps/a", "+ Accept: application/yaml", `{"a":`, `"b"}`, "let v = items/0/name", "",
		"$ kubectl get pods | sort", "=== two", "CLOSE w",
	}, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []scenario{
		{name: "one", steps: []step{
			{verb: "PUT", target: "{core}/configmaps/a", headers: [][2]string{{"Accept", "application/yaml"}}, body: "{\"a\":\n\"b\"}\n",
				lets: []let{{name: "v", path: []string{"items", "0", "name"}}}, line: 4},
			{verb: "$", target: "kubectl get pods | sort", line: 10},
		}},
		{name: "two", steps: []step{{verb: "CLOSE", target: "w", line: 12}}},
	}
	if diff := cmp.Diff(got, want, cmp.AllowUnexported(scenario{}, step{}, let{})); diff != "" {
		t.Errorf("parseScenarios (-got +want):\n%s", diff)
	}
}

func TestScenariosThatCannotBeReadAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"GET /":              "line 1: no scenario has begun",
		"=== a\nTWIST /":     `line 2: "TWIST" is none of`,
		"=== a\n=== a":       "line 2: a scenario of that name has begun before",
		"=== a\nREAD w many": "line 2: READ: want a name and a count",
	} {
		if _, err := parseScenarios(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parseScenarios(%q) = %v; want %q", text, err, want)
		}
	}
}

func TestAFieldOfAnAnswerIsFoundByItsPath(t *testing.T) {
	a := &answer{}
	a.setBody([]byte(`{"items":[{"n":1},{"n":"two"}]}`))
	if got, err := a.field([]string{"items", "1", "n"}); err != nil || got != "two" {
		t.Errorf("items/1/n = %q, %v; want two", got, err)
	}
	for _, path := range []string{"items/2/n", "items/0/m", "items/x", "items/0/n/o"} {
		if got, err := a.field(strings.Split(path, "/")); err == nil {
			t.Errorf("%s = %q; want an error", path, got)
		}
	}
}

// normalized returns the lines of a transcript of these answers.
func normalized(bodies ...string) []string {
	tr := &transcript{}
	for _, body := range bodies {
		a := answer{step: "step", status: "200 OK"}
		a.setBody([]byte(body))
		tr.answers = append(tr.answers, a)
	}
	tr.normalize([]string{"c1f", "ID"})
	var lines []string
	for _, line := range tr.lines() {
		if line != "0: step" && line != "0: 200 OK" {
			lines = append(lines, strings.TrimPrefix(line, "0: "))
		}
	}
	return lines
}

func TestVersionsBecomeTheirRank(t *testing.T) {
	object := func(version string) string {
		return `{"metadata":{"uid":"x","resourceVersion":"` + version + `"}}`
	}
	rank := func(line string) string { return `/metadata/resourceVersion = "` + line + `"` }
	uid := `/metadata/uid = "x"`
	got := normalized(object("107"), object("9"), object("107"), `{"metadata":{"resourceVersion":"106"}}`, `{"metadata":{"resourceVersion":"107"}}`, `{"metadata":{"resourceVersion":"5"}}`)
	want := []string{rank("v2"), uid, rank("v1"), uid, rank("v2"), uid, rank("v1 or later"), rank("v2 or later"), rank("v0 or later")}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("ranks (-got +want):\n%s", diff)
	}
}

func TestWhatMustDifferIsMadeEqual(t *testing.T) {
	const a, b = "11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222"
	for body, want := range map[string]string{
		`["` + b + `","` + a + `","` + b + `"]`:                           `/0 = "uid-1"|/1 = "uid-2"|/2 = "uid-1"`,
		`{"t":"2026-11-29T16:01:02Z"}`:                                    `/t = "TIME"`,
		`{"n":"the object c1f/a"}`:                                        `/n = "the object ID/a"`,
		`{"generateName":"a-","name":"a-x7k2p"}`:                          `/generateName = "a-"|/name = "a-RANDOM"`,
		`{"generateName":"a-","name":"fixed"}`:                            `/generateName = "a-"|/name = "fixed"`,
		`{"continue":"eyJ2Ijoi"}`:                                         `/continue = "TOKEN"`,
		`{"message":"too old resource version: 5 (17)"}`:                  `/message = "too old resource version: VERSION (VERSION)"`,
		`{"cells":["a","17d3h","5"]}`:                                     `/cells/0 = "a"|/cells/1 = "AGE"|/cells/2 = "5"`,
		`{"managedFields":[{"manager":"b"},{"manager":"a","time":null}]}`: `/managedFields/0/manager = "a"|/managedFields/0/time = null|/managedFields/1/manager = "b"`,
		`{"resources":[{"name":"pods"},{"name":"nodes"}]}`:                `/resources/pods/name = "pods"|/resources/nodes/name = "nodes"`,
		`{"x":[],"y":{}}`:                                                 `/x = []|/y = {}`,
		"NAME   AGE\na      3m2s\n":                                       "NAME  AGE|a  AGE",
	} {
		if got := strings.Join(normalized(body), "|"); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", body, got, want)
		}
	}
}

func TestDifferencesAreForgivenWhereTheyAreKnown(t *testing.T) {
	all, err := parseDifferences("# A file.\n\n# A reason,\n# and more.\nscenarios: list/*\nlines: ^[0-9]+: /a =")
	if err != nil || len(all) != 1 || all[0].reason != "A reason, and more. " {
		t.Fatalf("parseDifferences = %+v, %v; want one", all, err)
	}
	if n := len(differencesOf(all, "watch/x")); n != 0 {
		t.Errorf("%d differences of another scenario; want none", n)
	}
	for _, d := range differencesOf(all, "list/x") {
		got := d.forgive([]string{"1: /a = 1", "1: /b = 1", "2: /a/a = 1", "12: /a = 2"})
		if want := []string{"1: /b = 1", "2: /a/a = 1"}; !cmp.Equal(got, want) {
			t.Errorf("forgiven: %q; want %q", got, want)
		}
	}
	for _, text := range []string{"scenarios: a\nlines: b", "# r\nscenarios: a", "# r\nlines: b", "# r\nscenarios: [\nlines: b", "# r\nscenarios: a\nlines: (", "x: y"} {
		if _, err := parseDifferences(text); err == nil {
			t.Errorf("parseDifferences(%q) succeeds", text)
		}
	}
}

func TestLinesThatDifferAreToldWhole(t *testing.T) {
	if got := diffLines([]string{"a", "b", "c"}, []string{"a", "x", "c"}); got != "  - b\n  + x\n" {
		t.Errorf("diffLines = %q", got)
	}
	if got := diffLines([]string{"a"}, []string{"a"}); got != "" {
		t.Errorf("diffLines of the same = %q", got)
	}
}
