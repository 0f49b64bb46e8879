package harktest_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gocampus/hark/harktest"
)

func TestFaultAnswersAStatusAsOftenAsAsked(t *testing.T) {
	s := harktest.Start(t)
	maps := clientset(t, s, jsonType).CoreV1().ConfigMaps("default")
	lift := s.Inject(harktest.Fault{Verb: "get", Resource: "configmaps", Skip: 1, Times: 2, Code: http.StatusForbidden, Message: "no"})
	var got []string
	for range 4 {
		_, err := maps.Get(ctx, "a", metav1.GetOptions{})
		got = append(got, string(apierrors.ReasonForError(err)))
	}
	diff(t, "answers", got, []string{"NotFound", "Forbidden", "Forbidden", "NotFound"})
	lift()
	lift() // harmless
	if _, err := maps.List(ctx, metav1.ListOptions{}); err != nil {
		t.Errorf("a fault of get failed a list: %v", err)
	}
}

func TestFaultMatchesWhatItNames(t *testing.T) {
	s := harktest.Start(t)
	create(t, s, deployment("web", 1))
	for _, tc := range []struct {
		fault harktest.Fault
		want  bool
	}{
		{harktest.Fault{}, true},
		{harktest.Fault{Verb: "get", Resource: "deployments.apps", Namespace: "default", Name: "web", Subresource: "scale"}, true},
		{harktest.Fault{Resource: "deployments"}, true},
		{harktest.Fault{Verb: "update"}, false},
		{harktest.Fault{Resource: "deployments.extensions"}, false},
		{harktest.Fault{Namespace: "other"}, false},
		{harktest.Fault{Name: "other"}, false},
		{harktest.Fault{Subresource: "status"}, false},
	} {
		tc.fault.Code = http.StatusTeapot
		lift := s.Inject(tc.fault)
		code, _ := request(t, s, http.MethodGet, "/apis/apps/v1/namespaces/default/deployments/web/scale", "")
		lift()
		if got := code == http.StatusTeapot; got != tc.want {
			t.Errorf("fault %+v applied: %v (code %d); want %v", tc.fault, got, code, tc.want)
		}
	}
}

func TestFaultStatusesCarryWhatClientsLookAt(t *testing.T) {
	s := harktest.Start(t)
	for _, tc := range []struct {
		fault  harktest.Fault
		reason metav1.StatusReason
	}{
		{harktest.Fault{Code: 403}, metav1.StatusReasonForbidden},
		{harktest.Fault{Code: 404}, metav1.StatusReasonNotFound},
		{harktest.Fault{Code: 410}, metav1.StatusReasonExpired},
		{harktest.Fault{Code: 410, Reason: metav1.StatusReasonGone}, metav1.StatusReasonGone},
		{harktest.Fault{Code: 429, RetryAfter: 1500 * time.Millisecond}, metav1.StatusReasonTooManyRequests},
		{harktest.Fault{Code: 500}, metav1.StatusReasonInternalError},
		{harktest.Fault{Code: 503}, metav1.StatusReasonServiceUnavailable},
		{harktest.Fault{Code: 504}, metav1.StatusReasonTimeout},
		{harktest.Fault{Status: &metav1.Status{Status: "Failure", Code: 418, Reason: "Teapot", Message: "short and stout"}}, "Teapot"},
	} {
		lift := s.Inject(tc.fault)
		response, err := httpClient(t, s).Get(s.URL() + "/api/v1/pods")
		lift()
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if got := status(t, string(body)); got.Reason != tc.reason || int(got.Code) != response.StatusCode {
			t.Errorf("fault %+v = %d %+v; want %s", tc.fault, response.StatusCode, got, tc.reason)
		}
		if want := map[bool]string{true: "2"}[tc.fault.RetryAfter > 0]; response.Header.Get("Retry-After") != want {
			t.Errorf("fault %+v: Retry-After %q; want %q", tc.fault, response.Header.Get("Retry-After"), want)
		}
	}
}

