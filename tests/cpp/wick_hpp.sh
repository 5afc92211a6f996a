#!/bin/sh
# wick/wick.hpp and examples/hello.cpp by each C++ compiler that is there, in C++17 and C++20, warnings as errors.
# usage: wick_hpp.sh BUILD SOURCE [FLAG...]     with flags (a sanitizer's) only g++ is asked, as for the library
set -e
build=$1 source=$2
shift 2
model=$source/tests/program/linear.pt
compilers="g++ clang++"
[ $# = 0 ] || compilers=g++
mkdir -p "$build/cpp" && cd "$build/cpp"
tried=0
for compiler in $compilers; do
  command -v "$compiler" > /dev/null || continue
  for standard in 17 20; do
    flags="-std=c++$standard -O1 -pedantic-errors -Wall -Wextra -Werror -I$source/include $* -L$build -Wl,-rpath,$build"
    $compiler $flags "$source/tests/cpp/test_wick_hpp.cpp" -lwick -pthread -o test_wick_hpp
    ./test_wick_hpp "$model"
    $compiler $flags "$source/examples/hello.cpp" -lwick -o hello
    ./hello "$model" | grep -q "CPUFloatType{2,2}" || { echo "hello.cpp prints: $(./hello "$model")"; exit 1; }
    tried=$((tried + 1))
  done
done
if [ $tried = 0 ]; then
  echo "there is no C++ compiler"
  exit 77
fi
