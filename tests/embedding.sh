#!/bin/sh
# The programs of docs/embedding.md, each in its language, against a build: all read the same numbers of a result, and
# tell what is wrong with a model that isn't there. Languages that are not at hand are skipped by name.
# usage: embedding.sh BUILD SOURCE CC
set -e
build=$1 source=$2 cc=$3
work=$build/embedding model=$source/tests/program/linear.pt
rm -rf "$work" && mkdir -p "$work" && cd "$work"
fail() { echo "$*"; exit 1; }

cat > wick.pc << END
Name: wick
Description: the build
Version: 0
Cflags: -I$source/include
Libs: -L$build -lwick
END
export PKG_CONFIG_PATH="$work" LD_LIBRARY_PATH="$build" GOCACHE="$build/go_cache"

# LANGUAGE COMMAND...: the numbers that the command prints of the result; and its error
numbers() { grep -oE -- '-?[0-9]+\.[0-9]+' | tr '\n' ' '; }
check() {
  language=$1
  shift
  found=$("$@" "$model" 2>&1 | numbers)
  [ "$found" = "$expected" ] || fail "$language reads '$found', not '$expected': $("$@" "$model" 2>&1)"
  if said=$("$@" missing.pt 2>&1); then
    fail "$language: a missing model is no error"
  fi
  case $said in *"missing.pt: cannot open"*) ;; *) fail "$language says of a missing model: $said" ;; esac
  echo "$language: $found"
}
# LANGUAGE COMMAND...: whether the command, which tells a version, works
at_hand() {
  language=$1
  shift
  "$@" > version 2>&1 || { echo "$language: skipped, there is no $1"; return 1; }
}

flags="-I$source/include -L$build"
expected="1.0000 2.0526 1.0000 2.0000 " # what PyTorch gives
$cc -std=c99 $flags "$source/examples/hello.c" -lwick -o hello_c
check C ./hello_c
if at_hand C++ c++ --version; then
  c++ -std=c++17 $flags "$source/examples/hello.cpp" -lwick -o hello_cxx
  check C++ ./hello_cxx
fi
if at_hand Python python3 -c "import ctypes"; then
  check Python python3 "$source/examples/embedding/main.py"
fi
if at_hand Rust rustc --version; then
  rustc --edition 2021 -D warnings "$source/examples/embedding/main.rs" -L "$build" -o main_rust
  check Rust ./main_rust
fi
if at_hand Go go version && at_hand Go pkg-config --version; then
  go build -o main_go "$source/examples/embedding/main.go"
  check Go ./main_go
fi
