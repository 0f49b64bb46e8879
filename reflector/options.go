package reflector

import (
	"math/rand/v2"
	"time"

	"github.com/gocampus/hark/watch"
)

// Options of a Reflector. The zero value is ready to use.
type Options struct {
	// PageSize of consistent lists; 0 means 500, negative asks for whole lists.
	PageSize int64
	// NoStreaming starts with LIST and WATCH instead of a streaming list.
	NoStreaming bool
	// WatchTimeout is how long the server is asked to keep a watch; each watch
	// takes a random time between it and twice it. 0 means 5 minutes.
	WatchTimeout time.Duration
	// Grace after a watch's timeout until the reflector ends it itself. 0 means
	// 30 seconds.
	Grace time.Duration
	// IdleTimeout ends a watch on which nothing came for so long, bookmarks
	// included, and a list that stands still. 0 means 150 seconds; servers send
	// bookmarks about once a minute.
	IdleTimeout time.Duration
	// InitialIdleTimeout is how long a streaming list may stand still before
	// LIST and WATCH take over. 0 means 15 seconds.
	InitialIdleTimeout time.Duration
	// InitialTimeout bounds one list or the initial events of one streaming
	// list. 0 means 10 minutes.
	InitialTimeout time.Duration
	// MinBackoff and MaxBackoff bound the pause after a failure: it doubles from
	// the one to the other and is then spread by ±20 %. 0 means 800 ms and 30 s.
	MinBackoff, MaxBackoff time.Duration
	// MissingPoll bounds the pause while the server says that it does not have
	// the kind: it grows from MinBackoff to this, unless the source tells when
	// the kind comes (Awaiter). 0 means 5 minutes.
	MissingPoll time.Duration
	// DropMissing empties the sink when a list finds that the server does not
	// have the kind any more. By default the sink keeps its content until the
	// kind is there again: "not found" may be a passing fault of a server or
	// proxy.
	DropMissing bool
	// OnStatus is called, from the goroutine of Run and without any lock, when
	// Phase, Reason or Synced has changed. It must return soon. Nil means none.
	OnStatus func(Status)
	// OnBadObject is called likewise for each object or frame that could not be
	// read; the reflector goes on with the next. Nil means none.
	OnBadObject func(*watch.Error)
}

func (o Options) tuning() tuning {
	least := positive(o.MinBackoff, 800*time.Millisecond)
	most := max(positive(o.MaxBackoff, 30*time.Second), least)
	timeout := positive(o.WatchTimeout, 5*time.Minute)
	poll := max(positive(o.MissingPoll, 5*time.Minute), least)
	pageSize := o.PageSize
	if pageSize == 0 {
		pageSize = 500
	}
	return tuning{
		pageSize:     max(pageSize, 0),
		watchTimeout: func() time.Duration { return timeout + rand.N(timeout) },
		grace:        positive(o.Grace, 30*time.Second),
		idle:         positive(o.IdleTimeout, 150*time.Second),
		initialIdle:  positive(o.InitialIdleTimeout, 15*time.Second),
		initialLimit: positive(o.InitialTimeout, 10*time.Minute),
		backoff:      func(failures int) time.Duration { return spread(exponential(least, most, failures)) },
		reread:       func(times int) time.Duration { return exponential(30*time.Second, 10*time.Minute, times) },
		missing:      func(failures int) time.Duration { return spread(exponential(least, poll, failures)) },
		dropMissing:  o.DropMissing,
		streaming:    !o.NoStreaming,
	}
}

// spread keeps those that fail together from trying again together.
func spread(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64()))
}

// exponential is least for the first failure, twice as long for each further
// one, and never more than most.
func exponential(least, most time.Duration, failures int) time.Duration {
	delay := least
	for range failures - 1 {
		if delay >= most/2 {
			return most
		}
		delay *= 2
	}
	return min(delay, most)
}

func positive(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}
