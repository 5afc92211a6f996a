#!/bin/sh
# Help fits a screen of 80 by 24 and shows the options that exist; what is misspelled is understood.
# usage: command_help.sh WICK
wick=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT && cd "$work" || exit 1
. "$here/expect.sh"
printf 'def forward(x: Tensor):\n    return x\ndef batch(x: Tensor):\n    return x\n' > two.py

fits() {
  awk -v what="$*" 'length($0) > 80 { print what ": wider than a screen: " $0; bad = 1 }
    END { if (NR > 24) { print what ": " NR " lines"; bad = 1 } exit bad }' out || failed=1
}
commands="run check info dump ops bench profile save compile view"
"$wick" > out 2>&1
fits wick
for command in $commands; do
  grep -q "^  $command " out || { echo "the overview does not name $command"; failed=1; }
done
for topic in $commands inputs models; do
  "$wick" help $topic > out || failed=1
  fits "wick help $topic"
done
: > shown
for command in $commands; do
  "$wick" $command --help > out || failed=1
  grep -oE '(^  |[ :])-(-[a-z][a-z-]*|o)\b' out | grep -oE -- '-.*' | sort -u > options
  [ -s options ] || { echo "$command shows no options"; failed=1; }
  cat options >> shown
  while read -r option; do # each is known: a value that it can't have, or none, is what is refused
    "$wick" $command "$option=%" > refused 2>&1
    if grep -q "does not take" refused; then echo "$command does not take $option"; failed=1; fi
  done < options
done
# What the tables of the sources have is shown somewhere.
grep -ohE '\{"-[-a-z]+", OPTION_' "$here"/../src/cli/*.c | sed 's/{"//; s/".*//' | sort -u > tables
for option in $(cat tables); do
  grep -qx -- "$option" shown || { echo "no help shows $option"; failed=1; }
done
[ "$(wc -l < tables)" -gt 30 ] || { echo "the tables of options were not found"; failed=1; }

expect 2 "there is no command 'rnu'. Did you mean 'run'?" "$wick" rnu
expect 2 "there is no command 'zzz'; \`wick --help\` lists them" "$wick" zzz
expect 2 "run does not take --metod. Did you mean '--method'?" "$wick" run --metod
expect 2 "(there are forward, batch). Did you mean 'batch'?" "$wick" run two.py --method bach
expect 2 "tow.py: No such file or directory. Did you mean 'two.py'?" "$wick" run tow.py
expect 2 "$work/tow.py: No such file or directory. Did you mean '$work/two.py'?" "$wick" info "$work/tow.py"
expect 2 "quite_another.pt: No such file or directory" "$wick" run quite_another.pt
expect 2 "info does not know what to do with 'more.pt'" "$wick" info two.py more.pt
expect 2 "--seconds takes a number, not 'soon'" "$wick" run two.py --seconds soon
printf 'class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n' > net.py
expect 2 'torch.jit.script(module).save("module.pt")' "$wick" run net.py
echo text > no.so
expect 2 "no.so: " "$wick" run two.py --library no.so
grep -qE "invalid ELF|too short|not a valid|Exec format|static" out || { echo "the library of this folder is not tried:"; cat out; failed=1; }
expect 0 "CPUFloatType" "$wick" run two.py --seconds 2.5 'ones(2)'
exit $failed
