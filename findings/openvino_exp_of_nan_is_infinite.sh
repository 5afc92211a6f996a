#!/bin/sh
# OpenVINO 2026.4.1, CPU, float32 asked for: Exp(NaN) is infinity, and Relu and Clip of NaN are 0, while Sign, LeakyRelu and
# Sigmoid hand NaN on. A NaN of the input is a plausible number a few layers on. Exp(88.7), 3.3e38, is infinity, too.
# Seen on x86-64 with AVX-512: Exp inf, Relu 0, LeakyRelu NaN.
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


x = numpy.array([numpy.nan, 88.7, 1], numpy.float32)
exp = run([helper.make_node("Exp", ["x"], ["y"])], x)
relu = run([helper.make_node("Relu", ["x"], ["y"])], x)
leaky = run([helper.make_node("LeakyRelu", ["x"], ["y"])], x)
print("Exp:", exp, "Relu:", relu, "LeakyRelu:", leaky)
assert numpy.isinf(exp[:2]).all() and abs(exp[2] - 2.7182817) < 1e-5, exp
assert relu[0] == 0 and numpy.isnan(leaky[0])
EOF
