package protobuf

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"
)

func setQuantity(d *decoder, p unsafe.Pointer, at, stop int) bool {
	return d.quantity((*resource.Quantity)(p), at, stop)
}

// quantity reads data[at:stop], which is one field, a text. An empty message
// changes nothing.
func (d *decoder) quantity(into *resource.Quantity, at, stop int) bool {
	if at == stop {
		return true
	}
	start, end := d.again(keyTag, at, stop)
	if start == giveUp || end != stop {
		return false
	}
	q, err := parseQuantity(d.data[start:end])
	*into = q
	return err == nil
}

// parsed is a quantity that was read before. It shares nothing with its copies.
type parsed struct {
	text     string
	quantity resource.Quantity
}

// Quantities repeat, within an object and from object to object ("100m", "64Mi"),
// and parsing one takes as long as ten other fields. The table keeps one text a
// place, the last that came; so its size is bounded.
var (
	quantities    [256]atomic.Pointer[parsed]
	quantitiesKey = maphash.MakeSeed()
)

// maxKept is the length of the longest text that is kept.
const maxKept = 16

// parseQuantity is resource.ParseQuantity for a text that may change afterwards.
func parseQuantity(text string) (resource.Quantity, error) {
	if len(text) > maxKept {
		return resource.ParseQuantity(strings.Clone(text))
	}
	place := &quantities[maphash.String(quantitiesKey, text)%uint64(len(quantities))]
	if kept := place.Load(); kept != nil && kept.text == text {
		return kept.quantity, nil
	}
	text = strings.Clone(text)
	q, err := resource.ParseQuantity(text)
	// A deep copy is the same to the pointer only when there is nothing to share.
	if err == nil && q.DeepCopy() == q {
		place.Store(&parsed{text, q})
	}
	return q, err
}
