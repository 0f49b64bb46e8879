package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"

	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"

	"github.com/gocampus/hark/internal/cli/follow"
	"github.com/gocampus/hark/internal/text"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/record"
)

// recorded does something while it is recorded, where that was asked for. For a
// command that only records, the end of the recording is the end; others go on.
func (p *watchPlan) recorded(ctx context.Context, found []finding, do func(context.Context, []finding) error) error {
	if p.recording == nil || p.recording.path == "" {
		return do(ctx, found)
	}
	recorder, err := p.recording.open(p.session, p.serverVersion(ctx), p.streams(found))
	if err != nil {
		return err
	}
	p.recorder = recorder
	if !p.recordOnly {
		p.say(text.AlsoRecording, "file", p.recording.said(p.session))
	}
	doing, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var broken error
	var writing sync.WaitGroup
	writing.Go(func() {
		if broken = recorder.Run(running); broken == nil {
			return
		}
		if p.recordOnly {
			cancel(broken)
		} else {
			p.say(text.RecordStopped, "reason", brokenBy(broken))
		}
	})
	err = do(doing, found)
	stop() // now that nothing is told any more
	writing.Wait()
	return p.recordEnded(ctx, err, broken)
}

// streams are those that are known from the beginning.
func (p *watchPlan) streams(found []finding) []record.Stream {
	options := follow.Options{Namespace: p.namespace, LabelSelector: p.flags.selector, FieldSelector: p.flags.fieldSelector}
	var streams []record.Stream
	for _, f := range found {
		if f.missing == nil {
			streams = append(streams, record.StreamOf(f.kind, options.Choice(f.target.name)))
		}
	}
	return streams
}

// recordEnded words how a recording ended: what goes wrong with it counts, also
// where watching went on.
func (p *watchPlan) recordEnded(ctx context.Context, err, broken error) error {
	stats := p.recorder.Stats()
	if broken == nil {
		p.say(text.Recorded, "events", fmt.Sprint(stats.Events), "bytes", fmt.Sprint(stats.Bytes), "file", p.recording.said(p.session))
		if p.recordOnly && p.recording.path != standardOutput {
			p.say(text.TryShow, "command", p.session.command, "file", p.recording.said(p.session))
		}
		return err
	}
	if ended := p.session.ended(ctx, err); ended != nil && !errors.Is(ended, broken) {
		return ended
	}
	if readerGone(broken) {
		return broken
	}
	return p.recording.failure(p.session, broken)
}

// failure says that a disk is full, or what else ended a recording.
func (f *recordFlags) failure(s *session, broken error) error {
	out := &failure{code: exitError, message: "error: " + s.say(text.RecordBroken, "reason", brokenBy(broken)), err: broken}
	if f.path != standardOutput {
		out.try = s.say(text.TryShowBroken, "folder", shellWord(filepath.Dir(f.path)), "command", s.command, "file", f.said(s))
	}
	return out
}

// brokenBy is what the system says of a file.
func brokenBy(err error) string {
	if wrong, ok := errors.AsType[*record.WriteError](err); ok {
		return wrong.Err.Error()
	}
	return err.Error()
}

// open opens the file to record to. It is all that a command does to record: the
// recorder is to be run beside it.
func (f *recordFlags) open(s *session, server string, streams []record.Stream) (*record.Recorder, error) {
	o := record.Options{Server: server, Streams: streams, Redact: f.redact, MaxSize: f.maxSize, Keep: f.keep, OpenFile: s.hooks.recordTo}
	if f.path == standardOutput {
		return record.New(s.out, o)
	}
	recorder, err := record.Create(f.path, o)
	if taken, ok := errors.AsType[*record.NotEmptyError](err); ok {
		message := "error: " + s.say(text.RecordExists, "file", taken.Path)
		return nil, &failure{code: exitError, message: message, try: s.say(text.TryAnotherFile, "file", shellWord(taken.Path)), err: err}
	}
	if wrong, ok := errors.AsType[*fs.PathError](err); ok {
		try := s.say(text.TryFile, "file", shellWord(filepath.Dir(f.path)))
		return nil, &failure{code: exitError, message: "error: " + wrong.Error(), try: try, err: err}
	}
	return recorder, err
}

// serverVersion asks for the version of the server, "" where it does not tell.
func (p *watchPlan) serverVersion(ctx context.Context) string { return serverVersion(ctx, p.client) }

func serverVersion(ctx context.Context, client *kube.Client) string {
	info, err := briefly(ctx, client, func(ctx context.Context) (*version.Info, error) {
		api, err := discovery.NewDiscoveryClientForConfigAndClient(client.Config(), client.HTTP())
		if err != nil {
			return nil, err
		}
		raw, err := api.RESTClient().Get().AbsPath("/version").DoRaw(ctx)
		if err != nil {
			return nil, err
		}
		var info version.Info
		if err := json.Unmarshal(raw, &info); err != nil {
			return nil, err
		}
		return &info, nil
	})
	if err != nil {
		return ""
	}
	return info.GitVersion
}
