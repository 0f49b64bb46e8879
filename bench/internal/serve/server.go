package serve

import (
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

	command *exec.Cmd
	orders  io.WriteCloser
	answers *json.Decoder
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
	s := &Server{command: command, orders: orders, answers: json.NewDecoder(out)}
	first, err := s.answer()
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.URL = first.URL
	return s, nil
}

func (s *Server) answer() (answer, error) {
	var a answer
	if err := s.answers.Decode(&a); err != nil {
		return a, fmt.Errorf("serve: the server does not answer: %w", err)
	}
	if a.Error != "" {
		return a, fmt.Errorf("serve: %s", a.Error)
	}
	return a, nil
}

func (s *Server) order(o order) (answer, error) {
	if err := json.NewEncoder(s.orders).Encode(o); err != nil {
		return answer{}, fmt.Errorf("serve: %w", err)
	}
	return s.answer()
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

// Close ends the process and returns when it has ended.
func (s *Server) Close() error {
	_ = s.orders.Close()
	if err := s.command.Wait(); err != nil {
		return fmt.Errorf("serve: the server ended: %w", err)
	}
	return nil
}
