# Sourced by the scripts that test the command.
failed=0
# expect STATUS TEXT WORD...: the exit status, and a text somewhere in what is printed
expect() {
  wanted=$1 text=$2
  shift 2
  "$@" > out 2>&1
  status=$?
  if [ $status -ne "$wanted" ] || ! grep -qF -- "$text" out; then
    echo "$*: exit status $status, '$text' expected in:"; head -5 out; failed=1
  fi
}

# same FILE FILE: what two commands printed
same() {
  cmp -s "$1" "$2" || { echo "$1 and $2 differ:"; diff "$1" "$2" | head -5; failed=1; }
}
# json WORD...: what is printed on standard output is one JSON value; it stays in the file out
json() {
  "$@" > out 2> err
  python3 -c 'import json, sys; json.load(open("out"))' || { echo "$*: no JSON:"; head -3 out; failed=1; }
}
