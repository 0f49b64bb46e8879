package kube

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

func TestEachAnswerHasItsKind(t *testing.T) {
	const none = metav1.StatusReasonUnknown
	for _, tc := range []struct {
		code   int
		reason metav1.StatusReason
		text   string
		cause  metav1.CauseType
		want   watch.ErrorKind
	}{
		{410, metav1.StatusReasonExpired, "too old resource version: 1 (2)", "", watch.KindExpired},
		{410, metav1.StatusReasonGone, "", "", watch.KindExpired},
		{410, none, "", "", watch.KindExpired},
		{200, metav1.StatusReasonExpired, "", "", watch.KindExpired},
		{504, metav1.StatusReasonTimeout, "Timeout: Too large resource version: 9, current: 5", "ResourceVersionTooLarge", watch.KindTooLargeVersion},
		{504, metav1.StatusReasonTimeout, "Timeout: Too large resource version: 9, current: 5", "", watch.KindTooLargeVersion},
		{504, none, "Too large resource version: 9, current: 5", "", watch.KindTooLargeVersion},
		{504, metav1.StatusReasonTimeout, "request did not complete", "", watch.KindUnavailable},
		{500, none, "Too large resource version", "", watch.KindUnavailable},
		{429, metav1.StatusReasonTooManyRequests, "", "", watch.KindTooManyRequests},
		{429, none, "", "", watch.KindTooManyRequests},
		{401, metav1.StatusReasonUnauthorized, "Unauthorized", "", watch.KindUnauthorized},
		{401, none, "", "", watch.KindUnauthorized},
		{403, metav1.StatusReasonForbidden, "", "", watch.KindForbidden},
		{403, none, "", "", watch.KindForbidden},
		{404, metav1.StatusReasonNotFound, "", "", watch.KindNotFound},
		{404, none, "", "", watch.KindNotFound},
		{400, metav1.StatusReasonBadRequest, "", "", watch.KindInvalid},
		{400, none, "", "", watch.KindInvalid},
		{405, metav1.StatusReasonMethodNotAllowed, "", "", watch.KindInvalid},
		{405, none, "", "", watch.KindInvalid},
		{406, metav1.StatusReasonNotAcceptable, "", "", watch.KindInvalid},
		{415, metav1.StatusReasonUnsupportedMediaType, "", "", watch.KindInvalid},
		{422, metav1.StatusReasonInvalid, "", "", watch.KindInvalid},
		{422, none, "", "", watch.KindInvalid},
		{500, metav1.StatusReasonInternalError, "", "", watch.KindUnavailable},
		{503, metav1.StatusReasonServiceUnavailable, "", "", watch.KindUnavailable},
		{502, none, "", "", watch.KindUnavailable},
		{409, metav1.StatusReasonConflict, "", "", watch.KindUnavailable},
		{204, none, "", "", watch.KindUnavailable},
	} {
		status := metav1.Status{Code: int32(tc.code), Reason: tc.reason, Message: tc.text}
		if tc.cause != "" {
			status.Details = &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: tc.cause}}}
		}
		t.Run(fmt.Sprintf("%d %s %s", tc.code, tc.reason, tc.text), func(t *testing.T) {
			both(t, func(t *testing.T, mediaType string) {
				if tc.code >= 300 {
					checkAnswer(t, mediaType, status, tc.want)
				}
				checkErrorEvent(t, mediaType, status, tc.want)
			})
		})
	}
}

// checkAnswer refuses a list with status.
func checkAnswer(t *testing.T, mediaType string, status metav1.Status, want watch.ErrorKind) {
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		w.WriteHeader(int(status.Code))
		io.WriteString(w, failure(t, mediaType, status))
	})
	err := watchError(t, listError(t.Context(), client.Source(podKind, SourceOptions{Encoding: wire.Protobuf})))
	if err.Kind != want || err.Code != int(status.Code) {
		t.Errorf("the list fails with %s, code %d; want %s", err.Kind, err.Code, want)
	}
	if !strings.HasPrefix(err.Message, "list pods in all namespaces: ") || !strings.Contains(err.Message, status.Message) {
		t.Errorf("the message is %q; want the request and what the server said", err.Message)
	}
}

