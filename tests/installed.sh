#!/bin/sh
# Installs a build under a prefix of its own, compiles examples/hello.c there by pkg-config, shared and static, and runs it.
# usage: installed.sh BUILD SOURCE CC
set -e
build=$1 source=$2 cc=$3
prefix=$build/installed
rm -rf "$prefix"
cmake --install "$build" --prefix "$prefix" > /dev/null
pc=$(find "$prefix" -name wick.pc)
export PKG_CONFIG_PATH="${pc%/*}"
libraries=$(pkg-config --variable=libdir wick)
program="$cc -std=c99 -pedantic-errors -Wall -Wextra -Werror $source/examples/hello.c $(pkg-config --cflags wick)"
$program $(pkg-config --libs wick) -o "$prefix/hello"
$program "$libraries/libwick.a" $(pkg-config --libs --static wick | sed 's/-lwick//') -o "$prefix/hello_static"
shared=$(LD_LIBRARY_PATH="$libraries" "$prefix/hello" "$source/tests/program/linear.pt")
static=$("$prefix/hello_static" "$source/tests/program/linear.pt")
echo "$shared"
[ "$shared" = "$static" ]
others=$(nm -g --defined-only "$libraries/libwick.a" | awk 'NF == 3 && $3 !~ /^wick_/ {print $3}')
[ -z "$others" ] || { echo "libwick.a defines $others"; exit 1; }
# the example compiler, outside of the tree
$cc -std=c11 -Wall -Wextra -Werror -shared -fPIC "$source/examples/compiler/compiler.c" $(pkg-config --cflags wick) -lm -o "$prefix/compiler.so"
