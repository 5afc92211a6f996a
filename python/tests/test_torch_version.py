"""Whose operators programs, archives and single calls mean: set_torch_version, and torch_version of jit.load."""
import io
import unittest

import wick as torch


def bool_as_int(x: bool) -> int:
    return x


class Order(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.diff(x, -1)


class TorchVersion(unittest.TestCase):
    def setUp(self):
        self.addCleanup(torch.set_torch_version, torch.torch_version())

    def refuses(self, call):
        try:
            call(torch.ones(3))
        except RuntimeError as error:
            self.assertIn("order must be non-negative but got -1", str(error))
            return True
        return False

    def test_names(self):
        self.assertEqual(torch.torch_version(), "1.13")
        for name, told in ("2", "2"), ("2.14", "2"), ("1.13", "1.13"), ("1", "1.13"):
            torch.set_torch_version(name)
            self.assertEqual(torch.torch_version(), told)
        for name in "3", "", "two", "2.x":
            with self.assertRaises(Exception):
                torch.set_torch_version(name)
        self.assertEqual(torch.torch_version(), "1.13")

    def test_single_calls(self):
        for name, refused in ("1.13", False), ("2", True), ("1.13", False):
            torch.set_torch_version(name)
            self.assertEqual(self.refuses(lambda x: torch.diff(x, -1)), refused)

    def test_programs_and_archives(self):
        for name in "1.13", "2":
            torch.set_torch_version(name)
            module = torch.jit.script(Order())
            file = io.BytesIO()
            torch.jit.save(module, file)
            torch.set_torch_version("1.13" if name == "2" else "2")  # the program's stays
            self.assertEqual(self.refuses(module), name == "2")
            self.assertEqual(self.refuses(torch.jit.load(io.BytesIO(file.getvalue()))), name == "2")
            for other in "1.13", "2":
                loaded = torch.jit.load(io.BytesIO(file.getvalue()), torch_version=other)
                self.assertEqual(self.refuses(loaded), other == "2")

    def test_language(self):
        with self.assertRaises(Exception):
            torch.jit.script(bool_as_int)
        torch.set_torch_version("2")
        self.assertEqual(torch.jit.script(bool_as_int)(True), 1)


if __name__ == "__main__":
    unittest.main()
