package cli

import (
	"errors"
	"os"
	"strings"

	"github.com/gocampus/hark/internal/text"
)

// flagMistakes are errors of client-go's configuration that a flag can cause
// alone, by a part of their text, and what to try. Such an error has no type.
var flagMistakes = []struct {
	part string
	try  text.Message
}{
	{"without impersonating a user", text.TryAs},
	{"Invalid timeout value", text.TryTimeout},
	{"invalid 'proxy-url'", text.TryProxy},
	{"kube: server address", text.TryServerURL},
}

// explainConfig says what is wrong with a configuration that is there.
func (s *session) explainConfig(f *failure, wrong *configError) {
	f.message, f.try = "error: "+wrong.Error(), s.say(text.TryContexts)
	for _, mistake := range flagMistakes {
		if strings.Contains(wrong.Error(), mistake.part) {
			f.code, f.try = exitUsage, s.say(mistake.try)
			return
		}
	}
	switch {
	case !errors.Is(wrong, os.ErrNotExist):
	case strings.Contains(wrong.Error(), "invalid configuration"): // a file that it names
		f.try = s.say(text.TryFiles)
	default: // the kubeconfig itself
		f.try = s.say(text.TryDemo, "command", s.asked, "demo", s.command)
	}
}

// places lists where a configuration was looked for, in the session's language.
// kube says it in English phrases, of which the catalogue has the parts.
func (s *session) places(looked []string) string {
	translated := make([]string, len(looked))
	for i, place := range looked {
		for _, part := range text.ConfigPlaces {
			place = strings.Replace(place, text.English.Say(part), s.say(part), 1)
		}
		translated[i] = place
	}
	separator := "; "
	if s.lang == text.Chinese {
		separator = "；"
	}
	return strings.Join(translated, separator)
}
