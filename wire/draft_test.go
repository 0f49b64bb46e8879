package wire

import (
	"bytes"
	"io"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/gocampus/hark/internal/podgen"
)

// compacting returns o with a Keeper that compacts.
func compacting(o Options) Options {
	o.Keeper = new(compacts)
	return o
}

type compacts struct{ Compactor }

func (c *compacts) Keep(d *Draft) *Object {
	small, family := c.Compactor.Keep(d, d.Key().Clone())
	c.Hold(family)
	return small
}

// keeperFunc is a function that is a Keeper.
type keeperFunc func(*Draft) *Object

func (f keeperFunc) Keep(d *Draft) *Object { return f(d) }

// TestWhatAKeeperKeepsOutlivesTheReadersBuffer: siblings that are compacted as they
// are read are those that are read whole.
func TestWhatAKeeperKeepsOutlivesTheReadersBuffer(t *testing.T) {
	bothEncodings(t, func(t *testing.T, encoding Encoding) {
		body := podBody(t, encoding, 100)
		var kept [2][]*Object
		for i, o := range []Options{{}, compacting(Options{})} {
			r := NewListReader(bytes.NewReader(body), encoding, o)
			for {
				object, err := r.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				kept[i] = append(kept[i], object)
			}
		}
		if len(kept[1]) != len(kept[0]) {
			t.Fatalf("%d objects; want %d", len(kept[1]), len(kept[0]))
		}
		compact := 0
		for i, want := range kept[0] {
			if expectSame(t, kept[1][i], want); kept[1][i].body.form == patched {
				compact++
			}
		}
		if compact < 90 {
			t.Errorf("%d of 100 are compact", compact)
		}
	})
}

func podBody(tb testing.TB, encoding Encoding, n int) []byte {
	tb.Helper()
	var pods []*corev1.Pod
	for i := range n {
		pods = append(pods, podgen.Pod(i, podgen.Options{}))
	}
	body, err := podgen.List(encoding == Protobuf, pods...)
	if err != nil {
		tb.Fatal(err)
	}
	return body
}

func TestADraftIsEqualToItsVersionOnly(t *testing.T) {
	bothEncodings(t, func(t *testing.T, encoding Encoding) {
		body := podBody(t, encoding, 2)
		var held []*Object
		c := new(Compactor)
		first := NewListReader(bytes.NewReader(body), encoding, Options{})
		for range 2 {
			o, err := first.Next()
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, o)
		}
		at := 0
		second := NewListReader(bytes.NewReader(body), encoding, Options{Keeper: keeperFunc(func(d *Draft) *Object {
			for i, o := range held {
				for form, o := range map[string]*Object{"whole": o, "compact": c.keep(o)} {
					if got := d.Equal(o); got != (i == at) {
						t.Errorf("draft %d is equal to the %s object %d: %t", at, form, i, got)
					}
				}
			}
			if d.Key() != held[at].Key() {
				t.Errorf("key %s; want %s", d.Key(), held[at].Key())
			}
			return held[at]
		})})
		for at = range 2 {
			if o, err := second.Next(); err != nil || o != held[at] {
				t.Errorf("the reader hands out %v, %v; want what the Keeper returned", o, err)
			}
		}
	})
}
