"""Traces of functions and modules: nodes are those of torch.jit.trace in PyTorch 1.13 for the same programs."""

import os
import re
import tempfile
import threading
import unittest
import warnings

import wick as torch
from wick.jit import TracerWarning, TracingCheckError

nn, F = torch.nn, torch.nn.functional


def programs():
    """(name, function, inputs)"""
    x, y, image = torch.ones(2, 3), torch.full((2, 3), 2.), torch.ones(1, 2, 6, 6)
    outside = torch.ones(3)
    scripted = torch.jit.script(power)
    found = []

    def add(*inputs):
        def note(function):
            found.append((function.__name__, function, inputs))
            return function
        return note

    @add(x)
    def number(x):
        return x + 1

    @add(x, y)
    def unused(x, y):
        x * y
        return x - y

    @add(x)
    def by_size(x):
        return x.view(x.size(0), -1)

    @add(x)
    def by_shape(x):
        return x.reshape(x.shape[0] * x.shape[1])

    @add(x)
    def numel(x):
        return x * x.numel()

    @add(x)
    def slices(x):
        return x[1:2, None, ..., 0]

    @add(image)
    def halves(x):
        return x[:, :, : x.size(2) // 2]

    @add(x)
    def in_place(x):
        y = x.clone()
        y.add_(1)
        z = y.view(-1)
        z.mul_(2)
        return y, z

    @add(x)
    def assign(x):
        y = x.clone()
        y[0] = 3
        y[:, 1] = x[:, 0]
        return y

    @add(x)
    def pieces(x):
        a, b = torch.split(x, 1)
        return torch.cat([a, b, a], 1)

    @add(x)
    def chunks(x):
        a, b, c = x.chunk(3, dim=1)
        return a * b + c

    @add(x)
    def made(x):
        return x + torch.zeros(2, 3) + torch.ones_like(x)

    @add(x)
    def best(x):
        return x.max(dim=1)

    @add(x)
    def constant(x):
        return x + outside + outside

    @add(image)
    def convolution(x):
        return F.conv2d(x, torch.ones(3, 2, 2, 2), stride=2)

    @add(image)
    def pooled(x):
        return F.adaptive_avg_pool2d(F.max_pool2d(F.relu(x), 2), 1).flatten(1)

    @add(x)
    def calls(x):
        return scripted(x, 2) + 1

    @add(x)
    def forked(x):
        future = torch.jit.fork(torch.relu, x)
        return torch.jit.wait(future) + x

    @add(x, y)
    def like(x, y):
        return x.expand_as(y).view_as(y).reshape_as(y).type_as(y).mT, x.to(y)

    @add(x)
    def counted(x):
        return torch.arange(x.size(1)) + x.norm() + x.norm(2, 1).sum()

    @add(x, y)
    def losses(x, y):
        return F.mse_loss(x, y) + F.normalize(x).sum()

    @add(x)
    def assigned_number(x):
        y = x.clone()
        y[y > 1] = 0
        return y

    @add(x, y)
    def chosen(x, y):
        return torch.where(x > y, x, y)

    @add(x)
    def normal(x):
        return F.layer_norm(F.softmax(x, dim=-1), (3,))

    @add(x)
    def looped(x):
        for i in range(3):
            x = torch.sin(x) * i
        return x

    @add((x, y))
    def pair(both):
        return both[0] @ both[1].t()

    @add(x)
    def casts(x):
        return x.double().contiguous() + x.to(torch.float64)

    @add(x)
    def several(x):
        return x.sum(), (x.mean(1), x.std(0, keepdim=True))

    return found


def power(x, n: int):
    for i in range(n):
        x = x * x
    return x


def modules():
    """(name, module, inputs)"""

    class Sub(nn.Module):
        def __init__(self):
            super().__init__()
            self.l1, self.l2 = nn.Linear(3, 3), nn.Linear(3, 3)
            self.register_buffer("b", torch.ones(3))

        def forward(self, x):
            return self.l2(torch.relu(self.l1(x))) + self.b, x * 2

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.sub, self.l = Sub(), nn.Linear(3, 2)
            self.p = nn.Parameter(torch.ones(2))
            self.seq = nn.Sequential(nn.ReLU(), nn.BatchNorm1d(2))

        def forward(self, x):
            a, b = self.sub(x)
            y = self.seq(self.l(a + b) + self.p)
            return self.l(a) + y, self.sub.l1.weight.sum()

    class Conv(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.norm = nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4)
            self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Dropout(0.5), nn.Linear(4, 1)])

        def forward(self, x):
            x = F.relu(self.norm(self.conv(x)))
            x = F.adaptive_avg_pool2d(x, 1).flatten(1)
            for layer in self.layers:
                x = layer(x)
            return torch.sigmoid(x)

    class Scripted(nn.Module):
        def __init__(self):
            super().__init__()
            self.l, self.inner = torch.jit.script(nn.Linear(3, 3)), nn.Linear(3, 3)
            self.w = nn.Parameter(torch.ones(3))

        def forward(self, x):
            future = torch.jit.fork(self.inner, x)
            return self.l(x) + torch.jit.wait(future) * self.w

    class Cells(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm, self.gru = nn.LSTMCell(3, 2), nn.GRUCell(3, 2)
            self.tanh, self.relu = nn.RNNCell(3, 2), nn.RNNCell(3, 2, bias=False, nonlinearity="relu")

        def forward(self, x):
            state = x[:, :2]
            h, c = self.lstm(x, (state, state + 1))
            return self.gru(x, h) + self.tanh(x, c) + self.relu(x, h)

    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = self.second = nn.Linear(3, 3)

        def forward(self, x):
            return self.second(self.first(x))

    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.lstm = nn.Embedding(5, 3), nn.LSTM(3, 4)

        def forward(self, x):
            return self.lstm(self.embed(x))[0]

    return [("Net", Net(), (torch.ones(2, 3),)), ("Conv", Conv().eval(), (torch.ones(1, 2, 6, 6),)),
            ("Scripted", Scripted(), (torch.ones(2, 3),)), ("Linear", nn.Linear(3, 3), (torch.ones(2, 3),)),
            ("Shared", Shared(), (torch.ones(2, 3),)), ("Cells", Cells(), (torch.ones(2, 3),)),
            ("Recurrent", Recurrent(), (torch.tensor([[0, 1], [2, 3]]),))]


# A constant is a dot; without namespaces.
RECORDED = {
    "number": ". . add",
    "unused": ". sub",
    "by_size": ". size NumToTensor Int . ListConstruct view",
    "by_shape": ". size NumToTensor . size NumToTensor mul Int ListConstruct reshape",
    "numel": "numel NumToTensor mul",
    "slices": ". . . . slice . unsqueeze . . select",
    "halves": ". size NumToTensor . floor_divide Int . . . . slice . . . . slice . . . slice",
    "in_place": ". clone . . add_ . ListConstruct view . mul_ TupleConstruct",
    "assign": ". clone . . select . fill_ . . . . slice . . select . . . . slice . . select . copy_",
    "pieces": ". . split ListUnpack ListConstruct . cat",
    "chunks": ". . chunk ListUnpack mul . add",
    "made": ". . ListConstruct . . . . zeros . add . . . . . ones_like . add",
    "best": ". . max TupleConstruct",
    "constant": ". . add . add",
    "convolution": (
        ". . . . ListConstruct . . . . ones . . . ListConstruct . . ListConstruct . . ListConstruct . . . "
        "ListConstruct . . . . . _convolution"),
    "pooled": (
        "relu . . ListConstruct ListConstruct . . ListConstruct . . ListConstruct . max_pool2d . . "
        "ListConstruct adaptive_avg_pool2d . . flatten"),
    "calls": ". . CallFunction . . add",
    "forked": "fork_0 wait . add",
    "like": "expand_as view_as reshape_as type_as mT . . . . . to TupleConstruct",
    "counted": (
        ". size NumToTensor ScalarImplicit . . . . arange ListConstruct . frobenius_norm . add . . ListConstruct . "
        "norm . sum . add"),
    "losses": (
        "ListConstruct broadcast_tensors ListUnpack . mse_loss . . ListConstruct . norm . clamp_min expand_as div . "
        "sum . add"),
    "assigned_number": ". clone . gt ListConstruct . . index_put_",
    "chosen": "gt where",
    "normal": ". . softmax . ListConstruct . . . . layer_norm",
    "looped": "sin . mul sin . mul sin . mul",
    "pair": "TupleUnpack t matmul",
    "casts": ". . . . to . contiguous . . . . to . add",
    "several": ". sum . ListConstruct . . mean . ListConstruct . . std TupleConstruct TupleConstruct",
    "Net": (
        "GetAttr GetAttr GetAttr GetAttr GetAttr GetAttr GetAttr CallMethod TupleUnpack . add CallMethod . "
        "add CallMethod CallMethod . add . sum TupleConstruct"),
    "Net.sub.forward": "GetAttr GetAttr GetAttr CallMethod relu CallMethod . add . mul TupleConstruct",
    "Net.sub.l1.forward": "GetAttr GetAttr linear",
    "Net.sub.l2.forward": "GetAttr GetAttr linear",
    "Net.l.forward": "GetAttr GetAttr linear",
    "Net.l.forward1": "GetAttr GetAttr linear",
    "Net.seq.forward": "GetAttr GetAttr CallMethod CallMethod",
    "Net.seq.0.forward": "relu",
    "Net.seq.1.forward": "GetAttr GetAttr GetAttr GetAttr GetAttr . . add_ . . . . batch_norm",
    "Conv": (
        "GetAttr GetAttr GetAttr GetAttr GetAttr GetAttr GetAttr GetAttr CallMethod CallMethod relu . . "
        "ListConstruct adaptive_avg_pool2d . . flatten CallMethod CallMethod CallMethod sigmoid"),
    "Conv.conv.forward": (
        "GetAttr GetAttr . . ListConstruct . . ListConstruct . . ListConstruct . . . ListConstruct . . . . . "
        "_convolution"),
    "Conv.norm.forward": "GetAttr GetAttr GetAttr GetAttr . . . . batch_norm",
    "Conv.layers.0.forward": "GetAttr GetAttr linear",
    "Conv.layers.1.forward": ". . dropout",
    "Conv.layers.2.forward": "GetAttr GetAttr linear",
    "Scripted": "GetAttr GetAttr fork_0 CallMethod wait mul . add",
    "Scripted.l.forward": "GetAttr GetAttr linear",
    "Scripted.inner.forward": "GetAttr GetAttr linear",
    "Linear": "GetAttr GetAttr linear",
    "Shared": "GetAttr CallMethod CallMethod",
    "Cells": (
        "GetAttr GetAttr GetAttr GetAttr . . . . slice . . . . slice . . add CallMethod TupleUnpack CallMethod "
        "CallMethod . add CallMethod . add"),
    "Cells.lstm.forward": (
        "GetAttr GetAttr GetAttr GetAttr linear linear . add_ . . unsafe_chunk ListUnpack sigmoid_ sigmoid_ tanh_ "
        "sigmoid_ mul mul . add_ tanh mul TupleConstruct"),
    "Cells.gru.forward": (
        "GetAttr GetAttr GetAttr GetAttr linear . . unsafe_chunk ListUnpack linear . . unsafe_chunk ListUnpack . "
        "add_ sigmoid_ . add_ sigmoid_ mul_ . add tanh_ . sub mul_ . add_"),
    "Cells.tanh.forward": "GetAttr GetAttr GetAttr GetAttr linear linear . add_ tanh",
    "Cells.relu.forward": "GetAttr GetAttr . linear . linear . add_ relu",
    "Shared.first.forward": "GetAttr GetAttr linear",
    "Recurrent": "GetAttr GetAttr CallMethod CallMethod",
    "Recurrent.embed.forward": "GetAttr . . . embedding",
    "Recurrent.lstm.forward": (
        "GetAttr GetAttr GetAttr GetAttr . size NumToTensor Int Int . . ListConstruct . . . . zeros . . "
        "ListConstruct . . . . zeros ListConstruct ListConstruct . . . . . . lstm"),
}


def kinds(graph):
    own = str(graph).split("\nwith ")[0]
    found = re.findall(r"= (?:aten|prim)::(\w+)", own)
    return " ".join("." if kind == "Constant" else kind for kind in found)


def flat(value):
    if isinstance(value, torch.Tensor):
        return [value.tolist()]
    return [item for part in value for item in flat(part)]


def quiet(function, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TracerWarning)
        return function(*args, **kwargs)


class Kinds(unittest.TestCase):

    def test_functions(self):
        for name, function, inputs in programs():
            with self.subTest(name):
                traced = quiet(torch.jit.trace, function, inputs)
                self.assertEqual(kinds(traced.graph), RECORDED[name])
                self.assertEqual(flat(traced(*inputs)), flat(function(*inputs)))

    def test_modules(self):
        for name, module, inputs in modules():
            with self.subTest(name):
                traced = quiet(torch.jit.trace, module, inputs, check_trace=False)
                self.assertEqual(kinds(traced.graph), RECORDED[name])
                for part, recorded in RECORDED.items():
                    path = part.split(".")
                    if path[0] == name and len(path) > 1:
                        inner = traced
                        for step in path[1:]:
                            inner = getattr(inner, step)
                        self.assertEqual(kinds(inner.graph), recorded, part)

    def test_archives(self):
        for name, module, inputs in modules():
            module.eval()
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "traced.pt")
                quiet(torch.jit.trace, module, inputs).save(path)
                self.assertEqual(flat(torch.jit.load(path)(*inputs)), flat(module(*inputs)))


