"""linalg, fft, special, ops, testing; help and docstrings; save and load."""
import io
import os
import tempfile
import unittest

import wick
from optional import needs_cjson
from wick.testing import assert_close


class Namespaces(unittest.TestCase):
    def test_special(self):
        self.assertAlmostEqual(wick.special.erf(wick.tensor(0.5)).item(), 0.5204998778, places=6)
        self.assertIn("erf", dir(wick.special))
        with self.assertRaises(AttributeError):
            wick.special.nothing

    def test_linalg(self):
        self.assertEqual(wick.linalg.norm(wick.tensor([3.0, 4.0])).item(), 5)
        self.assertEqual(wick.linalg.vector_norm(wick.tensor([3.0, 4.0])).item(), 5)

    def test_ops(self):
        x = wick.ones(2)
        self.assertEqual(wick.ops.aten.add.Tensor(x, x).tolist(), [2, 2])
        self.assertEqual(wick.ops.aten.add(x, 1).tolist(), [2, 2])
        self.assertEqual(wick.ops.aten.relu.default(-x).tolist(), [0, 0])
        self.assertIn("Tensor", wick.ops.aten.add.overloads())
        with self.assertRaises(AttributeError):
            wick.ops.aten.add.Nothing
        with self.assertRaises(AttributeError):
            wick.ops.aten.nothing_at_all
        with self.assertRaises(TypeError):
            wick.ops.aten.add.Tensor(x)

    def test_ops_of_lists_and_dicts(self):
        aten = wick.ops.aten
        for value in ([1], [1.5], ["a"], [True], [1j], [wick.ones(1)], [[1]], {"a": 1}, {1: 2}, {1.5: 2}, "a"):
            with self.subTest(value):
                self.assertEqual(aten.len(value), 1)
        self.assertEqual([aten.keys({key: 1}) for key in ("a", 2, True)], [["a"], [2], [True]])
        self.assertEqual((aten.__contains__([1, 2], 2), aten.__contains__({"a": 1}, "b")), (True, False))
        self.assertEqual((aten.__getitem__(["a", "b"], 1), aten.__getitem__({2: 3}, 2)), ("b", 3))
        self.assertTrue(aten.eq([1.5], [1.5]))
        with self.assertRaisesRegex(AttributeError, "'aten' object has no attribute '__nothing__'"):
            aten.__nothing__

    def test_help(self):
        self.assertIn("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", wick.add.__doc__)
        self.assertEqual(wick.add.__name__, "add")
        self.assertIn("sum", dir(wick))

    def test_every_operator_can_be_asked(self):
        for name in wick._C.operator_names():
            operator = wick._C.operator(name)
            operator.is_callable
            self.assertTrue(operator.schemas)


class Internals(unittest.TestCase):
    def test_what_is_missing_says_why(self):
        for name, why in (("_jit_tree_views", "compiled from their source text"),
                          ("_jit_script_compile", "compiled from their source text"),
                          ("_jit_script_class_compile", "not from trees"), ("_jit_trace_graph", "jit.trace"),
                          ("_jit_set_logging_option", "PYTORCH_JIT_LOG_LEVEL"), ("_jit_init", "once it is imported"),
                          ("_jit_run_cpp_tests", "programs of their own"),
                          ("_jit_get_custom_class_schemas", "not listed")):
            with self.subTest(name):
                with self.assertRaisesRegex(AttributeError, "'%s': .*%s" % (name, why)):
                    getattr(wick._C, name)

    def test_switches_of_other_compilers_are_refused(self):
        for name, fits, refused in (("_jit_cat_wo_conditionals", True, False), ("_jit_opt_conditionals", False, True),
                                    ("_jit_set_te_generate_block_code", False, True),
                                    ("_jit_set_te_cuda_pointwise_loop_levels", -1, 2),
                                    ("_jit_set_autocast_mode", True, False)):
            with self.subTest(name):
                switch = getattr(wick._C, name)
                switch(fits)
                with self.assertRaisesRegex(RuntimeError, "wick has no "):
                    switch(refused)
                switch(fits)

    def test_asked_for_other_modules(self):
        with self.assertRaisesRegex(TypeError, "takes a ScriptModule, not Linear"):
            wick._C._jit_pass_optimize_for_inference(wick.nn.Linear(1, 1))