// checkErrorEvent ends a watch with an ERROR event of status.
func checkErrorEvent(t *testing.T, mediaType string, status metav1.Status, want watch.ErrorKind) {
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", mediaType+";stream=watch")
		status.Status = metav1.StatusFailure
		writeEvent(t, w, mediaType, "ERROR", &status)
	})
	stream, err := client.Source(podKind, SourceOptions{}).Watch(t.Context(), watch.WatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	event, err := stream.Next()
	if err != nil || event.Type != watch.EventError || event.Err.Kind != want || event.Err.Code != int(status.Code) {
		t.Errorf("the event is %+v, %v; want an ERROR that is %s", event, err, want)
	}
}

func TestForbiddenIsSaidInTheServersWords(t *testing.T) {
	const words = `pods is forbidden: User "eve" cannot list resource "pods" in API group "" in the namespace "default"`
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", wire.ContentTypeJSON)
		w.WriteHeader(http.StatusForbidden)
		io.WriteString(w, failure(t, wire.ContentTypeJSON, metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden, Message: words}))
	})
	err := listError(t.Context(), client.Source(podKind, SourceOptions{Namespace: "default"}))
	if got := watchError(t, err).Message; got != words {
		t.Errorf("the message is %q; want %q", got, words)
	}
}

func TestTheServersWishToWaitIsRead(t *testing.T) {
	for _, tc := range []struct {
		name    string
		header  string
		details int32
		want    time.Duration
	}{
		{"none", "", 0, 0},
		{"a header in seconds", "7", 0, 7 * time.Second},
		{"details of the body", "", 3, 3 * time.Second},
		{"the header before the body", "7", 3, 7 * time.Second},
		{"a date", "Mon, 01 Jan 2001 00:00:00 GMT", 0, 0},
		{"nonsense", "soon", 0, 0},
		{"a negative number", "-5", -5, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			both(t, func(t *testing.T, mediaType string) {
				client := serve(t, func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", mediaType)
					if tc.header != "" {
						w.Header().Set("Retry-After", tc.header)
					}
					w.WriteHeader(http.StatusTooManyRequests)
					io.WriteString(w, failure(t, mediaType, metav1.Status{
						Code: 429, Reason: metav1.StatusReasonTooManyRequests,
						Details: &metav1.StatusDetails{RetryAfterSeconds: tc.details},
					}))
				})
				err := watchError(t, listError(t.Context(), client.Source(podKind, SourceOptions{})))
				if err.RetryAfter != tc.want || err.Kind != watch.KindTooManyRequests {
					t.Errorf("%s, wait %s; want %s", err.Kind, err.RetryAfter, tc.want)
				}
			})
		})
	}
}

func TestRetryAfterMayBeADateAndIsBounded(t *testing.T) {
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"Sat, 01 Aug 2026 12:00:30 GMT":    30 * time.Second,
		"Sat, 01 Aug 2026 11:00:00 GMT":    0,
		"Sat, 01 Aug 2099 11:00:00 GMT":    24 * time.Hour,
		" 5 ":                              5 * time.Second,
		"18446744073709551615":             24 * time.Hour,
		"99999999999999999999999999999999": 24 * time.Hour,
		"1.5":                              0,
	} {
		if got := retryAfter(header, now); got != want {
			t.Errorf("retryAfter(%q) = %s; want %s", header, got, want)
		}
	}
}

