"""Runs the tests that hold of both packages (beside.py) with PyTorch 1.13, where that is installed."""

import glob
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "side_by_side"))
import side_by_side  # noqa: E402


class Beside(unittest.TestCase):
    def test_torch_passes_too(self):
        python = side_by_side.torch_python()
        if python is None:
            self.skipTest("PyTorch 1.13 is not installed")
        files = []
        for path in sorted(glob.glob(os.path.join(HERE, "test_*.py"))):
            with open(path) as file:
                if "\nfrom beside import torch" in file.read():
                    files.append(path)
        self.assertTrue(files)
        for path in files:
            with self.subTest(os.path.basename(path)):
                ran = subprocess.run([python, "-W", "ignore", path, "--torch"], capture_output=True, text=True,
                                     env=side_by_side.without_path(), timeout=250)
                self.assertEqual(ran.returncode, 0, ran.stderr)


if __name__ == "__main__":
    unittest.main()
