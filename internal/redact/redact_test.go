package redact

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	plain     = "hunter2hunter2"
	lastApply = "kubectl.kubernetes.io/last-applied-configuration"
)

var encoded = base64.StdEncoding.EncodeToString([]byte(plain))

func secret(password string) map[string]any {
	return map[string]any{
		"kind": "Secret",
		"type": "Opaque",
		"metadata": map[string]any{
			"name": "s",
			"annotations": map[string]any{
				lastApply:      `{"data":{"password":"` + password + `"}}`,
				"tool/applied": "H4sIAAAAAAAA/",
				"note":         "the password is " + plain,
				"harmless":     "checked by ops",
			},
		},
		"data":       map[string]any{"password": password, "user": "cm9vdA=="},
		"stringData": map[string]any{"token": plain},
	}
}

func TestSecretHidesEveryValueAndEveryCopy(t *testing.T) {
	s := secret(encoded)
	Secret(s)
	want := map[string]any{
		"kind": "Secret",
		"type": "Opaque",
		"metadata": map[string]any{
			"name": "s",
			"annotations": map[string]any{
				lastApply: Mask, "tool/applied": Mask, "note": Mask, "harmless": "checked by ops",
			},
		},
		"data":       map[string]any{"password": Mask, "user": Mask},
		"stringData": map[string]any{"token": Mask},
	}
	if d := cmp.Diff(want, s); d != "" {
		t.Errorf("Secret (-want +got):\n%s", d)
	}
}

func TestPairMarksWhatDiffersWithoutShowingIt(t *testing.T) {
	old, new := secret(encoded), secret(base64.StdEncoding.EncodeToString([]byte("another password")))
	new["data"].(map[string]any)["added"] = encoded
	Pair(old, new)
	for _, s := range []map[string]any{old, new} {
		if shown := fmt.Sprint(s); strings.Contains(shown, plain) || strings.Contains(shown, encoded) {
			t.Errorf("a value is shown: %s", shown)
		}
	}
	got := []any{
		old["data"].(map[string]any)["password"], new["data"].(map[string]any)["password"],
		new["data"].(map[string]any)["user"], new["data"].(map[string]any)["added"],
		new["metadata"].(map[string]any)["annotations"].(map[string]any)[lastApply],
	}
	if d := cmp.Diff([]any{Mask, MaskChanged, Mask, Mask, MaskChanged}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	// Once compared, the newer version is printed, without marks.
	Secret(new)
	if shown := fmt.Sprint(new); strings.Contains(shown, MaskChanged) {
		t.Errorf("a mark is left: %s", shown)
	}
}

func TestMasksDecodeAsValuesOfASecret(t *testing.T) {
	for _, mask := range []string{Mask, MaskChanged} {
		if _, err := base64.StdEncoding.DecodeString(mask); err != nil {
			t.Errorf("%s: %v", mask, err)
		}
	}
}

func TestSecretOfAnyShapeIsHidden(t *testing.T) {
	for _, odd := range []map[string]any{
		{"data": plain},
		{"data": []any{plain}},
		{"data": map[string]any{"a": map[string]any{"b": plain}}},
		{"stringData": map[string]any{"a": []any{plain}}},
		{"data": map[string]any{"a": plain}, "metadata": map[string]any{"annotations": map[string]any{"x": []any{plain}}}},
		{"metadata": map[string]any{"annotations": map[string]any{lastApply: plain}}},
	} {
		before := fmt.Sprint(odd)
		Secret(odd)
		if shown := fmt.Sprint(odd); strings.Contains(shown, plain) {
			t.Errorf("Secret(%s) shows %s", before, shown)
		}
	}
	Secret(nil)
	Pair(nil, map[string]any{"data": nil})
}

func TestOnlySecretsOfTheCoreGroupAreRedacted(t *testing.T) {
	if !Applies("", "Secret") || Applies("example.com", "Secret") || Applies("", "ConfigMap") {
		t.Error("Applies is wrong")
	}
}
