package wire

import (
	"bytes"
	"io"
	"math"
	"slices"
	"testing"
)

func TestScanDoesNotAllocate(t *testing.T) {
	bothEncodings(t, func(t *testing.T, encoding Encoding) {
		raw := encoded(t, encoding, pods(t)[0])
		var m Meta
		if got := testing.AllocsPerRun(100, func() {
			if err := Scan(encoding, raw, &m); err != nil {
				t.Fatal(err)
			}
		}); got != 0 {
			t.Errorf("Scan allocates %v times", got)
		}
	})
}

func TestObjectsAllocateOnlyThemselvesAndTheirKey(t *testing.T) {
	bothEncodings(t, func(t *testing.T, encoding Encoding) {
		raw := encoded(t, encoding, pods(t)[0])
		if got := testing.AllocsPerRun(100, func() {
			if _, err := NewObject(encoding, raw); err != nil {
				t.Fatal(err)
			}
		}); got != 2 {
			t.Errorf("NewObject allocates %v times; want 2", got)
		}
		o, err := NewObject(encoding, raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := testing.AllocsPerRun(100, func() {
			_, label := o.Label("app")
			_, annotation := o.Annotation("checksum/config")
			if !label || !annotation {
				t.Fatal("no label or annotation")
			}
		}); got != 0 {
			t.Errorf("Label and Annotation allocate %v times", got)
		}
	})
}

func TestWatchEventsAllocateThreeTimes(t *testing.T) {
	bothEncodings(t, func(t *testing.T, encoding Encoding) {
		var events []sent
		for _, pod := range pods(t) {
			events = append(events, sent{"ADDED", pod}, sent{"MODIFIED", pod}, sent{"DELETED", pod})
		}
		r := NewWatchReader(&loop{data: watchStream(t, encoding, events...), n: math.MaxInt}, encoding, Options{})
		next(t, r)
		if got := testing.AllocsPerRun(200, func() {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
		}); got != 3 {
			t.Errorf("an event allocates %v times; want 3: its bytes, the Object, its key", got)
		}
	})
}

func TestListItemsAllocateThreeTimes(t *testing.T) {
	bothEncodings(t, func(t *testing.T, encoding Encoding) {
		list := podList(t)
		for len(list.Items) < 300 {
			list.Items = append(list.Items, list.Items...)
		}
		r := NewListReader(bytes.NewReader(listBody(t, encoding, list)), encoding, Options{})
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		if got := testing.AllocsPerRun(200, func() {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
		}); got != 3 {
			t.Errorf("an item allocates %v times; want 3: its bytes, the Object, its key", got)
		}
		if _, err := readList(r); err != io.EOF {
			t.Fatal(err)
		}
	})
}

func TestObjectsTakeHardlyMoreThanTheyHave(t *testing.T) {
	bothEncodings(t, func(t *testing.T, encoding Encoding) {
		r := NewWatchReader(bytes.NewReader(watchStream(t, encoding, sent{"ADDED", pods(t)[0]})), encoding, Options{})
		o := next(t, r).Object
		kept := roundUp(len(o.body.data)) + roundUp(len(o.body.base))
		if o.body.form == patched || kept > o.Size()+o.Size()/32 {
			t.Errorf("keeps %d bytes in %d", o.Size(), kept)
		}
	})
}

// roundUp is what is really taken for n bytes, at most 32 KiB.
func roundUp(n int) int {
	classes := sizeClasses()
	i, _ := slices.BinarySearch(classes, n)
	return classes[min(i, len(classes)-1)]
}
