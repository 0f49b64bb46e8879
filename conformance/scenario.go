package conformance

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// scenario is a story told to a server.
type scenario struct {
	name  string
	steps []step
}

// step is one request or command of a scenario.
type step struct {
	verb    string // GET, WATCH, READ, "$", …
	target  string // a path, a command, or the name of a watch and its count
	headers [][2]string
	body    string
	lets    []let
	line    int // in its file, 1 the first
}

// let keeps a field of a step's answer under a name.
type let struct {
	name string
	path []string // keys and indices from the answer's root
}

var (
	verbs   = []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "WATCH", "READ", "CLOSE", "COMPACT", "$"}
	letLine = regexp.MustCompile(`^let ([a-z][a-z0-9]*) = (\S+)$`)
)

// parseScenarios reads a scenario file.
func parseScenarios(text string) ([]scenario, error) {
	var all []scenario
	open := false // whether the line belongs to a step
	for i, line := range strings.Split(text, "\n") {
		name, begins := strings.CutPrefix(line, "=== ")
		switch {
		case begins:
			if slices.ContainsFunc(all, func(s scenario) bool { return s.name == name }) {
				return nil, fmt.Errorf("line %d: a scenario of that name has begun before", i+1)
			}
			all, open = append(all, scenario{name: name}), false
		case strings.TrimSpace(line) == "":
			open = false
		case strings.HasPrefix(line, "#"):
		case len(all) == 0:
			return nil, fmt.Errorf("line %d: no scenario has begun", i+1)
		case !open:
			s, err := parseStep(line)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			s.line, open = i+1, true
			last := &all[len(all)-1]
			last.steps = append(last.steps, s)
		default:
			last := &all[len(all)-1]
			last.steps[len(last.steps)-1].add(line)
		}
	}
	return all, nil
}

// parseStep reads the first line of a step.
func parseStep(line string) (step, error) {
	verb, target, _ := strings.Cut(line, " ")
	if !slices.Contains(verbs, verb) {
		return step{}, fmt.Errorf("%q is none of %s", verb, strings.Join(verbs, ", "))
	}
	if _, _, err := readTarget(target); verb == "READ" && err != nil {
		return step{}, err
	}
	return step{verb: verb, target: strings.TrimSpace(target)}, nil
}

// readTarget reads what READ is about: "name count".
func readTarget(target string) (name string, count int, err error) {
	if _, err := fmt.Sscan(target, &name, &count); err != nil {
		return "", 0, fmt.Errorf("READ: want a name and a count: %w", err)
	}
	return name, count, nil
}

// add reads a further line of a step.
func (s *step) add(line string) {
	if header, found := strings.CutPrefix(line, "+ "); found && s.body == "" {
		name, value, _ := strings.Cut(header, ": ")
		s.headers = append(s.headers, [2]string{name, value})
		return
	}
	if m := letLine.FindStringSubmatch(line); m != nil {
		s.lets = append(s.lets, let{name: m[1], path: strings.Split(m[2], "/")})
		return
	}
	s.body += line + "\n"
}

// String is the step as the transcript tells it.
func (s *step) String() string {
	text := s.verb + " " + s.target
	for _, h := range s.headers {
		text += " +" + h[0] + ": " + h[1]
	}
	return text
}
