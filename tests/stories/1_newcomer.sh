#!/bin/sh
# A newcomer installs wick, compiles the example of the README and calls a model from it, then takes all away again.
. "$(dirname "$0")/begin.sh"
needs cc
install
cc -std=c99 -Wall -Wextra -Werror "$examples/hello.c" $(pkg-config --cflags --libs wick) -o hello
says 0 "1" ./hello "$source/tests/program/linear.pt"
says 0 "14: six, 100% sure" usr/bin/wick run "$examples/digits/reader.pt" "$examples/digits/digits.npy"
says 0 "usage: wick COMMAND" usr/bin/wick help
xargs rm < "$build/install_manifest.txt"
[ -z "$(find usr -type f)" ] || { echo "left: $(find usr -type f)"; exit 1; }
