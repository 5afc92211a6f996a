#!/bin/sh
# Runs commands in a bare root of another Debian, on a copy of this tree, as a stranger would who has just cloned it.
# usage: [CC=clang] [PACKAGES='clang ...'] in_root.sh SUITE [COMMAND...]    without commands: make demo, test, python
# As root; the root is kept in build/roots/SUITE and reused. Time and outcome of each command are printed.
set -e
# mounts of its own, which end with it
[ "$IN_ROOT" ] || IN_ROOT=1 exec unshare --mount --propagation private sh "$0" "$@"
suite=${1:?a suite: bookworm, trixie, ...}
shift
[ $# -gt 0 ] || set -- 'make demo' 'make test' 'make python'
root=$PWD/build/roots/$suite
command -v debootstrap > /dev/null || sh scripts/setup.sh debootstrap
mirror=$(sed -n 's/^URIs: *//p; s/^deb \([^ ]*\) .*/\1/p' /etc/apt/sources.list /etc/apt/sources.list.d/* 2> /dev/null | head -1)
if [ ! -e "$root/.made" ]; then
  mkdir -p "$root"
  debootstrap --variant=minbase "$suite" "$root" "${mirror:-http://deb.debian.org/debian}" > build/in_root.log 2>&1 ||
    { tail -5 build/in_root.log >&2; exit 1; }
  touch "$root/.made"
fi
for place in proc dev dev/pts; do mount --bind "/$place" "$root/$place"; done
chroot "$root" sh -c "apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
  make git ca-certificates $PACKAGES" > build/in_root.log 2>&1 || { tail -5 build/in_root.log >&2; exit 1; }
rm -rf "$root/wick"
git clone -q . "$root/wick"
for command; do
  start=$(date +%s)
  if chroot "$root" sh -c "cd /wick && export DEBIAN_FRONTEND=noninteractive CC=$CC && $command" > build/in_root.log 2>&1
  then outcome=passed; else outcome=FAILED; fi
  echo "$suite${CC:+, $CC}: $command: $outcome in $(($(date +%s) - start)) s"
  [ $outcome = passed ] || { tail -40 build/in_root.log; exit 1; }
done
