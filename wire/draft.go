package wire

import "github.com/gocampus/hark/key"

// Keeper decides how the objects that a reader finds are kept: see Options. It is
// called by the reader's Next, in its goroutine.
type Keeper interface {
	// Keep returns the object to hand out for draft: one that draft or a
	// Compactor has made of it, or an equal one that is there already.
	Keep(draft *Draft) *Object
}

// Draft is an object that a reader has found and nobody keeps yet: its bytes are
// those of the reader's buffer. It is valid during the call of Keep that it was
// given to, and so are its strings.
type Draft struct {
	object  Object // its body is the reader's
	scanned string // the bytes that meta was read from, before they were cut
	meta    sink
}

// Key returns namespace and name, to look something up. Its Clone may be kept.
func (d *Draft) Key() key.Key { return d.object.key }

// Equal reports whether o is of this very version and the same to the byte.
func (d *Draft) Equal(o *Object) bool {
	return d.object.version == o.version && d.object.UID() == o.UID() &&
		d.object.ResourceVersion() == o.ResourceVersion() && d.object.Equal(o)
}

// Whole returns an object with a copy of all bytes, whose key is k: the draft's
// own, cloned, or an equal one. The object costs two allocations.
func (d *Draft) Whole(k key.Key) *Object {
	o := copied(d.object.body.encoding, bytesOf(d.object.body.data))
	o.key = k
	o.describe(d.scanned, &d.meta)
	return o
}

// become makes d a draft of raw. Its metadata was read into d.meta from scanned,
// from which raw was cut.
func (d *Draft) become(encoding Encoding, scanned, raw []byte) error {
	if d.meta.Name == "" {
		return errNoName()
	}
	d.scanned = alias(scanned)
	d.object = Object{body: body{encoding: encoding, data: alias(raw)}, key: d.meta.key()}
	d.object.describe(d.scanned, &d.meta)
	return nil
}
