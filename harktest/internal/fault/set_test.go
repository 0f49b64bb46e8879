package fault

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

func TestRulesCountAndOverlap(t *testing.T) {
	var s Set
	pods := Request{Verb: "list", Resource: "pods"}
	s.Inject(Rule{Resource: "pods", Times: 2, Code: 1})
	lift := s.Inject(Rule{Verb: "list", Skip: 1, Code: 2})
	var got []string
	for range 4 {
		line := ""
		for _, e := range s.Match(pods) {
			line += fmt.Sprint(e.Code)
		}
		got = append(got, line)
	}
	s.Match(Request{Verb: "get", Resource: "nodes"})
	lift()
	got = append(got, fmt.Sprint(len(s.Match(pods))))
	if want := "[1 12 2 2 0]"; fmt.Sprint(got) != want {
		t.Errorf("effects = %v; want %v", got, want)
	}
}

func TestLiftedIsClosedByLiftingAlone(t *testing.T) {
	var s Set
	lift := s.Inject(Rule{Times: 1})
	effects := s.Match(Request{})
	select {
	case <-effects[0].Lifted():
		t.Error("a rule that was used up counts as lifted")
	default:
	}
	lift()
	<-effects[0].Lifted()
}

func TestCountedRuleIsUsedExactlySoOften(t *testing.T) {
	var s Set
	s.Inject(Rule{Times: 100})
	var hits atomic.Int64
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 50 {
				hits.Add(int64(len(s.Match(Request{}))))
			}
		})
	}
	wait.Wait()
	if hits.Load() != 100 {
		t.Errorf("a rule of 100 applied %d times", hits.Load())
	}
}
