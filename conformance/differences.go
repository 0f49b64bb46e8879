package conformance

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// difference is one between the two servers that is meant: lines of a transcript
// that are not compared.
type difference struct {
	scenarios string         // pattern of path.Match for subject/name
	lines     *regexp.Regexp // those that are dropped
	reason    string
}

// parseDifferences reads the file of differences: a reason as comment lines, then
// "scenarios: pattern", then "lines: regular expression".
func parseDifferences(text string) ([]*difference, error) {
	var all []*difference
	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		d := &difference{}
		for line := range strings.Lines(block) {
			field, value, _ := strings.Cut(strings.TrimSpace(line), " ")
			switch field {
			case "#":
				d.reason += value + " "
			case "scenarios:":
				d.scenarios = value
			case "lines:":
				expression, err := regexp.Compile(value)
				if err != nil {
					return nil, err
				}
				d.lines = expression
			default:
				return nil, fmt.Errorf("%q is neither a reason nor scenarios: nor lines:", line)
			}
		}
		switch _, err := path.Match(d.scenarios, ""); {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", d.scenarios, err)
		case d.lines == nil && d.scenarios == "":
			continue // a comment on the file
		case d.lines == nil || d.scenarios == "" || d.reason == "":
			return nil, fmt.Errorf("reason, scenarios: or lines: is missing in\n%s", block)
		}
		all = append(all, d)
	}
	return all, nil
}

// differencesOf returns those that a scenario may show.
func differencesOf(all []*difference, scenario string) []*difference {
	return slices.DeleteFunc(slices.Clone(all), func(d *difference) bool {
		matches, _ := path.Match(d.scenarios, scenario) // parseDifferences has tried the pattern
		return !matches
	})
}

// forgive drops the lines that a difference covers.
func (d *difference) forgive(lines []string) []string {
	return slices.DeleteFunc(lines, d.lines.MatchString)
}
