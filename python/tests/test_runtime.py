"""wick.runtime: limits of calls, cancelling, profiles, executors; what is refused; wick in the place of torch."""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import wick
from wick import _C, runtime


@wick.jit.script
def count(n: int) -> int:
    i = 0
    while i < n:
        i += 1
    return i


@wick.jit.script
def add(x, y):
    return x + y


class Limits(unittest.TestCase):
    def test_deadline(self):
        begin = time.monotonic()
        with self.assertRaises(TimeoutError), runtime.limits(deadline=0.05):
            count(1 << 60)
        self.assertLess(time.monotonic() - begin, 5)
        self.assertEqual(count(3), 3)

    def test_steps(self):
        with runtime.limits(steps=1000):
            self.assertEqual(count(10), 10)
            with self.assertRaises(RuntimeError):
                count(10000)
        self.assertEqual(count(10000), 10000)

    def test_bytes(self):
        with runtime.limits(bytes=1 << 20), self.assertRaises(RuntimeError):
            add(wick.ones(1 << 18), wick.ones(1 << 18)).item()
        self.assertEqual(add(wick.ones(1 << 18), wick.ones(1 << 18))[0].item(), 2)

    def test_within(self):
        with runtime.limits(steps=1000):
            with runtime.limits(deadline=60):
                with self.assertRaises(RuntimeError):
                    count(10000)
            with runtime.limits(steps=100000):
                self.assertEqual(count(10000), 10000)

    def test_again(self):
        bound = runtime.limits(steps=1000)
        for _ in range(2):
            with bound, self.assertRaises(RuntimeError):
                count(10000)

    def test_of_the_thread(self):
        results = []
        with runtime.limits(steps=1000):
            thread = threading.Thread(target=lambda: results.append(count(10000)))
            thread.start()
            thread.join()
        self.assertEqual(results, [10000])

    def test_cancel(self):
        cancel = runtime.Cancel()
        timer = threading.Timer(0.05, cancel.fire)
        timer.start()
        with self.assertRaises(runtime.Cancelled), runtime.limits(cancel=cancel):
            count(1 << 60)
        timer.join()

    def test_wrong(self):
        for wrong in ({"deadline": -1}, {"steps": 0}, {"bytes": -5}, {"threads": 1 << 40}):
            with self.assertRaises(ValueError):
                runtime.limits(**wrong).__enter__()
        for wrong in ({"nothing": 1}, {"cancel": 3}, {"profile": "x"}):
            with self.assertRaises(TypeError):
                runtime.limits(**wrong).__enter__()
        with self.assertRaises(RuntimeError):
            runtime.limits(executor="none such").__enter__()
        self.assertEqual(count(5), 5)

    def test_profile(self):
        profile = runtime.Profile()
        with runtime.limits(profile=profile):
            add(wick.ones(3), wick.ones(3))
        rows = json.loads(profile.text("json"))
        self.assertEqual(rows["calls"], 1)
        self.assertTrue(any(row["op"] == "aten::add" for row in rows["rows"]))
        self.assertIn("aten::add", profile.text("table"))
        self.assertIn("traceEvents", profile.text("trace"))
        with self.assertRaises(ValueError):
            profile.text("nothing")

    def test_executor_and_fuser(self):
        for executor in ("simple", "specializing", "profiling"):
            with runtime.limits(executor=executor, backend="none", threads=1, deterministic=True):
                self.assertEqual(add(wick.ones(2), wick.ones(2)).tolist(), [2, 2])


