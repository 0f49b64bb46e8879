package conformance

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

// stepTimeout ends a step that hangs, so that the test says which. A bookmark can
// be more than a minute in coming.
const stepTimeout = 2 * time.Minute

// userAgent names the player; the server keeps its first word as field manager.
const userAgent = "conformance/1.0"

// server is one of the two that are compared.
type server struct {
	url        string
	client     *http.Client
	kubeconfig string // a file
	compact    func(context.Context) error
}

// player plays one scenario against one server.
type player struct {
	server  *server
	vars    map[string]string
	home    string // where commands run, and keep caches of their own
	bin     string // a directory with kubectl
	watches map[string]*watch
}

var variable = regexp.MustCompile(`\{[a-z][a-z0-9]*\}`)

// expand fills in the variables of a text. Braces around other words stay: bodies
// have them too.
func (p *player) expand(text string) string {
	return variable.ReplaceAllStringFunc(text, func(name string) string {
		if value, ok := p.vars[name[1:len(name)-1]]; ok {
			return value
		}
		return name
	})
}

// play plays the steps. A step that gets no answer at all is an error.
func (p *player) play(ctx context.Context, steps []step) (*transcript, error) {
	defer func() {
		for _, w := range p.watches {
			w.close()
		}
	}()
	t := &transcript{}
	for i := range steps {
		s := &steps[i]
		a, err := p.step(ctx, s)
		if err != nil {
			return t, fmt.Errorf("line %d: %s: %w", s.line, s, err)
		}
		a.step, a.line = s.String(), s.line
		t.answers = append(t.answers, *a)
		for _, l := range s.lets {
			value, err := a.field(l.path)
			if err != nil {
				return t, fmt.Errorf("line %d: %s: let %s: %w", s.line, s, l.name, err)
			}
			p.vars[l.name] = value
		}
	}
	return t, nil
}

func (p *player) step(ctx context.Context, s *step) (*answer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, stepTimeout, fmt.Errorf("no answer within %v", stepTimeout))
	defer cancel()
	switch s.verb {
	case "WATCH":
		return p.watch(s)
	case "READ":
		return p.read(ctx, s)
	case "CLOSE":
		return p.closeWatch(s)
	case "COMPACT":
		return &answer{status: "compacted"}, p.server.compact(ctx)
	case "$":
		return p.command(ctx, s)
	}
	response, err := p.send(ctx, s.verb, s.target, s)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	return newAnswer(response, body)
}

// comparedHeaders are those of the answers that clients act upon.
var comparedHeaders = []string{"Content-Type", "Warning", "Retry-After", "Allow"}

func newAnswer(response *http.Response, body []byte) (*answer, error) {
	a := &answer{status: response.Status}
	for _, name := range comparedHeaders {
		for _, value := range response.Header.Values(name) {
			a.headers = append(a.headers, name+": "+value)
		}
	}
	body, err := toJSON(response.Header.Get("Content-Type"), body)
	if err != nil {
		return nil, err
	}
	a.setBody(body)
	return a, nil
}

// send sends a step's headers and body.
func (p *player) send(ctx context.Context, method, path string, s *step) (*http.Response, error) {
	path = p.expand(path)
	if unknown := variable.FindString(path); unknown != "" {
		return nil, fmt.Errorf("%s is not known", unknown)
	}
	header := http.Header{"User-Agent": {userAgent}}
	if s.body != "" {
		header.Set("Content-Type", "application/json")
	}
	for _, h := range s.headers {
		header.Set(h[0], h[1])
	}
	body, err := fromJSON(header.Get("Content-Type"), []byte(p.expand(s.body)))
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, p.server.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header = header
	return p.server.client.Do(request)
}

// command runs a command and tells what it prints and how it ends.
func (p *player) command(ctx context.Context, s *step) (*answer, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", p.expand(s.target))
	cmd.Env = append(os.Environ(), "HOME="+p.home, "KUBECONFIG="+p.server.kubeconfig, "PATH="+p.bin+":"+os.Getenv("PATH"))
	cmd.Dir = p.home
	cmd.Stdin = strings.NewReader(p.expand(s.body))
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%w: %s", context.Cause(ctx), out)
	}
	a := &answer{status: "exit 0"}
	if err != nil {
		a.status = err.Error()
	}
	a.setBody(out)
	return a, nil
}
