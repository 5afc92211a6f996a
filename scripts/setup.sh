#!/bin/sh
# Sees to it that what building needs is there. As root on Debian and its kin packages are installed; otherwise the line
# to copy is printed. Optional libraries, and packages on systems that this script doesn't know, stop nothing that works.
# usage: setup.sh [tests] [PACKAGE...]    tests: what tests need besides; packages by Debian's names, needed too
set -e
needed="gcc cmake ninja-build pkg-config"
optional="zlib1g-dev libdnnl-dev libopenblas-openmp-dev liblapacke-dev libcjson-dev libfftw3-dev
  libturbojpeg0-dev libsndfile1-dev"
if [ "$1" = tests ]; then
  needed="$needed libcmocka-dev python3"
  optional="$optional python3-dev"
  shift
fi
needed="$needed $*"

# Where packages have other names: the tools themselves are looked for.
no_dpkg() {
  missing=""
  for tool in cc cmake ninja; do command -v $tool > /dev/null || missing="$missing $tool"; done
  for header in $(case $needed in *cmocka*) echo cmocka.h ;; esac); do
    echo "#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <$header>" | cc -E - > /dev/null 2>&1 || missing="$missing $header"
  done
  [ -n "$missing" ] || return 0
  echo "missing:$missing" >&2
  . "${WICK_OS_RELEASE:-/etc/os-release}" 2> /dev/null || :
  case " $ID $ID_LIKE " in
    *fedora* | *rhel*) echo "    sudo dnf install gcc cmake ninja-build zlib-devel onednn-devel openblas-devel lapack-devel cjson-devel fftw-devel turbojpeg-devel libsndfile-devel libcmocka-devel pkgconf python3" ;;
    *arch*) echo "    sudo pacman -S gcc cmake ninja zlib onednn openblas lapacke cjson fftw libjpeg-turbo libsndfile cmocka pkgconf python" ;;
    *alpine*) echo "    apk add build-base cmake samurai zlib-dev onednn-dev openblas-dev lapack-dev cjson-dev fftw-dev libjpeg-turbo-dev libsndfile-dev cmocka-dev pkgconf python3" ;;
    *suse*) echo "    sudo zypper install gcc cmake ninja zlib-devel onednn-devel openblas-devel lapacke-devel cJSON-devel fftw3-devel libjpeg62-devel libsndfile-devel libcmocka-devel pkgconf python3" ;;
    *) echo "    a C compiler, CMake and Ninja are needed, cmocka for the tests" ;;
  esac >&2
  return 1
}
command -v dpkg-query > /dev/null || { no_dpkg; exit; }

missing_of() {
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2> /dev/null | grep -q "install ok installed" || printf ' %s' "$package"
  done
}
missing=$(missing_of $needed)
without=$(missing_of $optional)
[ -n "$missing$without" ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
  echo "installing:$missing$without"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing $without > /dev/null
elif [ -n "$missing" ]; then
  echo "these packages are needed:" >&2
  echo "    sudo apt-get install$missing$without" >&2
  exit 1
else
  echo "built without optional libraries (see README.md); to have them: sudo apt-get install$without"
fi
