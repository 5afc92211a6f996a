#!/bin/sh
# A programmer of C calls a program with many kinds of arguments, from many threads, later, and with a limit of time.
. "$(dirname "$0")/begin.sh"
needs cc
install
cc -std=c99 -Wall -Wextra -Werror "$source/tests/stories/2_embedder.c" $(pkg-config --cflags --libs wick) -lpthread -o embedder
says 0 "8000 calls, 0 wrong" ./embedder
says 0 "one later" ./embedder
says 0 "out of time" ./embedder