func TestRefusedAndCutConnectionsAreErrorsOfTheTransport(t *testing.T) {
	for _, options := range []harktest.Options{{}, {TLS: true}} {
		s := harktest.StartWith(t, options)
		create(t, s, configMap("default", "a", map[string]string{"x": strings.Repeat("y", 10_000)}))
		lift := s.Inject(harktest.Fault{Verb: "list", Refuse: true})
		if response, err := httpClient(t, s).Get(s.URL() + "/api/v1/configmaps"); err == nil {
			response.Body.Close()
			t.Errorf("TLS %v: a refused request was answered", options.TLS)
		}
		lift()
		lift = s.Inject(harktest.Fault{Verb: "list", CutAfterBytes: 1000})
		response, err := httpClient(t, s).Get(s.URL() + "/api/v1/configmaps")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		lift()
		if len(body) != 1000 || err == nil {
			t.Errorf("TLS %v: a body cut after 1000 bytes = %d bytes, %v; want an error", options.TLS, len(body), err)
		}
	}
}

func TestDownServerRefusesAndComesBack(t *testing.T) {
	s := harktest.Start(t)
	create(t, s, configMap("default", "a", nil))
	client := httpClient(t, s)
	up := s.GoDown()
	_, err := client.Get(s.URL() + "/readyz") // there is none
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("request to a server that is down = %v; want connection refused", err)
	}
	if err := up(); err != nil {
		t.Fatal(err)
	}
	response, err := client.Get(s.URL() + "/api/v1/namespaces/default/configmaps/a")
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("request after it came back = %v, %v", response, err)
	}
	response.Body.Close()
}

func TestSilentFaultHoldsRequestsUntilItIsLifted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := harktest.StartWith(t, harktest.Options{InMemory: true})
		lift := s.Inject(harktest.Fault{Verb: "create", Silent: true})
		failed := make(chan error, 1)
		go func() {
			_, err := clientset(t, s, jsonType).CoreV1().ConfigMaps("default").Create(ctx, configMap("", "a", nil), metav1.CreateOptions{})
			failed <- err
		}()
		time.Sleep(time.Hour)
		select {
		case err := <-failed:
			t.Errorf("a held request ended: %v", err)
		default:
		}
		lift()
		if err := <-failed; err == nil || apierrors.ReasonForError(err) != metav1.StatusReasonUnknown {
			t.Errorf("a held request after the fault was lifted = %v; want a broken connection", err)
		}
	})
}

func TestHalfOpenWatchOutlivesItsTimeout(t *testing.T) {
	bubbled(t, func(t *testing.T, contentType string) {
		s := harktest.StartWith(t, harktest.Options{InMemory: true})
		lift := s.Inject(harktest.Fault{Verb: "watch", Silent: true, AfterEvents: 1})
		seconds := int64(60)
		w := watching(t, s, contentType, metav1.ListOptions{TimeoutSeconds: &seconds})
		create(t, s, configMap("default", "a", nil))
		first := s.Version()
		create(t, s, configMap("default", "b", nil))
		time.Sleep(2 * time.Hour)
		expect(t, w, fmt.Sprintf("ADDED a@%d", first))
		lift()
		expect(t, w, "end")
	})
}

func TestDelayAndBandwidthTakeTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := harktest.StartWith(t, harktest.Options{InMemory: true})
		create(t, s, configMap("default", "a", map[string]string{"x": strings.Repeat("y", 9_000)}))
		get := func() time.Duration {
			start := time.Now()
			if code, body := request(t, s, http.MethodGet, "/api/v1/namespaces/default/configmaps/a", ""); code != http.StatusOK || len(body) < 9_000 {
				t.Fatalf("answer = %d, %d bytes", code, len(body))
			}
			return time.Since(start)
		}
		lift := s.Inject(harktest.Fault{Delay: 3 * time.Second})
		if took := get(); took != 3*time.Second {
			t.Errorf("delayed by 3 s: took %v", took)
		}
		lift()
		defer s.Inject(harktest.Fault{BytesPerSecond: 1000})()
		if took := get(); took < 9*time.Second || took > 10*time.Second {
			t.Errorf("9 kB at 1 kB/s took %v", took)
		}
	})
}

