"""What a trace warns of and refuses, in PyTorch's words."""
import importlib.util
import unittest
import warnings

from beside import torch


def traced(function, *inputs, **options):
    return torch.jit.trace(function, inputs, check_trace=False, **options)


class Warned(unittest.TestCase):
    def warned(self, text, function):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            traced(function, torch.ones(2))
        seen = [one for one in seen if issubclass(one.category, torch.jit.TracerWarning)]
        self.assertEqual(len(seen), 1, [str(one.message) for one in seen])
        self.assertTrue(str(seen[0].message).startswith(text), str(seen[0].message))

    def test_boolean(self):
        self.warned("Converting a tensor to a Python boolean might cause the trace to be incorrect",
                    lambda x: x + 1 if x[0] > 0 else x)

    def test_integer(self):
        self.warned("Converting a tensor to a Python integer might cause the trace to be incorrect",
                    lambda x: x * int(x[0]))

    def test_float(self):
        self.warned("Converting a tensor to a Python float might cause the trace to be incorrect",
                    lambda x: x * float(x[0]))

    def test_number(self):
        self.warned("Converting a tensor to a Python number might cause the trace to be incorrect",
                    lambda x: x * x[0].item())

    def test_list(self):
        self.warned("Converting a tensor to a Python list might cause the trace to be incorrect",
                    lambda x: x * x.tolist()[0])

    @unittest.skipIf(importlib.util.find_spec("numpy") is None, "NumPy is not here")
    def test_array(self):
        self.warned("Converting a tensor to a NumPy array might cause the trace to be incorrect",
                    lambda x: x * float(x.numpy()[0]))

    def test_length(self):
        self.warned("Using len to get tensor shape might cause the trace to be incorrect", lambda x: x * len(x))

    def test_iteration(self):
        self.warned("Iterating over a tensor might cause the trace to be incorrect",
                    lambda x: sum(row for row in x))


    def test_not_where_switched_off(self):
        before = torch._C._jit_get_tracer_state_warn()
        for on in (False, True):
            torch._C._jit_set_tracer_state_warn(on)
            try:
                self.assertEqual(torch._C._jit_get_tracer_state_warn(), on)
                with warnings.catch_warnings(record=True) as found:
                    warnings.simplefilter("always")
                    traced(lambda x: x * 2 if x.sum() > 0 else x, torch.ones(2))
                self.assertEqual(len(found), int(on))
            finally:
                torch._C._jit_set_tracer_state_warn(before)


class Refused(unittest.TestCase):
    def refused(self, text, function, *inputs):
        with self.assertRaisesRegex(RuntimeError, text):
            traced(function, *inputs)

    def test_dicts(self):
        self.refused("Encountering a dict at the output of the tracer might cause the trace to be incorrect",
                     lambda x: {"x": x}, torch.ones(1))
        made = traced(lambda x: {"x": x + 1}, torch.ones(1), strict=False)
        self.assertEqual(made(torch.ones(1))["x"].tolist(), [2])

    def test_inputs(self):
        self.refused(r"Only Tensors and \(possibly nested\) Lists, Dicts, and Tuples of Tensors can be traced",
                     lambda x, y: x, torch.ones(1), 3)

    def test_numbers(self):
        self.refused("Only tensors, lists, tuples of tensors, or dictionary of tensors can be output from traced "
                     "functions", lambda x: 3, torch.ones(1))


if __name__ == "__main__":
    unittest.main()
