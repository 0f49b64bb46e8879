package wire

import (
	"hash/maphash"
	"maps"
	"slices"

	"github.com/gocampus/hark/key"
)

// Compactor makes objects that keep only what they do not have in common with
// others. The objects of one owner, such as the pods of a ReplicaSet, are a
// family: they are nearly equal. A family has a base, the bytes of one of its
// objects, and of each object only a patch is kept that makes its bytes from
// those. An object without such a family is patched from a base that all share.
//
// A hash finds a family, and nothing else: whatever it returns, an object's bytes
// come back as they were.
//
// A Compactor is for one goroutine. The objects it makes are as immutable as
// others, outlive it, and keep their bases alive; there is nothing to be given
// back of them. The zero value is ready to use.
type Compactor struct {
	matcher  matcher
	raw      []byte  // reused
	kept     []place // reused
	seed     maphash.Seed
	hash     func(owner string) uint64 // nil means maphash
	families map[uint64]*Family
	peak     int    // largest len(families) since the map was made
	members  int    // of all families
	general  Family // of objects without an owner; families without a base use its one
}

// Family is what a Compactor knows of the objects of one owner.
type Family struct {
	hash    uint64
	base    string // the bytes of one of its objects; "" while it has none
	members int32
	patches int32 // made from base
	usual   int   // size of a patch from base, in 1/256 of the object's
	excess  int   // bytes by which patches were larger than that
}

// maxCompact is the size of the largest objects that are compacted: more than
// etcd takes.
const maxCompact = 2 << 20

// Compact returns an object that is equal to o, has the key k, which is o's own
// or an equal one, and takes less memory, or o itself where that is not so. The
// family is to be held as long as the object is kept by the caller. While it is
// not, it may be forgotten at once.
func (c *Compactor) Compact(o *Object, k key.Key) (*Object, *Family) {
	if o.body.form == patched { // by whomever
		o = o.uncompacted()
	}
	small, family := c.compact(o, k)
	if small == nil {
		small = o
	}
	return small, family
}

// Keep is Compact of an object that is not kept yet, and never is in one piece
// where that takes more memory.
func (c *Compactor) Keep(d *Draft, k key.Key) (*Object, *Family) {
	small, family := c.compact(&d.object, k)
	if small == nil {
		small = d.Whole(k)
	}
	return small, family
}

// compact returns a patched object that is equal to o, nil where it would not be
// much smaller. It keeps nothing of o.
func (c *Compactor) compact(o *Object, k key.Key) (*Object, *Family) {
	family := c.family(o)
	size := o.Size()
	if size > maxCompact {
		return nil, family
	}
	raw := c.flat(o)
	kept := c.places(o)
	c.matcher.span[0], c.matcher.span[1] = o.labelSpan(raw)
	base := c.baseFor(family, size)
	if family.base == "" && !c.matcher.promises(raw, base) {
		base = ""
	}
	patch, moved := c.matcher.patch(raw, base, kept)
	if renewed := c.renewed(family, len(patch), size); renewed != nil {
		renewed.settle(raw)
		base = renewed.base
		patch, moved = c.matcher.patch(raw, base, kept)
	}
	if len(patch) > size-size/8 {
		return nil, family
	}
	small := o.patched(k, patch, base, kept, moved)
	if at := c.matcher.labels(); at != labelsUnknown {
		small.body.labels = at
	}
	return small, family
}

// family returns the family that o belongs to. A new one is not in the table
// before it is held.
func (c *Compactor) family(o *Object) *Family {
	owner := o.OwnerUID()
	if owner == "" {
		return &c.general
	}
	hash := c.hashOf(owner)
	if f := c.families[hash]; f != nil {
		return f
	}
	return &Family{hash: hash}
}

func (c *Compactor) hashOf(owner string) uint64 {
	if c.hash != nil {
		return c.hash(owner)
	}
	if c.seed == (maphash.Seed{}) {
		c.seed = maphash.MakeSeed()
	}
	return maphash.String(c.seed, owner)
}

// flat returns o's bytes in one piece, valid until the next call.
func (c *Compactor) flat(o *Object) []byte {
	if o.body.form == whole {
		return bytesOf(o.body.data)
	}
	if cap(c.raw) > keepBuffer {
		c.raw = nil
	}
	c.raw = o.AppendBytes(c.raw[:0])
	return c.raw
}

// places returns those of the texts that are read without putting the bytes
// together, in rising order.
func (c *Compactor) places(o *Object) []place {
	c.kept = c.kept[:0]
	for _, p := range [...]place{o.uid, o.resourceVersion} {
		if p != 0 && p != elsewhere {
			c.kept = append(c.kept, p)
		}
	}
	slices.Sort(c.kept)
	return c.kept
}

