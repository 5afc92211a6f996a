"""Nets exported to ONNX, run by ONNX Runtime beside wick: python onnx_runtime.py [--opset N] [NAME.pt NAME.in.pt]...

Without files the nets of onnx_models.py. An archive comes with a list of inputs (each a tensor or a tuple of
arguments), of which the first is what it is exported with; sizes in which the others differ are dynamic axes. Of nets
that give boxes the rows are compared as sets: where scores are alike to the last digit their order is chance. Needs
the packages onnxruntime and onnx; WICK_LIBRARIES: libraries of operators that archives need.
"""
import argparse
import os
import sys
import tempfile
import warnings

import numpy
import onnx
import onnxruntime

import onnx_models
import wick
from wick.onnx._export import _leaves as leaves


def difference(got, want):
    """The largest difference, as a part of the largest value."""
    if got.size == 0:
        return 0.
    scale = 1e-3 + numpy.abs(want.astype(float)).max()
    return float(numpy.abs(got.astype(float) - want.astype(float)).max() / scale)


def unmatched(got, want):
    """How many rows of results that belong together have no counterpart."""
    rows = [numpy.concatenate([part.reshape(len(part), -1).astype(float) for part in parts], 1)
            for parts in (got, want)]
    left, free = 0, list(rows[0])
    for row in rows[1]:
        near = [numpy.abs(other - row).max() / (1 + numpy.abs(row).max()) for other in free]
        best = int(numpy.argmin(near)) if near else None
        if best is None or near[best] > 1e-3:
            left += 1
        else:
            free.pop(best)
    return left


class Checked:
    """One net: exported, run on every input."""

    def __init__(self, net, inputs, opset, axes):
        names = ["in%d" % i for i in range(len(leaves(inputs)))]
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            path = os.path.join(folder, "net.onnx")
            wick.onnx.export(net, inputs, path, input_names=names, opset_version=opset,
                             dynamic_axes={names[i]: axis for i, axis in axes.items()})
            onnx.checker.check_model(path, full_check=True)
            options = onnxruntime.SessionOptions()
            options.log_severity_level = 3
            self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
            self.size, self.nodes = os.path.getsize(path), len(onnx.load(path).graph.node)
        self.net, self.names = net, names

    def run(self, inputs):
        """("", the largest difference), or a text that says what differs."""
        got = self.session.run(None, {name: value.detach().numpy() for name, value in
                                      zip(self.names, leaves(inputs))})
        with wick.no_grad():
            want = [value.detach().numpy() for value in leaves(self.net(*inputs))]
        if [(part.shape, part.dtype) for part in got] != [(part.shape, part.dtype) for part in want]:
            return "shapes or dtypes differ", 0.
        worst = max(map(difference, got, want))
        if worst > 1e-3 and len({len(part) if part.ndim else -1 for part in want}) == 1 and len(want) > 2:
            rows = unmatched(got, want)
            return ("%d of %d rows differ" % (rows, len(want[0])) if rows else ""), 0.
        return ("differs" if worst > 1e-3 else ""), worst


def check(name, net, cases, opset, axes):
    """A line of the table; whether the net agrees."""
    if isinstance(net, wick.nn.Module):
        net.eval()
    try:
        checked = Checked(net, cases[0], opset, axes)
        found = [checked.run(case) for case in cases]
    except Exception as error:  # whatever it is, the other nets are still to be run
        print("%-40s %d %s: %s" % (name, opset, type(error).__name__, str(error)[:300]), flush=True)
        return False
    said = next((text for text, _ in found if text), "")
    print("%-40s %d %-5s %.0e %5d nodes %7.2f MB  %s" % (
        name, opset, "yes" if not said else "no", max(worst for _, worst in found), checked.nodes,
        checked.size / 1e6, said), flush=True)
    return not said


def axes_of(cases):
    """The sizes in which the inputs differ."""
    found = {}
    for i, values in enumerate(zip(*map(leaves, cases))):
        axes = {j: "d%d_%d" % (i, j) for j in range(values[0].dim()) if len({v.shape[j] for v in values}) > 1}
        if axes:
            found[i] = axes
    return found


def main():
    """The table of all nets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opset", type=int, action="append")
    parser.add_argument("--dynamic", action="store_true", help="operators with every size a dynamic axis, too")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    for library in os.environ.get("WICK_LIBRARIES", "").split():
        wick.ops.load_library(library)
    good = True
    for opset in options.opset or [17]:
        if not options.files:
            wick.manual_seed(1)
            for name, net, first, second, axes in onnx_models.nets():
                good &= check(name, net, [first, second], opset, axes)
            for name, function, inputs in onnx_models.operators():
                good &= check(name, function, [inputs], opset, {})
                if options.dynamic:
                    every = {i: dict.fromkeys(range(x.dim())) for i, x in enumerate(inputs)}
                    good &= check(name + ", dynamic", function, [inputs], opset, {
                        i: {j: "d%d_%d" % (i, j) for j in dims} for i, dims in every.items()})
        for archive, inputs in zip(options.files[::2], options.files[1::2]):
            cases = [case if isinstance(case, tuple) else (case,) for case in wick.load(inputs)]
            good &= check(os.path.basename(archive)[:-3], wick.jit.load(archive), cases, opset, axes_of(cases))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
