package kube

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

// silentBody is a body that never says anything. It ends with its request, as
// those of net/http do.
type silentBody struct{ r *http.Request }

func (b silentBody) Read([]byte) (int, error) {
	<-b.r.Context().Done()
	return 0, b.r.Context().Err()
}

func (silentBody) Close() error { return nil }

func TestAQuietWatchIsNotBoundByTheTimeToAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := connect(t, &rest.Config{Host: "server.test", Timeout: 3 * time.Second, Transport: transport(func(r *http.Request) (*http.Response, error) {
			a := answer(http.StatusOK, "application/json;stream=watch", "")
			a.Body = silentBody{r}
			return a, nil
		})}, Options{})
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Hour, errors.New("an hour is over"))
		defer cancel()
		stream, err := client.Source(podKind, SourceOptions{}).Watch(ctx, watch.WatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Close()
		start := time.Now()
		if _, err := stream.Next(); err != context.Cause(ctx) || time.Since(start) != time.Hour {
			t.Errorf("Next ended after %s with %v; want the cause of ctx, unwrapped, after an hour", time.Since(start), err)
		}
	})
}

func TestTheTimeoutOfTheConfigurationBoundsTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := connect(t, &rest.Config{Host: "server.test", Timeout: 3 * time.Second, Transport: transport(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})}, Options{})
		start := time.Now()
		listError(t.Context(), client.Source(podKind, SourceOptions{}))
		if waited := time.Since(start); waited != 3*time.Second {
			t.Errorf("it waited %s; want 3s", waited)
		}
	})
}

func TestAnEndedContextIsReturnedAsItsCause(t *testing.T) {
	stop := errors.New("the program ends")
	block := transport(func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	t.Run("before the answer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			client := connect(t, &rest.Config{Host: "server.test", Transport: block}, Options{})
			go func() {
				time.Sleep(time.Second)
				cancel(stop)
			}()
			if _, err := client.Source(podKind, SourceOptions{}).List(ctx, watch.ListOptions{}); err != stop {
				t.Errorf("List: %v; want the cause, unwrapped", err)
			}
		})
	})
	t.Run("in the queue of the rate limit", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			client := connect(t, &rest.Config{Host: "server.test", QPS: 0.001, Burst: 1, Transport: transport(func(*http.Request) (*http.Response, error) {
				return answer(http.StatusNotFound, "text/plain", ""), nil
			})}, Options{})
			source := client.Source(podKind, SourceOptions{})
			watchError(t, listError(ctx, source)) // takes the only token
			go func() {
				time.Sleep(time.Second)
				cancel(stop)
			}()
			if _, err := source.Watch(ctx, watch.WatchOptions{}); err != stop {
				t.Errorf("Watch: %v; want the cause, unwrapped", err)
			}
		})
	})
}

func TestTheRateLimitOfTheConfigurationHoldsRequestsBack(t *testing.T) {
	for _, tc := range []struct {
		name   string
		config rest.Config
		want   time.Duration // for 12 requests
	}{
		{"client-go's default, 5 a second after 10", rest.Config{}, 400 * time.Millisecond},
		{"configured", rest.Config{QPS: 1, Burst: 2}, 10 * time.Second},
		{"none", rest.Config{QPS: -1}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config := tc.config
				config.Host = "server.test"
				config.Transport = transport(func(*http.Request) (*http.Response, error) {
					return answer(http.StatusNotFound, "text/plain", ""), nil
				})
				client, err := New(&config, Options{})
				if err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				for range 12 {
					watchError(t, listError(t.Context(), client.Source(podKind, SourceOptions{})))
				}
				if got := time.Since(start).Round(time.Millisecond); got != tc.want {
					t.Errorf("12 requests took %s; want %s", got, tc.want)
				}
			})
		})
	}
}

func TestADeadlineThatTheRateLimitCannotMeetIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := connect(t, &rest.Config{Host: "server.test", QPS: 0.001, Burst: 1, Transport: transport(func(*http.Request) (*http.Response, error) {
			return answer(http.StatusNotFound, "text/plain", ""), nil
		})}, Options{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		source := client.Source(podKind, SourceOptions{})
		listError(ctx, source)
		if err := watchError(t, listError(ctx, source)); err.Kind != watch.KindUnavailable {
			t.Errorf("the error is %s (%v); want unavailable", err.Kind, err)
		}
	})
}

