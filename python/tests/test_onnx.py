"""wick.onnx.export: what models hold. onnx_runtime.py runs the same nets where ONNX Runtime is installed."""
import io
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import warnings

import wick as torch
from wick.onnx import _write, errors

import onnx_models as models

nn = torch.nn


def export(net, args, **options):
    """The model that a net is exported to, read."""
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(net, args, file, **options)
    return models.Model(file.getvalue())


class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2)
        self.b = nn.Linear(2, 2)
        self.b.weight = self.a.weight

    def forward(self, x):
        return self.b(self.a(x))


class Named(nn.Module):
    def forward(self, first, second, third=None):
        return {"sum": first + second, "pair": (first, second * 2)}


def dims(graph):
    return [sizes for _, _, sizes in graph.outputs]


class Models(unittest.TestCase):
    def test_every_net_is_a_whole_model(self):
        for name, net, inputs, _, axes in models.nets():
            for version in (13, 15, 17):
                with self.subTest(name, version=version):
                    if version < 14 and "attention" in name:
                        continue  # torch.triu is Trilu, of opset 14
                    names = ["in%d" % i for i in range(len(inputs))]
                    made = export(net, inputs, input_names=names, opset_version=version,
                                  dynamic_axes={names[i]: axis for i, axis in axes.items()})
                    self.assertEqual(made.opsets, {"": version})
                    self.assertEqual(made.ir_version, 7 if version < 15 else 8)
                    self.assertEqual([name for name, _, _ in made.graph.inputs], names)

    def test_every_operator_is_a_whole_model(self):
        late = {"triangles": 14, "scatter": 16, "index_put": 16}
        for name, function, inputs in models.operators():
            for version in (13, 17):
                with self.subTest(name, version=version):
                    if version < late.get(name, 13):
                        with self.assertRaisesRegex(errors.SymbolicValueError, "opset"):
                            export(function, inputs, opset_version=version)
                        continue
                    made = export(function, inputs, opset_version=version)
                    results = function(*inputs)
                    results = results if isinstance(results, (tuple, list)) else (results,)
                    self.assertEqual([dtype for _, dtype, _ in made.graph.outputs], [r.dtype for r in results])
                    for (_, _, sizes), result in zip(made.graph.outputs, results):
                        self.assertEqual(len(sizes), result.dim())
                        known = [(size, own) for size, own in zip(sizes, result.shape) if isinstance(size, int)]
                        self.assertTrue(all(size == own for size, own in known), (sizes, result.shape))

    def test_batch_norms_go_into_convolutions(self):
        net = models.convolutions()
        net[1].running_mean.fill_(0.5)
        net[1].running_var.fill_(4)
        made = export(net, torch.rand(1, 3, 16, 16)).graph
        self.assertEqual(made.kinds(), ["Conv", "Relu", "Conv", "HardSwish", "MaxPool", "GlobalAveragePool",
                                        "Flatten", "Gemm"])
        weight, bias = (made.tensors[name] for name in made.nodes[0].inputs[1:])
        factor = 1 / torch.sqrt(torch.tensor(4 + 1e-5))
        self.assertTrue(torch.allclose(weight, net[0].weight * factor))
        self.assertTrue(torch.allclose(bias, (net[0].bias - 0.5) * factor))

    def test_without_folding_norms_stay(self):
        made = export(models.convolutions(), torch.rand(1, 3, 16, 16), do_constant_folding=False).graph
        self.assertEqual(made.kinds().count("BatchNormalization"), 2)

    def test_training(self):
        net = models.convolutions().eval()
        made = export(net, torch.rand(2, 3, 16, 16), training=torch.onnx.TrainingMode.TRAINING).graph
        norm = next(node for node in made.nodes if node.kind == "BatchNormalization")
        self.assertEqual((norm.attributes["training_mode"], len(norm.outputs)), (1, 3))
        self.assertFalse(net.training)

    def test_names(self):
        made = export(models.convolutions(), torch.rand(2, 3, 16, 16), input_names=["image"],
                      output_names=["scores"], dynamic_axes={"image": {0: "n"}, "scores": {0: "n"}}).graph
        self.assertEqual(made.inputs, [("image", torch.float32, ["n", 3, 16, 16])])
        self.assertEqual(made.outputs, [("scores", torch.float32, ["n", 4])])
        self.assertIn("9.weight", made.tensors)

    def test_dynamic_axes_as_a_list(self):
        made = export(nn.ReLU(), torch.rand(2, 3), input_names=["x"], output_names=["y"],
                      dynamic_axes={"x": [0, 1]}).graph
        self.assertEqual(made.inputs[0][2], ["x_dynamic_axes_1", "x_dynamic_axes_2"])
        self.assertEqual(dims(made), [["x_dynamic_axes_1", "x_dynamic_axes_2"]])

    def test_known_sizes_leave_no_nodes(self):
        made = export(lambda x: x.view(x.size(0), -1) + x.shape[1], torch.rand(2, 3, 4)).graph
        self.assertEqual(made.kinds(), ["Reshape", "Add"])
        made = export(lambda x: x.view(x.size(0), -1), torch.rand(2, 3, 4), input_names=["x"],
                      dynamic_axes={"x": {0: "n"}}).graph
        self.assertEqual(made.kinds(), ["Reshape"])
        self.assertEqual(made.tensors[made.nodes[0].inputs[1]].tolist(), [0, -1])
        self.assertEqual(dims(made), [["n", 12]])

    def test_names_of_axes_are_no_other_sizes(self):
        made = export(lambda x, y: x[x > 0] + y, (torch.ones(2), torch.ones(2)), input_names=["x", "y"],
                      dynamic_axes={"x": {0: "size_1"}, "y": {0: "size_0"}}).graph
        self.assertNotIn(dims(made)[0][0], ("size_0", "size_1"))

    def test_tied_parameters_are_one(self):
        made = export(Twice(), torch.rand(1, 2)).graph
        self.assertEqual(sorted(made.tensors), ["a.bias", "a.weight", "b.bias"])

    def test_named_arguments_and_nested_results(self):
        made = export(Named(), (torch.rand(2), {"second": torch.rand(2)}), output_names=["s", "a", "b"]).graph
        self.assertEqual([name for name, _, _ in made.outputs], ["s", "a", "b"])
        self.assertEqual(made.kinds(), ["Add", "Mul", "Identity"])

    def test_without_parameters(self):
        made = export(Twice(), torch.rand(1, 2), export_params=False, do_constant_folding=False).graph
        self.assertEqual([name for name, _, _ in made.inputs][1:], ["a.weight", "a.bias", "b.bias"])
        self.assertEqual(made.tensors, {})

    def test_parameters_as_inputs(self):
        made = export(Twice(), torch.rand(1, 2), keep_initializers_as_inputs=True).graph
        self.assertEqual([name for name, _, _ in made.inputs][1:], ["a.weight", "a.bias", "b.bias"])
        self.assertEqual(len(made.tensors), 3)

    def test_recurrent_layers(self):
        made = export(models.Recurrent(nn.LSTM, num_layers=2, bidirectional=True), torch.rand(3, 2, 5)).graph
        self.assertEqual([kind for kind in made.kinds() if kind == "LSTM"], ["LSTM"] * 2)
        first = next(node for node in made.nodes if node.kind == "LSTM")
        self.assertEqual(first.attributes, {"direction": "bidirectional", "hidden_size": 4})
        self.assertEqual(tuple(made.tensors[first.inputs[1]].shape), (2, 16, 5))

    def test_gates_have_the_order_of_onnx(self):
        net = models.Recurrent(nn.LSTM)
        with torch.no_grad():
            net.layer.weight_ih_l0.copy_(torch.arange(16.).reshape(16, 1).expand(16, 5))
        made = export(net, torch.rand(3, 2, 5)).graph
        node = next(node for node in made.nodes if node.kind == "LSTM")
        rows = made.tensors[node.inputs[1]][0, :, 0]
        self.assertEqual(rows.tolist(), [0, 1, 2, 3, 12, 13, 14, 15, 4, 5, 6, 7, 8, 9, 10, 11])

    def test_branches_and_loops(self):
        made = export(models.scripted(), torch.rand(3, 3)).graph
        self.assertEqual(made.kinds().count("If"), 1)
        self.assertNotIn("Loop", made.kinds())
        made = export(models.scripted(), torch.rand(3, 3), input_names=["x"], dynamic_axes={"x": {0: "n", 1: "n"}})
        loop = next(node for node in made.graph.nodes if node.kind == "Loop")
        self.assertEqual(len(loop.attributes["body"].inputs), 3)

    def test_writes(self):
        made = export(models.Written(), torch.rand(3, 3)).graph
        self.assertEqual(made.kinds().count("Relu"), 1)
        self.assertEqual(dims(made), [[3, 3], [3, 3]])


