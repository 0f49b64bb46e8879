// Package atomicfile replaces files as a whole: whoever reads one, also after a crash,
// finds the old content or the new. It asks for the right to write to the directory, not
// to the file, and other hard links keep the old content. A process that is killed while
// it writes leaves .NAME.NUMBER beside the file.
package atomicfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxLinks is how many links the system follows in one path.
const maxLinks = 40

// Target returns the path, without links, of the file that a path leads to, which need
// not exist. As the system does, it goes up from where a link leads and not from the
// link, which a path that was cleaned would. Errors: what is there and is no regular file;
// a magic link, those of /proc such as /dev/stdout leads to, which names what is open and
// not a path.
func Target(path string) (string, error) {
	at := path
	for range maxLinks + 1 {
		dir, name := filepath.Split(at)
		if name == "" || name == "." || name == ".." {
			return "", named(path, at, errDirectory)
		}
		dir, err := directory(dir + ".")
		if err != nil {
			return "", named(path, at, err)
		}
		at = filepath.Join(dir, name) // dir has no links
		to, err := os.Readlink(at)
		switch {
		case err != nil: // it is no link
			return at, refused(path, at)
		case strings.HasPrefix(dir, "/proc/"):
			return "", named(path, path, errMagic)
		case filepath.IsAbs(to):
			at = to
		default:
			at = dir + string(filepath.Separator) + to
		}
	}
	return "", &fs.PathError{Op: "open", Path: path, Err: errors.New("too many links")}
}

var (
	errDirectory = errors.New("that is the path of a directory")
	errIrregular = errors.New("that is no regular file")
	errMagic     = errors.New("that names what is open, and has no path of its own")
)

// directory returns the path of a directory without links.
func directory(path string) (string, error) {
	for range 3 { // somebody may be changing links
		dir, err := filepath.EvalSymlinks(path)
		if err != nil {
			return "", err
		}
		there, err := os.Stat(path)
		if err != nil {
			return "", err
		}
		if found, err := os.Stat(dir); err == nil && os.SameFile(there, found) {
			return dir, nil
		}
	}
	return "", errMagic // what its links lead to is not what their text names
}

// refused is the error for what is at a target and cannot be replaced.
func refused(path, target string) error {
	found, err := os.Lstat(target)
	switch {
	case err != nil || found.Mode().IsRegular():
		return nil // whatever else is wrong, who opens it will be told
	case found.IsDir():
		return named(path, target, errDirectory)
	}
	return named(path, target, errIrregular)
}

// Absolute returns the path from the root, which it does not clean: see Target.
func Absolute(path string) (string, error) {
	if filepath.IsAbs(path) {
		return path, nil
	}
	dir, err := os.Getwd()
	return dir + string(filepath.Separator) + path, err
}

// Write replaces the content and the mode of a file, or makes it. Links stay: what they
// lead to is replaced. The content is on disk when Write returns. An error leaves the
// file as it was and nothing beside it, and names the path as it was given and where its
// links lead to.
func Write(path string, content []byte, mode fs.FileMode) error {
	target, beside, err := create(path)
	if err != nil {
		return err
	}
	if err := replace(target, beside, content, mode); err != nil {
		_ = os.Remove(beside.Name()) // what matters went wrong before
		return named(path, target, err)
	}
	syncDirectory(filepath.Dir(target))
	return nil
}

// syncDirectory has the new name on disk too, where the system can do that for a
// directory: elsewhere a crash may bring the old file back, as a whole.
func syncDirectory(name string) {
	if dir, err := os.Open(name); err == nil {
		_ = dir.Sync()
		_ = dir.Close()
	}
}

// replace fills the file beside the target and puts it in its place.
func replace(target string, beside *os.File, content []byte, mode fs.FileMode) error {
	_, err := beside.Write(content)
	if err == nil {
		err = beside.Chmod(mode)
	}
	if err == nil {
		err = beside.Sync()
	}
	if err = errors.Join(err, beside.Close()); err != nil {
		return err
	}
	return os.Rename(beside.Name(), target)
}

// Check tells whether Write could make the new file beside the old one, and leaves
// nothing.
func Check(path string) error {
	_, beside, err := create(path)
	if err != nil {
		return err
	}
	return errors.Join(beside.Close(), os.Remove(beside.Name()))
}

// maxBase is how many bytes of a file's name the one beside it has, so that no system
// finds it too long; of encrypted ones, some have room for 143.
const maxBase = 100

// create makes a file beside the target of a path, which it is to replace.
func create(path string) (target string, beside *os.File, err error) {
	if target, err = Target(path); err != nil {
		return "", nil, err
	}
	dir, base := filepath.Split(target)
	base = strings.ToValidUTF8(base[:min(len(base), maxBase)], "") // no half of a character
	beside, err = os.CreateTemp(cmp.Or(dir, "."), "."+base+".*")
	if errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("no file can be made in %s: %w", filepath.Dir(target), fs.ErrPermission)
	}
	if err != nil {
		return "", nil, named(path, target, err)
	}
	return target, beside, nil
}

// named gives an error the path that the caller knows and, where links lead elsewhere,
// their target: the name of the file beside it helps nobody.
func named(path, target string, err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err
	} else if failed, ok := errors.AsType[*os.LinkError](err); ok {
		err = failed.Err
	}
	if target != path && target != filepath.Clean(path) {
		err = fmt.Errorf("which leads to %s: %w", target, err)
	}
	return &fs.PathError{Op: "write", Path: path, Err: err}
}
