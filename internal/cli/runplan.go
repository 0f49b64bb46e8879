package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/internal/cli/engine"
	"github.com/gocampus/hark/internal/cli/follow"
	"github.com/gocampus/hark/internal/cli/hook"
	"github.com/gocampus/hark/internal/text"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/wire"
)

// runPlan is a "hark run" whose flags and arguments are in order.
type runPlan struct {
	*watchPlan
	run     *runFlags
	command hook.Command
	options engine.Options
	voice   *runVoice
	tape    *tape // what is replayed, nil for a cluster
}

// runProgram checks what was typed, then runs the program until it is told to end.
func (s *session) runProgram(cmd *cobra.Command, f *runFlags, args []string) error {
	plan, err := s.planRun(cmd, f, args)
	if err != nil {
		return err
	}
	ctx, unread := s.whileRead(cmd.Context())
	defer unread()
	return s.ended(ctx, plan.work(ctx))
}

// planRun checks everything that can be checked without a server.
func (s *session) planRun(cmd *cobra.Command, f *runFlags, args []string) (*runPlan, error) {
	wrong := func(err error) (*runPlan, error) { return nil, usageError(err.Error(), s.tryHelp(cmd)) }
	dash := cmd.ArgsLenAtDash()
	if dash < 0 || dash == len(args) {
		return nil, usageError(s.say(text.NoProgram), s.say(text.TryProgram, "command", s.command))
	}
	targets, err := f.watching.targets(args[:dash])
	if err != nil {
		return wrong(err)
	}
	return s.planProgram(cmd, f, args[dash:], &watchPlan{session: s, flags: f.watching, targets: targets}, "")
}

// planProgram checks what is to be run, for whatever there is to listen to: replayed is
// the recording, "" for a cluster.
func (s *session) planProgram(cmd *cobra.Command, f *runFlags, program []string, watching *watchPlan, replayed string) (*runPlan, error) {
	options, err := f.options(cmd)
	if err != nil {
		return nil, usageError(err.Error(), s.tryHelp(cmd))
	}
	if f.recording != nil {
		if err := f.recording.check(s, cmd); err != nil {
			return nil, err
		}
	}
	if err := f.checkFiles(s, cmd, replayed); err != nil {
		return nil, err
	}
	command := hook.Command{Path: program[0], Args: program[1:], Env: f.environment()}
	if f.stream && command.HasPlaceholders() {
		return nil, usageError(s.say(text.StreamPlaceholders), s.tryHelp(cmd))
	}
	if command.Path, err = exec.LookPath(command.Path); err != nil {
		try := s.say(text.TryProgramPath, "file", shellWord(program[0]))
		if info, here := os.Stat(program[0]); here == nil && info.Mode().IsRegular() && filepath.Base(program[0]) == program[0] {
			try = s.say(text.TryProgramHere, "file", shellWord("."+string(filepath.Separator)+program[0]))
		}
		return nil, &failure{code: exitError, message: "error: " + err.Error(), try: try, err: err}
	}
	plan := &runPlan{watchPlan: watching, run: f, command: command, options: options}
	return plan, plan.prepareState()
}

// checkFiles refuses files that would be written over each other, or cannot be told of.
func (f *runFlags) checkFiles(s *session, cmd *cobra.Command, replayed string) error {
	if f.state != "" && isOutput(f.state, s.Out, s.Err) {
		return usageError(s.say(text.OutputTaken, "command", s.command, "flag", "state", "file", f.state), s.tryHelp(cmd))
	}
	if ofPlayed(f.state, replayed) || f.recording != nil && ofRecording(f.state, f.recording.path, f.recording.rotate != "") {
		return usageError(s.say(text.StateTaken, "file", f.state), s.tryHelp(cmd))
	}
	if path := *f.watching.connection.flags.KubeConfig; path != "" {
		if path, ok := forPrograms(path); !ok {
			return usageError(s.say(text.PathIsList, "file", path), s.say(text.TryLinkToConfig, "file", shellWord(path), "separator", string(filepath.ListSeparator)))
		}
	}
	return nil
}

// environment is what programs get besides what they are asked: the kubeconfig
// that was typed, so that they talk to the same cluster, and their name as writers.
func (f *runFlags) environment() []string {
	env := append(os.Environ(), "HARK_FIELD_MANAGER="+f.fieldManager)
	if path := *f.watching.connection.flags.KubeConfig; path != "" {
		path, _ = forPrograms(path)
		env = append(env, "KUBECONFIG="+path)
	}
	return env
}

// prepareState reads the state file, and writes it, so that one which cannot be
// written is known before anything was run.
func (p *runPlan) prepareState() error {
	path := p.run.state
	if path == "" {
		return nil
	}
	state, err := engine.ReadState(path)
	if err == nil && !p.run.dryRun {
		err = engine.WriteState(path, state)
		p.options.Save = func(s *engine.State) error { return engine.WriteState(path, s) }
	}
	if err != nil {
		try := p.session.say(text.TryStateFile, "file", shellWord(path))
		return &failure{code: exitError, message: "error: --state: " + err.Error(), try: try, err: err}
	}
	p.options.State = state
	return nil
}

