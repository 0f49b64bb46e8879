package mvcc

import (
	"hash/maphash"
	"strings"

	"github.com/gocampus/hark/key"
)

// node is a node of a persistent treap: nothing reachable from a published root
// ever changes. Priorities are hashes of the keys, so that the shape depends on
// the set of keys alone.
type node[V any] struct {
	record      *Record[V]
	priority    uint64
	size        int
	left, right *node[V]
}

var seed = maphash.MakeSeed()

func priorityOf(k key.Key) uint64 { return maphash.Comparable(seed, k) }

// compareKeys orders keys as an API server's storage does: by the text
// "namespace/name", in which the namespace "a-b" comes before "a".
func compareKeys(a, b key.Key) int {
	if a.Namespace == b.Namespace {
		return strings.Compare(a.Name, b.Name)
	}
	n := min(len(a.Namespace), len(b.Namespace))
	if c := strings.Compare(a.Namespace[:n], b.Namespace[:n]); c != 0 {
		return c
	}
	if len(a.Namespace) == n { // a ends here: its next byte is the slash
		return compareBytes('/', b.Namespace[n])
	}
	return compareBytes(a.Namespace[n], '/')
}

func compareBytes(a, b byte) int { return int(a) - int(b) }

func (n *node[V]) count() int {
	if n == nil {
		return 0
	}
	return n.size
}

func (n *node[V]) find(k key.Key) *Record[V] {
	for n != nil {
		switch c := compareKeys(k, n.record.Key); {
		case c == 0:
			return n.record
		case c < 0:
			n = n.left
		default:
			n = n.right
		}
	}
	return nil
}

// build returns a node whose children are known to be older in the heap order.
func build[V any](record *Record[V], priority uint64, left, right *node[V]) *node[V] {
	return &node[V]{record: record, priority: priority, size: 1 + left.count() + right.count(), left: left, right: right}
}

// with returns the tree with record put in the place of its key.
func (n *node[V]) with(record *Record[V]) *node[V] {
	if n == nil {
		return build(record, priorityOf(record.Key), nil, nil)
	}
	switch c := compareKeys(record.Key, n.record.Key); {
	case c == 0:
		return build(record, n.priority, n.left, n.right)
	case c < 0:
		left := n.left.with(record)
		if left.priority > n.priority {
			return build(left.record, left.priority, left.left, build(n.record, n.priority, left.right, n.right))
		}
		return build(n.record, n.priority, left, n.right)
	default:
		right := n.right.with(record)
		if right.priority > n.priority {
			return build(right.record, right.priority, build(n.record, n.priority, n.left, right.left), right.right)
		}
		return build(n.record, n.priority, n.left, right)
	}
}

// without returns the tree without k, which must be in it.
func (n *node[V]) without(k key.Key) *node[V] {
	switch c := compareKeys(k, n.record.Key); {
	case c == 0:
		return merge(n.left, n.right)
	case c < 0:
		return build(n.record, n.priority, n.left.without(k), n.right)
	default:
		return build(n.record, n.priority, n.left, n.right.without(k))
	}
}

// merge joins two trees; every key of a comes before every key of b.
func merge[V any](a, b *node[V]) *node[V] {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.priority > b.priority:
		return build(a.record, a.priority, a.left, merge(a.right, b))
	default:
		return build(b.record, b.priority, merge(a, b.left), b.right)
	}
}

// ascend yields the records whose keys are after k, in order, and tells whether
// the whole tree was visited.
func (n *node[V]) ascend(k key.Key, yield func(*Record[V]) bool) bool {
	if n == nil {
		return true
	}
	if compareKeys(n.record.Key, k) <= 0 {
		return n.right.ascend(k, yield)
	}
	return n.left.ascend(k, yield) && yield(n.record) && n.right.ascend(k, yield)
}

// countAfter returns how many keys come after k.
func (n *node[V]) countAfter(k key.Key) int {
	total := 0
	for n != nil {
		if compareKeys(n.record.Key, k) <= 0 {
			n = n.right
			continue
		}
		total += 1 + n.right.count()
		n = n.left
	}
	return total
}
