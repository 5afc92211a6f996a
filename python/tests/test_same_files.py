"""Files of torch.save with more than tensors in them, where they are loaded to, and archives of TorchScript."""
import argparse
import collections
import io
import pickletools
import unittest
import warnings
import zipfile

from beside import torch

nn = torch.nn


def again(value, **options):
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file, **options)


class Values(unittest.TestCase):
    def test_of_python(self):
        for value in ({1, 2, 3}, frozenset([1]), collections.deque([1, 2], 3), collections.Counter("aab"), b"abc",
                      bytearray(b"x"), slice(1, 2), range(3), 10 ** 30, 1j, Ellipsis, None, True, [1, ("a",
                          {2.5: [None]})]):
            got = again(value)
            self.assertEqual((type(got), got), (type(value), value))
        table = collections.defaultdict(list)
        table["a"].append(1)
        got = again(table)
        self.assertEqual((got["a"], got["absent"]), ([1], []))
        got = again(argparse.Namespace(rate=0.1, weights=torch.ones(2)))
        self.assertEqual((got.rate, got.weights.tolist()), (0.1, [1, 1]))

    def test_of_numpy(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not there")
        got = again({"number": numpy.float64(1.5), "whole": numpy.int32(4), "kind": numpy.dtype("float32"),
                     "array": numpy.arange(6.0).reshape(2, 3), "weights": torch.ones(1)})
        self.assertEqual((got["number"], got["whole"], got["kind"], got["weights"].item()), (1.5, 4, "float32", 1))
        self.assertEqual(got["array"].tolist(), [[0, 1, 2], [3, 4, 5]])

    def test_tensors_beside_them(self):
        base = torch.arange(6.0)
        got = again({"set": {1}, "base": base, "part": base[2:5], "turned": base.view(2, 3).t(), "whole": base.long(),
                     "flag": torch.tensor(True), "half": base.half(), "empty": torch.ones(0, 2), "same": base})
        self.assertEqual(got["turned"].tolist(), [[0, 3], [1, 4], [2, 5]])
        self.assertEqual((got["whole"].dtype, got["flag"].item(), tuple(got["empty"].shape)), (torch.int64, True,
            (0, 2)))
        got["base"][3] = 9
        self.assertEqual((got["part"].tolist(), got["turned"][0, 1].item()), ([2, 9, 4], 9))
        self.assertIs(got["same"], got["base"])

    @unittest.skipUnless(hasattr(torch, "float8_e5m2"), "PyTorch 2.x")
    def test_dtypes_of_2(self):
        got = again({"whole": torch.tensor([1, 65535], dtype=torch.uint16), "list": [1, 2],
                     "number": torch.tensor([2.5]).to(torch.float8_e4m3fn)})
        self.assertEqual((got["whole"].dtype, got["whole"].tolist()), (torch.uint16, [1, 65535]))
        self.assertEqual((got["number"].dtype, got["number"].tolist()), (torch.float8_e4m3fn, [2.5]))
        self.assertEqual(got["list"], [1, 2])

    def test_parameters(self):
        got = again(nn.Parameter(torch.ones(1)))
        self.assertIs(type(got), nn.Parameter)
        self.assertTrue(got.requires_grad)
        self.assertFalse(again(nn.Parameter(torch.ones(1), requires_grad=False)).requires_grad)
        self.assertTrue(again([torch.ones(1, requires_grad=True), {1}])[0].requires_grad)

    def test_state_of_an_optimizer(self):
        layer = nn.Linear(1, 1)
        optimizer = torch.optim.Adam(layer.parameters())
        layer(torch.ones(1)).backward()
        optimizer.step()
        got = again({"optimizer": optimizer.state_dict(), "seen": {3}})
        optimizer.load_state_dict(got["optimizer"])
        self.assertEqual(sorted(got["optimizer"]["state"][0]), ["exp_avg", "exp_avg_sq", "step"])


class Globals(unittest.TestCase):
    def test_what_any_torch_load_takes(self):
        """Nothing but what PyTorch 2.x reads with weights_only, its default."""
        file = io.BytesIO()
        torch.save({"a": torch.ones(2), "ints": [1, 2], "floats": [1.5], "pair": (1, "x"), "none": None, "empty": [],
                    "inner": {"tensors": [torch.zeros(1)], 3: [True]}}, file)
        with zipfile.ZipFile(file) as archive:
            name = [name for name in archive.namelist() if name.endswith("data.pkl")][0]
            found = {"%s.%s" % (argument.split()[0], argument.split()[1])
                     for opcode, argument, _ in pickletools.genops(archive.read(name)) if opcode.name == "GLOBAL"}
        self.assertLessEqual(found, {"torch._utils._rebuild_tensor_v2", "torch.FloatStorage",
                                     "collections.OrderedDict"})


class Places(unittest.TestCase):
    def test_map_location(self):
        for place in ("cpu", torch.device("cpu"), lambda storage, location: storage, {"cuda:0": "cpu"}, None):
            self.assertEqual(again([torch.ones(1)], map_location=place)[0].device.type, "cpu")
        self.assertTrue(again({"a": torch.ones(2)}, map_location="meta")["a"].is_meta)

    def test_another_machines_device(self):
        """A file whose tensors were on a device that is not there."""
        plain, moved = io.BytesIO(), io.BytesIO()
        torch.save({"a": torch.ones(2)}, plain)
        with zipfile.ZipFile(plain) as old, zipfile.ZipFile(moved, "w") as new:
            for name in old.namelist():
                text = old.read(name)
                if name.endswith("data.pkl"):
                    text = text.replace(b"X\x03\x00\x00\x00cpu", b"X\x06\x00\x00\x00cuda:7")
                new.writestr(name, text)
        moved.seek(0)
        with self.assertRaisesRegex(RuntimeError, "Attempting to deserialize object on a"):
            torch.load(moved)
        moved.seek(0)
        with self.assertRaisesRegex(RuntimeError, "Attempting to deserialize object on a"):
            torch.load(moved, map_location={"cuda:1": "cpu"})
        for place in ("cpu", torch.device("cpu"), lambda storage, location: storage, {"cuda:7": "cpu"}):
            moved.seek(0)
            self.assertEqual(torch.load(moved, map_location=place)["a"].tolist(), [1., 1.])

    def test_archives(self):
        file = io.BytesIO()
        torch.jit.save(torch.jit.script(nn.Linear(2, 1)), file)
        file.seek(0)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            module = torch.load(file)
        self.assertIsInstance(module, torch.jit.ScriptModule)
        self.assertIn("looks like a TorchScript archive dispatching to 'torch.jit.load'", str(seen[0].message))


if __name__ == "__main__":
    unittest.main()