// closeCounter counts how often a body was closed.
type closeCounter struct {
	io.Reader
	closed int
}

func (c *closeCounter) Close() error { c.closed++; return nil }

func TestTheBodyIsAlwaysClosed(t *testing.T) {
	for _, tc := range []struct {
		name        string
		code        int
		contentType string
		body        string
	}{
		{"a list", 200, "application/json", `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[]}`},
		{"a broken list", 200, "application/json", `{"kind":"PodList","items":[{`},
		{"a page", 200, "text/html", "<html>"},
		{"a refusal", 500, "text/plain", "no"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			body := &closeCounter{Reader: answer(0, "", tc.body).Body}
			client := connect(t, &rest.Config{Host: "server.test", Transport: transport(func(*http.Request) (*http.Response, error) {
				a := answer(tc.code, tc.contentType, "")
				a.Body = body
				return a, nil
			})}, Options{})
			list, err := client.Source(podKind, SourceOptions{}).List(t.Context(), watch.ListOptions{})
			for err == nil {
				_, err = list.Next()
			}
			if body.closed != 1 {
				t.Errorf("after %v the body was closed %d times; want once", err, body.closed)
			}
			if list != nil {
				list.Close()
				if _, again := list.Next(); again != err || body.closed != 1 {
					t.Errorf("Next after Close: %v; want %v as before", again, err)
				}
			}
		})
	}
}

func TestAnAnswerThatComesAsTheTimeRunsOutIsTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := &closeCounter{Reader: answer(0, "", "{}").Body}
		client := connect(t, &rest.Config{Host: "server.test", Transport: transport(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			a := answer(http.StatusOK, wire.ContentTypeJSON, "")
			a.Body = body
			return a, nil
		})}, Options{})
		stream, err := client.Source(podKind, SourceOptions{}).Watch(t.Context(), watch.WatchOptions{})
		if stream != nil || watchError(t, err).Kind != watch.KindUnavailable || body.closed != 1 {
			t.Errorf("Watch = %v, %v, body closed %d times; want no stream, unavailable, once", stream, err, body.closed)
		}
	})
}

// warnings records what a handler was told.
type warnings []string

func (w *warnings) HandleWarningHeader(_ int, _ string, text string) { *w = append(*w, text) }

func (w *warnings) HandleWarningHeaderWithContext(_ context.Context, _ int, _ string, text string) {
	*w = append(*w, text)
}

func TestWarningsOfTheServerReachTheHandler(t *testing.T) {
	var plain, contextual warnings
	for _, config := range []*rest.Config{{WarningHandler: &plain}, {WarningHandlerWithContext: &contextual}, {}} {
		config.Host = "server.test"
		config.Transport = transport(func(*http.Request) (*http.Response, error) {
			a := answer(http.StatusNotFound, "text/plain", "")
			a.Header.Set("Warning", `299 - "v1 ComponentStatus is deprecated"`)
			return a, nil
		})
		listError(t.Context(), connect(t, config, Options{}).Source(podKind, SourceOptions{}))
	}
	want := warnings{"v1 ComponentStatus is deprecated"}
	if diff := cmp.Diff([]warnings{plain, contextual}, []warnings{want, want}); diff != "" {
		t.Errorf("the handlers were told (-got +want):\n%s", diff)
	}
}

func TestRequestsSayWhoSendsThem(t *testing.T) {
	for configured, want := range map[string]string{"": userAgent(), "shop/1": "shop/1"} {
		var got string
		client := connect(t, &rest.Config{Host: "server.test", UserAgent: configured, BearerToken: "t", Transport: transport(func(r *http.Request) (*http.Response, error) {
			got = r.Header.Get("User-Agent")
			if r.Header.Get("Authorization") != "Bearer t" {
				t.Error("the token of the configuration was not sent")
			}
			return answer(http.StatusNotFound, "text/plain", ""), nil
		})}, Options{})
		listError(t.Context(), client.Source(podKind, SourceOptions{}))
		if got != want {
			t.Errorf("User-Agent is %q; want %q", got, want)
		}
	}
}