class Refused(unittest.TestCase):
    def test_all_missing_operators_at_once(self):
        def f(x):
            return torch.lgamma(x) + torch.digamma(x) + x
        file = io.BytesIO()
        with self.assertRaises(errors.UnsupportedOperatorError) as caught:
            torch.onnx.export(f, torch.rand(2), file)
        self.assertEqual(caught.exception.operators, ["aten::digamma", "aten::lgamma"])
        self.assertIn("test_onnx.py", str(caught.exception))
        self.assertEqual(file.getvalue(), b"")

    def test_opsets(self):
        for version in (9, 12, 18, "17"):
            with self.assertRaisesRegex(ValueError, "13 to 17"):
                export(nn.ReLU(), torch.rand(2), opset_version=version)
        with self.assertRaisesRegex(errors.SymbolicValueError, "opset 16"):
            export(lambda x, y: nn.functional.grid_sample(x, y, align_corners=False),
                   (torch.rand(1, 1, 2, 2), torch.rand(1, 2, 2, 2)), opset_version=15)

    def test_what_is_not_there(self):
        with self.assertRaises(NotImplementedError):
            export(nn.ReLU(), torch.rand(2), operator_export_type=torch.onnx.OperatorExportTypes.ONNX_ATEN)
        with self.assertRaises(NotImplementedError):
            export(nn.ReLU(), torch.rand(2), export_modules_as_functions=True)

    def test_arguments(self):
        with self.assertRaisesRegex(errors.OnnxExporterError, "no argument named fourth"):
            export(Named(), (torch.rand(2), {"fourth": torch.rand(2)}))
        with self.assertRaisesRegex(errors.OnnxExporterError, "second is missing"):
            export(Named(), (torch.rand(2), {"third": torch.rand(2)}))
        with self.assertRaisesRegex(errors.OnnxExporterError, "no dimension 2"):
            export(nn.ReLU(), torch.rand(2), input_names=["x"], dynamic_axes={"x": {2: "n"}})

    def test_the_place_in_the_source(self):
        def f(x):
            return torch.chunk(x, 2)
        with self.assertRaisesRegex(errors.SymbolicValueError, "(?s)aten::chunk.*test_onnx.py"):
            export(f, torch.rand(4), input_names=["x"], dynamic_axes={"x": [0]})

    def test_the_module_is_as_before(self):
        net = nn.Sequential(nn.Dropout(), nn.ReLU())
        with self.assertRaises(errors.OnnxExporterError):
            export(net, 3)
        self.assertTrue(net.training and net[0].training)
        self.assertFalse(torch.onnx.is_in_onnx_export())


