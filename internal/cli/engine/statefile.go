package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/gocampus/hark/internal/atomicfile"
)

// stateSchema names the form of a state file.
const stateSchema = "hark.run.state/v1"

// stateFile is the document in a state file.
type stateFile struct {
	Schema string `json:"schema"`
	Keys   []Kept `json:"keys"`
}

// ErrNoState is wrapped by the error of ReadState when a file is there that is no
// state.
var ErrNoState = errors.New("this is no state of hark run")

// ReadState reads a state file. One that does not exist, or is empty, is an empty
// state.
func ReadState(path string) (*State, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &State{}, nil
	}
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() { // a device must not be replaced, a pipe not be waited for
		return nil, fmt.Errorf("%s: %w: it is no regular file", path, ErrNoState)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s, err := parseState(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func parseState(content []byte) (*State, error) {
	if len(bytes.TrimSpace(content)) == 0 {
		return &State{}, nil
	}
	var f stateFile
	if err := json.Unmarshal(content, &f); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoState, err)
	}
	if f.Schema != stateSchema {
		return nil, fmt.Errorf("%w: its schema is %q; want %s", ErrNoState, f.Schema, stateSchema)
	}
	for i := range f.Keys {
		kept := &f.Keys[i]
		if kept.Resource == "" || kept.Name == "" || kept.Tries < 0 || kept.Failures < 0 {
			return nil, fmt.Errorf("%w: key %d is incomplete", ErrNoState, i+1)
		}
		kept.Error = clip(kept.Error)
	}
	return &State{Keys: f.Keys}, nil
}

// WriteState replaces a state file: whoever reads it, after a crash too, finds the
// old or the new state. Of a symbolic link it replaces the file that the link leads
// to.
func WriteState(path string, s *State) error {
	content, err := json.MarshalIndent(stateFile{Schema: stateSchema, Keys: s.rounded()}, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(content, '\n'), 0o600)
}

// rounded returns the keys with times in UTC, to the second.
func (s *State) rounded() []Kept {
	keys := make([]Kept, len(s.Keys))
	for i, kept := range s.Keys {
		kept.Parked = kept.Parked.UTC().Truncate(time.Second)
		keys[i] = kept
	}
	return keys
}
