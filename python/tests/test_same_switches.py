"""Switches of executors and fusers, as torch has them."""
import time
import unittest
import warnings

from beside import torch

C = torch._C


class Switches(unittest.TestCase):
    def test_each_gives_what_was(self):
        for name, values in (("_jit_set_profiling_executor", (False, True)),
                             ("_jit_set_profiling_mode", (False, True)),
                             ("_jit_set_num_profiled_runs", (3, 5)), ("_jit_set_bailout_depth", (2, 7))):
            with self.subTest(name):
                switch = getattr(C, name)
                before = switch(values[0])
                try:
                    self.assertEqual(switch(values[1]), values[0])
                    self.assertEqual(switch(values[0]), values[1])
                finally:
                    switch(before)

    def test_num_profiled_runs(self):
        before = C._jit_set_num_profiled_runs(4)
        try:
            self.assertEqual(C._jit_get_num_profiled_runs(), 4)
        finally:
            C._jit_set_num_profiled_runs(before)

    def test_can_fuse(self):
        before = C._jit_can_fuse_on_cpu()
        for on in (True, False):
            C._jit_override_can_fuse_on_cpu(on)
            self.assertEqual(C._jit_can_fuse_on_cpu(), on)
        C._jit_override_can_fuse_on_cpu(before)

    def test_texpr(self):
        before = C._jit_texpr_fuser_enabled()
        C._jit_set_texpr_fuser_enabled(not before)
        self.assertEqual(C._jit_texpr_fuser_enabled(), not before)
        C._jit_set_texpr_fuser_enabled(before)

    def test_programs_run_the_same(self):
        def f(x, n: int):
            y = x
            for i in range(n):
                y = y * x + i
            return y.tanh()
        x = torch.arange(4.0)
        want = f(x, 3)
        for executor in (True, False):
            for mode in (True, False):
                before = C._jit_set_profiling_executor(executor), C._jit_set_profiling_mode(mode)
                try:
                    scripted = torch.jit.script(f)
                    for _ in range(4):
                        self.assertTrue(torch.allclose(scripted(x, 3), want))
                finally:
                    C._jit_set_profiling_executor(before[0])
                    C._jit_set_profiling_mode(before[1])

    def test_optimized_execution(self):
        before = C._get_graph_executor_optimize()
        with torch.jit.optimized_execution(False):
            self.assertFalse(C._get_graph_executor_optimize())
            with torch.jit.optimized_execution(True):
                self.assertTrue(C._get_graph_executor_optimize())
            self.assertFalse(C._get_graph_executor_optimize())
        self.assertEqual(C._get_graph_executor_optimize(), before)

    def test_fuser(self):
        @torch.jit.script
        def f(x):
            return (x * x + 1).tanh()
        for name in ("fuser0", "fuser1"):
            with torch.jit.fuser(name):
                for _ in range(3):
                    self.assertEqual(f(torch.zeros(2)).shape, (2,))
                self.assertTrue(C._jit_can_fuse_on_cpu())
        with self.assertRaises(Exception):
            with torch.jit.fuser("fuser9"):
                pass

    def test_fusion_strategy(self):
        before = torch.jit.set_fusion_strategy([("STATIC", 2), ("DYNAMIC", 1)])
        try:
            self.assertEqual(torch.jit.set_fusion_strategy([("DYNAMIC", 3)]), [("STATIC", 2), ("DYNAMIC", 1)])
            for wrong in ([("nonsense", 1)],):
                with self.assertRaises(RuntimeError):
                    torch.jit.set_fusion_strategy(wrong)
            self.assertEqual(torch.jit.set_fusion_strategy([("DYNAMIC", 3)]), [("DYNAMIC", 3)])
        finally:
            torch.jit.set_fusion_strategy(before)

    def test_strict_fusion_in_programs(self):
        @torch.jit.script
        def strict(x):
            with torch.jit.strict_fusion():
                y = torch.rand([2]) + x
                z = y.nonzero()
            return z.cumsum(0)
        self.assertIn("with _0", strict.code)
        end = time.monotonic() + 20
        unfused = r"(?s)Found unfused operators: .*aten::rand.*aten::nonzero"
        with self.assertRaisesRegex(RuntimeError, unfused) as caught:
            while time.monotonic() < end:
                strict(torch.ones(2))
        self.assertNotIn("cumsum", str(caught.exception).split("operators:")[1].split("File")[0])

    def test_strict_fusion_outside(self):
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            with torch.jit.strict_fusion():
                pass
        self.assertEqual(len(given), 1)

    def test_disabled(self):
        def f(x):
            return x + 1
        torch.jit._state.disable()
        try:
            self.assertIs(torch.jit.script(f), f)
        finally:
            torch.jit._state.enable()
        self.assertIsNot(torch.jit.script(f), f)


class Counters(unittest.TestCase):
    def test_logger(self):
        import importlib
        logging = importlib.import_module(torch.__name__ + ".jit._logging")
        logger = logging.LockingLogger()
        before = logging.set_logger(logger)
        try:
            logging.add_stat_value("a", 2)
            logging.add_stat_value("a", 4)
            self.assertEqual(logger.get_counter_val("a"), 6)
            logger.set_aggregation_type("b", logging.AggregationType.AVG)
            logging.add_stat_value("b", 2)
            logging.add_stat_value("b", 4)
            self.assertEqual(logger.get_counter_val("b"), 3)
        finally:
            logging.set_logger(before)

    def test_script_profile(self):
        @torch.jit.script
        def f(x):
            x = x + 1
            return x * x
        profile = torch.jit._ScriptProfile()
        profile.enable()
        f(torch.ones(2))
        f(torch.ones(2))
        profile.disable()
        f(torch.ones(2))
        text = profile.dump_string()
        self.assertIn("return x * x", text)
        self.assertIn("x = x + 1", text)

    def test_script_profile_without_calls(self):
        profile = torch.jit._ScriptProfile()
        profile.enable()
        profile.disable()
        self.assertNotIn("return", profile.dump_string())


if __name__ == "__main__":
    unittest.main()
