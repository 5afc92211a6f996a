#!/bin/sh
# Every command has a page of the manual, with each of its options and nothing that formatters warn of; the pages are the
# same bits each time.    usage: manual.sh PYTHON WICK SOURCE
python=$1 wick=$2 source=$3 failed=0
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT && cd "$work" || exit 1
fail() { echo "$*"; failed=1; }
"$python" "$source/scripts/man.py" "$wick" one && "$python" "$source/scripts/man.py" "$wick" another || exit 1
diff -r one another || fail "made twice, the pages differ"

shows() { # PAGE OPTION: set bold in a line of its own, hyphens as they are typed
  sed 's/\\-/-/g' "$1" | grep -qE -- "^\\\\fB$2\\\\fR( |\$)" || fail "$1 does not show $2"
}
commands=$("$wick" help | sed -n 's/^  \([a-z]*\) .*/\1/p')
[ "$(echo "$commands" | wc -l)" -ge 10 ] || fail "the overview's commands were not found: $commands"
for command in $commands; do
  page=one/wick-$command.1
  [ -s "$page" ] || { fail "there is no $page"; continue; }
  for option in $("$wick" help "$command" | sed -n 's/^  \(-[-a-z]*\) .*/\1/p'); do shows "$page" "$option"; done
  grep -q "wick\\\\-$command (1)" one/wick.1 || fail "wick.1 does not name wick-$command"
done
for option in $("$wick" help models | sed -n 's/^  \(-[-a-z]*\) .*/\1/p'); do shows one/wick.1 "$option"; done
for word in WICK_EXECUTOR "EXIT STATUS" "randn(1,3,224,224)"; do
  grep -qF "$word" one/wick.1 || fail "wick.1 does not tell of $word"
done
[ "$(ls one | wc -l)" = "$(($(echo "$commands" | wc -l) + 1))" ] || fail "there are pages of no command: $(ls one)"

check() { # TOOL ARGUMENT...: formats every page and says nothing
  command -v "$1" > /dev/null || { echo "$1 is not here: skipped"; return; }
  for page in one/*.1; do
    "$@" "$page" > formatted 2> warned || fail "$* $page: exit status $?"
    [ ! -s warned ] || { fail "$* $page:"; cat warned; }
  done
}
check groff -man -ww -z
check man --warnings -l
exit $failed
