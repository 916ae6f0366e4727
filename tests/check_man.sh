#!/bin/bash
# The man page and the completion of easetop against the program itself: each report and option is
# there, and nothing that is not. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/rig.sh"
trap 'rm -rf "$rig"' EXIT

program=$build/collector/easetop
page=$top/collector/easetop.1
reports=$("$program" --help | awk '/^Options/ { exit } /^  / { print $1 }' | sort)
options=$("$program" --help | awk '$1 ~ /^--/ { print substr($1, 3) }' | sort)

expect 'man: reports' "$(sed -n '/^.Ss Reports/,/^.Ss Options/s/^.It Cm //p' "$page" | sort)" "$reports"
expect 'man: options' "$(sed -n 's/^.It //p' "$page" | grep -o 'Fl Fl [a-z]*' | cut -d' ' -f3 | sort)" "$options"
if command -v mandoc >/dev/null; then
	expect 'man: mandoc has nothing to say' "$(mandoc -T lint -W warning "$page" 2>&1)" ''
else
	skip 'man: mandoc has nothing to say' 'no mandoc'
fi

complete_line() { # WORD...: what is offered for the last one
	bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _easetop; printf "%s\n" "${COMPREPLY[@]}"' \
	    - "$top/conf/completion/easetop" "$program" "$@" | sort
}
expect 'completion: reports' "$(complete_line '')" "$reports"
expect 'completion: options' "$(complete_line talkers -- | sed 's/^--//')" "$options"
expect 'completion: the beginning of one' "$(complete_line conv)" conversations
expect 'completion: values' "$(complete_line talkers --format c)" csv
wrong=''
for by in $(complete_line talkers --by ''); do
	"$program" talkers --by "$by" --store sqlite:/nowhere 2>&1 | grep -q 'expected' && wrong="$wrong $by"
done
expect 'completion: what --by offers is known' "$wrong" ''
exit $failed
