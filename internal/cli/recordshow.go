package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gocampus/hark/internal/printer"
	"github.com/gocampus/hark/internal/text"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/record"
	"github.com/gocampus/hark/watch"
)

// showSchema names the document of record show -o json.
const showSchema = "hark.recordshow/v1"

// showFlags are the flags of "hark record show".
type showFlags struct {
	output string
	color  *string
	diff   bool
}

// newRecordShow is "hark record show".
func newRecordShow(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show FILE [TYPE/NAME] [flags]",
		Short:   s.say(text.ShowShort),
		Long:    s.say(text.ShowLong),
		Example: s.say(text.ShowExamples, "command", s.command),
	}
	f := &showFlags{color: addColorFlag(cmd)}
	cmd.Flags().BoolVar(&f.diff, "diff", false, "")
	cmd.Flags().StringVarP(&f.output, "output", "o", "text", "")
	annotate(cmd, "output", valueWords, "text|json")
	completeWords(cmd, "output", "text", "json")
	cmd.ValidArgsFunction = completeOneFile
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return s.showRecording(cmd, f, args) }
	return cmd
}

// showRecording checks what was typed and shows the recording.
func (s *session) showRecording(cmd *cobra.Command, f *showFlags, args []string) error {
	if len(args) == 0 || len(args) > 2 {
		return usageError(s.say(text.OneRecording, "command", cmd.CommandPath()), s.tryHelp(cmd))
	}
	if f.output != "text" && f.output != "json" {
		return s.badOutput(cmd, f.output)
	}
	color, err := s.colored(cmd, *f.color)
	if err != nil {
		return err
	}
	tape, err := s.openTape(args[0])
	if err != nil {
		return err
	}
	defer tape.close()
	show := newShowing(s, tape, len(args) == 2 || f.diff, color)
	if len(args) == 2 {
		if show.chosen, err = chosenObject(args[1]); err != nil {
			return usageError(err.Error(), s.tryHelp(cmd))
		}
	}
	end := show.read()
	if show.chosen != nil && len(show.order) == 0 {
		message := "error: " + s.say(text.NoSuchObject, "name", args[1])
		return &failure{code: exitError, message: message, try: s.command + " record show " + shellWord(args[0])}
	}
	if f.output == "json" {
		err = writeJSON(s.out, show.document())
	} else {
		err = show.write()
	}
	return errors.Join(err, end)
}

// chosenObject reads TYPE/NAME.
func chosenObject(arg string) (*target, error) {
	targets, err := slashedTargets([]string{arg})
	if err != nil {
		return nil, err
	}
	return &targets[0], nil
}

// showing is one recording that is shown. It keeps counts, and text where the
// versions of objects are to be shown; objects only as long as they exist.
type showing struct {
	session  *session
	tape     *tape
	versions bool
	chosen   *target // nil for all
	printing printer.Options

	streams []streamShown
	objects map[shownKey]*objectShown
	order   []*objectShown
	state   *record.State
	last    time.Time
}

type shownKey struct {
	stream int
	key    key.Key
}

// streamShown is what is shown of one stream.
type streamShown struct {
	APIVersion    string `json:"apiVersion"`
	Kind          string `json:"kind"`
	Namespace     string `json:"namespace,omitempty"`
	LabelSelector string `json:"labelSelector,omitempty"`
	FieldSelector string `json:"fieldSelector,omitempty"`
	Initial       int    `json:"initial"`
	Events        int    `json:"events"`
	Final         int    `json:"final"`
}

// objectShown is what is shown of one object.
type objectShown struct {
	Kind      string    `json:"kind"`
	Namespace string    `json:"namespace,omitempty"`
	Name      string    `json:"name"`
	First     time.Time `json:"first"`
	Last      time.Time `json:"last"`
	Events    int       `json:"events"`
	Exists    bool      `json:"exists"` // at the end

	history []byte // lines
}

func newShowing(s *session, t *tape, versions, color bool) *showing {
	return &showing{
		session: s, tape: t, versions: versions, state: record.NewState(), objects: map[shownKey]*objectShown{},
		printing: printer.Options{Lang: s.lang, Diff: true, Color: color},
	}
}

// read reads the recording to its end, or to where it is damaged.
func (w *showing) read() error {
	p := printer.New(w.printing)
	for {
		e, err := w.tape.Next()
		if err == io.EOF {
			w.session.openEnd(w.tape)
			break
		}
		if err != nil {
			w.finish()
			return w.session.damaged(err)
		}
		w.take(p, e)
	}
	w.finish()
	return nil
}

// take takes in one event.
func (w *showing) take(p *printer.Printer, e record.Event) {
	w.know()
	before, known := w.state.Apply(e)
	if e.Time.After(w.last) {
		w.last = e.Time
	}
	if !w.matches(e) {
		return
	}
	s := &w.streams[e.Stream]
	if e.Cause == watch.CauseInitial {
		s.Initial++
	} else {
		s.Events++
	}
	o := w.object(e)
	o.Last, o.Events, o.Exists = e.Time, o.Events+1, e.Type != watch.EventDeleted
	if !w.versions {
		return
	}
	old := &before
	if !known {
		old = nil
	}
	// Text always appends: it writes no documents that could fail.
	o.history, _ = p.Append(o.history, printedEvent(p, w.tape.Streams()[e.Stream], e, old))
}

