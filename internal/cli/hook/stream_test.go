package hook

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

func init() {
	roles["answer"] = func() {
		asked := 0
		each(func(name string) string {
			asked++
			switch name {
			case "pid":
				return fmt.Sprintf(`{"error":"%d"}`, os.Getpid())
			case "requeue":
				return `{"requeueAfter":"30s"}`
			case "park":
				return ` {"park":"no such team"} `
			case "retry":
				return `{"retry":true}`
			case "error":
				return `{"error":"went wrong"}`
			case "both":
				return `{"park":"a","error":"b"}`
			case "log":
				return "a line\n{\"level\":\"info\"}\n{\n{}"
			case "crash":
				fmt.Fprintln(os.Stderr, "out of cheese")
				os.Exit(7)
			case "leave":
				os.Exit(0)
			case "silent":
				time.Sleep(time.Hour)
			case "worker":
				return fmt.Sprintf(`{"error":"worker %s of %s, stream %s"}`,
					os.Getenv("HARK_WORKER"), os.Getenv("HARK_SCHEMA"), os.Getenv("HARK_STREAM"))
			case "twice":
				return "{}\n{\"error\":\"nobody asked\"}"
			}
			return `{}`
		})
		fmt.Fprintln(os.Stderr, "the end of", asked)
	}
	roles["closer"] = func() { // hears one request, then nothing any more
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		_ = os.Stdin.Close()
		fmt.Println("{}")
		time.Sleep(time.Hour)
	}
	roles["crasher"] = func() { os.Exit(4) }
}

func newStream(t *testing.T, role string) (*Stream, *collected) {
	t.Helper()
	out := &collected{}
	s := &Stream{Command: command(role), Output: out, KillAfter: 50 * time.Millisecond}
	t.Cleanup(s.Close)
	return s, out
}

// ask returns how a run ended, as a word.
func ask(t *testing.T, s *Stream, name string) string {
	t.Helper()
	result, err := s.Run(t.Context(), question(name))
	_, parks := errors.AsType[*ParkError](err)
	switch {
	case parks:
		return "park: " + err.Error()
	case err == ErrAgain:
		return "again"
	case err != nil:
		return err.Error()
	case result.RequeueAfter > 0:
		return "requeue " + result.RequeueAfter.String()
	}
	return "done"
}

func TestAnswersBecomeOutcomes(t *testing.T) {
	s, out := newStream(t, "answer")
	for _, tc := range [][2]string{
		{"a", "done"}, {"requeue", "requeue 30s"}, {"park", "park: no such team"}, {"retry", "again"},
		{"error", "went wrong"}, {"both", "the answer says several things at once"}, {"log", "done"}, {"a", "done"},
		{"worker", "worker 1 of hark.run/v1, stream 1"},
	} {
		if got := ask(t, s, tc[0]); got != tc[1] {
			t.Errorf("%s: %s; want %s", tc[0], got, tc[1])
		}
	}
	s.Close()
	if want := "a line\n{\"level\":\"info\"}\n{\n"; out.stdout() != want || out.stderr() != "the end of 9\n" {
		t.Errorf("passed on %q and %q; want %q, and that one program answered all", out.stdout(), out.stderr(), want)
	}
}

func TestACrashIsAFailureAndTheNextRequestHasANewProgram(t *testing.T) {
	s, _ := newStream(t, "answer")
	first := ask(t, s, "pid")
	for _, tc := range [][2]string{
		{"crash", "exit code 7: out of cheese"}, {"a", "done"}, {"leave", errNoAnswer.Error()}, {"a", "done"},
	} {
		if got := ask(t, s, tc[0]); got != tc[1] {
			t.Errorf("%s: %s; want %s", tc[0], got, tc[1])
		}
	}
	if second := ask(t, s, "pid"); second == first {
		t.Errorf("the program is still %s", first)
	}
}

func TestAProgramThatCrashesAtOnceIsStartedMoreAndMoreSlowly(t *testing.T) {
	s, _ := newStream(t, "crasher")
	for range 3 {
		if got := ask(t, s, "a"); got != "exit code 4" {
			t.Errorf("%s; want exit code 4", got)
		}
	}
	seat := s.take()
	defer s.put(seat)
	if next := restarts.Delay(seat.crashes - 1); seat.crashes != 3 || next != 200*time.Millisecond {
		t.Errorf("%d crashes, the next start after %s; want 3 and 200ms", seat.crashes, next)
	}
}

func TestAProgramThatDoesNotAnswerIsEndedWithItsTime(t *testing.T) {
	s, _ := newStream(t, "answer")
	before := ask(t, s, "pid")
	if _, err := s.Run(soon(t), question("silent")); err != errTime {
		t.Errorf("error %v; want the cause", err)
	}
	if after := ask(t, s, "pid"); after == before || after == "done" {
		t.Errorf("answered by %s, after %s; want another program", after, before)
	}
}

func TestARequestThatNobodyReadsEndsWithItsTime(t *testing.T) {
	s, _ := newStream(t, "endless")
	r := question("a")
	r.Object["huge"] = strings.Repeat("x", 1<<20) // more than a pipe holds
	if _, err := s.Run(soon(t), r); err != errTime {
		t.Errorf("error %v; want the cause", err)
	}
}

func TestAProgramThatClosesItsInputIsReplaced(t *testing.T) {
	s, _ := newStream(t, "closer")
	if got := ask(t, s, "a"); got != "done" {
		t.Errorf("%s; want done", got)
	}
	if got := ask(t, s, "a"); got == "done" {
		t.Error("a program that hears nothing has answered")
	}
	if got := ask(t, s, "a"); got != "done" {
		t.Errorf("%s; want done by a new program", got)
	}
}

func TestRunsAtTheSameTimeHaveAProgramEach(t *testing.T) {
	const workers = 4
	s, _ := newStream(t, "answer")
	pids := make(chan string, workers)
	var running sync.WaitGroup
	for range workers {
		seat := s.take() // all at once
		running.Go(func() {
			if err := s.ensure(t.Context(), seat); err != nil {
				t.Error(err)
			}
			a, err := seat.program.ask(t.Context(), question("pid"), time.Second)
			if err != nil {
				t.Error(err)
				return
			}
			pids <- *a.Error
		})
		t.Cleanup(func() { s.put(seat); s.Close() })
	}
	running.Wait()
	close(pids)
	different := map[string]bool{}
	for pid := range pids {
		different[pid] = true
	}
	if len(different) != workers {
		t.Errorf("%d programs; want %d", len(different), workers)
	}
}

func TestALineThatNobodyAskedForIsOutput(t *testing.T) {
	s, out := newStream(t, "answer")
	if got := ask(t, s, "twice"); got != "done" {
		t.Errorf("%s; want done", got)
	}
	s.Close() // it has written all
	if want := "{\"error\":\"nobody asked\"}\n"; out.stdout() != want {
		t.Errorf("passed on %q; want %q", out.stdout(), want)
	}
}
