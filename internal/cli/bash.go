package cli

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// cobra's script for bash leaves it to the package bash-completion to take the
// command line apart. Where that is not installed every Tab would write an error
// into the line that is being typed, so the script gets a stand-in: it joins what
// bash has split at "=" and ":", as the option -n =: of the package does.
const (
	bashWords   = `    _get_comp_words_by_ref "$@" cur prev words cword` + "\n"
	bashStandIn = `    if declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        _get_comp_words_by_ref "$@" cur prev words cword
        return
    fi
    # Without the package bash-completion.
    local i
    words=()
    cword=0
    for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
        if ((i > 0)) && [[ ${COMP_WORDS[i]} == [=:] || ${COMP_WORDS[i - 1]} == [=:] ]]; then
            words[${#words[@]} - 1]+=${COMP_WORDS[i]}
        else
            words+=("${COMP_WORDS[i]}")
        fi
        ((i != COMP_CWORD)) || cword=$((${#words[@]} - 1))
    done
    cur=${words[cword]}
    prev=${words[cword > 0 ? cword - 1 : 0]}
`
)

// writeBashCompletion writes the script for bash, which needs no other package.
func writeBashCompletion(root *cobra.Command, out io.Writer) error {
	var script bytes.Buffer
	if err := root.GenBashCompletionV2(&script, true); err != nil {
		return err
	}
	if strings.Count(script.String(), bashWords) != 1 {
		return errors.New("the script for bash is not as it was expected")
	}
	_, err := io.WriteString(out, strings.Replace(script.String(), bashWords, bashStandIn, 1))
	return err
}
