#!/bin/sh
# The static command with its licence and what it is, in one folder of a tar archive. The same bits each time.
set -e
cmake --preset musl -DBUILD_TESTING=OFF > build/musl.log || { tail -5 build/musl.log >&2; exit 1; }
cmake --build build/musl --target wick_cli
version=$(build/musl/wick --version | sed 's/^[^0-9]*//')
name=wick-$version-$(uname -m)-linux
when=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || stat -c %Y CMakeLists.txt)}
rm -rf "build/$name" && mkdir "build/$name"
strip -o "build/$name/wick" build/musl/wick
cp -R LICENSE README.md docs "build/$name/"
tar -C build --sort=name --mtime="@$when" --owner=0 --group=0 --numeric-owner --mode=go=rX -cf - "$name" |
  gzip -9n > "build/$name.tar.gz"
rm -rf "build/${name:?}"
echo "build/$name.tar.gz"
