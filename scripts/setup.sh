#!/bin/sh
# Installs the Debian packages that building and testing wick needs, and those that are named; says what is missing where
# apt can't be used.
set -e
packages="$* gcc cmake ninja-build pkg-config zlib1g-dev libdnnl-dev libopenblas-openmp-dev liblapacke-dev libcjson-dev libfftw3-dev libcmocka-dev python3"
missing=""
for p in $packages; do
  dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q "install ok installed" || missing="$missing $p"
done
[ -z "$missing" ] && exit 0
echo "installing:$missing"
if [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then
  echo "these Debian packages are needed:$missing" >&2
  exit 1
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing > /dev/null
