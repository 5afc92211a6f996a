#!/bin/sh
# ONNX Runtime 1.32.0, CPU: GroupNormalization (opset 21) runs as the function that ONNX defines it by, whose variance is the
# mean of squares less the square of the mean, in float32. For 10000, 10001, 10002, 10003 that is 0, and what comes out is
# 353 times too large: only epsilon is under the root. LayerNormalization and InstanceNormalization of the same numbers are
# right. ONNX's own reference evaluator (onnx 1.23.2) gives the same, and NaN at 1000000, where the variance is negative.
# Seen: -474.3 ... 474.3 where -1.34 ... 1.34 is right; reference evaluator at 1e6: all NaN.
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


from onnx.reference import ReferenceEvaluator

one, zero = numpy.ones(1, numpy.float32), numpy.zeros(1, numpy.float32)
constants = [("scale", one), ("bias", zero)]


def inputs(base):
    return {"x": (base + numpy.arange(4)).astype(numpy.float32).reshape(1, 1, 4)}


group = [helper.make_node("GroupNormalization", ["x", "scale", "bias"], ["y"], num_groups=1)]
instance = [helper.make_node("InstanceNormalization", ["x", "scale", "bias"], ["y"])]
of_group = run(group, inputs(1e4), constants, opset=21).ravel()
of_instance = run(instance, inputs(1e4), constants, opset=21).ravel()
reference = ReferenceEvaluator(model(group, inputs(1e6), constants, opset=21)).run(None, inputs(1e6))[0]
print("GroupNormalization:", of_group)
print("InstanceNormalization:", of_instance)
print("GroupNormalization of the reference evaluator at 1e6:", reference.ravel())
assert abs(of_group - [-474.34, -158.11, 158.11, 474.34]).max() < 0.01, of_group
assert abs(of_instance - [-1.3416, -0.4472, 0.4472, 1.3416]).max() < 0.001, of_instance
assert numpy.isnan(reference).all(), reference
EOF
