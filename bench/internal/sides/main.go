package sides

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"k8s.io/klog/v2"
)

// Main does the job of argument, which is JSON, and prints the result. It exits when
// in ends first: then whoever wants the result is gone.
func Main(argument string, in io.Reader, out io.Writer) error {
	go func() {
		_, _ = io.Copy(io.Discard, in)
		os.Exit(1)
	}()
	var j Job
	if err := json.Unmarshal([]byte(argument), &j); err != nil {
		return fmt.Errorf("sides: job: %w", err)
	}
	klog.SetOutput(io.Discard) // what ends at the end is no news
	klog.LogToStderr(false)
	result, err := j.do(out)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(result)
}

func (j *Job) do(out io.Writer) (Result, error) {
	switch j.Work {
	case "follow":
		return follow(j, out)
	case "read":
		return read(j)
	case "stream":
		return stream(j)
	}
	if work, ok := queueWorks[j.Work]; ok {
		return queueWork(j, work)
	}
	return nil, fmt.Errorf("sides: no work %q", j.Work)
}
