#!/bin/sh
# safetensors 0.8.0 with NumPy 2.4.6: safetensors.numpy.save takes an array's memory as it lies. Of a transposed or
# Fortran-ordered array the sizes are written as the array has them and the elements in memory's order, so that loading
# gives another matrix; of every second element the first half of all is written. Nothing is said. (Big-endian arrays are
# swapped, and safetensors.torch refuses tensors that are not contiguous.)
# Seen: [[0, 1, 2], [3, 4, 5]] in Fortran order comes back as [[0, 3, 1], [4, 2, 5]].
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q safetensors==0.8.0 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - << 'EOF'
import numpy, safetensors.numpy

matrix = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)


def through_file(array):
    return safetensors.numpy.load(safetensors.numpy.save({"a": array}))["a"].tolist()


fortran, transposed = through_file(numpy.asfortranarray(matrix)), through_file(matrix.T)
every_second = through_file(numpy.arange(8, dtype=numpy.float32)[::2])
print("in Fortran order:", fortran)
print("transposed:", transposed)
print("every second of 0 to 7:", every_second)
assert through_file(matrix) == matrix.tolist()
assert fortran == [[0, 3, 1], [4, 2, 5]], fortran
assert transposed == [[0, 1], [2, 3], [4, 5]], transposed
assert every_second == [0, 1, 2, 3], every_second
EOF