// patched returns o with another body. The places kept are now at moved.
func (o *Object) patched(k key.Key, patch []byte, base string, kept, moved []place) *Object {
	p, data := patchHolder(patch)
	*p = *o
	p.key, p.owner = k, elsewhere
	p.body.data, p.body.base, p.body.form = data, base, patched
	for i, was := range kept {
		switch was {
		case o.uid:
			p.uid = moved[i]
		case o.resourceVersion:
			p.resourceVersion = moved[i]
		}
	}
	return p
}

// labels is the place of the labels in the base, if they have one there.
func (m *matcher) labels() uint16 {
	if m.span[1] == 0 || m.spanAt < 0 || m.spanAt >= labelsInBase {
		return labelsUnknown
	}
	return uint16(m.spanAt) | labelsInBase
}

// patchHolder returns an Object and a copy of patch, which is its tail where that
// takes no more memory: one allocation instead of two.
func patchHolder(patch []byte) (*Object, string) {
	if tail := tailFor(len(patch)); tail < len(tails) && tails[tail].size <= roundedUp(len(patch)) {
		o, end := tails[tail].make()
		return o, alias(end[:copy(end, patch)])
	}
	return new(Object), string(patch)
}

// uncompacted returns o in one piece.
func (o *Object) uncompacted() *Object {
	plain, err := NewObject(o.Encoding(), o.AppendBytes(nil))
	if err != nil {
		panic("wire: a kept object does not scan: " + err.Error())
	}
	return plain
}

// baseFor returns the base for an object of that family and size, or "". One
// that is much larger is not worth its look-up table.
func (c *Compactor) baseFor(f *Family, size int) string {
	base := f.base
	if base == "" {
		base = c.general.base
	}
	if len(base) > 4*size+4096 {
		return ""
	}
	return base
}

// renewed returns the family that is to have the object at hand as its base from
// now on, or nil. A patch of that size was made of it from the base in use.
func (c *Compactor) renewed(f *Family, patch, size int) *Family {
	switch {
	case f.base != "" && f.renew(patch, size, int(f.members)),
		f.base == "" && c.general.base != "" && f.pays(patch, size):
		return f
	case f.base == "" && c.general.renew(patch, size, c.members):
		return &c.general
	}
	return nil
}

// pays decides whether a base of its own would pay for a family without one:
// whether its patches from the general one, if all are like this one, take twice
// as much.
func (f *Family) pays(patch, size int) bool {
	return int(f.members)*patch >= 2*size
}

// renew counts a patch from the base and decides whether another base would pay:
// when patches have been larger than usual by what it takes. Where that does not
// help, large patches become the usual ones. A base stays in memory until the last
// of its patches is gone; so that there are only a few, a good part of those
// who have the old one must have been patched from it.
func (f *Family) renew(patch, size, members int) bool {
	limit := 0
	if f.base != "" {
		share := patch * 256 / max(size, 1)
		if f.usual == 0 {
			f.usual = share
		}
		limit = f.usual*size/256*5/4 + 64
		f.usual += (share - f.usual) / 16
	}
	f.patches++
	f.excess = max(0, f.excess+patch-limit)
	return f.excess >= size && int(f.patches) >= members/4
}

// settle makes raw the base.
func (f *Family) settle(raw []byte) {
	f.base, f.patches, f.excess = string(raw), 0, 0
}

// Hold says that one more object of a family is kept.
func (c *Compactor) Hold(f *Family) {
	c.members++
	f.members++
	if f.members > 1 || f == &c.general {
		return
	}
	if c.families == nil {
		c.families = map[uint64]*Family{}
	}
	c.families[f.hash] = f
	c.peak = max(c.peak, len(c.families))
}

// Release says that one object of a family, which was held, is not kept any more.
// After the last one the family is forgotten, and after the last of all
// everything.
func (c *Compactor) Release(f *Family) {
	c.members--
	f.members--
	switch {
	case c.members == 0:
		*c = Compactor{seed: c.seed, hash: c.hash}
	case f.members == 0 && f != &c.general:
		delete(c.families, f.hash)
		c.shrink()
	}
}

// shrink makes the table anew when it has lost most of its content: a Go map
// keeps its buckets.
func (c *Compactor) shrink() {
	if c.peak < 1024 || len(c.families) > c.peak/4 {
		return
	}
	families := make(map[uint64]*Family, len(c.families))
	maps.Copy(families, c.families)
	c.families, c.peak = families, len(families)
}
