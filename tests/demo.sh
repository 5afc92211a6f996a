#!/bin/sh
# What `make demo` shows: pictures and answers, speech where it is, plain characters where a pipe or a locale wants them.
# usage: demo.sh WICK SOURCE
wick=$1 source=$2
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT && mkdir "$work/build" || exit 1
for part in examples tests scripts; do ln -s "$source/$part" "$work/"; done
cd "$work" || exit 1
failed=0
wrong() { echo "$*"; failed=1; }
demo() { env -u LC_ALL -u LC_CTYPE -u LANG -u NO_COLOR WICK="$wick" "$@"; }

demo LANG=C sh scripts/demo.sh > plain || wrong "the demo fails"
LC_ALL=C grep -q '[^ -~]' plain && wrong "in a locale without UTF-8 there are other characters"
sed "s,$wick,build/release/wick," plain | awk 'length > 80 { print; bad = 1 } END { exit bad }' || wrong "wider than a terminal"
demo LANG=C.UTF-8 sh scripts/demo.sh > piped || wrong "the demo fails"
grep -q '█' piped && ! grep -q "$(printf '\033')" piped || wrong "in a pipe there is color, or there are no pictures"
for shown in plain piped; do
  grep -E '^ (zero|one) ' $shown | tr -s ' \n' ' ' > digits
  [ "$(cat digits)" = " zero nine six nine eight four five eight one six three zero four six one eight " ] ||
    wrong "the digits are not read: $(cat digits)"
  grep 'somebody speaks' $shown | tr -s ' \n' ' ' > speech
  [ "$(cat speech)" = " somebody speaks from 1.8 to 5.0 s somebody speaks from 7.1 to 7.8 s " ] ||
    wrong "what is heard: $(cat speech)"
done
if command -v script > /dev/null; then
  demo TERM=xterm LANG=C.UTF-8 script -qec "sh scripts/demo.sh" /dev/null > terminal 2>&1 || wrong "on a terminal the demo fails"
  grep -q "$(printf '\033')\[38;5;255m" terminal || wrong "on a terminal there is no color"
  demo TERM=xterm NO_COLOR=1 LANG=C.UTF-8 script -qec "sh scripts/demo.sh" /dev/null > terminal 2>&1
  # progress, which a slow machine shows, clears its line by another sequence
  grep -q "$(printf '\033')\[[0-9;]*m" terminal && wrong "NO_COLOR is overlooked"
fi
sed -n '/^Next:/,$s/^  //p' plain > next
[ "$(wc -l < next)" -eq 3 ] || wrong "not three commands to try: $(cat next)"
while read -r command; do
  $command > said 2>&1 || wrong "$command: $(head -3 said)"
done < next
exit $failed
