package cli

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gocampus/hark/internal/atomicfile"
	"github.com/gocampus/hark/record"
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

// ofRecording tells whether a path leads to the file of a recording or, with parts, to what
// is or would be one of its parts.
func ofRecording(path, recording string, parts bool) bool {
	at, file := place(path), place(recording)
	if at == "" || file == "" {
		return false
	}
	if parts {
		at, _ = record.PartOf(at)
	}
	return at == file
}

// ofPlayed is ofRecording for one that exists: its path may be that of a part.
func ofPlayed(path, recording string) bool {
	whole, _ := record.PartOf(recording)
	return ofRecording(path, recording, true) || ofRecording(path, whole, true)
}

// isOutput tells whether a path, such as /dev/stdout, leads to one of these streams.
func isOutput(path string, streams ...io.Writer) bool {
	at, err := os.Stat(path)
	return err == nil && slices.ContainsFunc(streams, func(stream io.Writer) bool { return mixes(at, stream) })
}

// oneStream tells whether two streams lead to one place.
func oneStream(a, b io.Writer) bool {
	file, ok := a.(*os.File)
	if !ok {
		return false
	}
	at, err := file.Stat()
	return err == nil && mixes(at, b)
}

// mixes tells whether what is written to a file mixes with what is written to a stream:
// they are one. What is written to /dev/null shows nowhere.
func mixes(at os.FileInfo, stream io.Writer) bool {
	file, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && os.SameFile(at, info) && (info.Mode()&os.ModeCharDevice == 0 || isTerminal(file))
}

// forPrograms is a path as programs find it wherever they run and its links lead; ok is
// false for one that would be several in a variable that lists paths, as KUBECONFIG does.
func forPrograms(path string) (_ string, ok bool) {
	if absolute, err := atomicfile.Absolute(path); err == nil {
		path = absolute
	}
	return path, !strings.ContainsRune(path, filepath.ListSeparator)
}
