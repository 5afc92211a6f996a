#!/bin/sh
# ONNX Runtime 1.32.0, CPU: Sigmoid of float32 clamps its argument at -18, and below that it gives 0 exactly, where
# 1 / (1 + exp(20)) is 2.1e-9 and the smallest float is reached at -103 only. So log(sigmoid(x)), as a loss or a score in
# log space has it, is -inf from there on; a LogSigmoid exported as these two nodes differs from PyTorch's.
# Seen: Sigmoid(-20) = 0 and its Log -inf in float32; in float64 -20 is right and -50 gives 0.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q onnxruntime==1.32.0 onnx==1.23.2 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - << 'EOF'
import numpy, onnx, onnxruntime
from onnx import helper, numpy_helper


def model(nodes, inputs, constants=(), opset=20):
    described = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for name, x in inputs.items()]
    graph = helper.make_graph(nodes, "g", described, [onnx.ValueInfoProto(name="y")], [numpy_helper.from_array(x, name) for name, x in constants])
    return onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9))


def run(*arguments, **options):
    session = onnxruntime.InferenceSession(model(*arguments, **options).SerializeToString())
    return session.run(None, arguments[1])[0]


nodes = [helper.make_node("Sigmoid", ["x"], ["s"]), helper.make_node("Log", ["s"], ["y"])]
single = run(nodes, {"x": numpy.array([-10, -20, -50], numpy.float32)})
double = run(nodes, {"x": numpy.array([-10, -20, -50], numpy.float64)})
print("log of sigmoid of -10, -20, -50 in float32:", single)
print("in float64:", double)
assert abs(single[0] + 10) < 1e-3, single
assert (single[1:] == -numpy.inf).all(), single
assert abs(double[:2] + [10, 20]).max() < 1e-3 and double[2] == -numpy.inf, double
EOF
