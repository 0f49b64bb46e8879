package cluster

import (
	"context"
	"strings"
	"testing"
	"time"
)

// limitedTest is a test with another deadline.
type limitedTest struct {
	testing.TB
	deadline time.Time
	limited  bool
}

func (t limitedTest) Deadline() (time.Time, bool) { return t.deadline, t.limited }

func TestAStartEndsBeforeTheTestIsEndedByForce(t *testing.T) {
	end := time.Now().Add(testMargin)
	ctx, cancel := withTestDeadline(limitedTest{t, end, true})
	defer cancel()
	<-ctx.Done() // no time is left once the margin is taken
	if got := context.Cause(ctx); !strings.Contains(got.Error(), "-timeout") {
		t.Errorf("got cause %v; want advice", got)
	}
}

func TestAStartHasTheTimeOfTheTest(t *testing.T) {
	for name, tb := range map[string]testing.TB{
		"a test without a deadline": limitedTest{TB: t}, "a benchmark, which cannot have one": struct{ testing.TB }{t},
	} {
		ctx, cancel := withTestDeadline(tb)
		if deadline, ok := ctx.Deadline(); ok {
			t.Errorf("%s: got deadline %v; want none", name, deadline)
		}
		if ctx.Err() != nil {
			t.Errorf("%s: got %v at once", name, ctx.Err())
		}
		cancel()
	}
}

func TestAUserWithoutANameIsAMistakeOfTheCaller(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("got no panic")
		}
	}()
	(&Cluster{authority: mustAuthority(t)}).ConfigFor("", "devs")
}
