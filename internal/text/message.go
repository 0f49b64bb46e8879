package text

import (
	"regexp"
	"strings"
)

// Message is one thing to say, in both languages. Placeholders are names in
// braces: "{namespace}". A word that follows a number is written "{runs:run|runs}": the
// first form stands where {runs} is 1. Messages are made in this package alone.
type Message struct{ en, zh string }

// catalogue is every Message, for the tests of the package. It is complete
// before main starts and never changes afterwards.
var catalogue []Message

// message enters a Message into the catalogue.
func message(en, zh string) Message {
	m := Message{en: en, zh: zh}
	catalogue = append(catalogue, m)
	return m
}

// Say returns m in the language l, with each placeholder replaced. The
// arguments are pairs of a placeholder's name and its value. Values are
// inserted as they are: a brace in a value is no placeholder.
func (l Lang) Say(m Message, pairs ...string) string {
	sentence := m.en
	if l == Chinese {
		sentence = m.zh
	}
	if len(pairs) == 0 {
		return sentence
	}
	sentence = agree(sentence, pairs)
	replacements := make([]string, len(pairs))
	for i, part := range pairs {
		replacements[i] = part
		if i%2 == 0 {
			replacements[i] = "{" + part + "}"
		}
	}
	return strings.NewReplacer(replacements...).Replace(sentence)
}

// counted is a word in the forms for one and for any other number.
var counted = regexp.MustCompile(`\{([a-z]+):([^{}|]*)\|([^{}|]*)\}`)

// agree puts counted words into the form that their numbers ask for.
func agree(sentence string, pairs []string) string {
	return counted.ReplaceAllStringFunc(sentence, func(word string) string {
		forms := counted.FindStringSubmatch(word)
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == forms[1] && pairs[i+1] == "1" {
				return forms[2]
			}
		}
		return forms[3]
	})
}

// List joins things that stand side by side: "Pod, Node" or "Pod、Node".
func (l Lang) List(things []string) string {
	if l == Chinese {
		return strings.Join(things, "、")
	}
	return strings.Join(things, ", ")
}