func TestForeignAnswersAreQuotedInShort(t *testing.T) {
	long := strings.Repeat("all work and no play ", 1000)
	for _, tc := range []struct {
		name        string
		code        int
		contentType string
		body        string
		kind        watch.ErrorKind
		want        string
	}{
		{"a proxy's page", 502, "text/html", "<html><head><Title>\n502 Bad  Gateway</title></head><body>…</body>", watch.KindUnavailable,
			`list pods in all namespaces: the server answered 502 Bad Gateway: "502 Bad Gateway"`},
		{"plain text", 503, "text/plain", "upstream connect error\n\x1b[31mreset\n", watch.KindUnavailable,
			`list pods in all namespaces: the server answered 503 Service Unavailable: "upstream connect error \x1b[31mreset"`},
		{"nothing", 500, "", "", watch.KindUnavailable,
			`list pods in all namespaces: the server answered 500 Internal Server Error`},
		{"a path that is not served", 404, "text/plain; charset=utf-8", "404 page not found\n", watch.KindNotFound,
			`list pods in all namespaces: the server could not find the requested resource`},
		{"an unknown code", 599, "text/plain", "?", watch.KindUnavailable, `list pods in all namespaces: the server answered 599: "?"`},
		{"a long text", 500, "text/plain", long, watch.KindUnavailable,
			`list pods in all namespaces: the server answered 500 Internal Server Error: "` + long[:160] + `…"`},
		{"a Status that does not end", 403, "application/json", `{"kind":"Status","message":"no`, watch.KindForbidden,
			`list pods in all namespaces: the server answered 403 Forbidden: "{\"kind\":\"Status\",\"message\":\"no"`},
		{"JSON that is no Status", 404, "application/json", `{"error":"no such cluster"}`, watch.KindNotFound,
			`list pods in all namespaces: the server answered 404 Not Found: "{\"error\":\"no such cluster\"}"`},
		{"a login page", 200, "text/html; charset=utf-8", "<title>Sign in</title>", watch.KindMalformed,
			`list pods in all namespaces: the answer is text/html; charset=utf-8 and not an API object: "Sign in"`},
		{"no content type", 200, "", "{}", watch.KindMalformed,
			`list pods in all namespaces: the answer is without a content type and not an API object: "{}"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			client := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header()["Content-Type"] = nil // no sniffing
				if tc.contentType != "" {
					w.Header().Set("Content-Type", tc.contentType)
				}
				w.WriteHeader(tc.code)
				io.WriteString(w, tc.body)
			})
			err := watchError(t, listError(t.Context(), client.Source(podKind, SourceOptions{})))
			if err.Kind != tc.kind || err.Message != tc.want || err.Code != tc.code {
				t.Errorf("the error is %s, %d, %s; want %s, %s", err.Kind, err.Code, err.Message, tc.kind, tc.want)
			}
		})
	}
}

func TestAnEndlessForeignAnswerIsReadOnlyInPart(t *testing.T) {
	for _, code := range []int{http.StatusOK, http.StatusBadGateway} {
		client := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(code)
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat("x", 1<<10)); err != nil {
					return
				}
			}
		})
		err := watchError(t, listError(t.Context(), client.Source(podKind, SourceOptions{})))
		if len(err.Message) > 400 {
			t.Errorf("%d: the message has %d bytes", code, len(err.Message))
		}
	}
}

func TestErrorsOfTheNetworkAreUnavailableWithTheirCause(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	secure := serve(t, nil).Config().Host // speaks plain HTTP
	for _, tc := range []struct {
		name  string
		host  string
		cause func(error) bool
		want  string
	}{
		{"refused", "http://" + address, func(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) },
			"the connection to the server " + address + " was refused"},
		{"TLS", strings.Replace(secure, "http:", "https:", 1), func(err error) bool { return err != nil },
			"server gave HTTP response to HTTPS client"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			client := connect(t, &rest.Config{Host: tc.host}, Options{})
			err := watchError(t, listError(t.Context(), client.Source(podKind, SourceOptions{})))
			if err.Kind != watch.KindUnavailable || !tc.cause(err.Err) || err.Code != 0 {
				t.Errorf("the error is %s, code %d, cause %v; want unavailable", err.Kind, err.Code, err.Err)
			}
			if !strings.HasPrefix(err.Message, "list pods in all namespaces: ") || !strings.HasSuffix(err.Message, tc.want) {
				t.Errorf("the message is %q; want the request, then %q", err.Message, tc.want)
			}
		})
	}
}

func TestARedirectIsFollowedOnTheHostOnly(t *testing.T) {
	asked := false
	login := serve(t, func(w http.ResponseWriter, r *http.Request) { asked = true })
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/v1/namespaces/near/pods":
			http.Redirect(w, r, "/moved", http.StatusTemporaryRedirect)
		case "/moved":
			w.Header().Set("Content-Type", wire.ContentTypeJSON)
			w.Write(encode(t, wire.ContentTypeJSON, &corev1.PodList{}))
		case "/api/v1/namespaces/loop/pods":
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		default:
			http.Redirect(w, r, login.Config().Host+"/login?state=secret", http.StatusFound)
		}
	})
	if err := listError(t.Context(), client.Source(podKind, SourceOptions{Namespace: "near"})); err != io.EOF {
		t.Errorf("a redirect on the host: %v; want a list", err)
	}
	for namespace, want := range map[string]string{
		"loop": `list pods in namespace "loop": the server answered 302 Found: a redirect that is not followed, to /api/v1/namespaces/loop/pods`,
		"far":  `list pods in namespace "far": the server answered 302 Found: a redirect that is not followed, to ` + login.Config().Host + "/login",
	} {
		err := watchError(t, listError(t.Context(), client.Source(podKind, SourceOptions{Namespace: namespace})))
		if err.Kind != watch.KindUnavailable || err.Message != want {
			t.Errorf("the error is %s, %q; want unavailable, %q", err.Kind, err.Message, want)
		}
	}
	if asked {
		t.Error("credentials would have gone to another host")
	}
}

func TestErrorsOfReadingSayWhetherAnotherTryMayHelp(t *testing.T) {
	r := request{"watch", "pods"}
	for _, tc := range []struct {
		err  error
		want watch.ErrorKind
	}{
		{&wire.Error{What: "bad tag"}, watch.KindMalformed},
		{&wire.Error{What: "bad name", Object: true}, watch.KindObject},
		{&wire.Error{What: "stream ends inside a frame", Err: io.ErrUnexpectedEOF}, watch.KindUnavailable},
		{io.ErrUnexpectedEOF, watch.KindUnavailable},
		{syscall.ECONNRESET, watch.KindUnavailable},
	} {
		got := r.broken(tc.err)
		if got.Kind != tc.want || !errors.Is(got, tc.err) || !strings.HasPrefix(got.Message, "watch pods: ") {
			t.Errorf("broken(%v) = %s, %q; want %s", tc.err, got.Kind, got.Message, tc.want)
		}
	}
}

func TestErrorsOfClientGoAreMappedAlike(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for _, tc := range []struct {
		err  error
		want watch.ErrorKind
	}{
		{apierrors.NewForbidden(pods, "", errors.New("no")), watch.KindForbidden},
		{apierrors.NewUnauthorized("who?"), watch.KindUnauthorized},
		{apierrors.NewResourceExpired("old"), watch.KindExpired},
		{apierrors.NewTooManyRequests("slowly", 9), watch.KindTooManyRequests},
		{fmt.Errorf("wrapped: %w", apierrors.NewNotFound(pods, "x")), watch.KindNotFound},
		{syscall.ECONNRESET, watch.KindUnavailable},
	} {
		got := discoveryRequest.clientGo(tc.err)
		if got.Kind != tc.want || !errors.Is(got, tc.err) {
			t.Errorf("%v: %s; want %s", tc.err, got.Kind, tc.want)
		}
		if wait := got.RetryAfter; tc.want == watch.KindTooManyRequests && wait != 9*time.Second {
			t.Errorf("RetryAfter is %s; want 9s", wait)
		}
	}
}

func TestSilenceBeforeAnAnswerIsBounded(t *testing.T) {
	silent := func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	slowRefusal := func(r *http.Request) (*http.Response, error) {
		a := answer(http.StatusBadGateway, "text/html", "")
		a.Body = silentBody{r}
		return a, nil
	}
	slowPage := func(r *http.Request) (*http.Response, error) {
		a := answer(http.StatusOK, "text/html", "")
		a.Body = silentBody{r}
		return a, nil
	}
	for name, behaviour := range map[string]transport{"no headers": silent, "no end of a refusal": slowRefusal, "no end of a page": slowPage} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for timeout, o := range map[time.Duration]Options{60 * time.Second: {}, 3 * time.Second: {ResponseTimeout: 3 * time.Second}} {
					client := connect(t, &rest.Config{Host: "server.test", Transport: behaviour}, o)
					start := time.Now()
					err := watchError(t, listError(t.Context(), client.Source(nodeKind, SourceOptions{})))
					if waited := time.Since(start); waited != timeout || err.Kind != watch.KindUnavailable {
						t.Errorf("after %s: %s; want unavailable after %s", waited, err.Kind, timeout)
					}
					if want := fmt.Sprintf("list nodes: no answer within %s", timeout); err.Message != want {
						t.Errorf("the message is %q; want %q", err.Message, want)
					}
				}
			})
		})
	}
}
