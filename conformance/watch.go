package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// watch is a watch that a scenario holds open.
type watch struct {
	cancel context.CancelFunc
	body   io.ReadCloser
	events *json.Decoder
}

func (w *watch) close() {
	w.cancel()
	_ = w.body.Close() // it was cancelled
}

// watch opens a watch, which outlives its step: "WATCH name path".
func (p *player) watch(s *step) (*answer, error) {
	name, path, _ := strings.Cut(s.target, " ")
	ctx, cancel := context.WithTimeout(context.Background(), 2*stepTimeout)
	response, err := p.send(ctx, "GET", path, s)
	if err != nil {
		cancel()
		return nil, err
	}
	if p.watches[name] != nil {
		p.watches[name].close()
	}
	p.watches[name] = &watch{cancel: cancel, body: response.Body, events: json.NewDecoder(response.Body)}
	return newAnswer(response, nil)
}

// read reads events of a watch: "READ name count".
func (p *player) read(ctx context.Context, s *step) (*answer, error) {
	name, count, err := readTarget(s.target)
	if err != nil {
		return nil, err
	}
	w := p.watches[name]
	if w == nil {
		return nil, fmt.Errorf("no watch is called %s", name)
	}
	a := &answer{status: "read"}
	for len(a.docs) < count {
		var event any
		if err := w.events.Decode(&event); err != nil {
			return nil, fmt.Errorf("after %d events: %w", len(a.docs), err)
		}
		a.docs = append(a.docs, event)
	}
	return a, ctx.Err()
}

// closeWatch hangs up: "CLOSE name".
func (p *player) closeWatch(s *step) (*answer, error) {
	w := p.watches[s.target]
	if w == nil {
		return nil, fmt.Errorf("no watch is called %s", s.target)
	}
	w.close()
	return &answer{status: "closed"}, nil
}
