#!/bin/sh
# Completion in bash, zsh and fish, those that are here: commands, options, their values, methods of a model, files.
# usage: completion.sh WICK SOURCE
wick=$1 source=$2
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT && mkdir "$work/bin" || exit 1
ln -s "$wick" "$work/bin/wick"
PATH=$work/bin:$PATH HOME=$work
export PATH HOME
cd "$work" || exit 1
printf 'def forward(x: Tensor):\n    return x\ndef follow(x: Tensor):\n    return x\n' > two.py
scripts=$source/scripts/completion
failed=0

in_bash() {
  bash -c 'compopt() { :; }; . "$0" && COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) && _wick &&
    if [ ${#COMPREPLY[@]} -gt 0 ]; then printf "%s\n" "${COMPREPLY[@]}"; else compgen -f -- "${!#}"; fi' "$scripts/wick.bash" "$@"
}
in_zsh() { # what _describe and _files get is what is offered
  zsh -f -c '_describe() { print -l -- "${(@P)${@[-1]}%%:*}" }
    _files() { print -l -- ${PREFIX}*(N) }
    script=$1; shift; words=("$@"); CURRENT=$#; PREFIX=${@[-1]}; . $script' zsh "$scripts/_wick" "$@"
}
in_fish() {
  fish --no-config -c 'set -l script $argv[1]; source $script; complete -C "$(string join -- " " $argv[2..])"' "$scripts/wick.fish" "$@" | cut -f 1
}
# offers WANTED WORD...: what the last word is completed to, in order
offers() {
  wanted=$1
  shift
  found=$("in_$shell" wick "$@" 2> "$work/errors" | sort -u | tr '\n' ' ')
  if [ "$found" != "$wanted" ] || [ -s "$work/errors" ]; then
    echo "$shell: wick $*: '$found', not '$wanted'"; cat "$work/errors"; failed=1
  fi
}
for shell in bash zsh fish; do
  command -v $shell > /dev/null || { echo "$shell is not here: skipped"; continue; }
  offers "save " s
  offers "info inputs " help i
  offers "--megabytes --method " run two.py --me
  offers "optimized " dump --stage o
  offers "follow forward " run two.py --method f
  offers "two.py " run tw
  offers "two.py " run --use a=two.py --labels tw
  offers "onednn " run --engine o
  offers "" run --seconds 1
done
# A word stands for a kind of value in each table, or for something that only its user knows.
grep -ohE 'OPTION_(TEXT|TEXTS|LIBRARY|ENGINE), [^,]*, "[^"]*"' "$source"/src/cli/*.c | sed 's/.*"\(.*\)"/\1/' | sort -u > arguments
for argument in $(cat arguments); do
  case $argument in NAMES | MAP | N | "N[,N...]" | "N[,pad]" | FUNCTION) continue ;; esac
  grep -qF "{\"$argument\"," "$source/src/cli/complete.c" || { echo "nothing completes $argument"; failed=1; }
done
[ "$(wc -l < arguments)" -gt 8 ] || { echo "no words of options found"; failed=1; }
exit $failed
