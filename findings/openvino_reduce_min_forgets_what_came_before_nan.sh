#!/bin/sh
# OpenVINO 2026.4.1, CPU: ReduceMin over 1, NaN, 3, 2 is 2. Neither NaN is handed on nor is it passed over, which would
# give 1: each comparison with NaN takes the number that came later, so the least number before it is lost. ReduceMax of
# 3, NaN, 1, 2 loses the 3 in the same way.
# Seen on x86-64: ReduceMin 2, ReduceMax 2.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q openvino==2026.4.1 onnx==1.23.2 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - << 'EOF'
import numpy, onnx, openvino
from onnx import helper, numpy_helper


def run(nodes, x):
    described = helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
    graph = helper.make_graph(nodes, "g", [described], [onnx.ValueInfoProto(name="y")])
    model = onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9))
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return list(compiled({"x": x}).values())[0]


least = run([helper.make_node("ReduceMin", ["x"], ["y"], keepdims=0)], numpy.array([[1, numpy.nan, 3, 2]], numpy.float32))
largest = run([helper.make_node("ReduceMax", ["x"], ["y"], keepdims=0)], numpy.array([[3, numpy.nan, 1, 2]], numpy.float32))
print("ReduceMin of 1, NaN, 3, 2:", least, "ReduceMax of 3, NaN, 1, 2:", largest)
assert least == 2, least
assert largest == 2, largest
EOF
