package key

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
)

func TestParseReadsTheTextForm(t *testing.T) {
	for _, tc := range []struct {
		text string
		want Key
	}{
		{"default/tmp", Key{"default", "tmp"}},
		{"node-1", Key{"", "node-1"}},
		{"a/b.c-d", Key{"a", "b.c-d"}},
	} {
		got, err := Parse(tc.text)
		if err != nil || got != tc.want {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", tc.text, got, err, tc.want)
		}
		if got.String() != tc.text {
			t.Errorf("Parse(%q).String() = %q", tc.text, got.String())
		}
	}
}

func TestParseRefusesWhatIsNotAKey(t *testing.T) {
	for _, text := range []string{"", "/", "/a", "a/", "a/b/c", "a//b", "//"} {
		if got, err := Parse(text); !errors.Is(err, ErrInvalid) {
			t.Errorf("Parse(%q) = %+v, %v; want ErrInvalid", text, got, err)
		}
	}
}

func TestKeyIsOneStringInJSON(t *testing.T) {
	type doc struct{ Key Key }
	data, err := json.Marshal(doc{Key{"default", "tmp"}})
	if err != nil || string(data) != `{"Key":"default/tmp"}` {
		t.Fatalf("Marshal = %s, %v", data, err)
	}
	var back doc
	if err := json.Unmarshal(data, &back); err != nil || back.Key != (Key{"default", "tmp"}) {
		t.Fatalf("Unmarshal = %+v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"Key":"a/b/c"}`), &back); !errors.Is(err, ErrInvalid) {
		t.Fatalf("Unmarshal of a bad key: %v; want ErrInvalid", err)
	}
}

func TestCompareOrdersByNamespaceThenName(t *testing.T) {
	keys := []Key{{"b", "a"}, {"a", "z"}, {"", "n"}, {"a", "b"}}
	slices.SortFunc(keys, Key.Compare)
	want := []Key{{"", "n"}, {"a", "b"}, {"a", "z"}, {"b", "a"}}
	if !slices.Equal(keys, want) {
		t.Fatalf("sorted = %v; want %v", keys, want)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"", "a", "a/b", "a/b/c", "/", "默认/甲"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		k, err := Parse(text)
		if err != nil {
			return
		}
		if k.String() != text {
			t.Fatalf("Parse(%q).String() = %q", text, k.String())
		}
	})
}
