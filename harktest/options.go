package harktest

import (
	"cmp"
	"fmt"
	"time"
)

// Options of a Server. The zero value works; no number or time may be negative.
type Options struct {
	// Addr to listen on. Default "127.0.0.1:0", a free loopback port.
	Addr string
	// TLS serves HTTPS, and HTTP/2 to clients that speak it, under a certificate
	// made for this server; Config and Kubeconfig trust it. Default plain HTTP/1.1
	// and unencrypted HTTP/2.
	TLS bool
	// InMemory listens on no port: connections are pipes within the process and
	// only Config reaches the server, so that it can run inside a testing/synctest
	// bubble. Addr is ignored. Default false.
	InMemory bool
	// Setup is called by New before the server listens, so that no client sees a
	// half of what it preloads or registers. Its error becomes that of New, as it
	// is. URL and Config have no address yet. Default none.
	Setup func(*Server) error
	// StartVersion is the resourceVersion before the first change, at most 1<<62, so
	// that versions never overflow. Default 0.
	StartVersion uint64
	// History is how many past changes of each kind are kept for watches and
	// older lists. Default 10,000.
	History int
	// WatchBuffer is how many changes a watch may lag behind before it is closed.
	// Default History.
	WatchBuffer int
	// BookmarkInterval is the time between the bookmarks of a watch that asked for
	// them. Default one minute.
	BookmarkInterval time.Duration
	// WatchTimeout ends a watch that asked for no timeout. Default 30 minutes.
	WatchTimeout time.Duration
	// NoStreamingLists refuses sendInitialEvents, as servers before 1.32 do.
	NoStreamingLists bool
	// NoCompression sends lists above 128 KiB uncompressed to clients that accept gzip.
	NoCompression bool
	// TrackManagedFields records managedFields for every write, as a real server
	// does. Default only for objects that were applied (server-side apply), since
	// it costs more than the write itself.
	TrackManagedFields bool
	// Version that the server says it has. Default "v1.37.2".
	Version string
	// RequestLimit is how many requests are kept for Requests; older ones are
	// forgotten. Default 10,000.
	RequestLimit int
	// Story plays a cluster around the server until it is closed; see RunStory.
	// Default none.
	Story *StoryOptions
}

const (
	defaultBookmarkInterval = time.Minute
	defaultWatchTimeout     = 30 * time.Minute
	defaultVersion          = "v1.37.2"
	defaultRequestLimit     = 10_000
)

func (o Options) withDefaults() Options {
	o.Addr = cmp.Or(o.Addr, "127.0.0.1:0")
	o.BookmarkInterval = cmp.Or(o.BookmarkInterval, defaultBookmarkInterval)
	o.WatchTimeout = cmp.Or(o.WatchTimeout, defaultWatchTimeout)
	o.Version = cmp.Or(o.Version, defaultVersion)
	o.RequestLimit = cmp.Or(o.RequestLimit, defaultRequestLimit)
	return o
}

// maxStartVersion leaves more versions than any server will use.
const maxStartVersion = 1 << 62

// validate names the first field that no server can have.
func (o Options) validate() error {
	err := cmp.Or(
		startVersion(o.StartVersion),
		notNegative("History", o.History), notNegative("WatchBuffer", o.WatchBuffer),
		notNegative("BookmarkInterval", o.BookmarkInterval), notNegative("WatchTimeout", o.WatchTimeout),
		notNegative("RequestLimit", o.RequestLimit),
	)
	if err != nil {
		return fmt.Errorf("Options: %w", err)
	}
	if o.Story != nil {
		return o.Story.validate()
	}
	return nil
}

func startVersion(v uint64) error {
	if v > maxStartVersion {
		return fmt.Errorf("StartVersion is %d; want at most 1<<62", v)
	}
	return nil
}

func notNegative[T int | time.Duration](field string, value T) error {
	if value < 0 {
		return fmt.Errorf("%s is %v; want none or more than 0", field, value)
	}
	return nil
}
