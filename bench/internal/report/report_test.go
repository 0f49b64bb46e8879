package report

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheMedianIsTheMiddleAndLeavesTheSamples(t *testing.T) {
	for _, c := range []struct {
		samples []float64
		want    float64
	}{{[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5}, {[]float64{5, 5, 5, 1}, 5}} {
		before := append([]float64(nil), c.samples...)
		if got := Median(c.samples); got != c.want {
			t.Errorf("Median(%v) = %v; want %v", before, got, c.want)
		}
		for i := range before {
			if c.samples[i] != before[i] {
				t.Fatalf("Median changed %v to %v", before, c.samples)
			}
		}
	}
	if got := Median(nil); !math.IsNaN(got) {
		t.Errorf("Median of nothing = %v; want NaN", got)
	}
}

func TestALineSaysWhetherTheGoalIsReached(t *testing.T) {
	for _, c := range []struct {
		line Line
		want string
	}{
		{Line{Name: "sync-cpu", Base: 120e-6, Hark: 10e-6, Unit: Seconds, Ratio: 12, Goal: Goal{AtLeast: 12}}, "RATIO sync-cpu 120µs 10.0µs 12.0 goal 12 PASS"},
		{Line{Name: "sync-cpu", Base: 119e-6, Hark: 10e-6, Unit: Seconds, Ratio: 11.9, Goal: Goal{AtLeast: 12}}, "RATIO sync-cpu 119µs 10.0µs 11.9 goal 12 FAIL"},
		{Line{Name: "growth", Base: 1.1, Hark: 1.14, Unit: Times, Ratio: 1.14, Goal: Goal{AtMost: 1.15}}, "RATIO growth 1.10 1.14 1.14 goal <=1.15 PASS"},
		{Line{Name: "growth", Base: 1.1, Hark: 1.16, Unit: Times, Ratio: 1.16, Goal: Goal{AtMost: 1.15}}, "RATIO growth 1.10 1.16 1.16 goal <=1.15 FAIL"},
		{Line{Name: "heap", Base: 20480, Hark: 5 << 10, Unit: Bytes, Ratio: 4}, "RATIO heap 20.0KiB 5.00KiB 4.00 goal - INFO"},
		{Line{Name: "lost", Base: math.NaN(), Hark: 1, Unit: Seconds, Ratio: math.NaN(), Goal: Goal{AtLeast: 1}}, "RATIO lost none 1.00s none goal 1 FAIL"},
	} {
		if got := c.line.String(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestValuesAreShownInAReadableSize(t *testing.T) {
	for _, c := range []struct {
		value float64
		unit  Unit
		want  string
	}{
		{0.0000000512, Seconds, "51.2ns"}, {2e-3, Seconds, "2.00ms"}, {100, Seconds, "100s"}, {0, Seconds, "0.00ns"},
		{512, Bytes, "512B"}, {2.5 * (1 << 30), Bytes, "2.50GiB"}, {3 << 20, Bytes, "3.00MiB"}, {7.654, Times, "7.65"},
	} {
		if got := Format(c.value, c.unit); got != c.want {
			t.Errorf("Format(%v, %s) = %s; want %s", c.value, c.unit, got, c.want)
		}
	}
}

func TestOnlyWhatIsBetweenTheMarkersIsReplaced(t *testing.T) {
	name := filepath.Join(t.TempDir(), "perf.md")
	if err := os.WriteFile(name, []byte("before\n"+Begin+"\nold\n"+End+"\nafter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a second time changes nothing
		if err := ReplaceFile(name, "new\n"); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(name)
		if want := "before\n" + Begin + "\nnew\n" + End + "\nafter\n"; err != nil || string(got) != want {
			t.Errorf("got  %q, %v\nwant %q", got, err, want)
		}
	}
}

func TestADocumentIsReplacedAsAWholeOrLeft(t *testing.T) {
	dir, others := t.TempDir(), t.TempDir()
	name, link, old := filepath.Join(dir, "perf.md"), filepath.Join(others, "link.md"), Begin+End
	if err := errors.Join(os.WriteFile(name, []byte(old), 0o600), os.Symlink(name, link)); err != nil {
		t.Fatal(err)
	}
	if err := CheckFile(link); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != old {
		t.Errorf("the check made it %q, %v", got, err)
	}
	if err := ReplaceFile(link, "new"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(name)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("the mode is %v, %v; want 0600", info.Mode(), err)
	}
	if got, err := os.ReadFile(link); err != nil || string(got) != Begin+"\nnew\n"+End {
		t.Errorf("got %q, %v", got, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info.Mode(), err)
	}
	if err := WriteFile(others, nil); err == nil {
		t.Error("a directory was written")
	}
	for _, d := range []string{dir, others, filepath.Dir(others)} {
		if rest, err := filepath.Glob(filepath.Join(d, ".*")); err != nil || len(rest) > 0 {
			t.Errorf("left behind: %s, %v", rest, err)
		}
	}
}

func TestADocumentThatCannotBeReplacedIsNotedBefore(t *testing.T) {
	name := filepath.Join(t.TempDir(), "perf.md")
	if err := CheckFile(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of no file: %v", err)
	}
	if err := os.WriteFile(name, []byte("no markers"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := CheckFile(name); err == nil || !strings.Contains(err.Error(), Begin) {
		t.Errorf("without markers: %v; want their names", err)
	}
	if os.Geteuid() == 0 {
		return // who may write everything
	}
	if err := errors.Join(os.WriteFile(name, []byte(Begin+End), 0o600), os.Chmod(name, 0o400)); err != nil {
		t.Fatal(err)
	}
	if err := CheckFile(name); !errors.Is(err, os.ErrPermission) {
		t.Errorf("read-only: %v", err)
	}
}

func TestADocumentWithoutItsMarkersIsLeft(t *testing.T) {
	for _, document := range []string{"", Begin, End, End + Begin, Begin + Begin + End, Begin + End + End} {
		if got, err := Replace([]byte(document), "new"); err == nil {
			t.Errorf("Replace(%q) = %q; want an error", document, got)
		}
	}
}

func TestATableHasARowForEachLine(t *testing.T) {
	got := Table([]Line{{Name: "a", Work: "w", Base: 2, Hark: 1, Unit: Seconds, Ratio: 2, Goal: Goal{AtLeast: 3}, BaseSpread: 0.2, Spread: 0.07}, {Name: "b"}})
	if !strings.Contains(got, "| a | w | 2.00s | 1.00s | 2.00 | 3 | FAIL | 20 % | 7 % |\n") || strings.Count(got, "\n") != 4 {
		t.Errorf("Table = %s", got)
	}
}

func TestAPlotIsWellFormedAndHasEveryPoint(t *testing.T) {
	for _, p := range []Plot{
		{Title: `CPU <&"> size`, XLabel: "objects", Unit: Seconds, Series: []Series{
			{Name: "client-go & co", Points: []Point{{1000, 0.1}, {100_000, 9}}},
			{Name: "hark", Points: []Point{{1000, 0.01}, {10_000, 0.1}, {1_000_000, 12}}},
		}},
		{Title: "one point", Unit: Bytes, Series: []Series{{Name: "a", Points: []Point{{10, 10}}}}},
		{Title: "none"},
	} {
		points, circles := 0, 0
		for _, s := range p.Series {
			points += len(s.Points)
		}
		d := xml.NewDecoder(strings.NewReader(string(p.SVG())))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", p.Title, err)
			}
			if e, ok := token.(xml.StartElement); ok && e.Name.Local == "circle" {
				circles++
			}
		}
		if circles != points {
			t.Errorf("%s: %d circles; want %d", p.Title, circles, points)
		}
		if strings.Contains(string(p.SVG()), "NaN") {
			t.Errorf("%s: a place is not a number", p.Title)
		}
	}
}

func TestTheScaleOfSizesHasRoundNames(t *testing.T) {
	p := Plot{Unit: Bytes, Series: []Series{{Points: []Point{{1000, 2 << 20}, {10_000, 20 << 20}}}}}
	picture := string(p.SVG())
	for _, label := range []string{">1.00MiB<", ">16.0MiB<", ">256MiB<", ">1000<", ">10000<"} {
		if strings.Count(picture, label) != 1 {
			t.Errorf("no label %s in %s", label, picture)
		}
	}
	if strings.Contains(picture, ">4.00GiB<") {
		t.Errorf("the scale goes on: %s", picture)
	}
}

func TestALineWithAStartIsLinearAndABendIsNot(t *testing.T) {
	straight := []Point{{1000, 0.02}, {10_000, 0.11}, {100_000, 1.01}, {1_000_000, 10.01}} // 0.01 + x/100,000
	if got := Linear(straight); math.Abs(got-1) > 1e-6 {
		t.Errorf("Linear(straight) = %v; want 1", got)
	}
	straight[3].Y *= 2
	if got := Linear(straight); got < 1.15 {
		t.Errorf("Linear(bent) = %v; want more than 1.15", got)
	}
	if got := Linear(straight[:1]); got != 1 {
		t.Errorf("Linear of one point = %v; want 1", got)
	}
	if l, f := Linear(nil), Flat(nil); !math.IsNaN(l) || !math.IsNaN(f) {
		t.Errorf("Linear and Flat of nothing = %v, %v; want NaN, which reaches no goal", l, f)
	}
	if got := Flat([]Point{{1, 3}, {2, 2}, {3, 2.5}}); got != 1.5 {
		t.Errorf("Flat = %v; want 1.5", got)
	}
}
