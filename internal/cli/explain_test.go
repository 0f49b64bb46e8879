package cli

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/internal/cli/demo"
	"github.com/gocampus/hark/internal/cli/follow"
	"github.com/gocampus/hark/watch"
)

func TestErrorsAreInKubectlsWords(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for _, tc := range []struct {
		name string
		err  error
		want string
		try  bool
	}{
		{"not found", apierrors.NewNotFound(pods, "a"), `Error from server (NotFound): pods "a" not found`, false},
		{"forbidden", apierrors.NewForbidden(pods, "a", errors.New("no")), `Error from server (Forbidden): pods "a" is forbidden: no`, true},
		{"unauthorized", apierrors.NewUnauthorized("x"), "error: You must be logged in to the server (Unauthorized)", true},
		{"no reason", &watch.Error{Kind: watch.KindUnavailable, Code: 500, Message: "list pods: broken"}, "Error from server: list pods: broken", false},
		{"refused by a source", &watch.Error{Kind: watch.KindTooManyRequests, Code: http.StatusTooManyRequests, Message: "wait"},
			"Error from server (TooManyRequests): wait", false},
		{"no answer at all", &watch.Error{Kind: watch.KindUnavailable, Err: errors.New("no such host")},
			"Unable to connect to the server: 127.0.0.1:1: no such host", true},
	} {
		s := newSession(Process{Args: []string{"hark"}, Getenv: environment(nil).get})
		f := s.failureOf(&serverError{host: "https://127.0.0.1:1", err: tc.err})
		if f.message != tc.want || f.code != exitError || (f.try != "") != tc.try {
			t.Errorf("%s: %+v; want %q", tc.name, f, tc.want)
		}
	}
}

func TestARefusedWatchIsWordedAsAnAnswer(t *testing.T) {
	s := newSession(Process{Args: []string{"hark"}, Getenv: environment(nil).get})
	f := s.failureOf(&follow.RefusedError{Err: &watch.Error{Kind: watch.KindInvalid, Code: 400, Message: "bad selector"}})
	if want := "Error from server (BadRequest): bad selector"; f.message != want {
		t.Errorf("message %q; want %q", f.message, want)
	}
}

func TestAStuckDemoSaysWhereInBothLanguages(t *testing.T) {
	stuck := &demo.StuckError{Part: 2, After: 30 * time.Second, Reason: context.DeadlineExceeded}
	for lang, want := range map[string]string{
		"en": "error: the demo did not get further within 30s in part 2: context deadline exceeded",
		"zh": "error: 演示的第 2 部分在 30s 内没有进展：context deadline exceeded",
	} {
		s := newSession(Process{Args: []string{"hark", "--lang", lang}, Getenv: environment(nil).get})
		if f := s.failureOf(stuck); f.message != want || f.code != exitError {
			t.Errorf("%s: %+v; want %q", lang, f, want)
		}
	}
}

func TestAMessageOfSeveralLinesBecomesOne(t *testing.T) {
	if got, want := oneLine("a\nb\r\n\nc\n"), "a; b; c"; got != want {
		t.Errorf("oneLine = %q; want %q", got, want)
	}
}
