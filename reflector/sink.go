package reflector

import (
	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

// Sink is what a reflector keeps equal to its source. All methods are called
// from the goroutine of Run; they must not block for long. A Sink that is a
// wire.Keeper too decides how the objects are kept that it is given, where the
// source's streams let it (watch.Tuner): Keep comes from the same goroutine, before
// the Put or Apply of what it returns, if that follows.
type Sink interface {
	// Begin starts a replacement: the objects given to Put from now on until
	// Commit are the whole content. With force they count even where they are
	// older than what the sink has. A Begin without Commit is overtaken by the
	// next Begin. With anew there is reason to believe that the server's history
	// began anew, so that a version which the sink knows may be another one.
	Begin(force, anew bool)
	// Put takes an object of a list or of a streaming list's initial events. It
	// reports whether the object is older than what the sink has and keeps.
	Put(*wire.Object) (stale bool)
	// Commit ends a replacement: what was not Put since Begin is gone, unless
	// keep says that something could not be read, which it may be. The sink has
	// every change up to version now.
	Commit(version string, keep bool)
	// Apply takes a change: ADDED, MODIFIED, DELETED, or a type unknown to
	// this code.
	Apply(watch.EventType, *wire.Object)
	// Advance says that the sink has every change up to version.
	Advance(version string)
	// Flush says that nothing may follow for a while: a sink that gathers what it
	// is given passes it on now. Several objects and changes that came together
	// may be given between two calls of it.
	Flush()
}
