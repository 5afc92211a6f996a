#!/bin/sh
# zlib and cmocka as static libraries for another compiler, made from Debian's sources: build/roots/NAME/{include,lib}.
# apt's own state and the machine's packages stay as they are. Where apt isn't, put libz.a, libcmocka.a and their
# headers there by hand.
# usage: cross_root.sh NAME CC
set -e
name=$1 cc=$2
root=$PWD/build/roots/$name
[ -f "$root/lib/libz.a" ] && [ -f "$root/lib/libcmocka.a" ] && exit 0
work=$PWD/build/roots/sources
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$root/lib" "$root/include"

if ! ls "$work"/zlib_* "$work"/cmocka_* > /dev/null 2>&1; then
  command -v apt-get > /dev/null || { echo "no apt-get here: put libz.a and libcmocka.a, made by $cc, into $root" >&2; exit 1; }
  # Debian's sources from where this machine takes its packages.
  cat /etc/apt/sources.list 2> /dev/null | sed -n 's/^deb /deb-src /p' > "$work/sources.list"
  mkdir -p "$work/sources.list.d"
  sed 's/^Types:.*/Types: deb-src/' /etc/apt/sources.list.d/debian.sources > "$work/sources.list.d/debian.sources" 2> /dev/null || :
  apt="apt-get -qq -o Dir::State::lists=$work/lists -o Dir::Cache=$work/cache -o Dir::Etc::SourceList=$work/sources.list
    -o Dir::Etc::SourceParts=$work/sources.list.d -o Acquire::Languages=none -o APT::Sandbox::User=$(id -un)"
  $apt update
  (cd "$work" && $apt source --download-only zlib cmocka)
fi

build=$(mktemp -d) && trap 'rm -rf "$build"' EXIT
for package in zlib cmocka; do tar xf "$work/$package"_*.orig.tar.*[2z] -C "$build"; done
(
  (cd "$build"/zlib-* && CC=$cc CHOST=$name CFLAGS="-O2 -fPIC" ./configure --static && make libz.a) &&
  cmake -S "$build"/cmocka-* -B "$build/cmocka" -DCMAKE_C_COMPILER="$cc" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY -DWITH_STATIC_LIB=ON -DWITH_EXAMPLES=OFF &&
  cmake --build "$build/cmocka" --target cmocka-static
) > "$root/log" 2>&1 || { tail -30 "$root/log"; exit 1; }
cp "$build"/zlib-*/zlib.h "$build"/zlib-*/zconf.h "$build"/cmocka-*/include/cmocka.h "$root/include"
cp "$build"/zlib-*/libz.a "$root/lib"
cp "$build/cmocka/src/libcmocka-static.a" "$root/lib/libcmocka.a"