class Process(unittest.TestCase):
    def test_strict_fusion_of_what_is_fused(self):
        def strict(x):
            with wick.jit.strict_fusion():
                return x + x * 2 - x
        program = wick.jit.script(strict)
        before = runtime.executor()
        for executor in ("specializing", "profiling"):
            runtime.set_executor(executor, synchronous=True)
            try:
                for _ in range(6):
                    self.assertEqual(program(wick.ones(2)).tolist(), [2, 2])
                    self.assertEqual(program(wick.ones(2, requires_grad=True)).tolist(), [2, 2])
            finally:
                runtime.set_executor(before)

    def test_counts(self):
        before = runtime.stats()["invocations"]
        add(wick.ones(2), wick.ones(2))
        self.assertGreater(runtime.stats()["invocations"], before)
        self.assertIn("plans", runtime.memory())
        self.assertIsInstance(runtime.explain(), str)
        self.assertGreaterEqual(runtime.trim(), 0)

    def test_executor(self):
        before = runtime.executor()
        try:
            runtime.set_executor("simple")
            self.assertEqual(runtime.executor(), "simple")
        finally:
            runtime.set_executor(before)
        with self.assertRaises(RuntimeError):
            runtime.set_executor("none such")

    def test_prepare(self):
        class Net(wick.nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = wick.nn.Linear(4, 4)
                self.register_buffer("calls", wick.zeros(1))

            def forward(self, x):
                self.calls += 1
                return self.fc(x)
        net = wick.jit.script(Net())
        runtime.prepare(net, wick.ones(2, 4))
        self.assertEqual(net.calls.item(), 0)
        self.assertGreater(runtime.memory(net)["weights"], 0)
        runtime.prepare(add, wick.ones(2), y=wick.ones(2))

    def test_fusers_that_are_not_there(self):
        for name in ("fuser2", "fuser3"):
            with self.assertRaisesRegex(RuntimeError, "wick has no"):
                wick.jit.fuser(name)
        for switch in (_C._jit_set_nvfuser_enabled, _C._jit_set_llga_enabled, wick.jit.enable_onednn_fusion):
            switch(False)
            with self.assertRaisesRegex(RuntimeError, "wick has no"):
                switch(True)

    def test_fusion_is_switched(self):
        @wick.jit.script
        def f(x, y):
            return ((x * y + x) * y).tanh()

        def groups():
            for _ in range(4):
                f(wick.ones(64, 64), wick.ones(64, 64))
            return "prim::FusionGroup" in f.graph_for(wick.ones(64, 64), wick.ones(64, 64))
        self.assertTrue(groups())

    def test_names_of_passes(self):
        from wick.jit import _passes
        graph = _C.graph_parse("graph(%a : Tensor):\n  %b : Tensor = aten::relu(%a)\n  return (%a)\n")
        _passes.run(graph, "eliminate_dead_code")
        self.assertEqual(list(graph.nodes()), [])
        with self.assertRaisesRegex(RuntimeError, "did you mean 'dead_code_elimination'"):
            _passes.run(graph, "dead_code_eliminatoin")
        for name in list(_passes.SAME.values()) + list(_passes.ALIASES.values()):
            self.assertIn(name, _C.pass_names())

    def test_allowed_operators(self):
        class Net(wick.nn.Module):
            def forward(self, x):
                return x.relu().sin()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "net.pt")
            wick.jit.script(Net()).save(path)
            wick.jit.load(path, allow_ops=["aten::relu", "aten::sin"])
            with self.assertRaisesRegex(NotImplementedError, "aten::sin"):
                wick.jit.load(path, allow_ops=["aten::relu"])
            self.assertEqual(wick.jit.load(path, mapped=True, max_steps=100000)(wick.zeros(1)).item(), 0)
            with self.assertRaises(RuntimeError):
                wick.jit.load(path, max_steps=1)


class Pictures(unittest.TestCase):
    """What notebooks show."""

    def test_graph(self):
        from xml.dom import minidom

        @wick.jit.script
        def f(x, n: int):
            if n > 1:
                x = x.relu() + n
            return x * 2, "<&>"
        page = f.graph._repr_html_()
        picture = minidom.parseString(page).documentElement
        boxes = [rect.parentNode.getElementsByTagName("text")[0].firstChild.data
                 for rect in picture.getElementsByTagName("rect")]
        for text in ("%x.1", "prim::If", "mul", "return"):
            self.assertIn(text, boxes)
        self.assertGreater(len(picture.getElementsByTagName("path")), 3)
        self.assertNotIn("http", page.replace("http://www.w3.org/2000/svg", ""))

    def test_large_graph(self):
        body = "".join("    x = x + %d\n" % i for i in range(400))
        graph = wick.jit.CompilationUnit("def f(x):\n%s    return x\n" % body).f.graph
        self.assertTrue(graph._repr_html_().startswith("<pre>"))

    def test_module(self):
        net = wick.jit.script(wick.nn.Sequential(wick.nn.Linear(2, 3), wick.nn.ReLU()))
        page = net._repr_html_()
        for text in ("Sequential", "0: Linear", "weight: Tensor[3, 2]", "<svg"):
            self.assertIn(text, page)


