package protobuf

import (
	"time"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The tags in a metav1.Timestamp, which is what times are encoded as.
const (
	secondsTag = 1<<3 | varintType
	nanosTag   = 2<<3 | varintType
)

// timestamp reads data[at:stop]. What a newer Timestamp may have besides is not
// known here.
func (d *decoder) timestamp(at, stop int) (seconds int64, nanos int32, ok bool) {
	for at < stop {
		var tag, v uint64
		if tag, at = d.varint(at, stop); at == giveUp {
			return 0, 0, false
		}
		v, at = d.varint(at, stop)
		switch {
		case at == giveUp:
			return 0, 0, false
		case tag == secondsTag:
			seconds = int64(v)
		case tag == nanosTag:
			nanos = int32(v)
		default:
			return 0, 0, false
		}
	}
	return seconds, nanos, true
}

// setTime sets a metav1.Time, which has no fractions of a second.
func setTime(d *decoder, p unsafe.Pointer, at, stop int) bool {
	seconds, _, ok := d.timestamp(at, stop)
	(*metav1.Time)(p).Time = local(at == stop, seconds, 0)
	return ok
}

// setMicroTime sets a metav1.MicroTime.
func setMicroTime(d *decoder, p unsafe.Pointer, at, stop int) bool {
	seconds, nanos, ok := d.timestamp(at, stop)
	(*metav1.MicroTime)(p).Time = local(at == stop, seconds, time.Duration(nanos).Truncate(time.Microsecond))
	return ok
}

// local returns a time as the API's types have it: an empty message is none.
func local(empty bool, seconds int64, fraction time.Duration) time.Time {
	if empty {
		return time.Time{}
	}
	return time.Unix(seconds, int64(fraction)).Local()
}