class Programs(unittest.TestCase):

    def test_other_sizes(self):
        traced = torch.jit.trace(lambda x: x.view(x.size(0), -1).sum(1), torch.ones(2, 3, 4))
        self.assertEqual(traced(torch.ones(5, 2, 2)).tolist(), [4.] * 5)

    def test_names(self):
        def f(image, scale):
            scaled = image * scale
            return scaled + 1
        text = str(torch.jit.trace(f, (torch.ones(2), torch.ones(2))).graph)
        self.assertIn("graph(%image : ", text)
        self.assertIn("%scaled : ", text)

    def test_scopes(self):
        net = nn.Sequential(nn.Sequential(nn.Linear(3, 4), nn.ReLU()), nn.Linear(4, 2))
        traced = torch.jit.trace(net, torch.ones(2, 3))
        scopes = [(node.kind(), node.scopeName()) for node in traced.inlined_graph.nodes()]
        self.assertEqual([scope for scope in scopes if scope[0] != "prim::GetAttr"], [
            ("aten::linear", "__module.0/__module.0.0"), ("aten::relu", "__module.0/__module.0.1"),
            ("aten::linear", "__module.1")])
        self.assertIn(", scope: __module.0/__module.0.1", str(traced.inlined_graph))

    def test_keywords(self):
        def f(a, b):
            return a - b
        traced = torch.jit.trace(f, example_kwarg_inputs={"b": torch.ones(2), "a": torch.zeros(2)})
        self.assertEqual(traced(b=torch.ones(1), a=torch.full((1,), 3.)).tolist(), [2.])

    def test_methods(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.w = nn.Parameter(torch.full((3,), 2.))

            def forward(self, x):
                return x * self.w

            def backwards(self, x):
                return x / self.w
        net = Net()
        traced = torch.jit.trace_module(net, {"forward": torch.ones(3), "backwards": torch.ones(3)})
        self.assertEqual(traced(torch.ones(3)).tolist(), [2.] * 3)
        self.assertEqual(traced.backwards(torch.ones(3)).tolist(), [.5] * 3)
        self.assertEqual([name for name, _ in traced.named_parameters()], ["w"])
        with torch.no_grad():
            net.w.fill_(3.)
        self.assertEqual(traced(torch.ones(3)).tolist(), [3.] * 3)  # the same tensors

    def test_gradients(self):
        net = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 1))
        traced = torch.jit.trace(net, torch.ones(2, 3))
        traced(torch.ones(2, 3)).sum().backward()
        wanted = [p.grad.clone() for p in net.parameters()]
        for p in net.parameters():
            p.grad = None
        net(torch.ones(2, 3)).sum().backward()
        for one, p in zip(wanted, net.parameters()):
            self.assertTrue(torch.equal(one, p.grad))

    def test_containers(self):
        def f(x):
            return {"sum": x + 1, "both": x}
        with self.assertRaisesRegex(RuntimeError, "dict"):
            torch.jit.trace(f, torch.ones(2))
        traced = torch.jit.trace(f, torch.ones(2), strict=False)
        self.assertEqual(traced(torch.zeros(1))["sum"].tolist(), [1.])
        with self.assertRaisesRegex(RuntimeError, "must have consistent type. Found Tensor and List"):
            torch.jit.trace(lambda x: {"sum": x + 1, "both": [x]}, torch.ones(2), strict=False)
        with self.assertRaisesRegex(RuntimeError, "must have consistent type. Found str and int"):
            torch.jit.trace(lambda x: {"sum": x + 1, 3: x}, torch.ones(2), strict=False)
        with self.assertRaisesRegex(RuntimeError, "must have consistent type. Found Tensor and List"):
            torch.jit.trace(lambda x: [x, [x]], torch.ones(2), strict=False)
        traced = torch.jit.trace(lambda d: d["a"] + d["b"], {"a": torch.ones(2), "b": torch.ones(2)})
        self.assertEqual(traced({"a": torch.ones(1), "b": torch.zeros(1)}).tolist(), [1.])

    def test_outplace(self):
        def f(x):
            y = x.clone()
            y.add_(1).mul_(y)
            return y.relu_()
        traced = torch.jit.trace(f, torch.ones(2), _force_outplace=True)
        self.assertEqual(kinds(traced.graph), ". clone . . add mul relu")
        self.assertEqual(traced(torch.ones(2)).tolist(), [4., 4.])

    def test_printing_is_no_part(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            traced = torch.jit.trace(lambda x: (repr(x), x + 1)[1], torch.ones(2))
        self.assertEqual(kinds(traced.graph), ". . add")

    def test_constants_by_name(self):
        weight = torch.full((2,), 3.)
        code, constants = torch.jit.trace(lambda x: x + weight, torch.ones(2)).code_with_constants
        self.assertIn("CONSTANTS.c0", code)
        self.assertEqual(constants.c0.tolist(), [3., 3.])

    def test_script_if_tracing(self):
        @torch.jit.script_if_tracing
        def grow(x, n: int):
            for _ in range(n):
                x = x + 1
            return x
        self.assertEqual(grow(torch.ones(1), 2).tolist(), [3.])
        traced = torch.jit.trace(lambda x: grow(x, 2), torch.ones(1))
        self.assertEqual(kinds(traced.graph), ". . CallFunction")

    def test_tracing_is_known(self):
        seen = []

        def f(x):
            seen.append(torch.jit.is_tracing())
            return x + 1
        torch.jit.trace(f, torch.ones(1), check_trace=False)
        self.assertEqual(seen, [True])
        self.assertFalse(torch.jit.is_tracing())

    def test_scripted_stays(self):
        def f(x):
            return x
        scripted = torch.jit.script(f)
        with self.assertWarns(UserWarning):
            self.assertIs(torch.jit.trace(scripted, torch.ones(1)), scripted)

    def test_threads(self):
        failed = []

        def work(n):
            try:
                for _ in range(5):
                    net = nn.Sequential(nn.Linear(n + 1, 2), nn.ReLU())
                    traced = torch.jit.trace(net, torch.ones(1, n + 1))
                    assert kinds(traced.graph) == "GetAttr GetAttr CallMethod CallMethod", kinds(traced.graph)
            except BaseException as error:  # noqa: BLE001, for the main thread to show
                failed.append(error)
        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])


