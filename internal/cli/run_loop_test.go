package cli

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gocampus/hark/harktest"
)

// serverVariable is the address of the API server, for programs that write.
const serverVariable = "HARK_TEST_SERVER"

func init() {
	roles["rewriter"] = func() { // changes its object each time, with a client that needs no kubectl
		url := fmt.Sprintf("%s/api/v1/namespaces/%s/configmaps/%s?fieldManager=%s", os.Getenv(serverVariable),
			os.Getenv("HARK_NAMESPACE"), os.Getenv("HARK_NAME"), os.Getenv("HARK_FIELD_MANAGER"))
		patch := fmt.Sprintf(`{"data":{"seen":"%d"}}`, time.Now().UnixNano())
		request, err := http.NewRequest(http.MethodPatch, url, strings.NewReader(patch))
		if err != nil {
			os.Exit(9)
		}
		request.Header.Set("Content-Type", "application/merge-patch+json")
		answer, err := http.DefaultClient.Do(request)
		if err != nil || answer.StatusCode != http.StatusOK {
			os.Exit(8)
		}
	}
}

func TestAHotLoopIsSaidWithWhatKeepsChanging(t *testing.T) {
	for _, tracked := range []bool{true, false} {
		t.Run(fmt.Sprint("managedFields ", tracked), func(t *testing.T) {
			c := newCluster(t, harktest.Options{TrackManagedFields: tracked})
			t.Setenv(serverVariable, c.URL())
			c.createConfigMap("a", "1")
			try := "compare before you write, and write nothing that already is as it should be\n"
			if !tracked {
				try = `compare before you write; and write with --field-manager "$HARK_FIELD_MANAGER"`
			}
			hark := c.run("configmaps", "--hot-loop", "3/1m", "--", program(t, "rewriter"))
			hark.says("HOT LOOP: configmaps/default/a was run more than 3 times within 1m0s")
			hark.says("    ~ data.seen: \"")
			hark.says("try: " + try)
			if code := hark.interrupt(); code != exitDone {
				t.Errorf("exit %d\n%s", code, hark.err)
			}
		})
	}
}
