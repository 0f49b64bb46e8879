package process

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// roleVariable makes the test binary play a program instead of the tests.
const roleVariable = "HARK_PROCESS_TEST_ROLE"

// roles are the programs that the test binary plays.
var roles = map[string]func(){}

func TestMain(m *testing.M) {
	if play := roles[os.Getenv(roleVariable)]; play != nil {
		play()
		return
	}
	goleak.VerifyTestMain(m)
}

// program is the test binary in a role.
func program(role string, env ...string) Spec {
	return Spec{Path: os.Args[0], Env: append(append(os.Environ(), roleVariable+"="+role), env...)}
}
