package input

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// state is one state of one object: its number, and what made it so.
type state struct {
	n       int
	version int
	changes int // 0 at first; grows with each change
}

// field appends one value that is unique to an object or to its state, as it is
// encoded. The values of one field all have the same length.
type field func(dst []byte, s state, protobuf bool) []byte

// text is a field that is the same in both encodings.
func text(appendText func(dst []byte, s state) []byte) field {
	return func(dst []byte, s state, _ bool) []byte { return appendText(dst, s) }
}

// mix is a random-looking number for two numbers (splitmix64).
func mix(a, b int) uint64 {
	z := uint64(a)*0x9e3779b97f4a7c15 + uint64(b)*0xd1342543de82ef95 + 0x632be59bd9b4e019
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// appendHex appends digits random-looking hexadecimal digits.
func appendHex(dst []byte, digits, a, b int) []byte {
	var raw [8]byte
	for digits > 0 {
		binary.BigEndian.PutUint64(raw[:], mix(a, b))
		var encoded [16]byte
		hex.Encode(encoded[:], raw[:])
		n := min(digits, len(encoded))
		dst = append(dst, encoded[:n]...)
		digits -= n
		b += 1 << 32
	}
	return dst
}

func hexText(digits, a, b int) string { return string(appendHex(nil, digits, a, b)) }

// The second arguments of mix, one for each use.
const (
	forUID = iota
	forName
	forToken
	forFirstContainer
	forSecondContainer
	forReplicaSet
	forReplicaSetUID
	forImage
	forConfig
	forSetting // and above
	forText    = 1 << 16
)

// uid appends a UID: 8-4-4-4-12 digits.
func uid(dst []byte, a, b int) []byte {
	var digits [32]byte
	appendHex(digits[:0], 32, a, b)
	for i, c := range digits {
		if i == 8 || i == 12 || i == 16 || i == 20 {
			dst = append(dst, '-')
		}
		dst = append(dst, c)
	}
	return dst
}

// firstVersion is the version of the first object; all have eight digits.
const firstVersion = 10_000_000

func version(dst []byte, s state) []byte { return strconv.AppendInt(dst, int64(s.version), 10) }

// epoch is when the first object was made, in seconds: 2026-05-28T20:26:40Z.
const epoch = 1_780_000_000

// seconds is the time of an object that lies so many seconds after the epoch.
func seconds(after func(state) int) field {
	return func(dst []byte, s state, protobuf bool) []byte {
		unix := epoch + int64(after(s))
		if protobuf { // field 1 of a Timestamp
			return protowire.AppendVarint(append(dst, 1<<3), uint64(unix))
		}
		return time.Unix(unix, 0).UTC().AppendFormat(dst, time.RFC3339)
	}
}

// created is when an object was made.
func created(s state) int { return s.n }

// nodes is how many nodes there are.
const nodes = 5000

// node appends the two last parts of a node's address, parted by separator.
func node(dst []byte, n int, separator byte) []byte {
	k := n % nodes
	dst = strconv.AppendInt(dst, int64(100+k/100), 10)
	dst = append(dst, separator)
	return strconv.AppendInt(dst, int64(100+k%100), 10)
}

// podIP appends one of 3,375,000 addresses, in no visible order.
func podIP(dst []byte, s state) []byte {
	const values = 150
	k := s.n * 1_234_577 % (values * values * values)
	dst = append(dst, "10."...)
	dst = strconv.AppendInt(dst, int64(100+k/(values*values)), 10)
	dst = append(dst, '.')
	dst = strconv.AppendInt(dst, int64(100+k/values%values), 10)
	dst = append(dst, '.')
	return strconv.AppendInt(dst, int64(100+k%values), 10)
}
