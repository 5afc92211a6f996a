#!/bin/sh
# ONNX Runtime 1.32.0, CPU: operators of one name disagree about NaN. Max and Relu hand it on; ReduceMax, ReduceMin and
# MaxPool pass over it, ArgMax gives the place of the largest other number, and TopK takes NaN for the largest of all. A net
# exported from PyTorch, where all of them hand NaN on, shows a fault upstream or hides it by which of them comes next.
# Seen for 1, NaN, 3, 2: Max with 0: NaN at its place; ReduceMax 3; ReduceMin 1; ArgMax 2; TopK NaN, 3.
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


x = {"x": numpy.array([[1, numpy.nan, 3, 2]], numpy.float32)}
zero, two = ("zero", numpy.zeros(1, numpy.float32)), ("k", numpy.array([2], numpy.int64))
largest = run([helper.make_node("Max", ["x", "zero"], ["y"])], x, [zero])
reduced = run([helper.make_node("ReduceMax", ["x"], ["y"], keepdims=0)], x)
least = run([helper.make_node("ReduceMin", ["x"], ["y"], keepdims=0)], x)
place = run([helper.make_node("ArgMax", ["x"], ["y"], axis=1)], x)
top = run([helper.make_node("TopK", ["x", "k"], ["y", "places"])], x, [two])
print("Max:", largest, "ReduceMax:", reduced, "ReduceMin:", least, "ArgMax:", place, "TopK:", top)
assert numpy.isnan(largest[0, 1])
assert reduced == 3 and least == 1 and place == 2
assert numpy.isnan(top[0, 0]) and top[0, 1] == 3
EOF
