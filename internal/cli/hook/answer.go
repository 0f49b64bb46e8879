package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Result is what a run that went well asks for.
type Result struct {
	// RequeueAfter asks for another run after that time; 0 does not.
	RequeueAfter time.Duration
}

// ErrAgain is the error of a run that asked to be tried again later. It is no
// failure.
var ErrAgain = errors.New("asked to be tried again")

// ParkError is the error of a run that asked to be left alone.
type ParkError struct{ Reason string }

// Error implements error.
func (e *ParkError) Error() string { return e.Reason }

// answer is a line by which a program answers.
type answer struct {
	RequeueAfter *string `json:"requeueAfter"`
	Park         *string `json:"park"`
	Retry        *bool   `json:"retry"`
	Error        *string `json:"error"`
}

// maxAnswer bounds the bytes of a line that can be an answer.
const maxAnswer = 4 << 10

// parseAnswer reads a line; ok is false when it is no answer: not one JSON object
// with these fields alone, each of its own type.
func parseAnswer(line []byte) (a answer, ok bool) {
	line = bytes.TrimSpace(line)
	if len(line) > maxAnswer || len(line) < 2 || line[0] != '{' {
		return a, false
	}
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if decoder.Decode(&a) != nil {
		return a, false
	}
	_, err := decoder.Token()
	return a, err == io.EOF
}

// isResult tells whether an answer can be the last line of a program that is
// started for each request: it says one of what exit codes cannot.
func (a answer) isResult() bool {
	return a.Retry == nil && a.Error == nil && (a.RequeueAfter == nil) != (a.Park == nil)
}

// outcome is what an answer says of a run.
func (a answer) outcome() (Result, error) {
	said := 0
	for _, given := range [...]bool{a.RequeueAfter != nil, a.Park != nil, a.Retry != nil, a.Error != nil} {
		if given {
			said++
		}
	}
	switch {
	case said > 1:
		return Result{}, errors.New("the answer says several things at once")
	case a.RequeueAfter != nil:
		return requeueAfter(*a.RequeueAfter)
	case a.Park != nil:
		return Result{}, &ParkError{*a.Park}
	case a.Error != nil:
		return Result{}, errors.New(clip(*a.Error))
	case a.Retry != nil && *a.Retry:
		return Result{}, ErrAgain
	}
	return Result{}, nil
}

func requeueAfter(text string) (Result, error) {
	after, err := time.ParseDuration(text)
	if err != nil || after <= 0 {
		return Result{}, fmt.Errorf("requeueAfter is %q; want a time such as 30s", clip(text))
	}
	return Result{RequeueAfter: after}, nil
}

// maxSaid bounds what an error quotes of a program's output, in bytes.
const maxSaid = 512

func clip(text string) string {
	if len(text) > maxSaid {
		text = text[:maxSaid]
	}
	return text
}
