// Package atomicfile replaces files as a whole: whoever reads one, also after a crash,
// finds the old content or the new.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// maxLinks is more than any path has that is no loop.
const maxLinks = 40

// Target returns where the links of a path lead to, which need not exist.
func Target(path string) (string, error) {
	target := path
	for range maxLinks {
		to, err := os.Readlink(target)
		if err != nil {
			return target, nil // it is no link
		}
		if !filepath.IsAbs(to) {
			dir, err := filepath.EvalSymlinks(filepath.Dir(target)) // ".." leads up from where the link really is
			if err != nil {
				return "", err
			}
			to = filepath.Join(dir, to)
		}
		target = to
	}
	return "", &fs.PathError{Op: "open", Path: path, Err: errors.New("too many links")}
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

// create makes a file beside the target of a path, which it is to replace.
func create(path string) (target string, beside *os.File, err error) {
	if target, err = Target(path); err != nil {
		return "", nil, err
	}
	beside, err = os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".*")
	if err != nil {
		return "", nil, named(path, target, err)
	}
	return target, beside, nil
}

// named gives an error the path that the caller knows and, where that is a link, its
// target: the name of the file beside it helps nobody.
func named(path, target string, err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err
	} else if failed, ok := errors.AsType[*os.LinkError](err); ok {
		err = failed.Err
	}
	if target != path {
		err = fmt.Errorf("which leads to %s: %w", target, err)
	}
	return &fs.PathError{Op: "write", Path: path, Err: err}
}