class Shift(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.by = nn.Linear(3, 3), 4

    def forward(self, x):
        return self.linear(x)

    @torch.jit.export
    def shifted(self, n: int) -> int:
        return self.doubled(n) + self.by

    def doubled(self, n: int) -> int:
        return 2 * n


def twice_relu(x):
    return torch.relu(x) * 2


class Exporting(nn.Module):
    def __init__(self):
        super().__init__()
        self.shift, self.other, self.activation = Shift(), Shift(), twice_relu

    def forward(self, x):
        return self.shift(x) + self.other(x)

    @torch.jit.export
    def scaled(self, x, by: float = 2.0):
        return self.activation(self.shift(x)) * by * self.factor + self.other.shifted(1)

    @property
    def factor(self) -> float:
        return 0.5

    @torch.jit.ignore
    def not_compiled(self):
        return {*"abc"}


class UncompiledProperty(nn.Module):
    def forward(self, x):
        return x + 1

    @property
    def names(self):
        return [name for name in globals()]


class UncompiledExport(UncompiledProperty):
    @torch.jit.export
    def wrong(self):
        return globals()


class Exports(unittest.TestCase):
    """What PyTorch 1.13 compiles of modules that are traced."""

    def test_exported_methods_are_saved(self):
        module, x = Exporting(), torch.ones(2, 3)
        traced = torch.jit.trace(module, x)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "exporting.pt")
            traced.save(path)
            loaded = torch.jit.load(path)
        for program in (traced, loaded):
            self.assertTrue(torch.equal(program(x), module(x)))
            self.assertTrue(torch.equal(program.scaled(x, 3.0), module.scaled(x, 3.0)))
            self.assertEqual(program.shift.shifted(3), 10)
            self.assertEqual(program.other.doubled(3), 6)
        self.assertFalse(hasattr(loaded, "not_compiled"))

    def test_traces_make_way(self):
        # an exported method calls shift's forward, which is compiled, but only another method of `other`
        traced = torch.jit.trace(Exporting(), torch.ones(2, 3))
        self.assertIn("(shift).forward1(x, )", traced.code)
        self.assertIn("(other).forward(x, )", traced.code)

    def test_what_can_not_be_compiled(self):
        self.assertEqual(torch.jit.trace(UncompiledProperty(), torch.ones(2))(torch.zeros(1)).item(), 1)
        with self.assertRaisesRegex(RuntimeError, "globals"):
            torch.jit.trace(UncompiledExport(), torch.ones(2))


