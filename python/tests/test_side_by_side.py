"""Functions and modules of side_by_side/, scripted and traced, against what PyTorch 1.13 gave: results and kinds of
nodes. side_by_side.py --record writes it anew where PyTorch is installed."""

import contextlib
import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "side_by_side")
sys.path.insert(0, HERE)
import side_by_side  # noqa: E402


class Recorded(unittest.TestCase):
    def test_results_and_kinds(self):
        with gzip.open(os.path.join(HERE, "recorded.json.gz")) as file:
            recorded = json.load(file)
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, os.path.join(HERE, "worker.py"), "wick", "make", folder], check=True,
                           env=dict(os.environ, SIDE_BY_SIDE_NO_NETWORKS="1"))
            mine = side_by_side.read(folder, "report.json")
        self.assertEqual(list(mine), list(recorded))
        tally, told = side_by_side.Tally(), io.StringIO()
        with contextlib.redirect_stdout(told):
            for name in recorded:
                side_by_side.compare(name, mine[name], recorded[name], None, None, tally, False)
            holds = tally.figures_hold()
        self.assertTrue(holds, told.getvalue())


if __name__ == "__main__":
    unittest.main()
