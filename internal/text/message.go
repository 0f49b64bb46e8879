package text

import "strings"

// Message is one thing to say, in both languages. Placeholders are names in
// braces: "{namespace}". Messages are made in this package alone.
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
	replacements := make([]string, len(pairs))
	for i, part := range pairs {
		replacements[i] = part
		if i%2 == 0 {
			replacements[i] = "{" + part + "}"
		}
	}
	return strings.NewReplacer(replacements...).Replace(sentence)
}

// List joins things that stand side by side: "Pod, Node" or "Pod、Node".
func (l Lang) List(things []string) string {
	if l == Chinese {
		return strings.Join(things, "、")
	}
	return strings.Join(things, ", ")
}
