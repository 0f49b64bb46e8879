package cli

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/gocampus/hark/internal/text"
	"github.com/gocampus/hark/record"
	"github.com/gocampus/hark/reflector"
)

// Process is what an invocation has of the outside.
type Process struct {
	// Args is the program's name and its arguments, as os.Args.
	Args []string
	// In, Out and Err are the standard streams. Colour and progress need a
	// terminal: an *os.File that is one.
	In       io.Reader
	Out, Err io.Writer
	// Getenv reads the environment for the language and colours. (The rules of
	// kubeconfig files are client-go's, which reads the process's own.)
	Getenv func(string) string

	hooks hooks
}

// hooks are what tests of this package change and hear; the zero value is what
// users get.
type hooks struct {
	// reflector tunes lists and watches.
	reflector reflector.Options
	// poll is the first pause between questions for something that does not
	// exist yet; 0 means a second.
	poll time.Duration
	// pause of the demo; 0 means its default.
	pause time.Duration
	// recordTo opens the file of a recording; nil opens files of the system.
	recordTo func(path string) (record.Output, error)
	// killAfter is how long a program that "hark run" asks to end has for it; 0 means
	// process.DefaultKillAfter.
	killAfter time.Duration
	// ready is called for each target when all that existed is printed.
	ready func()
}

// The exit codes.
const (
	exitDone        = 0
	exitError       = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// Main runs one invocation and returns its exit code. It ends when the command
// is done or ctx is; the end of ctx is no error. Nothing that it started is left
// when it returns.
func Main(ctx context.Context, p Process) int {
	quietLibraries()
	s := newSession(p)
	root := newRoot(s)
	root.SetArgs(s.args)
	root.SetIn(p.In)
	root.SetOut(s.out)
	root.SetErr(p.Err)
	return s.finish(root.ExecuteContext(ctx))
}

// session is one invocation: the process, and what follows from its arguments
// and environment before any flag is parsed.
type session struct {
	Process
	// out is Out with a memory for errors: see output.
	out *output
	// args are the arguments to parse, without the program's name.
	args []string
	// command is what a user types to get here: "hark" or "kubectl hark".
	command string
	// asked is the whole command, such as "hark watch", once its flags are parsed.
	asked string
	// lang is needed for the help of flags, before they are parsed.
	lang text.Lang
}

func newSession(p Process) *session {
	s := &session{Process: p, out: &output{w: p.Out}, command: "hark"}
	name := "hark"
	if len(p.Args) > 0 {
		name, s.args = programName(p.Args[0]), p.Args[1:]
	}
	switch {
	case strings.HasPrefix(name, "kubectl_complete-"):
		// kubectl asks a plugin for completions through a program of this name.
		s.command, s.args = "kubectl hark", append([]string{"__complete"}, s.args...)
	case strings.HasPrefix(name, "kubectl-"):
		s.command = "kubectl hark"
	}
	s.lang = text.Detect(flagValue(s.args, "lang"), p.Getenv)
	return s
}

// programName returns the last part of a path, without .exe.
func programName(path string) string {
	return strings.TrimSuffix(filepath.Base(path), ".exe")
}

// flagValue finds the value of a flag before anything is parsed, "" where it is
// not given. The last one counts, as for the parser.
func flagValue(args []string, name string) string {
	value := ""
	for i, arg := range args {
		switch given, inline, hasInline := strings.Cut(arg, "="); {
		case arg == "--":
			return value
		case given != "--"+name:
		case hasInline:
			value = inline
		case i+1 < len(args):
			value = args[i+1]
		}
	}
	return value
}

// say returns a text in the session's language.
func (s *session) say(m text.Message, pairs ...string) string { return s.lang.Say(m, pairs...) }