// know makes room for the streams that are known so far.
func (w *showing) know() {
	for _, stream := range w.tape.Streams()[len(w.streams):] {
		w.streams = append(w.streams, streamShown{
			APIVersion: stream.Kind.GVK.GroupVersion().String(), Kind: stream.Kind.GVK.Kind,
			Namespace: stream.Namespace, LabelSelector: stream.LabelSelector, FieldSelector: stream.FieldSelector,
		})
	}
}

// object returns what is shown of the object of an event.
func (w *showing) object(e record.Event) *objectShown {
	at := shownKey{e.Stream, e.Key}
	o := w.objects[at]
	if o == nil {
		o = &objectShown{Kind: w.streams[e.Stream].Kind, Namespace: e.Key.Namespace, Name: e.Key.Name, First: e.Time}
		w.objects[at] = o
		w.order = append(w.order, o)
	}
	return o
}

// matches tells whether an event is of the object that was chosen, which is named
// as kubectl names types, without a server to ask.
func (w *showing) matches(e record.Event) bool {
	if w.chosen == nil {
		return true
	}
	kind := w.tape.Streams()[e.Stream].Kind
	typed := strings.ToLower(w.chosen.kind)
	names := []string{strings.ToLower(kind.GVK.Kind), kind.GVR.Resource, kind.Singular}
	for _, name := range slices.Clone(names) {
		names = append(names, name+"."+kind.GVK.Group, name+"."+kind.GVK.Version+"."+kind.GVK.Group)
	}
	return e.Key.Name == w.chosen.name && slices.Contains(names, typed)
}

// finish counts what exists at the end.
func (w *showing) finish() {
	w.know()
	for at, o := range w.objects {
		if o.Exists {
			w.streams[at.stream].Final++
		}
	}
}

// recordingShown is the document of record show -o json.
type recordingShown struct {
	Schema   string         `json:"schema"`
	From     time.Time      `json:"from"`
	To       time.Time      `json:"to"`
	Server   string         `json:"server,omitempty"`
	Redacted []string       `json:"redacted,omitempty"`
	Ended    bool           `json:"ended"`
	Streams  []streamShown  `json:"streams"`
	Objects  []*objectShown `json:"objects"`
}

func (w *showing) document() recordingShown {
	return recordingShown{
		Schema: showSchema, From: w.tape.header.Time, To: w.end(), Server: w.tape.header.Server, Redacted: w.tape.header.Redacted,
		Ended: w.tape.Ended(), Streams: w.streams, Objects: w.order,
	}
}

// end is the time up to which something was recorded.
func (w *showing) end() time.Time {
	if w.last.After(w.tape.header.Time) {
		return w.last
	}
	return w.tape.header.Time
}

// write writes the recording as text.
func (w *showing) write() error {
	var out strings.Builder
	say := func(m text.Message, pairs ...string) {
		out.WriteString(text.Printable(w.session.say(m, pairs...)) + "\n")
	}
	from, to := w.tape.header.Time.Local(), w.end().Local()
	say(text.ShowHead, "file", w.tape.name, "from", from.Format(time.DateTime), "to", to.Format(time.DateTime),
		"time", to.Sub(from).Round(time.Millisecond).String())
	if w.tape.header.Server != "" {
		say(text.ShowServer, "version", w.tape.header.Server)
	}
	if paths := w.tape.header.Redacted; len(paths) > 0 {
		say(text.ShowRedacted, "paths", w.session.lang.List(paths))
	}
	for _, s := range w.streams {
		say(text.ShowStream, "kind", s.Kind, "scope", w.scope(s), "initial", fmt.Sprint(s.Initial),
			"events", fmt.Sprint(s.Events), "final", fmt.Sprint(s.Final))
	}
	for _, o := range w.order {
		w.writeObject(&out, o)
	}
	_, err := w.session.out.Write([]byte(out.String()))
	return err
}

// scope says what of a kind was recorded.
func (w *showing) scope(s streamShown) string {
	var said string
	switch namespaced := w.namespaced(s.Kind); {
	case !namespaced:
		said = w.session.say(text.ShowCluster)
	case s.Namespace == "":
		said = w.session.say(text.ShowAll)
	default:
		said = w.session.say(text.ShowIn, "namespace", s.Namespace)
	}
	if s.LabelSelector != "" {
		said += " -l " + s.LabelSelector
	}
	if s.FieldSelector != "" {
		said += " --field-selector " + s.FieldSelector
	}
	return said
}

func (w *showing) namespaced(kind string) bool {
	return slices.ContainsFunc(w.tape.Streams(), func(s record.Stream) bool { return s.Kind.GVK.Kind == kind && s.Kind.Namespaced })
}

// writeObject writes a line for an object, and its versions below it.
func (w *showing) writeObject(out *strings.Builder, o *objectShown) {
	mark := " "
	if !o.Exists {
		mark = "-"
	}
	name := o.Kind + " " + key.Key{Namespace: o.Namespace, Name: o.Name}.String()
	fmt.Fprintf(out, "%s %s  %s..%s  %d\n", mark, text.Printable(name),
		o.First.Local().Format(time.TimeOnly), o.Last.Local().Format(time.TimeOnly), o.Events)
	for line := range strings.Lines(string(o.history)) {
		out.WriteString("    " + line)
	}
}
