"""What packages over PyTorch rely on: objects of their classes, OrderedDict, packed sequences, old tensor types."""
import abc
import collections
import io
import unittest
import warnings
from collections import OrderedDict
from typing import Dict, List, Optional, Tuple

from beside import torch
BroadcastingList2 = __import__(torch.__name__ + ".jit.annotations", fromlist=["x"]).BroadcastingList2
model_zoo = __import__(torch.__name__ + ".utils.model_zoo", fromlist=["x"])

nn = torch.nn
Tensor = torch.Tensor
pack = torch.nn.utils.rnn.pack_padded_sequence
unpack = torch.nn.utils.rnn.pad_packed_sequence
PackedSequence = torch.nn.utils.rnn.PackedSequence
pair = torch.nn.modules.utils._pair
listed = torch.nn.modules.utils._list_with_default


def saved(module):
    file = io.BytesIO()
    torch.jit.save(module, file)
    file.seek(0)
    return torch.jit.load(file)


# ---- OrderedDict ----

def ordered(x: Tensor):
    out = OrderedDict()
    out["b"] = x
    out["a"] = x + 1
    return out


def ordered_of_pairs(x: Tensor):
    return collections.OrderedDict([("b", x), ("a", x)])


def ordered_of_dict(x: Dict[str, int]):
    return OrderedDict(x)


def takes_ordered(x: OrderedDict):
    return x


class Ordered(unittest.TestCase):
    def test_is_a_dict(self):
        for function in (ordered, ordered_of_pairs):
            scripted = torch.jit.script(function)
            self.assertEqual(list(scripted(torch.ones(1))), ["b", "a"])
            self.assertEqual(str(scripted.schema), "%s(Tensor x) -> Dict(str, Tensor)" % function.__name__)
        self.assertEqual(torch.jit.script(ordered_of_dict)({"z": 1, "a": 2}), {"z": 1, "a": 2})

    def test_is_no_type(self):
        with self.assertRaisesRegex(RuntimeError, "Unknown type name 'OrderedDict'"):
            torch.jit.script(takes_ordered)


# ---- objects of the package's classes ----

class Coder:
    def __init__(self, scale: float, clip: int = 3):
        self.scale = scale
        self.clip = clip

    def encode(self, x: Tensor) -> Tensor:
        return x * self.scale + self.clip


class Strict(Coder):
    def __init__(self):
        super().__init__(2.0)
        self.unknown = object()

    def __call__(self, x):
        return super().encode(x)


class Declares(nn.Module):
    __annotations__ = {"coder": Coder}

    def __init__(self, coder):
        super().__init__()
        self.coder = coder

    def forward(self, x):
        return self.coder.encode(x)


class Infers(nn.Module):
    def __init__(self, coder):
        super().__init__()
        self.coder = coder
        self.other = Strict()  # can't be compiled, and nobody asks for it

    def forward(self, x):
        return self.coder.encode(x) + self.coder.clip


class Objects(unittest.TestCase):
    def test_attributes(self):
        for module, wanted in ((Declares(Coder(3.0)), 6.0), (Declares(Strict()), 5.0), (Infers(Coder(1.0, 4)), 9.0)):
            for make in (torch.jit.script, lambda m: torch.jit.trace(m, torch.zeros(1))):
                made = make(module)
                self.assertEqual(made(torch.ones(1)).item(), wanted)
                self.assertEqual(saved(made)(torch.ones(1)).item(), wanted)

    def test_unknown(self):
        with self.assertRaisesRegex(RuntimeError, "has no attribute 'coder'"):
            torch.jit.script(Infers(Strict()))


# ---- packed sequences ----

class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.net = kind(3, 4, batch_first=True, bidirectional=True)

    def forward(self, x: Tensor, lengths: Tensor):
        out, state = self.net(pack(x, lengths, batch_first=True, enforce_sorted=False))
        padded, found = unpack(out, batch_first=True)
        return padded, found, state


class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.LSTM(3, 4)

    def forward(self, x: Tensor, packed: PackedSequence) -> Tuple[Tensor, PackedSequence]:
        return self.net(x)[0], self.net(packed)[0]


