package cli

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gocampus/hark/internal/atomicfile"
)

// place is where a path leads to, "" if that cannot be told: who opens it says why.
func place(path string) string {
	if path == "" || path == standardInput {
		return ""
	}
	absolute, err := atomicfile.Absolute(path)
	if err != nil {
		return ""
	}
	target, err := atomicfile.Target(absolute)
	if err != nil {
		return ""
	}
	return target
}

// ofRecording tells whether a path leads to the file of a recording or, with parts, to one
// of those beside it.
func ofRecording(path, recording string, parts bool) bool {
	at, file := place(path), place(recording)
	if at == "" || file == "" {
		return false
	}
	suffix, beside := strings.CutPrefix(at, file+".")
	if beside && parts {
		number, err := strconv.Atoi(suffix)
		return err == nil && number > 0
	}
	return at == file
}

// isOutput tells whether a path, such as /dev/stdout, leads to where this process says
// something. What is written to /dev/null does not mix.
func (s *session) isOutput(path string) bool {
	at, err := os.Stat(path)
	if err != nil {
		return false
	}
	for _, stream := range [...]io.Writer{s.Out, s.Err} {
		file, ok := stream.(*os.File)
		if !ok {
			continue
		}
		info, err := file.Stat()
		if err == nil && os.SameFile(at, info) && (info.Mode()&os.ModeCharDevice == 0 || isTerminal(stream)) {
			return true
		}
	}
	return false
}

// forPrograms is a path as programs find it wherever they run and its links lead; ok is
// false for one that would be several in a variable that lists paths, as KUBECONFIG does.
func forPrograms(path string) (_ string, ok bool) {
	if absolute, err := atomicfile.Absolute(path); err == nil {
		path = absolute
	}
	return path, !strings.ContainsRune(path, filepath.ListSeparator)
}
