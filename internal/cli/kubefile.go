package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/gocampus/hark/internal/atomicfile"
	"github.com/gocampus/hark/internal/text"
)

// ownContext is the one context of every kubeconfig that this program writes.
const ownContext = "harktest"

// kubeFile is a kubeconfig on disk that leads to a server of this process.
type kubeFile struct {
	path    string // absolute
	content []byte
}

// mayWrite refuses to write over what is not ours: a user's own kubeconfig leads
// to other clusters. "" is a temporary file.
func (s *session) mayWrite(path string) error {
	if path == "" {
		return nil
	}
	content, err := readRegular(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return s.notOver(err)
	case replaceable(content):
		return nil
	}
	return s.notOver(errors.New(s.say(text.KeptFile, "file", path, "command", s.command)))
}

// readRegular reads a file, but no terminal or pipe, which has no end.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	return os.ReadFile(path)
}

// notOver adds to an error of what is there already what to try.
func (s *session) notOver(err error) error {
	try := s.say(text.TryOtherFile, "command", s.command+" apiserver")
	return &failure{code: exitError, message: "error: " + err.Error(), try: try, err: err}
}

// notWritten adds to an error of the file to write what to try; "" is a temporary file.
func (s *session) notWritten(path string, err error) error {
	try := s.say(text.TryPlace, "command", s.command+" apiserver")
	if path == "" {
		try = s.say(text.TryFolder, "command", s.command+" apiserver", "folder", os.TempDir())
	}
	return &failure{code: exitError, message: "error: " + err.Error(), try: try, err: err}
}

// replaceable tells whether a file holds nothing that its owner could miss:
// nothing at all, as after mktemp, or a kubeconfig that this program has written.
func replaceable(content []byte) bool {
	if len(bytes.TrimSpace(content)) == 0 {
		return true
	}
	config, err := clientcmd.Load(content)
	if err != nil {
		return false
	}
	return len(config.Contexts) == 1 && config.Contexts[ownContext] != nil &&
		len(config.Clusters) == 1 && config.Clusters[ownContext] != nil
}

// newKubeFile writes a kubeconfig that only its owner can read; "" makes a
// temporary file. It is there at once and whole, for those who wait for it.
func newKubeFile(path string, content []byte) (*kubeFile, error) {
	path, err := writeKubeFile(path, content)
	if err == nil {
		path, err = atomicfile.Absolute(path)
	}
	if err != nil {
		return nil, err
	}
	return &kubeFile{path: path, content: content}, nil
}

// writeKubeFile returns the path of the file itself: a link to it stays when it goes.
func writeKubeFile(path string, content []byte) (string, error) {
	if path == "" {
		return writeTemporary("hark-apiserver-*.kubeconfig", content)
	}
	target, err := atomicfile.Target(path)
	if err != nil {
		return "", err
	}
	return target, atomicfile.Write(path, content, 0o600)
}

// writeTemporary writes a file with a new name.
func writeTemporary(pattern string, content []byte) (string, error) {
	file, err := os.CreateTemp("", pattern)
	if err != nil {
		return "", err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return file.Name(), nil
}

// remove removes the file, which leads nowhere any more, unless somebody has put
// something else in its place.
func (f *kubeFile) remove() error {
	content, err := os.ReadFile(f.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("kubeconfig: %w", err)
	case !bytes.Equal(content, f.content):
		return nil
	}
	return os.Remove(f.path)
}

// plainWord are the characters that a shell leaves as they are; a backslash is
// one where it parts the names of a path.
const plainWord = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:,@%" + string(filepath.Separator)

// shellWord makes one word for a shell of a path.
func shellWord(path string) string {
	special := func(r rune) bool { return !strings.ContainsRune(plainWord, r) }
	if path != "" && !strings.ContainsFunc(path, special) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
