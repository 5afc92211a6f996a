#!/bin/sh
# A new user's first minutes on a bare Debian: a root made by debootstrap with nothing but git, make and certificates,
# in which a clone of what is committed here goes through the first commands of README.md. Says what each took. As root,
# with the network for apt alone.
# usage: first_minutes.sh [ROOT]    ROOT: a folder that is kept, build/first_minutes otherwise
set -e
root=${1:-$PWD/build/first_minutes}
suite=bookworm
[ "$(id -u)" = 0 ] || { echo "first_minutes.sh needs root, for debootstrap and chroot" >&2; exit 1; }
sh scripts/setup.sh debootstrap
PATH=$PATH:/usr/sbin:/sbin
mirror=$(sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb \(\[[^]]*\] \)*\([^ ]*\) .*/\2/p' /etc/apt/sources.list.d/debian.sources \
  /etc/apt/sources.list 2> /dev/null | head -n 1)

if [ ! -x "$root/usr/bin/git" ]; then
  mkdir -p "$root"
  debootstrap --variant=minbase --include=git,make,ca-certificates "$suite" "$root" "${mirror:-http://deb.debian.org/debian}" \
    > build/debootstrap.log || { tail -5 build/debootstrap.log; exit 1; }
fi
cp -R /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
cp -L /etc/resolv.conf "$root/etc/" 2> /dev/null || :
cp /etc/hosts "$root/etc/hosts"
rm -rf "$root/home/wick" && git clone -q . "$root/home/wick"
mount --bind /proc "$root/proc" && mount --bind /dev "$root/dev"
trap 'umount "$root/proc" "$root/dev"' EXIT

inside() { chroot "$root" /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LANG=C.UTF-8 TERM=dumb \
  sh -c "cd /home/wick && $1"; }
# step TEXT COMMAND: what the command prints has the text
step() {
  start=$(date +%s)
  inside "$2" > build/first_minutes.out 2>&1 || { tail -20 build/first_minutes.out; echo "failed: $2"; exit 1; }
  [ -z "$1" ] || grep -qF -- "$1" build/first_minutes.out || { tail -20 build/first_minutes.out; echo "'$1' expected of: $2"; exit 1; }
  printf '%5d s  %s\n' $(($(date +%s) - start)) "$2"
}
step "somebody speaks from 1.8 to 5.0 s" "make demo"
step "usage: wick COMMAND" "build/release/wick help"
step "wick is in /usr/local" "make install"
step "" "cc examples/hello.c \$(pkg-config --cflags --libs wick) -o /root/hello"
step "" "/root/hello tests/program/linear.pt"
step "14: six, 100% sure" "wick run examples/digits/reader.pt examples/digits/digits.npy"
step "somebody speaks" "make demo"
step "wick is removed" "make uninstall"