// work gets to know the server, says what is run, and runs it.
func (p *runPlan) work(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := p.connect(); err != nil {
		return err
	}
	defer p.client.CloseIdle()
	found, err := p.prepare(ctx)
	if err != nil {
		return err
	}
	p.recording = p.run.recording
	return p.recorded(ctx, found, func(ctx context.Context, found []finding) error {
		return p.operate(ctx, cancel, func() { p.announce(found) }, &liveFeed{plan: p, found: found})
	})
}

// operate runs the program for what a feed tells.
func (p *runPlan) operate(ctx context.Context, cancel context.CancelCauseFunc, announce func(), feed engine.Feed) error {
	p.voice = &runVoice{plan: p.watchPlan, failed: cancel}
	program, closeProgram := p.program()
	p.options.Program = program
	p.options.OnRun, p.options.OnLoop = p.voice.run, p.voice.loop
	p.options.OnWhenError, p.options.OnSaveError = p.voice.whenError, p.voice.saveError
	announce()
	said := p.sayEnding(ctx)
	summary, err := engine.New(p.options).Run(ctx, feed)
	closeProgram()
	said() // before the summary, however quickly all has ended
	p.voice.summary(&summary)
	if err != nil {
		return err
	}
	return p.verdict(&summary)
}

// sayEnding says what Ctrl+C begins, when it comes. The result waits until it is
// said, and ends that.
func (p *runPlan) sayEnding(ctx context.Context) (stop func()) {
	said := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		defer close(said)
		if errors.Is(context.Cause(ctx), errInterrupted) {
			p.say(text.RunEnding, "grace", p.run.grace.String())
		}
	})
	return func() {
		if !cancel() {
			<-said
		}
	}
}

// program is what is run for each key, and how it is closed at the end.
func (p *runPlan) program() (engine.Program, func()) {
	killAfter := p.session.hooks.killAfter
	switch {
	case p.run.dryRun:
		return &dryRun{command: p.command, voice: p.voice}, func() {}
	case p.run.stream:
		stream := &hook.Stream{Command: p.command, Output: p.voice, KillAfter: killAfter}
		return stream, stream.Close
	}
	return &hook.Once{Command: p.command, Output: p.voice, KillAfter: killAfter}, func() {}
}

// announce says what is run for what.
func (p *runPlan) announce(found []finding) {
	kinds, namespaced := p.named(found)
	command := filepath.Base(p.command.Path)
	switch {
	case !namespaced:
		p.say(text.RunningCluster, "command", command, "kinds", kinds)
	case p.namespace == "":
		p.say(text.RunningAll, "command", command, "kinds", kinds)
	default:
		p.say(text.RunningNamespace, "command", command, "kinds", kinds, "namespace", p.namespace)
	}
}

// verdict is the error of an end with keys that are not done.
func (p *runPlan) verdict(s *engine.Summary) error {
	if s.Clean() {
		return nil
	}
	message := p.session.say(text.NotAllDone, "parked", fmt.Sprint(len(s.ParkedKeys)),
		"failing", fmt.Sprint(len(s.FailingKeys)), "broken", fmt.Sprint(s.Interrupted))
	f := &failure{code: exitError, message: "error: " + message}
	if worst := slices.Concat(s.ParkedKeys, s.FailingKeys); len(worst) > 0 {
		f.try = p.tryLook(worst[0].Key)
	}
	return f
}

// tryLook is the command that shows an object, "" when there is none.
func (p *runPlan) tryLook(k engine.Key) string {
	switch {
	case p.tape == nil:
		return "kubectl describe " + describeArgs(k)
	case p.tape.path == standardInput:
		return ""
	}
	return p.session.command + " record show " + shellWord(p.tape.path) + " " + k.Resource + "/" + k.Name
}

// describeArgs names an object to kubectl.
func describeArgs(k engine.Key) string {
	if k.Namespace == "" {
		return k.Resource + " " + k.Name
	}
	return k.Resource + " " + k.Name + " -n " + k.Namespace
}

// liveFeed is a cluster that is listened to.
type liveFeed struct {
	plan  *runPlan
	found []finding
}

// Run implements engine.Feed.
func (f *liveFeed) Run(ctx context.Context, sink engine.Sink) error {
	p := f.plan
	var left atomic.Int64 // targets that have not told all that existed
	left.Store(int64(len(f.found)))
	return follow.New(follow.Options{
		Client: p.client, Namespace: p.namespace,
		LabelSelector: p.flags.selector, FieldSelector: p.flags.fieldSelector,
		NoWait: p.flags.noWait, Lang: p.session.lang, Say: p.line, Reflector: p.session.hooks.reflector,
		Resync: p.run.resync, KeepManagedFields: true,
		// As the server writes it: protobuf would lose fields that this program's
		// client-go does not know, and a program may write back what it is given.
		Encoding: wire.JSON, Record: p.recorder,
		Handle: func(kind kube.Kind, e informer.Event) {
			sink.Tell(engine.Event{Event: e, Kind: kind, Time: time.Now()})
		},
		Ready: func() {
			if left.Add(-1) == 0 {
				sink.Synced()
			}
			if p.session.hooks.ready != nil {
				p.session.hooks.ready()
			}
		},
	}).Run(ctx, p.followed(f.found))
}
