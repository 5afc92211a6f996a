# Sourced by each story: a folder to work in, the build's command as `wick`, and how expectations are written down.
# usage of a story: NAME.sh WICK SOURCE BUILD     BUILD: where the library is, of which an installation is made
set -e
wick=$1 source=$2 build=$3
examples=$source/examples
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT && mkdir "$work/bin" && ln -s "$wick" "$work/bin/wick" || exit 1
PATH=$work/bin:$PATH
export PATH
cd "$work" || exit 1

skip() { echo "skipped: $*"; exit 77; }
needs() { command -v "$1" > /dev/null || skip "$1 is not here"; }
skip_if_missing() { ! grep -qE "was built without|not installed" said || skip "$(head -n 1 said)"; } # a library
does() { "$@" > said 2>&1 || { skip_if_missing; cat said; exit 1; }; }
# says STATUS TEXT WORD...: the exit status of the command, and a text somewhere in what it prints; it is left in `said`
says() {
  wanted=$1 text=$2
  shift 2
  status=0
  "$@" > said 2>&1 || status=$?
  if [ $status -ne "$wanted" ] || ! grep -qF -- "$text" said; then
    skip_if_missing
    echo "$*: exit status $status, '$text' expected in:"; head -20 said; exit 1
  fi
}
# install: the build under $work/usr, and what it takes to compile and run against it
install() {
  needs pkg-config
  [ -f "$build/libwick.so" ] || skip "this build has no shared library"
  (cd "$source" && cmake --install "$build" --prefix "$work/usr") > installed || { cat installed; exit 1; }
  PKG_CONFIG_PATH=$(dirname "$(find "$work/usr" -name wick.pc)")
  LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH")
  export PKG_CONFIG_PATH LD_LIBRARY_PATH
}
