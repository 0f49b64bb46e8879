//go:build unix

package cli

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestAReaderThatLeavesIsNoticedWithoutAWrite(t *testing.T) {
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	ctx, stop := (&session{Process: Process{Out: writer}}).whileRead(t.Context())
	defer stop()
	_ = reader.Close()
	select {
	case <-ctx.Done():
	case <-time.After(30 * time.Second):
		t.Fatal("not noticed")
	}
	if context.Cause(ctx) != errReaderLeft {
		t.Errorf("cause %v; want %v", context.Cause(ctx), errReaderLeft)
	}
}

func TestNothingIsLeftOfTheLookoutForReaders(t *testing.T) { // goleak looks after all tests
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	defer writer.Close()
	_, stop := (&session{Process: Process{Out: writer}}).whileRead(t.Context())
	stop()
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	ctx, stop := (&session{Process: Process{Out: file}}).whileRead(t.Context())
	if ctx.Err() != nil {
		t.Error("a file has lost its reader")
	}
	stop()
	if _, err := writer.WriteString("x"); err != nil {
		t.Errorf("the pipe was harmed: %v", err)
	}
}
