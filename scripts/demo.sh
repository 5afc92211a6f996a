#!/bin/sh
# Shows the bundled handwritten digits to the bundled classifier and prints what it reads.
set -e
echo "reading 16 handwritten digits (examples/digits/digits.npy) with examples/digits/reader.pt:"
build/release/wick run examples/digits/reader.pt examples/digits/digits.npy
