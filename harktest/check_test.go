package harktest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gocampus/hark/harktest"
)

func TestOptionsThatMakeNoServerAreRefused(t *testing.T) {
	for field, o := range map[string]harktest.Options{
		"StartVersion":     {StartVersion: 1<<64 - 2},
		"History":          {History: -1},
		"WatchBuffer":      {WatchBuffer: -1},
		"BookmarkInterval": {BookmarkInterval: -1},
		"WatchTimeout":     {WatchTimeout: -time.Second},
		"RequestLimit":     {RequestLimit: -1},
		"Nodes":            {Story: &harktest.StoryOptions{Nodes: -1}},
		"ScheduleDelay":    {Story: &harktest.StoryOptions{ScheduleDelay: -1}},
		"StartDelay":       {Story: &harktest.StoryOptions{StartDelay: -1}},
		"StopDelay":        {Story: &harktest.StoryOptions{StopDelay: -1}},
	} {
		s, err := harktest.New(o)
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.HasPrefix(err.Error(), "harktest: ") || !strings.Contains(err.Error(), field) {
			t.Errorf("New with a wrong %s = %v; want an error that names it", field, err)
		}
	}
	if err := harktest.Start(t).RunStory(t.Context(), harktest.StoryOptions{Nodes: -1}); err == nil || !strings.Contains(err.Error(), "Nodes is -1") {
		t.Errorf("RunStory with -1 nodes = %v; want an error that says so", err)
	}
}

func TestVersionsBeginAsHighAsTheyMay(t *testing.T) {
	s := harktest.StartWith(t, harktest.Options{StartVersion: 1 << 62})
	before := s.Version()
	create(t, s, configMap("default", "a", nil))
	if s.Version() <= before || before <= 1<<62 {
		t.Errorf("versions go from %d to %d; want them to rise", before, s.Version())
	}
	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, "StartVersion") {
			t.Errorf("Restart from a version that overflows: %v; want a panic that names StartVersion", got)
		}
	}()
	s.Restart(harktest.RestartOptions{Renumber: true, StartVersion: 1<<64 - 3})
}

func TestFaultThatCannotBeIsRefusedWhereItIsInjected(t *testing.T) {
	s := harktest.Start(t)
	for field, f := range map[string]harktest.Fault{
		"Code":           {Code: 99},
		"Status":         {Status: &metav1.Status{Code: 1000}},
		"Skip":           {Skip: -1},
		"Times":          {Times: -1},
		"RetryAfter":     {RetryAfter: -1},
		"Delay":          {Delay: -1},
		"BytesPerSecond": {BytesPerSecond: -1},
		"CutAfterBytes":  {CutAfterBytes: -1},
		"AfterEvents":    {AfterEvents: -1},
		"DropEvents":     {DropEvents: -1},
		"DoubleEvents":   {DoubleEvents: -1},
		"ReplayEvents":   {ReplayEvents: -1},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, field) {
					t.Errorf("Inject with a wrong %s: %v; want a panic that names it", field, got)
				}
			}()
			s.Inject(f)
		}()
	}
	if code, body := request(t, s, http.MethodGet, "/api/v1/namespaces/default", ""); code != http.StatusOK {
		t.Errorf("a request after them = %d %s; want none in force", code, body)
	}
}

func TestFaultStatusWithoutACodeIsAnInternalError(t *testing.T) {
	s := harktest.Start(t)
	for _, f := range []harktest.Fault{
		{Status: &metav1.Status{Reason: "Teapot"}},
		{Status: &metav1.Status{Reason: "Teapot"}, Verb: "watch"},
		{Status: &metav1.Status{Reason: "Teapot"}, EventError: true},
		{EventError: true, Reason: "Teapot"},
	} {
		lift := s.Inject(f)
		query := map[bool]string{true: "?watch=1"}[f.Verb == "watch" || f.EventError]
		code, body := request(t, s, http.MethodGet, "/api/v1/pods"+query, "")
		lift()
		want := http.StatusInternalServerError
		if f.EventError {
			want = http.StatusOK
		}
		if code != want || !strings.Contains(body, `"code":500`) || !strings.Contains(body, "Teapot") {
			t.Errorf("%+v: %d %s; want %d with code 500 and the reason", f, code, body, want)
		}
	}
	defer s.Inject(harktest.Fault{Code: http.StatusTeapot, Status: &metav1.Status{Reason: "Teapot"}})()
	if code, body := request(t, s, http.MethodGet, "/api/v1/pods", ""); code != http.StatusTeapot || !strings.Contains(body, `"code":418`) {
		t.Errorf("a Status without a code beside one: %d %s; want 418", code, body)
	}
}