class Large(unittest.TestCase):
    def test_weights_beside_the_model(self):
        net = nn.Linear(40, 40)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.onnx")
            with unittest.mock.patch.object(_write, "LIMIT", 2000):
                torch.onnx.export(net, torch.rand(1, 40), path)
                with self.assertRaisesRegex(errors.OnnxExporterError, "give a path"):
                    torch.onnx.export(net, torch.rand(1, 40), io.BytesIO())
            with open(path, "rb") as file:
                graph = models.fields(models.fields(file.read())[7][0])
            tensors = {models.fields(part)[8][0].decode(): models.fields(part) for part in graph[5]}
            entries = dict((models.fields(e)[1][0], models.fields(e)[2][0]) for e in tensors["weight"][13])
            self.assertEqual(entries, {b"location": b"m.onnx.data", b"offset": b"0", b"length": b"6400"})
            with open(path + ".data", "rb") as file:
                weight = torch.frombuffer(bytearray(file.read()), dtype=torch.float32).reshape(40, 40)
            self.assertTrue(torch.equal(weight, net.weight))


class Own(unittest.TestCase):
    def test_custom_operators(self):
        @torch.onnx.symbolic_helper.parse_args("v", "i", "i")
        def flipped(g, x, diagonal, unused=None):
            return g.op("own::Lower", x, diagonal_i=diagonal)
        torch.onnx.register_custom_op_symbolic("aten::tril", flipped, 13)
        try:
            made = export(lambda x: torch.tril(x, 1), torch.rand(2, 2), custom_opsets={"own": 2})
        finally:
            torch.onnx.unregister_custom_op_symbolic("aten::tril", 13)
        node = made.graph.nodes[0]
        self.assertEqual((node.domain, node.kind, node.attributes), ("own", "Lower", {"diagonal": 1}))
        self.assertEqual(made.opsets, {"": 17, "own": 2})
        self.assertEqual(export(lambda x: torch.tril(x, 1), torch.rand(2, 2)).graph.kinds(), ["Trilu"])

    def test_whether_an_export_goes_on(self):
        seen = []

        def f(x):
            seen.append(torch.onnx.is_in_onnx_export())
            return x + 1
        export(f, torch.rand(2))
        self.assertEqual(seen[-1], True)
        self.assertFalse(torch.onnx.is_in_onnx_export())

    def test_as_torch(self):
        program = ("import torch, torch.onnx.symbolic_opset11 as s, torch.onnx.symbolic_helper\n"
                   "from torch.onnx import register_custom_op_symbolic, operators\n"
                   "from torch.onnx.symbolic_opset9 import unsqueeze\n"
                   "print(s.squeeze is not None, torch.onnx.__name__)\n")
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(program)
            file.flush()
            found = subprocess.run([sys.executable, "-m", "wick.torch_stand_in", file.name], capture_output=True,
                                   text=True)
        self.assertEqual((found.stdout, found.stderr), ("True wick.onnx\n", ""))

    def test_text(self):
        text = torch.onnx.export_to_pretty_string(nn.ReLU(), torch.rand(2), input_names=["x"])
        self.assertIn("Relu(%x)", text)

    def test_imported_when_it_is_used(self):
        program = "import sys, wick; print('wick.onnx' in sys.modules, wick.onnx.producer_name)"
        found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertEqual(found.stdout, "False wick\n", found.stderr)


if __name__ == "__main__":
    unittest.main()