class Packed(unittest.TestCase):
    def test_layers(self):
        x, lengths = torch.rand(3, 5, 3), torch.tensor([3, 5, 2])
        for kind in (nn.LSTM, nn.GRU, nn.RNN):
            net = Recurrent(kind)
            wanted, counts, _ = net(x, lengths)
            scripted = torch.jit.script(net)
            for one in (scripted, saved(scripted)):
                found, lengths_there, _ = one(x, lengths)
                self.assertTrue(torch.allclose(found, wanted))
                self.assertEqual(lengths_there.tolist(), [3, 5, 2])
            self.assertEqual(counts.tolist(), [3, 5, 2])

    def test_overloads(self):
        packed = pack(torch.ones(5, 2, 3), torch.tensor([5, 3]))
        scripted = torch.jit.script(Both())
        plain, other = scripted(torch.ones(5, 2, 3), packed)
        self.assertEqual((tuple(plain.shape), tuple(other.data.shape)), ((5, 2, 4), (8, 4)))
        self.assertEqual(type(other).__name__, "PackedSequence")
        names = scripted.net._c._method_names()
        self.assertTrue({"forward__0", "forward__1"} <= set(names))
        self.assertNotIn("forward", names)


# ---- sizes, and operators without tensors ----

def sizes(n: int, both: List[int]) -> List[int]:
    return listed(both, [7, 8, 9]) + pair(n)


class Broadcast(nn.Module):
    def forward(self, x: Tensor, size: BroadcastingList2[int]) -> Tensor:
        return nn.functional.interpolate(x, pair(size))


class Sizes(unittest.TestCase):
    def test_functions(self):
        self.assertEqual((pair(3), pair((1, 2))), ((3, 3), (1, 2)))
        self.assertEqual(listed((None, 5), (7, 8, 9)), [8, 5])
        self.assertEqual(torch.jit.script(sizes)(2, [5, 6]), [5, 6, 2, 2])
        self.assertEqual(tuple(torch.jit.script(Broadcast())(torch.ones(1, 1, 4, 4), [2, 2]).shape), (1, 1, 2, 2))

    def test_operators_without_tensors(self):
        self.assertEqual(torch.ops.aten.add(1, 2), 3)
        self.assertEqual(torch.ops.aten.floordiv(-7, 2), -4)
        self.assertEqual(torch.ops.aten.add(torch.ones(1), 2).item(), 3.)


# ---- names ----

class Old(unittest.TestCase):
    def test_types(self):
        x = torch.ByteTensor([1, 2])
        self.assertIsInstance(x, torch.ByteTensor)
        self.assertNotIsInstance(x, (torch.FloatTensor, torch.LongTensor))
        self.assertEqual(torch.FloatTensor(2, 3).shape, (2, 3))
        self.assertEqual(x.type(torch.FloatTensor).dtype, torch.float32)
        self.assertEqual(torch.LongTensor.dtype, torch.int64)
        self.assertEqual(str(torch.FloatTensor), "<class 'torch.FloatTensor'>")
        with self.assertRaisesRegex(TypeError, "not an acceptable base type"):
            class Derived(torch.FloatTensor):
                pass
        with self.assertRaises(TypeError):
            torch.ByteTensor("text")

    def test_order_of_arguments(self):
        x, y = torch.full((2, 2), 3.), torch.full((2, 2), 2.)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for found, wanted in ((x.addcmul(2, y, y), 11.), (x.clone().addcmul_(2, y, y), 11.), (x.add(2, y), 7.),
                                  (torch.addmm(2, x, 3, y, y), 30.), (x.addmm(2, 3, y, y), 30.),
                                  (torch.addmm(2, x, y, y), 14.), (x.clone().addcdiv_(2, y, y), 5.)):
                self.assertEqual(found[0, 0].item(), wanted)
        with self.assertRaises(TypeError):
            x.addcmul(2, y, y, y)

    def test_data_sets(self):
        class Rows(abc.ABC, torch.utils.data.Dataset[Tuple[int, Optional[str]]]):
            @abc.abstractmethod
            def path(self):
                """Where they are."""
        with self.assertRaises(TypeError):
            Rows()

    def test_imports(self):
        self.assertEqual(torch.jit._script_if_tracing(len)([1]), 1)
        self.assertIsNone(torch._C._log_api_usage_once("a.b"))
        for function in (model_zoo.tqdm, model_zoo.load_url, torch.hub.download_url_to_file):
            self.assertTrue(callable(function))
        with self.assertRaises(OSError):
            torch.ops.load_library("/nowhere/library.so")


if __name__ == "__main__":
    unittest.main()