func TestFaultsOfWatchesChangeTheStream(t *testing.T) {
	yes := true
	streaming := metav1.ListOptions{SendInitialEvents: &yes, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true}
	bubbled(t, func(t *testing.T, contentType string) {
		for name, tc := range map[string]struct {
			fault harktest.Fault
			want  string // a and b exist; c, d are created; then a minute passes
		}{
			"none":                {harktest.Fault{}, "+a +b end +c +d mark"},
			"dropped":             {harktest.Fault{AfterEvents: 2, DropEvents: 1}, "+a +b end +d mark"},
			"doubled":             {harktest.Fault{AfterEvents: 1, DoubleEvents: 2}, "+a +b +b end +c +c +d mark"},
			"replayed":            {harktest.Fault{AfterEvents: 3, ReplayEvents: 2}, "+a +b end +c +b +c +d mark"},
			"no bookmarks":        {harktest.Fault{NoBookmarks: true}, "+a +b +c +d"},
			"no end":              {harktest.Fault{NoInitialEnd: true}, "+a +b +c +d mark"},
			"no initial events":   {harktest.Fault{NoInitialEvents: true}, "end +c +d mark"},
			"error event":         {harktest.Fault{AfterEvents: 3, EventError: true, Code: 410}, "+a +b end +c ERROR410 closed"},
			"error event at once": {harktest.Fault{EventError: true, Code: 500}, "ERROR500 closed"},
			"cut":                 {harktest.Fault{AfterEvents: 3, CutEvent: true}, "+a +b end +c closed"},
			"malformed":           {harktest.Fault{AfterEvents: 3, MalformedEvent: true}, "+a +b end +c ERROR500 closed"},
		} {
			s := harktest.StartWith(t, harktest.Options{InMemory: true})
			create(t, s, configMap("default", "a", nil), configMap("default", "b", nil))
			lift := s.Inject(tc.fault)
			w := watching(t, s, contentType, streaming)
			synctest.Wait()
			create(t, s, configMap("default", "c", nil), configMap("default", "d", nil))
			time.Sleep(time.Minute)
			events, ended := arrived(w)
			if got := terse(events, ended); got != tc.want {
				t.Errorf("%s: got %q; want %q (%v)", name, got, tc.want, events)
			}
			lift()
		}
	})
}

// terse shortens events to "+a", "end", "mark", "ERROR410" and "closed".
func terse(lines []string, ended bool) string {
	var words []string
	for _, l := range lines {
		fields := strings.Fields(l)
		switch {
		case fields[0] == "BOOKMARK" && len(fields) == 3:
			words = append(words, "end")
		case fields[0] == "BOOKMARK":
			words = append(words, "mark")
		case fields[0] == "ERROR":
			words = append(words, "ERROR"+fields[1])
		default:
			name, _, _ := strings.Cut(fields[1], "@")
			words = append(words, "+"+name)
		}
	}
	if ended {
		words = append(words, "closed")
	}
	return strings.Join(words, " ")
}

func TestRestartBreaksConnectionsAndMayForget(t *testing.T) {
	bubbled(t, func(t *testing.T, contentType string) {
		for _, tc := range []struct {
			options harktest.RestartOptions
			resume  string // what a watch from before the restart gets
			lower   bool
		}{
			{harktest.RestartOptions{}, "MODIFIED", false},
			{harktest.RestartOptions{Forget: true}, "ERROR", false},
			{harktest.RestartOptions{Renumber: true, StartVersion: 10}, "", true},
		} {
			s := harktest.StartWith(t, harktest.Options{InMemory: true, StartVersion: 1000})
			m := configMap("default", "a", nil)
			create(t, s, m)
			old, before := m.ResourceVersion, s.Version()
			if err := s.Change(ctx, m, func() { m.Data = map[string]string{"n": "2"} }); err != nil {
				t.Fatal(err)
			}
			w := watching(t, s, contentType, metav1.ListOptions{})
			expect(t, w, "ADDED a=2@"+m.ResourceVersion)
			s.Restart(tc.options)
			expect(t, w, "end")
			if lower := s.Version() < before; lower != tc.lower {
				t.Errorf("%+v: version went from %d to %d; want lower: %v", tc.options, before, s.Version(), tc.lower)
			}
			again := configMap("default", "a", nil)
			if err := s.Get(ctx, again); err != nil || again.UID != m.UID || again.Data["n"] != "2" {
				t.Errorf("%+v: the object after the restart = %+v, %v; want it kept", tc.options, again, err)
			}
			if v, err := strconv.ParseUint(again.ResourceVersion, 10, 64); err != nil || v > s.Version() {
				t.Errorf("%+v: the object's version %s is above the server's %d", tc.options, again.ResourceVersion, s.Version())
			}
			events, _ := arrived(watching(t, s, contentType, metav1.ListOptions{ResourceVersion: old}))
			got := ""
			if len(events) > 0 {
				got, _, _ = strings.Cut(events[0], " ")
			}
			if got != tc.resume {
				t.Errorf("%+v: a watch from before the restart got %v; want %q", tc.options, events, tc.resume)
			}
		}
	})
}
