#!/bin/sh
# Installs a build under a prefix of its own and uses it from there: examples/hello.c by pkg-config and by find_package,
# shared and static, and as a part of another CMake build; then takes it away again.
# usage: installed.sh BUILD SOURCE CC     WICK_TEST_SUBPROJECT=1: that other build is not only begun
set -e
build=$1 source=$2 cc=$3
work=$build/installed
rm -rf "$work" && mkdir -p "$work/run" && cd "$work/run"
model=$source/tests/program/linear.pt
fail() { echo "$*"; exit 1; }

DESTDIR=$work/staged sh "$source/scripts/install.sh" "$build" /opt/wick > said
grep -qF "$work/staged/opt/wick" said || fail "install.sh does not say where: $(cat said)"
prefix=$work/moved # the tree can be moved
mv "$work/staged/opt/wick" "$prefix"
[ -z "$(find "$work/staged" -type f)" ] || fail "outside of the prefix: $(find "$work/staged" -type f)"

for file in bash-completion/completions/wick zsh/site-functions/_wick fish/vendor_completions.d/wick.fish; do
  [ -s "$prefix/share/$file" ] || fail "share/$file is not installed"
done
# the manual's pages, where the build could make them
if [ -e "$build/man" ]; then
  [ -s "$prefix/share/man/man1/wick.1" ] && [ -s "$prefix/share/man/man1/wick-run.1" ] || fail "the manual is not installed"
fi
pc=$(find "$prefix" -name wick.pc)
export PKG_CONFIG_PATH="${pc%/*}"
libraries=$(pkg-config --variable=libdir wick)
program="$cc -std=c99 -pedantic-errors -Wall -Wextra -Werror $source/examples/hello.c $(pkg-config --cflags wick)"
$program $(pkg-config --libs wick) -o hello
$program "$libraries/libwick.a" $(pkg-config --libs --static wick | sed 's/-lwick//') -o hello_static
expected=$(LD_LIBRARY_PATH="$libraries" ./hello "$model")
[ "$(./hello_static "$model")" = "$expected" ] || fail "the static program prints something else"
others=$(nm -g --defined-only "$libraries/libwick.a" | awk 'NF == 3 && $3 !~ /^wick_/ {print $3}')
[ -z "$others" ] || fail "libwick.a defines $others"
if command -v c++ > /dev/null; then
  c++ -std=c++17 -pedantic-errors -Wall -Wextra -Werror "$source/examples/hello.cpp" $(pkg-config --cflags --libs wick) -o hello_cxx
  [ "$(LD_LIBRARY_PATH="$libraries" ./hello_cxx "$model")" = "$expected" ] || fail "the C++ program prints something else"
fi
# the example compiler, outside of the tree
$cc -std=c11 -Wall -Wextra -Werror -shared -fPIC "$source/examples/compiler/compiler.c" $(pkg-config --cflags wick) -lm -o compiler.so

consumer="cmake -S $source/tests/consumer -G Ninja -DCMAKE_C_COMPILER=$cc -DHELLO=$source/examples/hello.c"
$consumer -B package -DCMAKE_PREFIX_PATH="$prefix" > log 2>&1 && cmake --build package >> log 2>&1 || fail "find_package: $(cat log)"
for program in hello_wick hello_wick_shared hello_wick_static; do
  [ "$(package/$program "$model")" = "$expected" ] || fail "by find_package $program prints something else"
done

# The whole of wick in another build takes minutes: here its headers must be found, and nothing of its own come along.
$consumer -B part -DWICK_SOURCE="$source" > log 2>&1 || fail "add_subdirectory: $(cat log)"
cmake --build part --target CMakeFiles/hello_wick.dir$source/examples/hello.c.o >> log 2>&1 || fail "add_subdirectory: $(cat log)"
! grep -qE "Werror|test_api|cmocka" part/build.ninja || fail "in another build wick brings tests or -Werror"
grep -q -- "-O3" part/build.ninja || fail "in a build without a type wick is not optimized"
[ ! -e part/wick/cmake_install.cmake ] || ! grep -q "wick.pc" part/wick/cmake_install.cmake || fail "in another build wick installs itself"
if [ -n "$WICK_TEST_SUBPROJECT" ]; then
  cmake --build part > log 2>&1 || fail "add_subdirectory: $(tail -20 log)"
  for program in hello_wick hello_wick_shared hello_wick_static; do
    [ "$(part/$program "$model")" = "$expected" ] || fail "by add_subdirectory $program prints something else"
  done
fi

DESTDIR='' sh "$source/scripts/install.sh" "$build" "$work/whole" > said
grep -qF "PKG_CONFIG_PATH=$work/whole/" said || fail "install.sh does not say how to use it: $(cat said)"
sh "$source/scripts/uninstall.sh" "$work/whole" > said
[ ! -e "$work/whole/include/wick" ] && [ -z "$(find "$work/whole" -type f -o -type l)" ] || fail "uninstalling left $(find "$work/whole")"
echo "$expected"