class Warnings(unittest.TestCase):

    def test_values_that_leave(self):
        def branch(x):
            if x.sum() > 0:
                x = x + 1
            return x
        for function in (lambda x: x * int(x[0]), lambda x: x * float(x.sum()), branch, lambda x: x + len(x),
                         lambda x: sum(row for row in x), lambda x: x * x[0].item()):
            with self.assertWarns(TracerWarning) as caught:
                torch.jit.trace(function, torch.ones(2), check_trace=False)
            self.assertEqual(os.path.basename(caught.filename), os.path.basename(__file__))

    def test_booleans_as_numbers(self):
        for function in (lambda x: x * True, lambda x: True + x, lambda x: x == False,  # noqa: E712
                         lambda x: torch.add(x, True), lambda x: (x > 0) & True, lambda x: x.int() * True):
            x = torch.ones(2)
            made, expected = torch.jit.trace(function, x)(torch.zeros(3)), function(torch.zeros(3))
            self.assertEqual((made.tolist(), made.dtype), (expected.tolist(), expected.dtype))

    def test_errors_end_the_trace(self):
        def f(x):
            raise ValueError("of the function")
        with self.assertRaisesRegex(ValueError, "of the function"):
            torch.jit.trace(f, torch.ones(1))
        self.assertFalse(torch.jit.is_tracing())
        with self.assertRaisesRegex(RuntimeError, "return any values"):
            torch.jit.trace(lambda x: None, torch.ones(1))
        with self.assertRaisesRegex(RuntimeError, "nested"):
            torch.jit.trace(lambda x: torch.jit.trace(lambda y: y, x)(x), torch.ones(1))
        weight = torch.ones(1, requires_grad=True)
        with self.assertRaisesRegex(RuntimeError, "requires grad"):
            torch.jit.trace(lambda x: x * weight, torch.ones(1))
        self.assertFalse(torch.jit.is_tracing())

    def test_check(self):
        count = [0]

        def grows(x):
            count[0] += 1
            for _ in range(count[0]):
                x = x + 1
            return x
        with self.assertRaisesRegex(TracingCheckError, "First difference, line"):
            torch.jit.trace(grows, torch.ones(1))

        def draws(x):
            return x + torch.rand(3)
        with self.assertWarnsRegex(TracerWarning, "does not match"):
            torch.jit.trace(draws, torch.ones(3))
        self.assertEqual(torch.jit.trace(draws, torch.ones(3), check_trace=False)(torch.ones(3)).shape, (3,))


if __name__ == "__main__":
    unittest.main()
