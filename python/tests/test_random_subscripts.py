"""Random programs of subscripts (side_by_side/subscripts.py): what PyTorch 1.13 gives, recorded and anew.

    WICK_SUBSCRIPTS=20000 WICK_SUBSCRIPTS_SEED=7    how many, and which, where PyTorch is installed
    test_random_subscripts.py --record              records the first ones from PyTorch
"""
import gzip
import json
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "side_by_side"))
import side_by_side  # noqa: E402
import subscripts  # noqa: E402

RECORDED = os.path.join(HERE, "subscripts.json.gz")
COUNT, SEED = 200, 1


def run(python, torch, *arguments):
    command = [python, os.path.join(HERE, "side_by_side", "subscripts.py")] + ["--torch"] * torch
    ran = subprocess.run(command + [str(word) for word in arguments], capture_output=True, text=True, timeout=9000,
                         env=side_by_side.without_path() if torch else None)
    if ran.returncode:
        raise RuntimeError(ran.stderr)
    return [json.loads(line) for line in ran.stdout.splitlines()]


def of_torch(count, seed):
    python = side_by_side.torch_python()
    found = run(python, True, count, seed)
    for number, told in enumerate(found):  # traces fail in a process where others have failed
        if told != "ended" and told["trace"] == "error" and isinstance(told["eager"], list):
            found[number], = run(python, True, "--one", seed, number)
    return found


class Subscripts(unittest.TestCase):
    def compare(self, mine, torchs, seed):
        self.assertEqual(len(mine), len(torchs))
        wrong = []
        for number, (own, other) in enumerate(zip(mine, torchs)):
            if other != "ended" and own != other:
                modes = [mode for mode in other if own[mode] != other[mode]] if own != "ended" else ["ended"]
                wrong.append("%s in\n%s" % (", ".join(modes), subscripts.Program(seed, number).text))
        self.assertFalse(wrong, "\n".join(wrong[:10]))

    def test_recorded(self):
        with gzip.open(RECORDED, "rt") as file:
            self.compare(run(sys.executable, False, COUNT, SEED), json.load(file), SEED)

    def test_beside_torch(self):
        count, seed = int(os.environ.get("WICK_SUBSCRIPTS", "0")), int(os.environ.get("WICK_SUBSCRIPTS_SEED", "7"))
        if side_by_side.torch_python() is None or not count:
            self.skipTest("PyTorch 1.13 is not installed, or WICK_SUBSCRIPTS is not set")
        self.compare(run(sys.executable, False, count, seed), of_torch(count, seed), seed)


if __name__ == "__main__":
    if "--record" in sys.argv:
        with gzip.GzipFile(RECORDED, "wb", mtime=0) as file:
            file.write(json.dumps(of_torch(COUNT, SEED)).encode())
    else:
        unittest.main()
