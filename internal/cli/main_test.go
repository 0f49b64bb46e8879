package cli

import (
	"context"
	"errors"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gocampus/hark/internal/text"
)

func TestTheProgramsNameSaysHowItIsCalled(t *testing.T) {
	for program, want := range map[string]string{
		"hark": "hark", "/usr/local/bin/hark": "hark", "./hark.exe": "hark", "main": "hark",
		"kubectl-hark": "kubectl hark", "/opt/bin/kubectl-hark": "kubectl hark", "kubectl-hark.exe": "kubectl hark",
		"/opt/bin/kubectl_complete-hark": "kubectl hark",
	} {
		s := newSession(Process{Args: []string{program, "watch", ""}, Getenv: environment(nil).get})
		if s.command != want {
			t.Errorf("%s is called as %q; want %q", program, s.command, want)
		}
		wantArgs := []string{"watch", ""}
		if strings.Contains(program, "complete") {
			wantArgs = []string{"__complete", "watch", ""}
		}
		if !slices.Equal(s.args, wantArgs) {
			t.Errorf("%s parses %q; want %q", program, s.args, wantArgs)
		}
	}
}

func TestTheLanguageIsKnownBeforeFlagsAreParsed(t *testing.T) {
	for _, tc := range []struct {
		args string
		want text.Lang
	}{
		{"watch pods", text.English},
		{"--lang zh watch pods", text.Chinese},
		{"watch pods --lang=zh", text.Chinese},
		{"watch pods --lang=zh --lang en", text.English},
		{"watch pods --lang", text.English},
		{"watch pods -- --lang zh", text.English},
		{"watch pods --language zh", text.English},
	} {
		s := newSession(Process{Args: append([]string{"hark"}, strings.Fields(tc.args)...), Getenv: environment(nil).get})
		if s.lang != tc.want {
			t.Errorf("%s speaks %q; want %q", tc.args, s.lang, tc.want)
		}
	}
}

func TestTheLocaleChoosesTheLanguageOfHelp(t *testing.T) {
	got := run(t.Context(), environment{"LANG": "zh_CN.UTF-8"}, "hark", "--help")
	if !strings.Contains(got.out, "用法:") || got.code != exitDone {
		t.Errorf("help with a Chinese locale:\n%s", got)
	}
}

func TestArgumentsBecomeTargets(t *testing.T) {
	for args, want := range map[string][]target{
		"pods":                       {{kind: "pods"}},
		"pods tmp":                   {{"pods", "tmp"}},
		"pods,deployments.v1.apps":   {{kind: "pods"}, {kind: "deployments.v1.apps"}},
		"pods,svc a b":               {{"pods", "a"}, {"pods", "b"}, {"svc", "a"}, {"svc", "b"}},
		"pod/tmp deploy/web pod/tmp": {{"pod", "tmp"}, {"deploy", "web"}},
		"pods,pods":                  {{kind: "pods"}},
	} {
		got, err := parseTargets(strings.Fields(args))
		if d := cmp.Diff(want, got, cmp.AllowUnexported(target{})); d != "" || err != nil {
			t.Errorf("parseTargets(%s): %v (-want +got):\n%s", args, err, d)
		}
	}
}

// failingWriter fails with err from the second write on.
type failingWriter struct {
	err    error
	writes int
}

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.writes++; w.writes > 1 {
		return 0, w.err
	}
	return len(p), nil
}

func TestAClosedPipeEndsQuietlyAndAFullDiskDoesNot(t *testing.T) {
	for _, tc := range []struct {
		err  error
		code int
		said string
	}{
		{syscall.EPIPE, exitDone, ""},
		{io.ErrClosedPipe, exitDone, ""},
		{errors.New("no space left on device"), exitError, "error: no space left on device\n"},
	} {
		var said strings.Builder
		s := newSession(Process{Out: &failingWriter{err: tc.err, writes: 1}, Err: &said, Getenv: environment(nil).get})
		_, err := s.out.Write([]byte("x"))
		if code := s.finish(err); code != tc.code || said.String() != tc.said {
			t.Errorf("%v: exit %d, %q; want %d, %q", tc.err, code, said.String(), tc.code, tc.said)
		}
		// The same when the command did not look at what Write returned.
		said.Reset()
		if code := s.finish(nil); code != tc.code || said.String() != tc.said {
			t.Errorf("%v, unseen: exit %d, %q; want %d, %q", tc.err, code, said.String(), tc.code, tc.said)
		}
	}
}

func TestNothingIsWrittenAfterAnError(t *testing.T) {
	w := &failingWriter{err: syscall.EPIPE, writes: 1}
	o := &output{w: w}
	for range 3 {
		if _, err := o.Write([]byte("x")); err != syscall.EPIPE {
			t.Errorf("Write: %v; want the first error", err)
		}
	}
	if w.writes != 2 {
		t.Errorf("%d writes reached the writer; want none after the one that failed", w.writes-1)
	}
}

func TestAContextThatEndsInTimeHasNoDeadlineToShow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := endsAfter(t.Context(), time.Minute, errTimeUp)
		defer cancel()
		if deadline, ok := ctx.Deadline(); ok {
			t.Errorf("it shows %s, which makes client-go's rate limiter fail early", deadline)
		}
		time.Sleep(time.Minute) // of the bubble
		synctest.Wait()
		if context.Cause(ctx) != errTimeUp {
			t.Errorf("cause %v; want %v", context.Cause(ctx), errTimeUp)
		}
	})
}

func TestVersionSaysHowTheProgramWasBuilt(t *testing.T) {
	got := buildOf(&debug.BuildInfo{
		Main: debug.Module{Path: "github.com/gocampus/hark", Version: "v0.2.0"},
		Deps: []*debug.Module{{Path: "k8s.io/client-go", Version: "v0.37.2"}},
		Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"},
		},
	})
	want := build{
		Schema: "hark.version/v1", Version: "v0.2.0", Commit: "0123456789abcdef", Date: "2026-01-02T03:04:05Z",
		Modified: true, Go: got.Go, Platform: got.Platform, ClientGo: "v0.37.2",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if line := got.String(); !strings.Contains(line, "hark v0.2.0 (go") || !strings.Contains(line, "commit 0123456789ab+changes)") {
		t.Errorf("String = %q", line)
	}
	if unknown := buildOf(nil); unknown.Version != "devel" {
		t.Errorf("version without build information is %q", unknown.Version)
	}
}

func TestVersionIsTextOrJSON(t *testing.T) {
	plain := run(t.Context(), nil, "hark", "version")
	if plain.code != 0 || !strings.HasPrefix(plain.out, "hark ") || strings.Count(plain.out, "\n") != 1 {
		t.Errorf("version: %s", plain)
	}
	document := run(t.Context(), nil, "hark", "version", "-o", "json")
	if document.code != 0 || !strings.HasPrefix(document.out, `{"schema":"hark.version/v1","version":"`) {
		t.Errorf("version -o json: %s", document)
	}
}

func TestEveryFlagIsExplainedInBothLanguages(t *testing.T) {
	s := newSession(Process{Args: []string{"hark"}, Getenv: environment(nil).get})
	root := newRoot(s)
	seen := 0
	for _, cmd := range append(root.Commands(), root) {
		for _, flag := range visibleFlags(cmd) {
			seen++
			if _, ok := text.Flag(flag); !ok {
				t.Errorf("%s --%s is not in the catalogue", cmd.CommandPath(), flag)
			}
		}
	}
	if seen < 30 {
		t.Errorf("only %d flags were looked at", seen)
	}
}
