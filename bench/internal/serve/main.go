package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"

	"github.com/gocampus/hark/bench/internal/input"
	"github.com/gocampus/hark/harktest"
)

// Main serves until in ends: one answer to out for each order from in. lines are
// the sample of pods.
func Main(in io.Reader, out io.Writer, lines []byte) error {
	sets, err := allSets(lines)
	if err != nil {
		return err
	}
	api, err := harktest.New(harktest.Options{RequestLimit: 1})
	if err != nil {
		return err
	}
	defer api.Close()
	if err := api.Register(harktest.Kind{GroupVersionKind: input.WidgetKind}); err != nil {
		return err
	}
	s := &server{api: api, sets: sets}
	orders, answers := json.NewDecoder(in), json.NewEncoder(out)
	reply := answer{URL: api.URL()}
	for {
		if err := answers.Encode(reply); err != nil {
			return err
		}
		var o order
		if err := orders.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if reply, err = s.obey(o); err != nil {
			reply = answer{Error: err.Error()}
		}
	}
}

func allSets(lines []byte) (map[string]*input.Set, error) {
	pods, err := input.Pods(lines)
	if err != nil {
		return nil, err
	}
	lone, err := input.LonePods(lines)
	if err != nil {
		return nil, err
	}
	return map[string]*input.Set{"pods": pods, "lone": lone, "configmaps": input.ConfigMaps(), "widgets": input.Widgets()}, nil
}

// server carries out orders.
type server struct {
	api     *harktest.Server
	sets    map[string]*input.Set
	feeding *harktest.Feeding
}

func (s *server) obey(o order) (answer, error) {
	switch {
	case o.Feed != nil:
		return s.feed(*o.Feed)
	case o.Hold > 0:
		return answer{}, s.hold(o.Hold)
	case s.feeding == nil:
		return answer{}, errors.New("nothing is served that could change")
	}
	s.feeding.Release(o.Release)
	return answer{}, nil
}

func (s *server) feed(spec Spec) (answer, error) {
	set := s.sets[spec.Set]
	if set == nil || spec.Objects < 1 {
		return answer{}, fmt.Errorf("no set %q of %d objects", spec.Set, spec.Objects)
	}
	f := input.Feed{Set: set, Objects: spec.Objects, Changes: spec.Changes, Warm: spec.Warm}
	f.Prepare()
	feeding, err := s.api.Serve(harktest.Feed{
		Resource: set.GVR(), Version: f.Version(), Objects: f.Objects, Object: f.AppendObject, Change: f.AppendChange,
	})
	if err != nil {
		return answer{}, err
	}
	s.feeding = feeding
	last := f.Last()
	return answer{Last: [2]string{last.Namespace, last.Name}}, nil
}

// hold stores pods in the namespace default.
func (s *server) hold(pods int) error {
	f := input.Feed{Set: s.sets["pods"], Objects: pods}
	for n := range pods {
		p := &corev1.Pod{}
		if err := p.Unmarshal(f.AppendObject(nil, n, true)); err != nil {
			return err
		}
		p.Namespace, p.ResourceVersion = corev1.NamespaceDefault, ""
		if err := s.api.Preload(p); err != nil {
			return err
		}
	}
	return nil
}
