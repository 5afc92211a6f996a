"""Names that programs put on top: autocast, profiles, quantization, prints of tensors, answers of CUDA."""
import copy
import io
import json
import os
import tempfile
import unittest
import warnings

from beside import torch

nn, F = torch.nn, torch.nn.functional


class Autocast(unittest.TestCase):
    def dtype(self, function):
        with torch.no_grad(), torch.autocast("cpu"):
            return function().dtype

    def test_reduced(self):
        m, v = torch.rand(4, 4), torch.rand(4)
        for function in (lambda: m @ m, lambda: m.mm(m), lambda: m @ v, lambda: torch.addmm(m, m, m),
                         lambda: torch.bmm(m[None], m[None]), lambda: torch.baddbmm(m[None], m[None], m[None]),
                         lambda: F.linear(m, m, v), lambda: F.conv1d(m[None], torch.rand(2, 4, 3)),
                         lambda: F.conv2d(torch.rand(1, 2, 4, 4), torch.rand(2, 2, 2, 2)),
                         lambda: torch.einsum("ij,jk->ik", m, m), lambda: torch.chain_matmul(m, m),
                         lambda: torch.tensordot(m, m), lambda: m.bfloat16().mm(m)):
            self.assertEqual(self.dtype(function), torch.bfloat16)
        self.assertEqual(self.dtype(lambda: m.double().mm(m.double())), torch.float64)

    def test_full(self):
        b, x = torch.rand(4, 4).bfloat16(), torch.rand(1, 2, 4, 4).bfloat16()
        for function in (lambda: b.prod(), lambda: b.trace(), lambda: F.mse_loss(b, b), lambda: F.l1_loss(b, b),
                         lambda: F.smooth_l1_loss(b, b), lambda: F.kl_div(b, b, reduction="sum"),
                         lambda: F.binary_cross_entropy(b, b), lambda: torch.cdist(b, b),
                         lambda: F.cross_entropy(b, torch.tensor([0, 1, 2, 3])), lambda: F.huber_loss(b, b),
                         lambda: F.grid_sample(x, torch.rand(1, 2, 2, 2).bfloat16(), align_corners=False),
                         lambda: torch.cat([b, b.float()]), lambda: torch.stack([b, b.float()])):
            self.assertEqual(self.dtype(function), torch.float32)

    def test_full_of_lapack(self):
        b = torch.rand(4, 4).bfloat16()
        self.assertEqual(self.dtype(lambda: torch.linalg.inv(b)), torch.float32)

    def test_as_they_are(self):
        b = torch.rand(4, 4).bfloat16()
        for function in (lambda: b.exp(), lambda: b.softmax(0), lambda: b.sum(), lambda: F.layer_norm(b, [4]),
                         lambda: F.gelu(b), lambda: torch.norm(b), lambda: torch.cat([b, b])):
            self.assertEqual(self.dtype(function), torch.bfloat16)
        self.assertEqual(self.dtype(lambda: b + b.float()), torch.float32)
        self.assertEqual(self.dtype(lambda: torch.rand(3).exp()), torch.float32)

    def test_regions(self):
        m = torch.rand(2, 2)
        self.assertEqual((torch.is_autocast_cpu_enabled(), torch.get_autocast_cpu_dtype()), (False, torch.bfloat16))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            self.assertTrue(torch.is_autocast_cpu_enabled())
            with torch.autocast("cpu", enabled=False):
                self.assertEqual((m @ m).dtype, torch.float32)
            self.assertEqual((m @ m).dtype, torch.bfloat16)
        self.assertEqual((m @ m).dtype, torch.float32)

        @torch.autocast("cpu")
        def function(x):
            return x @ x
        self.assertEqual(function(m).dtype, torch.bfloat16)
        with self.assertRaises(ZeroDivisionError), torch.cpu.amp.autocast():
            1 / 0
        self.assertFalse(torch.is_autocast_cpu_enabled())
        self.assertRaisesRegex(RuntimeError, "autocast device_type must be", torch.autocast, "foo")
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            with torch.autocast("cuda"):
                self.assertEqual((m @ m).dtype, torch.float32)
        self.assertIn("CUDA is not available", str(seen[0].message))

    def test_gradients(self):
        layer = nn.Linear(3, 2)
        with torch.cpu.amp.autocast():
            y = layer(torch.ones(1, 3))
        self.assertEqual(y.dtype, torch.bfloat16)
        y.float().sum().backward()
        self.assertEqual((layer.weight.grad.dtype, layer.weight.grad.tolist()), (torch.float32, [[1] * 3] * 2))

    def test_programs(self):
        class Scaled(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(3, 2)

            def forward(self, x, k: int = 2, name: str = "a"):
                return self.layer(x) if k == 2 else self.layer(self.layer.weight)
        module = torch.jit.script(Scaled())
        with torch.autocast("cpu"):
            self.assertEqual(module(torch.ones(1, 3)).dtype, torch.bfloat16)
            self.assertEqual(module(torch.ones(1, 3), 3, name="b").dtype, torch.bfloat16)
        self.assertEqual(module(torch.ones(1, 3)).dtype, torch.float32)

    def test_scaler(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scaler = torch.cuda.amp.GradScaler()
        layer = nn.Linear(1, 1, bias=False)
        optimizer = torch.optim.SGD(layer.parameters(), lr=1.0)
        before = layer.weight.item()
        loss = layer(torch.ones(1))
        self.assertIs(scaler.scale(loss), loss)
        loss.backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        self.assertAlmostEqual(layer.weight.item(), before - 1, places=6)
        self.assertEqual((scaler.is_enabled(), scaler.get_scale(), scaler.state_dict()), (False, 1.0, {}))


class Profiles(unittest.TestCase):
    def test_of_python(self):
        x = torch.rand(16, 16)
        with torch.autograd.profiler.profile() as profile:
            with torch.autograd.profiler.record_function("region"):
                y = x @ x
            y.sum()
        counts = {event.key: event.count for event in profile.key_averages()}
        self.assertEqual((counts["region"], counts["aten::matmul"]), (1, 1))
        self.assertIn("aten::sum", counts)  # torch counts one of its own now and then
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trace.json")
            profile.export_chrome_trace(path)
            with open(path) as file:
                events = json.load(file)
        self.assertLessEqual({"aten::matmul", "aten::sum", "region"}, {event["name"] for event in events})

    def test_of_programs(self):
        @torch.jit.script
        def program(x):
            with torch.autograd.profiler.record_function("inside"):
                return x * 2
        with torch.autograd.profiler.profile() as profile:
            program(torch.ones(2))
        self.assertIn("aten::mul", [event.key for event in profile.key_averages()])

    def test_steps(self):
        from_torch = torch.profiler
        seen = []
        with from_torch.profile(activities=[from_torch.ProfilerActivity.CPU],
                                schedule=from_torch.schedule(wait=1, warmup=1, active=2),
                                on_trace_ready=lambda profile: seen.append(profile.step_num)) as profile:
            for _ in range(9):
                torch.ones(1) + 1
                profile.step()
        self.assertEqual(len(seen), 2)
        with from_torch.profile(activities=[from_torch.ProfilerActivity.CPU]) as profile:
            torch.ones(2).relu()
        self.assertIn("aten::relu", profile.key_averages().table(sort_by="cpu_time_total", row_limit=10))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.gru = nn.Linear(4, 2), nn.GRU(4, 3)
        self.lstm = nn.LSTM(4, 3, num_layers=2, bidirectional=True)

    def forward(self, x):
        return self.fc(x), self.lstm(x)[0], self.gru(x)[0]


class Pictures(nn.Module):
    def __init__(self):
        super().__init__()
        self.quant, self.dequant = torch.quantization.QuantStub(), torch.quantization.DeQuantStub()
        self.conv, self.bn, self.relu = nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        x = self.relu(self.bn(self.conv(self.quant(x))))
        return self.dequant(self.fc(x.mean((2, 3))))


class Quantization(unittest.TestCase):
    def setUp(self):
        self.engine = torch.backends.quantized.engine
        torch.backends.quantized.engine = "qnnpack"
        torch.manual_seed(0)

    def tearDown(self):
        torch.backends.quantized.engine = self.engine

    def near(self, got, want, error):
        self.assertLess((got - want).abs().max().item(), error)

    def test_dynamic(self):
        net, x = Recurrent().eval(), torch.randn(5, 2, 4)
        small = torch.quantization.quantize_dynamic(net, {nn.Linear, nn.LSTM, nn.GRU}, dtype=torch.qint8)
        for got, want in zip(small(x), net(x)):
            self.near(got, want, 0.06)
        self.assertEqual((type(net.fc), small.fc.weight().dtype), (nn.Linear, torch.qint8))
        self.assertEqual(str(small), (
            "Recurrent(\n  (fc): DynamicQuantizedLinear(in_features=4, out_features=2, dtype=torch.qint8, "
            "qscheme=torch.per_tensor_affine)\n  (gru): DynamicQuantizedGRU(4, 3)\n"
            "  (lstm): DynamicQuantizedLSTM(4, 3, num_layers=2, bidirectional=True)\n)"))
        file = io.BytesIO()
        torch.jit.save(torch.jit.script(small), file)
        file.seek(0)
        for got, want in zip(torch.jit.load(file)(x), small(x)):
            self.assertTrue(torch.equal(got, want))
        self.assertTrue(torch.equal(copy.deepcopy(small)(x)[0], small(x)[0]))

    def test_dynamic_by_name(self):
        small = torch.quantization.quantize_dynamic(Recurrent(), {"fc"})
        self.assertIs(type(small.gru), nn.GRU)
        self.assertIs(type(small.fc), torch.nn.quantized.dynamic.Linear)

    def test_static(self):
        net, x = Pictures().eval(), torch.rand(2, 3, 8, 8)
        fused = torch.quantization.fuse_modules(net, [["conv", "bn", "relu"]])
        self.assertIs(type(fused.bn), nn.Identity)
        self.near(fused(x), net(x), 1e-5)
        quantization = torch.quantization
        fused.qconfig = quantization.QConfig(
            activation=quantization.MinMaxObserver.with_args(reduce_range=True),
            weight=quantization.default_per_channel_weight_observer)
        ready = quantization.prepare(fused)
        self.assertTrue(torch.equal(ready(x), fused(x)))
        small = quantization.convert(ready)
        self.near(small(x), net(x), 0.02)
        self.assertTrue(torch.equal(torch.jit.script(small)(x), small(x)))
        self.assertEqual(list(small.state_dict()), [
            "quant.scale", "quant.zero_point", "conv.weight", "conv.bias", "conv.scale", "conv.zero_point",
                "fc.scale",
            "fc.zero_point", "fc._packed_params.dtype", "fc._packed_params._packed_params"])
        self.assertRegex(str(small), r"\(conv\): QuantizedConvReLU2d\(3, 4, kernel_size=\(3, 3\), stride=\(1, 1\), "
                         r"scale=0\.\d+, zero_point=0, padding=\(1, 1\)\)")
        fused.qconfig = quantization.get_default_qconfig("fbgemm")
        ready = quantization.prepare(fused)
        ready(x)
        self.near(quantization.convert(ready)(x), net(x), 0.02)

    def test_observers(self):
        quantization = torch.quantization
        x = torch.tensor([[-1.0, 0.5], [2.0, 3.0]])
        for make, want in ((quantization.MinMaxObserver, ([4 / 255], [64])),
                           (quantization.default_weight_observer, ([3 / 127.5], [0])),
                           (quantization.MinMaxObserver.with_args(reduce_range=True), ([4 / 127], [32])),
                           (quantization.default_per_channel_weight_observer, ([1 / 127.5, 3 / 127.5], [0, 0])),
                           (quantization.MovingAverageMinMaxObserver, ([4 / 255], [64]))):
            observer = make()
            observer(x)
            scale, zero_point = observer.calculate_qparams()
            self.assertEqual(zero_point.tolist(), want[1])
            for got, number in zip(scale.tolist(), want[0]):
                self.assertAlmostEqual(got, number, places=6)

    def test_packed(self):
        weight = torch.quantize_per_tensor(torch.ones(2, 3), 0.1, 0, torch.qint8)
        packed = torch.ops.quantized.linear_prepack(weight, torch.ones(2))
        y = torch.ops.quantized.linear_dynamic(torch.ones(1, 3), packed)
        self.near(y, torch.full((1, 2), 4.0), 0.05)
        self.assertEqual(torch.ops.quantized.linear_unpack(packed)[1].tolist(), [1, 1])


class Prints(unittest.TestCase):
    def test_quantized(self):
        x = torch.quantize_per_tensor(torch.tensor([0.5, 1.0]), 0.1, 3, torch.quint8)
        self.assertEqual(str(x), "tensor([0.5000, 1.0000], size=(2,), dtype=torch.quint8,\n       "
                                 "quantization_scheme=torch.per_tensor_affine, scale=0.1, zero_point=3)")
        x = torch.quantize_per_channel(torch.arange(2.0).reshape(2, 1), torch.tensor([0.1, 0.2]), torch.tensor([0,
            1]),
                                       0, torch.qint8)
        self.assertEqual(str(x), (
            "tensor([[0.],\n        [1.]], size=(2, 1), dtype=torch.qint8,\n       "
            "quantization_scheme=torch.per_channel_affine,\n       "
            "scale=tensor([0.1000, 0.2000], dtype=torch.float64),\n       zero_point=tensor([0, 1]), axis=0)"))
        self.assertEqual(x.qscheme(), torch.per_channel_affine)

    def test_compressed(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            x = torch.eye(2).to_sparse_csr()
        self.assertEqual(str(x), "tensor(crow_indices=tensor([0, 1, 2]),\n       col_indices=tensor([0, 1]),\n       "
                                 "values=tensor([1., 1.]), size=(2, 2), nnz=2, layout=torch.sparse_csr)")
        self.assertEqual((x.layout, x.is_sparse), (torch.sparse_csr, False))
        self.assertEqual((torch.eye(2).to_sparse().layout, torch.eye(2).to_sparse().is_sparse),
                         (torch.sparse_coo, True))

    def test_results(self):
        self.assertEqual(repr(torch.max(torch.arange(4.0), 0)),
                         "torch.return_types.max(\nvalues=tensor(3.),\nindices=tensor(3))")


class Machines(unittest.TestCase):
    def test_cuda(self):
        self.assertEqual((torch.cuda.is_available(), torch.cuda.device_count(), torch.cuda.memory_allocated()),
                         (False, 0, 0))
        self.assertRaises(AssertionError, torch.cuda.current_device)

    def test_others(self):
        self.assertIn(torch.distributed.is_available(), (False, True))
        self.assertTrue(torch.__config__.show())


class Switches(unittest.TestCase):
    def test_what_is_built_in(self):
        for name in ("has_cuda", "has_cudnn", "has_lapack", "has_mkl", "has_mkldnn", "has_mps", "has_openmp",
                     "has_spectral"):
            self.assertIsInstance(getattr(torch, name), bool, name)
        self.assertEqual((torch.has_cuda, torch.has_mps), (False, False))
        self.assertFalse(torch.is_vulkan_available())

    def test_anomaly_detection(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.assertFalse(torch.is_anomaly_enabled())
            with torch.autograd.detect_anomaly(check_nan=False):
                self.assertTrue(torch.is_anomaly_enabled())
                self.assertFalse(torch.is_anomaly_check_nan_enabled())
                with torch.autograd.set_detect_anomaly(False):
                    self.assertFalse(torch.is_anomaly_enabled())
                self.assertTrue(torch.is_anomaly_enabled())
            self.assertFalse(torch.is_anomaly_enabled())
            torch.set_anomaly_enabled(True, True)
            self.assertTrue(torch.is_anomaly_enabled() and torch.is_anomaly_check_nan_enabled())
            torch.autograd.set_detect_anomaly(False)
            self.assertFalse(torch.is_anomaly_enabled())

    def test_nesting_of_autocast(self):
        self.assertEqual([torch.autocast_increment_nesting(), torch.autocast_increment_nesting(),
                          torch.autocast_decrement_nesting(), torch.autocast_decrement_nesting()], [1, 2, 1, 0])

    def test_names_of_the_extension(self):
        graph = torch.parse_ir("graph(%x : Tensor):\n  %y : Tensor = aten::relu(%x)\n  return (%y)\n")
        self.assertIsInstance(graph, torch.Graph)
        self.assertIs(torch.Graph, torch._C.Graph)
        self.assertEqual(torch.parse_schema("aten::f(int x) -> int").name, "aten::f")
        self.assertIsInstance(torch.IntType.get(), torch.IntType)

    def test_named_dimensions(self):
        self.assertFalse(torch.ones(2).has_names())


if __name__ == "__main__":
    unittest.main()
