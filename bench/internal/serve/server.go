package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/gocampus/hark/key"
)

// Server is the serving process as the measuring one sees it. It is for one
// goroutine.
type Server struct {
	// URL of the API.
	URL string

	orders  io.WriteCloser
	answers *json.Decoder

	ended chan struct{} // closed when the process has ended
	end   error         // how, nil for well; to be read from then on
}

// Start starts command, which must run Main; Close ends it.
func Start(command *exec.Cmd) (*Server, error) {
	orders, err := command.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	s := &Server{orders: orders, answers: json.NewDecoder(out), ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		state, err := command.Process.Wait() // not that of command, which may close out before it is read
		if err == nil && !state.Success() {
			err = errors.New(state.String())
		}
		s.end = err
	}()
	first, err := s.answer()
	if err != nil {
		_ = s.Close() // the first error says more
		return nil, err
	}
	s.URL = first.URL
	return s, nil
}

func (s *Server) answer() (answer, error) {
	var a answer
	if err := s.answers.Decode(&a); err != nil {
		return a, s.gone(err)
	}
	if a.Error != "" {
		return a, fmt.Errorf("serve: %s", a.Error)
	}
	return a, nil
}

func (s *Server) order(o order) (answer, error) {
	if err := json.NewEncoder(s.orders).Encode(o); err != nil {
		return answer{}, s.gone(err)
	}
	return s.answer()
}

// gone returns why the process has ended or, where it ended well, err.
func (s *Server) gone(err error) error {
	if end := s.Close(); end != nil {
		return end
	}
	return fmt.Errorf("serve: the server ended: %w", err)
}

// Feed serves a set from now on. It returns the key of the object that the last
// change is of.
func (s *Server) Feed(spec Spec) (key.Key, error) {
	a, err := s.order(order{Feed: &spec})
	return key.Key{Namespace: a.Last[0], Name: a.Last[1]}, err
}

// Release lets the first n changes happen.
func (s *Server) Release(n int) error {
	_, err := s.order(order{Release: n})
	return err
}

// Hold makes the server hold pods itself, in the namespace default.
func (s *Server) Hold(pods int) error {
	_, err := s.order(order{Hold: pods})
	return err
}

// While returns a context that also ends when the process does, with an error as its
// cause that says so. Its cancel function has to be called.
func (s *Server) While(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-s.ended:
			cancel(s.gone(errors.New("too early")))
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// Close ends the process and returns when it has ended.
func (s *Server) Close() error {
	_ = s.orders.Close()
	<-s.ended
	if s.end != nil {
		return fmt.Errorf("serve: the server ended: %w", s.end)
	}
	return nil
}
