package wire

import "testing"

func benchmarkScan(b *testing.B, encoding Encoding) {
	pod := pods(b)[0]
	pod.ManagedFields = nil
	raw := encoded(b, encoding, pod)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	var m Meta
	for b.Loop() {
		if err := Scan(encoding, raw, &m); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkScanProtobuf(b *testing.B) { benchmarkScan(b, Protobuf) }
func BenchmarkScanJSON(b *testing.B)     { benchmarkScan(b, JSON) }