class Parts(unittest.TestCase):
    """What is no longer in its graph answers nothing, and does no harm."""

    def test_gone(self):
        graph = _C.graph_parse("graph(%a : Tensor):\n  %b : Tensor = aten::relu(%a)\n  %c : Tensor = aten::neg(%a)\n"
                               "  return (%c)\n")
        node = graph.findNode("aten::relu")
        value = node.output()
        node.destroy()
        for ask in (node.kind, node.output, node.destroy, value.debugName, value.type, value.node, value.uses,
                    lambda: value.replaceAllUsesWith(value), lambda: repr(node)):
            with self.assertRaisesRegex(RuntimeError, "no longer in its graph"):
                ask()

    def test_block_gone(self):
        graph = _C.graph_parse("graph(%a : Tensor, %c : bool):\n  %b : Tensor = prim::If(%c)\n    block0():\n"
                               "      -> (%a)\n    block1():\n      -> (%a)\n  return (%a)\n")
        node = graph.findNode("prim::If")
        block = list(node.blocks())[0]
        graph.run_pass("dead_code_elimination")
        with self.assertRaisesRegex(RuntimeError, "no longer in its graph"):
            block.nodes()

    def test_other_graphs(self):
        text = "graph(%a : Tensor):\n  %b : Tensor = aten::relu(%a)\n  return (%b)\n"
        one, two = _C.graph_parse(text), _C.graph_parse(text)
        with self.assertRaises((RuntimeError, ValueError)):
            next(one.nodes()).replaceInput(0, next(two.inputs()))
        with self.assertRaises((RuntimeError, ValueError)):
            next(one.nodes()).moveBefore(next(two.nodes()))
        with self.assertRaises((RuntimeError, ValueError)):
            one.alias_db().has_writers(next(two.inputs()))

    def test_ends_stay(self):
        graph = _C.graph_parse("graph(%a : Tensor):\n  %b : Tensor = aten::relu(%a)\n  return (%b)\n")
        for end in (graph.param_node(), graph.return_node()):
            for change in (end.destroy, lambda end=end: end.moveBefore(next(graph.nodes())), end.addBlock):
                with self.assertRaises((RuntimeError, ValueError)):
                    change()

    def test_broken_graphs_do_not_run(self):
        graph = _C.graph_parse("graph(%a : Tensor):\n  %b : Tensor = aten::relu(%a)\n  return (%b)\n")
        graph.appendNode(graph.create("prim::If", [next(graph.inputs())], 1))
        for run in (lambda: graph.run_pass("inliner"), lambda: graph.compile("f"), graph.alias_db, graph.lint,
                    lambda: graph.rewrite(str(graph), str(graph))):
            with self.assertRaises((RuntimeError, ValueError)):
                run()


class StandIn(unittest.TestCase):
    def run_program(self, text, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program.py")
            with open(path, "w") as file:
                file.write(text)
            return subprocess.run([sys.executable, "-m", "wick.torch_stand_in", path] + list(arguments),
                                  capture_output=True, text=True, timeout=100)

    def test_program(self):
        ran = self.run_program(
            "import sys\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
            "from torch import Tensor, jit\nfrom torch.utils.data import DataLoader\n"
            "from torch.testing import FileCheck, assert_close\nimport torch._C, torch.jit\n"
            "class Net(nn.Module):\n    def forward(self, x: Tensor):\n        return F.relu(x)\n"
            "net = torch.jit.script(Net())\nassert_close(net(torch.ones(2)), torch.ones(2))\n"
            "FileCheck().check('relu').run(net.graph)\nprint(torch.__name__, sys.argv[1:], __name__)\n", "a", "b")
        self.assertEqual((ran.returncode, ran.stdout), (0, "wick ['a', 'b'] __main__\n"), ran.stderr)

    def test_what_is_not_there(self):
        ran = self.run_program("import torch.nothing_at_all\n")
        self.assertIn("ModuleNotFoundError: wick, which stands in for torch, has no module 'torch.nothing_at_all'",
                      ran.stderr)
        ran = self.run_program("import torch\ntorch.nothing_at_all\n")
        self.assertIn("AttributeError: module 'wick' has no attribute 'nothing_at_all'", ran.stderr)

    def test_installed(self):
        program = ("from wick import torch_stand_in\ntorch = torch_stand_in.install()\nimport torch as again, wick\n"
                   "assert torch is again is wick\nimport torch.nn, wick.nn\nassert torch.nn is wick.nn\n"
                   "torch_stand_in.uninstall()\nimport sys\nassert 'torch' not in sys.modules\n")
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
        self.assertEqual(ran.returncode, 0, ran.stderr)

    def test_packages(self):
        """Packages built for PyTorch, where they are installed: wick's libraries stand for their extensions."""
        programs = {
            "torchvision": "from torchvision import models, ops\n"
                           "net = models.segmentation.lraspp_mobilenet_v3_large(weights=None,"
                           " weights_backbone=None)\n"
                           "net.eval()\nx = torch.rand(1, 3, 64, 64)\nwanted = net(x)['out']\n"
                           "torch.testing.assert_close(torch.jit.script(net)(x)['out'], wanted)\n"
                           "boxes = torch.tensor([[0., 0., 9., 9.], [1., 1., 9., 9.]])\n"
                           "print(ops.nms(boxes, torch.tensor([.5, .9]), .5).tolist())\n",
            "torchaudio": "import warnings\nwarnings.simplefilter('ignore')\nfrom torchaudio import functional\n"
                          "x = torch.ones(1, 4)\n"
                          "print(functional.lfilter(x, torch.tensor([1., 0.]), torch.tensor([1., 0.]))[0, :1].int()"
                          ".tolist())\n",
        }
        for package, program in programs.items():
            with self.subTest(package):
                if importlib.util.find_spec(package) is None:
                    self.skipTest("%s is not installed" % package)
                ran = self.run_program("import torch\n" + program)
                self.assertEqual(ran.stdout, "[1]\n", ran.stderr)

    def test_usage(self):
        ran = subprocess.run([sys.executable, "-m", "wick.torch_stand_in"], capture_output=True, text=True)
        self.assertEqual(ran.returncode, 2)


if __name__ == "__main__":
    unittest.main()
