//go:build unix

package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gocampus/hark/harktest"
)

// BenchmarkStream compares a program that is fed by "hark run --stream" with the
// same program that reads the same requests from a file: x-own is the quotient.
func BenchmarkStream(b *testing.B) {
	b.Setenv(childVariable, "streaming")
	dir := b.TempDir()
	server, err := harktest.New(harktest.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer server.Close()
	kubeconfig := dir + "/kubeconfig"
	if err := server.WriteKubeconfig(kubeconfig); err != nil {
		b.Fatal(err)
	}
	for i := range loadChanges {
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("m-%d", i)}, Data: map[string]string{"n": "1"}}
		if err := server.Create(b.Context(), m); err != nil {
			b.Fatal(err)
		}
	}
	hark := func(command ...string) []byte {
		var out, err bytes.Buffer
		args := []string{"hark", "run", "--kubeconfig", kubeconfig, "configmaps", "--once", "--stream", "--"}
		if code := Main(b.Context(), Process{Args: append(args, command...), In: strings.NewReader(""), Out: &out, Err: &err, Getenv: environment(nil).get}); code != 0 {
			b.Fatal(err.String())
		}
		return out.Bytes()
	}
	b.Setenv(childVariable, "recording")
	var requests []byte
	for line := range bytes.Lines(hark(os.Args[0])) {
		_, request, _ := bytes.Cut(line, []byte("| got "))
		requests = append(requests, request...)
	}
	b.Setenv(childVariable, "streaming")
	b.Run("Go", func(b *testing.B) { compare(b, requests, hark, os.Args[0]) })
	if _, err := exec.LookPath("python3"); err == nil {
		b.Run("Python", func(b *testing.B) { compare(b, requests, hark, "python3", "-c", pythonStreaming) })
	}
}

// pythonStreaming is the program in Python.
const pythonStreaming = `import json, sys
for line in sys.stdin:
    r = json.loads(line)
    print("saw", r["key"]["name"], r["object"]["data"]["n"])
    print("{}", flush=True)`

// compare measures a program alone and fed by hark, by the clock and by the time of
// processors. The server's time is in that of hark.
func compare(b *testing.B, requests []byte, hark func(...string) []byte, command ...string) {
	var own, whole, ownCPU, wholeCPU time.Duration
	for b.Loop() {
		start, cpu := time.Now(), processorTime(b)
		cmd := exec.CommandContext(b.Context(), command[0], command[1:]...)
		cmd.Stdin = bytes.NewReader(requests)
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		own, ownCPU = own+time.Since(start), ownCPU+processorTime(b)-cpu
		start, cpu = time.Now(), processorTime(b)
		hark(command...)
		whole, wholeCPU = whole+time.Since(start), wholeCPU+processorTime(b)-cpu
	}
	b.ReportMetric(float64(own.Milliseconds())/float64(b.N), "own-ms")
	b.ReportMetric(float64(whole.Milliseconds())/float64(b.N), "hark-ms")
	b.ReportMetric(float64(whole)/float64(own), "x-own")
	b.ReportMetric(float64(wholeCPU)/float64(ownCPU), "x-own-cpu")
}

// processorTime is what this process and its children that have ended have used.
func processorTime(b *testing.B) time.Duration {
	var sum time.Duration
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var used unix.Rusage
		if err := unix.Getrusage(who, &used); err != nil {
			b.Fatal(err)
		}
		sum += time.Duration(used.Utime.Nano() + used.Stime.Nano())
	}
	return sum
}
