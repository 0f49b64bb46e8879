package wire

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func fullStatus() *metav1.Status {
	return &metav1.Status{
		ListMeta: metav1.ListMeta{ResourceVersion: "1"},
		Status:   metav1.StatusFailure,
		Code:     429,
		Reason:   metav1.StatusReasonTooManyRequests,
		Message:  "too many \"requests\", 稍后再试",
		Details: &metav1.StatusDetails{
			Name: "a", Group: "b", Kind: "c", UID: "d", RetryAfterSeconds: 17,
			Causes: []metav1.StatusCause{
				{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version", Field: "x"},
				{Message: "no reason"},
			},
		},
	}
}

func wantFullStatus() *Status {
	return &Status{
		Code: 429, Reason: "TooManyRequests", Message: "too many \"requests\", 稍后再试", RetryAfterSeconds: 17,
		Causes: []string{"ResourceVersionTooLarge", ""},
	}
}

func TestParseStatusReadsWhatTheServerEncodes(t *testing.T) {
	bothEncodings(t, func(t *testing.T, encoding Encoding) {
		for _, tc := range []struct {
			in   *metav1.Status
			want *Status
		}{
			{fullStatus(), wantFullStatus()},
			{&metav1.Status{}, &Status{}},
			{&metav1.Status{Code: 410, Reason: metav1.StatusReasonExpired}, &Status{Code: 410, Reason: "Expired"}},
		} {
			body := listBody(t, encoding, tc.in)
			got, err := ParseStatus(encoding, body)
			if err != nil {
				t.Fatal(err)
			}
			clear(body) // the Status must not refer to it
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Status (-want +got):\n%s", diff)
			}
		}
	})
}

func TestParseStatusTakesNullForAbsent(t *testing.T) {
	body := `{"kind":"Status","message":null,"reason":"x","code":null,
		"details":{"retryAfterSeconds":3,"causes":[{"reason":"a"}]},
		"details":{"retryAfterSeconds":null,"causes":[null,{"reason":null}]}}`
	got, err := ParseStatus(JSON, []byte(body))
	want := &Status{Reason: "x", RetryAfterSeconds: 3, Causes: []string{"", ""}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Status (-want +got):\n%s%v", diff, err)
	}
	got, err = ParseStatus(JSON, []byte(strings.Replace(body, "null,{", "null]},\"details\":null,\"x\":{\"y\":[{", 1)))
	if diff := cmp.Diff(&Status{Reason: "x"}, got); err != nil || diff != "" {
		t.Errorf("Status (-want +got):\n%s%v", diff, err)
	}
}

func TestParseStatusRefusesWhatIsNone(t *testing.T) {
	pod := listBody(t, Protobuf, bookmark("1", nil))
	status := listBody(t, Protobuf, fullStatus())
	bad := func(raw fields) []byte {
		return append([]byte(envelopePrefix), fields{}.add(unknownTypeMeta, fields{}.add(typeMetaKind, []byte("Status"))).add(unknownRaw, raw)...)
	}
	at := len(bad(nil))
	for _, tc := range []struct {
		encoding Encoding
		body     string
		offset   int
		what     string
	}{
		{JSON, "<html>", 0, "'<' instead of an object"},
		{JSON, "", 0, "ends"},
		{JSON, `{"kind":"Pod"}`, 0, `body is not a Status: its kind is "Pod"`},
		{JSON, `{"error":"x"}`, 0, `body is not a Status: its kind is ""`},
		{JSON, `{"kind":"Status"}x`, 17, "'x' instead of the end"},
		{JSON, `{"kind":"Status","code":"403"}`, 24, "a status's code is not an integer"},
		{JSON, `{"kind":"Status","code":2147483648}`, 24, "a status's code is not an integer of 32 bits"},
		{JSON, `{"kind":1}`, 8, "kind is not a string"},
		{JSON, `{"details":[]}`, 11, "a status's details is not an object"},
		{JSON, `{"details":{"causes":{}}}`, 21, "a status's causes is not an array"},
		{JSON, `{"details":{"causes":[1]}}`, 22, "a status's cause is not an object"},
		{Protobuf, "", 0, "without the prefix"},
		{Protobuf, `{"kind":"Status"}`, 0, "without the prefix"},
		{Protobuf, "k8s\x00", 0, `body is not a Status: its kind is ""`},
		{Protobuf, string(pod), 0, `body is not a Status: its kind is "Pod"`},
		{Protobuf, string(status[:len(status)-1]), len(status) - 2, "malformed protobuf field"},
		{Protobuf, string(bad(fields{}.add(statusCode, nil))), at, "a status's code has protobuf wire type 2"},
		{Protobuf, string(bad(fields{}.addVarint(statusDetails, 1))), at, "a status's details has protobuf wire type 0"},
		{0, "", 0, "unknown encoding(0)"},
	} {
		_, err := ParseStatus(tc.encoding, []byte(tc.body))
		checkError(t, tc.body, err, tc.offset, err.(*Error).Object, tc.what)
	}
}
