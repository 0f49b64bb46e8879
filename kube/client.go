package kube

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
)

// Options of a Client. The zero value is ready to use.
type Options struct {
	// ResponseTimeout bounds the wait for the answer to one request: connecting,
	// logging in and the server's thinking, not the reading of a list or a
	// watch. 0 means the configuration's Timeout, and without one 60 s, which
	// is how long an API server thinks at most by default.
	ResponseTimeout time.Duration
	// RediscoverInterval is how long an unknown kind stays unknown before the
	// server is asked again; 0 means 5 s.
	RediscoverInterval time.Duration
	// Scheme maps Go types to kinds for KindOf; nil means client-go's scheme,
	// which has every built-in kind.
	Scheme *runtime.Scheme
}

const (
	defaultResponseTimeout    = 60 * time.Second
	defaultRediscoverInterval = 5 * time.Second
	maxRedirects              = 10
)

// Client talks to one API server as one user. It is safe for concurrent use and
// owns no goroutine.
type Client struct {
	config          *rest.Config
	http            *http.Client
	base            *url.URL // its path ends without a slash
	limiter         flowcontrol.RateLimiter
	responseTimeout time.Duration
	scheme          *runtime.Scheme
	catalog         *catalog
}

// New returns a Client for a configuration, which it copies. It sends nothing.
//
// Transport, authentication, proxies, compression, the user agent and the rate
// limit (QPS and Burst, or RateLimiter) are those of the configuration;
// Timeout, which for client-go bounds a whole request and would cut every
// watch, bounds here only the wait for an answer.
func New(cfg *rest.Config, o Options) (*Client, error) {
	if cfg == nil {
		return nil, errors.New("kube: no configuration")
	}
	config := rest.CopyConfig(cfg)
	if config.UserAgent == "" {
		config.UserAgent = userAgent()
	}
	timeout := firstPositive(o.ResponseTimeout, config.Timeout, defaultResponseTimeout)
	config.Timeout = 0

	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("kube: server address %q: %w", config.Host, err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("kube: connection to %s: %w", base.Host, err)
	}
	client = stayOnHost(client)
	disco, err := discovery.NewDiscoveryClientForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("kube: discovery at %s: %w", base.Host, err)
	}
	return &Client{
		config:          config,
		http:            client,
		base:            &url.URL{Scheme: base.Scheme, Host: base.Host, Path: strings.TrimRight(base.Path, "/")},
		limiter:         limiterOf(config),
		responseTimeout: timeout,
		scheme:          cmp.Or(o.Scheme, scheme.Scheme),
		catalog:         newCatalog(disco, timeout, firstPositive(o.RediscoverInterval, defaultRediscoverInterval)),
	}, nil
}

// Config returns a copy of the configuration in use, for other clients of the
// same server.
func (c *Client) Config() *rest.Config { return rest.CopyConfig(c.config) }

// HTTP returns the http.Client in use, so that others (a typed clientset, made
// by NewForConfigAndClient) share its connections. It follows no redirect to
// another host.
func (c *Client) HTTP() *http.Client { return c.http }

// CloseIdle closes the connections that no request uses. client-go shares a
// transport between clients of equal configuration, so others may notice.
func (c *Client) CloseIdle() { utilnet.CloseIdleConnectionsFor(c.http.Transport) }

// limiterOf is client-go's rule: the given limiter, else a token bucket with
// its defaults, else, for a negative QPS, none.
func limiterOf(config *rest.Config) flowcontrol.RateLimiter {
	if config.RateLimiter != nil {
		return config.RateLimiter
	}
	qps, burst := config.QPS, config.Burst
	if qps == 0 {
		qps = rest.DefaultQPS
	}
	if burst == 0 {
		burst = rest.DefaultBurst
	}
	if qps < 0 {
		return flowcontrol.NewFakeAlwaysRateLimiter()
	}
	return flowcontrol.NewTokenBucketRateLimiter(qps, burst)
}

// stayOnHost returns a copy of client that hands out a redirect to another host
// as the answer: client-go adds the user's credentials to every request, and
// they are for this host only.
func stayOnHost(client *http.Client) *http.Client {
	c := *client
	c.CheckRedirect = func(next *http.Request, via []*http.Request) error {
		first := via[0].URL
		if len(via) >= maxRedirects || next.URL.Host != first.Host || next.URL.Scheme != first.Scheme {
			return http.ErrUseLastResponse
		}
		return nil
	}
	return &c
}

func firstPositive(durations ...time.Duration) time.Duration {
	for _, d := range durations {
		if d > 0 {
			return d
		}
	}
	return 0
}