class Close(unittest.TestCase):
    def test_close(self):
        assert_close(wick.ones(2), wick.ones(2) + 1e-7)
        assert_close([wick.ones(2), {"a": 1.0}], [wick.ones(2), {"a": 1.0}])
        for actual, expected in [(wick.ones(2), wick.zeros(2)), (wick.ones(2), wick.ones(3)),
                                 (wick.ones(2), wick.ones(2).double()), (1.0, 2.0), ([1.0], [1.0, 2.0]),
                                 (wick.tensor(float("nan")), wick.tensor(float("nan"))), (1, 1.0)]:
            with self.assertRaises(AssertionError):
                assert_close(actual, expected)
        assert_close(wick.tensor(float("nan")), wick.tensor(float("nan")), equal_nan=True)
        with self.assertRaisesRegex(AssertionError, r"Mismatched elements: 1 / 4 \(25.0%\)"):
            assert_close(wick.tensor([[1, 2], [3, 4]]), wick.tensor([[1, 2], [3, 5]]))


class Files(unittest.TestCase):
    @needs_cjson
    def test_safetensors(self):
        state = {"w": wick.arange(6.0).reshape(2, 3).t(), "h": wick.ones(2, dtype=wick.bfloat16), "n": wick.tensor(7),
                 "flags": wick.tensor([True, False]), "none": wick.empty(0, 2)}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "state.safetensors")
            wick.save(state, path)
            with open(path, "rb") as file:
                self.assertEqual(int.from_bytes(file.read(8), "little") % 8, 0)
            loaded = wick.load(path)
            with self.assertRaisesRegex(TypeError, "holds tensors by name"):
                wick.save({"number": 1}, path)
        self.assertEqual(list(loaded), list(state))
        for name, value in state.items():
            self.assertEqual((loaded[name].dtype, loaded[name].tolist()), (value.dtype, value.tolist()))
            self.assertEqual(loaded[name].shape, value.shape)

    def test_save_and_load(self):
        state = {"weight": wick.arange(6.0).reshape(2, 3), "steps": 3, "name": "net", "list": [1, 2.5, None, True]}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "state.pt")
            wick.save(state, path)
            loaded = wick.load(path)
            with open(path, "rb") as file:
                again = wick.load(file)
        buffer = io.BytesIO()
        wick.save(state, buffer)
        for value in (loaded, again, wick.load(io.BytesIO(buffer.getvalue()))):
            self.assertEqual(value["weight"].tolist(), state["weight"].tolist())
            self.assertEqual((value["steps"], value["name"], value["list"]), (3, "net", [1, 2.5, None, True]))
        with self.assertRaises((OSError, RuntimeError)):
            wick.load("/nowhere/at/all.pt")


class Limits(unittest.TestCase):
    def test_finfo(self):
        self.assertEqual(wick.finfo(wick.float32).eps, 2.0 ** -23)
        self.assertEqual(wick.finfo(wick.float16).max, 65504)
        self.assertEqual(wick.finfo().bits, 32)
        self.assertEqual((wick.iinfo(wick.uint8).max, wick.iinfo(wick.int16).min), (255, -32768))
        with self.assertRaises(TypeError):
            wick.finfo(wick.int32)

    def test_finfo_of_float8(self):
        for name, expected in (("float8_e4m3fn", (448, -448, 0.125, 2.0 ** -6)),
                               ("float8_e5m2", (57344, -57344, 0.25, 2.0 ** -14)),
                               ("float8_e4m3fnuz", (240, -240, 0.125, 2.0 ** -7)),
                               ("float8_e5m2fnuz", (57344, -57344, 0.125, 2.0 ** -15)),
                               ("float8_e8m0fnu", (2.0 ** 127, 2.0 ** -127, 1, 2.0 ** -127))):
            limits = wick.finfo(getattr(wick, name))
            self.assertEqual((limits.max, limits.min, limits.eps, limits.smallest_normal), expected)
            self.assertEqual((limits.bits, limits.tiny, limits.resolution, limits.dtype), (8, expected[3], 1, name))

    def test_threads(self):
        before = wick.get_num_threads()
        wick.set_num_threads(1)
        self.assertEqual(wick.get_num_threads(), 1)
        wick.set_num_threads(before)
        with self.assertRaises(RuntimeError):
            wick.set_num_threads(0)


if __name__ == "__main__":
    unittest.main()
