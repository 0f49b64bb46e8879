package kube

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

const (
	// maxStatusBody bounds what is read of a refusal.
	maxStatusBody = 64 << 10
	// maxSample bounds what is read of an answer that is no answer.
	maxSample = 4 << 10
)

// open sends one GET and returns the body of a good answer, unread. The rate
// limit holds it back; the response timeout ends it when no answer comes, or
// when a refusal's body does not come to an end.
//
// Errors: *watch.Error, or the cause of ctx.
func (c *Client) open(ctx context.Context, r request, target *url.URL, accept string) (*body, error) {
	if err := c.limiter.Wait(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, r.failed(err)
	}
	requestCtx, cancel := context.WithCancelCause(ctx)
	patience := time.AfterFunc(c.responseTimeout, func() { cancel(errNoAnswer) })
	b, err := c.send(requestCtx, r, target, accept)
	// Not whether the timer's function has run, which may be about to, but
	// whether it was stopped decides: one answer to who was first.
	inTime := patience.Stop()
	if err == nil {
		b.cancel = cancel
		if inTime {
			return b, nil
		}
		_ = b.Close() // the answer came as the time ran out
	}
	cancel(nil)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case !inTime:
		return nil, r.unanswered(c.responseTimeout)
	}
	return nil, err
}

func (c *Client) send(ctx context.Context, r request, target *url.URL, accept string) (*body, error) {
	httpRequest := (&http.Request{
		Method: http.MethodGet,
		URL:    target,
		Host:   target.Host,
		Header: http.Header{"Accept": {accept}},
	}).WithContext(ctx)
	response, err := c.http.Do(httpRequest)
	if err != nil {
		return nil, r.failed(err)
	}
	c.warn(ctx, response.Header)
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		return nil, r.refused(readRefusal(response))
	}
	contentType := response.Header.Get("Content-Type")
	encoding, err := wire.EncodingOf(contentType)
	if err != nil {
		defer response.Body.Close()
		return nil, r.notAnObject(contentType, err, response.Body)
	}
	return &body{
		request:  r,
		encoding: encoding,
		stream:   response.Body,
		cause:    func() error { return context.Cause(ctx) },
	}, nil
}

// readRefusal reads what an answer other than 200 says.
func readRefusal(response *http.Response) refusal {
	a := refusal{
		code:       response.StatusCode,
		retryAfter: retryAfter(response.Header.Get("Retry-After"), time.Now()),
	}
	// A body that breaks off is as good as none: the code says enough.
	raw, _ := io.ReadAll(io.LimitReader(response.Body, maxStatusBody))
	if encoding, err := wire.EncodingOf(response.Header.Get("Content-Type")); err == nil {
		if status, err := wire.ParseStatus(encoding, raw); err == nil {
			a.status = status
			return a
		}
	}
	a.text = excerpt(raw)
	if location := response.Header.Get("Location"); location != "" && response.StatusCode/100 == 3 {
		a.text = "a redirect that is not followed, to " + withoutQuery(location)
	}
	return a
}

// withoutQuery drops what may hold a token.
func withoutQuery(location string) string {
	u, err := url.Parse(location)
	if err != nil {
		return "an unreadable address"
	}
	u.RawQuery, u.Fragment, u.User = "", "", nil
	return u.String()
}

// notAnObject reports an answer that no API server gave, such as the login page
// of a proxy.
func (r request) notAnObject(contentType string, err error, from io.Reader) *watch.Error {
	raw, _ := io.ReadAll(io.LimitReader(from, maxSample)) // an excerpt; what there is will do
	if contentType == "" {
		contentType = "without a content type"
	}
	text := r.String() + ": the answer is " + contentType + " and not an API object"
	if sample := excerpt(raw); sample != "" {
		text += ": " + sample
	}
	return &watch.Error{Kind: watch.KindMalformed, Code: http.StatusOK, Message: text, Err: err}
}

// warn hands the server's warnings to the handler of the configuration, if any.
func (c *Client) warn(ctx context.Context, header http.Header) {
	if c.config.WarningHandler == nil && c.config.WarningHandlerWithContext == nil {
		return
	}
	warnings, _ := utilnet.ParseWarningHeaders(header["Warning"]) // those that parse are enough
	for _, w := range warnings {
		if c.config.WarningHandlerWithContext != nil {
			c.config.WarningHandlerWithContext.HandleWarningHeaderWithContext(ctx, w.Code, w.Agent, w.Text)
		} else {
			c.config.WarningHandler.HandleWarningHeader(w.Code, w.Agent, w.Text)
		}
	}
}
