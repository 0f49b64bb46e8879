package cli

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// childVariable makes the test binary play a program instead of the tests.
const childVariable = "HARK_TEST_CHILD"

// roles are the programs that the test binary plays.
var roles = map[string]func(){}

// After all tests no goroutine may be left: a command that has returned has
// ended everything that it started.
func TestMain(m *testing.M) {
	if play := roles[os.Getenv(childVariable)]; play != nil {
		play()
		return
	}
	goleak.VerifyTestMain(m)
}
