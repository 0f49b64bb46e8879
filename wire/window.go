package wire

// window is the part of a stream that is in memory.
type window struct{}
