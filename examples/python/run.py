"""Runs a TorchScript archive.

    python3 run.py [MODEL.pt [INPUT...]]

An INPUT is a file of tensors (.npy, .pt), a number, or sizes like 1x3x224x224, for which random numbers are made.
Without arguments, examples/digits/reader.pt reads the 16 handwritten digits of examples/digits/digits.npy.
"""
import pathlib
import re
import sys

import wick

DIGITS = pathlib.Path(__file__).resolve().parents[1] / "digits"


def value_of(text):
    if re.fullmatch(r"\d+(x\d+)+", text):
        return wick.randn([int(size) for size in text.split("x")])
    for number in int, float:
        try:
            return number(text)
        except ValueError:
            pass
    return wick.load(text)


def show(result):
    if isinstance(result, wick.Tensor):
        print(result.dtype, list(result.shape))
    print(result)


def main(model=DIGITS / "reader.pt", *inputs):
    if not inputs and model == DIGITS / "reader.pt":
        inputs = [str(DIGITS / "digits.npy")]
    module = wick.jit.load(model).eval()
    with wick.no_grad():
        show(module(*[value_of(text) for text in inputs]))


if __name__ == "__main__":
    main(*sys.argv[1:])
