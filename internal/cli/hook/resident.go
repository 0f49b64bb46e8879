package hook

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/gocampus/hark/internal/cli/process"
)

// resident is a program that runs and answers requests. One request at a time.
type resident struct {
	process *process.Process
	stdin   *os.File
	stderr  *lines
	answers chan answer // room for one

	mu      sync.Mutex // guards what follows
	request *Request   // that waits for its answer; nil for none
	latest  *Request   // that was sent last
}

func startResident(command Command, env []string, output Output) (*resident, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	r := &resident{stdin: write, answers: make(chan answer, 1)}
	stdout := &lines{pass: func(block []byte) { output.Pass(r.asked(), false, block) }, takes: r.answered}
	r.stderr = &lines{pass: func(block []byte) { output.Pass(r.asked(), true, block) }, remembers: true}
	r.process, err = process.Start(process.Spec{
		Path: command.Path, Args: command.Args, Env: env, Stdin: read, Stdout: stdout, Stderr: r.stderr,
	})
	_ = read.Close() // the program has its own
	if err != nil {
		_ = write.Close()
		return nil, err
	}
	return r, nil
}

// asked is the request that what the program writes is about: the last one, until
// the next is sent.
func (r *resident) asked() *Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.latest
}

// answered takes a line of stdout that answers the request. What nobody asked for
// is no answer.
func (r *resident) answered(line []byte) bool {
	a, ok := parseAnswer(line)
	if !ok {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.request == nil {
		return false
	}
	r.request = nil
	r.answers <- a
	return true
}

// ask sends a request and waits for the answer. After an error the program is of
// no use any more.
func (r *resident) ask(ctx context.Context, request *Request, killAfter time.Duration) (answer, error) {
	if err := r.send(ctx, request, killAfter); err != nil {
		r.end(killAfter) // it has ended already, or will not hear any more
		return r.lastAnswer()
	}
	select {
	case a := <-r.answers:
		return a, nil
	case <-r.process.Ended():
		return r.lastAnswer()
	case <-ctx.Done():
		return answer{}, context.Cause(ctx)
	}
}

// send writes a request. It returns soon after the end of ctx, though the program
// does not read.
func (r *resident) send(ctx context.Context, request *Request, killAfter time.Duration) error {
	line, err := request.line()
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.request, r.latest = request, request
	r.mu.Unlock()
	woken := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(woken)
		if r.stdin.SetWriteDeadline(time.Unix(1, 0)) != nil {
			r.process.End(killAfter) // where a write to a pipe cannot be ended otherwise
		}
	})
	_, err = r.stdin.Write(line)
	if !stop() {
		<-woken
	}
	return err
}

// lastAnswer is what a program answered before it ended, or how it ended.
func (r *resident) lastAnswer() (answer, error) {
	select {
	case a := <-r.answers:
		return a, nil
	default:
	}
	return answer{}, endedError(r.process.Err(), r.stderr.last)
}

// end ends the program.
func (r *resident) end(killAfter time.Duration) {
	_ = r.stdin.Close()
	r.process.End(killAfter)
}

// finish tells the program that there are no more requests, and ends it if it goes
// on.
func (r *resident) finish(killAfter time.Duration) {
	_ = r.stdin.Close()
	timer := time.NewTimer(killAfter)
	defer timer.Stop()
	select {
	case <-r.process.Ended():
	case <-timer.C:
		r.process.End(killAfter)
	}
}
