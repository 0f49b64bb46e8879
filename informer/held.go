package informer

import (
	"strconv"

	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/wire"
)

// held are the objects of the list under way that would take the store back: older
// than its version of them, or not there though it has every change up to a version
// above theirs. Either the list is old, or something in it was sent again, or the
// store is wrong: something was missed, or the server's history began anew. The end
// of the list tells; until then nobody hears of them.
type held struct {
	listing bool
	reached uint64 // what the store had seen of integer versions when the list began
	gone    uint64 // the highest version of a deletion since the last complete list
	objects map[key.Key]*wire.Object
}

// begin forgets what an unfinished list left. The store has reached version.
func (h *held) begin(version string) {
	*h = held{listing: true, reached: h.gone, gone: h.gone}
	if number, err := strconv.ParseUint(version, 10, 64); err == nil {
		h.reached = max(h.reached, number)
	}
}

// take holds an object back that is to be stored in the place of old, nil for
// none, and reports whether it did.
func (h *held) take(old, object *wire.Object) bool {
	if !h.listing {
		return false
	}
	k := object.Key()
	if !h.back(old, object) {
		delete(h.objects, k)
		return false
	}
	if h.objects == nil {
		h.objects = map[key.Key]*wire.Object{}
	}
	if before := h.objects[k]; before == nil || !olderThan(object, before) {
		h.objects[k] = object
	}
	return true
}

// back reports whether storing an object would take the store back.
func (h *held) back(old, object *wire.Object) bool {
	if old != nil {
		return olderThan(object, old)
	}
	version, ok := object.Version()
	return ok && version < h.reached
}

// has reports whether an object of that key is held back: a change that follows
// counts by that one, not by what the store has.
func (h *held) has(k key.Key) bool {
	_, ok := h.objects[k]
	return ok
}

// deleted notes a deletion: what was shown before it is no more.
func (h *held) deleted(final *wire.Object) {
	version, _ := final.Version()
	h.gone = max(h.gone, version)
	if object := h.objects[final.Key()]; object != nil && !olderThan(final, object) {
		delete(h.objects, final.Key())
	}
}

// end returns what was held back, at the end of the list.
func (h *held) end() map[key.Key]*wire.Object {
	objects := h.objects
	*h = held{}
	return objects
}
