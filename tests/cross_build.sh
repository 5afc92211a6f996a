#!/bin/sh
# wick as a part of a program's build for another machine, by a toolchain file that is the program's own and names a
# compiler and nothing else, then by one with a root: nothing of this machine is found, what the root has is, and what
# is compiled is for the other machine.
# usage: cross_build.sh BUILD SOURCE CMAKE
set -e
build=$1 source=$2 cmake=$3
work=$build/cross_build cc=aarch64-linux-gnu-gcc
command -v $cc > /dev/null || { echo "skipped, there is no $cc"; exit 77; }
rm -rf "$work" && mkdir -p "$work/root/include" "$work/root/lib" && cd "$work"
fail() { echo "$*"; exit 1; }

cat > bare.cmake << END
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER $cc)
END
cat bare.cmake - > rooted.cmake << END
set(CMAKE_FIND_ROOT_PATH $work/root)
END
# a zlib to be found; nothing is linked with it here
echo 'int inflate(void) { return 0; }' > z.c
$cc -c z.c -o z.o && ar rcs root/lib/libz.a z.o
echo "#define ZLIB_VERSION \"1.2.13\"" > root/include/zlib.h

# NAME: configures the consumer of WICK_SOURCE by NAME.cmake
configure() {
  $cmake -S "$source/tests/consumer" -B "$1" -G "Unix Makefiles" -DCMAKE_TOOLCHAIN_FILE="$work/$1.cmake" \
    -DWICK_SOURCE="$source" -DHELLO="$source/examples/hello.c" > "$1.log" 2>&1 || fail "$(cat "$1.log")"
  # what was looked for and found: entries of paths and files that are no tools
  grep -E '^(ZLIB_|WICK_HAVE_|.*_INCLUDE_DIR:|.*_LIBRARY[A-Z_]*:)' "$1/CMakeCache.txt" > "$1.found" || :
  ! grep -E '=/(usr|lib|opt)(/|$)' "$1.found" || fail "a build for another machine finds what this one has"
}
configure bare
grep -q "ZLIB_LIBRARY_RELEASE:FILEPATH=ZLIB_LIBRARY_RELEASE-NOTFOUND" bare/CMakeCache.txt || fail "zlib of nowhere: $(cat bare.found)"
configure rooted
grep -q "ZLIB_LIBRARY_RELEASE:FILEPATH=$work/root/lib/libz.a" rooted/CMakeCache.txt || fail "the root's zlib: $(cat rooted.found)"
make -s -C bare/wick src/serial/archive/inflate.o > make.log 2>&1 || fail "$(cat make.log)"
object=$(find bare -name inflate.c.o)
aarch64-linux-gnu-readelf -h "$object" | grep -q AArch64 || fail "$object is for another machine"
echo "cross builds: nothing of this machine, the root's zlib"
