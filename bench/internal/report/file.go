package report

import (
	"fmt"
	"os"
	"path/filepath"
)

// CheckFile tells whether ReplaceFile can do its work, as far as can be seen before.
func CheckFile(name string) error {
	document, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if _, err := Replace(document, ""); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	file, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_ = file.Close() // nothing was written
	beside, err := besideOf(resolved(name))
	if err != nil {
		return err
	}
	_ = beside.Close()
	return os.Remove(beside.Name())
}

// besideOf makes a file in the directory of another one, which it is to replace.
func besideOf(name string) (*os.File, error) {
	file, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".")
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return file, nil
}

// resolved is the file that a name leads to.
func resolved(name string) string {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		return target
	}
	return name
}

// ReplaceFile is Replace for a file.
func ReplaceFile(name, text string) error {
	document, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if document, err = Replace(document, text); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return WriteFile(name, document)
}

// WriteFile writes a file that is there as a whole or as it was before.
func WriteFile(name string, content []byte) error {
	name = resolved(name)
	mode := os.FileMode(0o644)
	if info, err := os.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	file, err := besideOf(name)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	for _, next := range []func() error{
		func() error { return file.Chmod(mode) }, file.Close, func() error { return os.Rename(file.Name(), name) },
	} {
		if err == nil {
			err = next()
		}
	}
	if err != nil {
		_ = file.Close()
		_ = os.Remove(file.Name())
		return fmt.Errorf("report: %w", err)
	}
	return nil
}
