package report

import (
	"fmt"
	"os"

	"github.com/gocampus/hark/internal/atomicfile"
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
	file, err := os.OpenFile(name, os.O_WRONLY, 0) // who may not write it must not replace it
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_ = file.Close() // nothing was written
	return atomicfile.Check(name)
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
	mode := os.FileMode(0o644)
	if info, err := os.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	return atomicfile.Write(name, content, mode)
}
