#!/bin/sh
# The static command with its manual, completion, licence and docs, in one folder of a tar archive. The same bits each time.
set -e
# its own build: nothing of this folder's name is in the files
cmake --preset musl -B build/tarball -DBUILD_TESTING=OFF -DCMAKE_C_FLAGS="-ffile-prefix-map=$PWD=." > build/tarball.log ||
  { tail -5 build/tarball.log >&2; exit 1; }
cmake --build build/tarball --target wick_cli
version=$(build/tarball/wick --version | sed 's/^[^0-9]*//')
name=wick-$version-$(uname -m)-linux
when=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || stat -c %Y CMakeLists.txt)}
rm -rf "build/$name" && mkdir "build/$name"
strip -o "build/$name/wick" build/tarball/wick
cp -R LICENSE README.md docs scripts/completion "build/$name/"
python3 scripts/man.py build/tarball/wick "build/$name/man/man1"
tar -C build --sort=name --mtime="@$when" --owner=0 --group=0 --numeric-owner --mode=go=rX -cf - "$name" |
  gzip -9n > "build/$name.tar.gz"
rm -rf "build/${name:?}"
echo "build/$name.tar.gz"
