"""Tensors: making, what they tell of themselves, arithmetic, indexing, memory."""
import copy
import gc
import pickle
import unittest

import wick

try:
    import numpy
except ImportError:
    numpy = None


class Making(unittest.TestCase):
    def test_dtype_follows_elements(self):
        self.assertIs(wick.tensor([1, 2]).dtype, wick.int64)
        self.assertIs(wick.tensor([1, 2.5]).dtype, wick.float32)
        self.assertIs(wick.tensor([True]).dtype, wick.bool)
        self.assertIs(wick.tensor([1j]).dtype, wick.complex64)
        self.assertIs(wick.tensor([]).dtype, wick.float32)
        self.assertIs(wick.tensor(3, dtype=wick.float16).dtype, wick.float16)

    def test_nested(self):
        x = wick.tensor([[1, 2, 3], [4, 5, 6]])
        self.assertEqual(x.shape, (2, 3))
        self.assertEqual(x.tolist(), [[1, 2, 3], [4, 5, 6]])
        self.assertEqual(wick.tensor([wick.tensor(1), 2.5]).tolist(), [1, 2.5])
        with self.assertRaisesRegex(ValueError, r"expected sequence of length 2 at dim 1 \(got 1\)"):
            wick.tensor([[1, 2], [3]])
        with self.assertRaises(TypeError):
            wick.tensor("text")
        loop = []
        loop.append(loop)
        with self.assertRaises((ValueError, RecursionError)):
            wick.tensor(loop)

    def test_factories(self):
        self.assertEqual(wick.zeros(2, 3).shape, (2, 3))
        self.assertEqual(wick.zeros((2, 3)).shape, (2, 3))
        self.assertEqual(wick.ones(2, dtype=wick.int32).tolist(), [1, 1])
        self.assertTrue(wick.ones(2, requires_grad=True).requires_grad)
        self.assertEqual(wick.arange(3).tolist(), [0, 1, 2])
        self.assertEqual(wick.arange(1, 2, 0.5).tolist(), [1.0, 1.5])
        self.assertEqual(wick.full((2,), 7).tolist(), [7, 7])
        self.assertEqual(wick.eye(2).tolist(), [[1, 0], [0, 1]])
        self.assertEqual(wick.zeros_like(wick.ones(2)).tolist(), [0, 0])

    def test_default_dtype(self):
        try:
            wick.set_default_dtype(wick.float64)
            for made in (wick.tensor([1.5]), wick.zeros(2), wick.rand(2), wick.arange(0.0, 1.0, 0.5),
                         wick.full((1,), 1.5), wick.linspace(0, 1, 3), wick.Tensor([1])):
                self.assertIs(made.dtype, wick.float64)
            self.assertIs(wick.arange(3).dtype, wick.int64)
            self.assertIs(wick.randint(3, (2,)).dtype, wick.int64)
            self.assertIs(wick.zeros_like(wick.ones(1, dtype=wick.float32)).dtype, wick.float32)
        finally:
            wick.set_default_dtype(wick.float32)
        with self.assertRaises(TypeError):
            wick.set_default_dtype(wick.int64)

    def test_to(self):
        x = wick.ones(1, 2, 3, 4)
        self.assertIs(x.to("cpu"), x)
        self.assertIs(x.cpu(), x)
        self.assertIs(x.to(wick.float32), x)
        self.assertIs(x.to("cpu", wick.float64).dtype, wick.float64)
        self.assertIs(x.to(device="cpu", dtype=wick.int32).dtype, wick.int32)
        self.assertIs(x.to(wick.ones(1, dtype=wick.int64)).dtype, wick.int64)
        self.assertIsNot(x.to(wick.float32, copy=True), x)
        self.assertIsNot(x.to("cpu", copy=True), x)
        self.assertEqual(x.to(memory_format=wick.channels_last).stride(), (24, 1, 8, 2))
        self.assertIs(x.half().dtype, wick.float16)
        self.assertIs(x.float(), x)
        with self.assertRaises((TypeError, RuntimeError)):
            x.to("nowhere")
        with self.assertRaises((RuntimeError, NotImplementedError)):
            x.to("cuda")

    def test_old_names(self):
        self.assertEqual(wick.LongTensor([1, 2]).tolist(), [1, 2])
        self.assertEqual(wick.FloatTensor(2, 3).shape, (2, 3))
        self.assertEqual(wick.ones(1).double().type(), "torch.DoubleTensor")
        self.assertFalse(hasattr(wick, "nothing_of_this_name"))

    def test_seed(self):
        wick.manual_seed(0)
        first = wick.rand(3)
        wick.manual_seed(0)
        self.assertTrue(bool((wick.rand(3) == first).all()))
        self.assertAlmostEqual(first[0].item(), 0.4962565899, places=6)
        generator = wick.Generator().manual_seed(0)
        self.assertTrue(bool((wick.rand(3, generator=generator) == first).all()))


class Telling(unittest.TestCase):
    def test_attributes(self):
        x = wick.zeros(2, 3, dtype=wick.float64)
        self.assertEqual(x.size(), wick.Size([2, 3]))
        self.assertEqual((x.size(0), x.size(-1), x.stride(), x.stride(0)), (2, 3, (3, 1), 3))
        self.assertEqual((x.ndim, x.dim(), x.numel(), x.element_size(), x.nbytes), (2, 2, 6, 8, 48))
        self.assertEqual(x.device, wick.device("cpu"))
        self.assertIs(x.layout, wick.strided)
        self.assertEqual(len(x), 2)
        self.assertEqual(x.T.shape, (3, 2))
        self.assertTrue(x.is_contiguous() and not x.T.is_contiguous())
        self.assertEqual(repr(x.shape), "torch.Size([2, 3])")
        self.assertEqual(repr(x.dtype), "torch.float64")

    def test_identity(self):
        x = wick.ones(2)
        self.assertIs(x.add_(1), x)
        self.assertIs(x.contiguous(), x)
        self.assertIs(x.to(wick.float32), x)
        self.assertIsNot(x.view(2), x)
        self.assertEqual(len({x, x}), 1)
        out = wick.empty(2)
        self.assertIs(wick.add(x, 1, out=out), out)

    def test_attributes_of_objects(self):
        x = wick.ones(2)
        x.note = "mine"
        self.assertEqual(x.note, "mine")
        x.itself = x
        del x
        gc.collect()

        class Mine(wick.Tensor):
            pass
        self.assertIsInstance(wick.Tensor._make_subclass(Mine, wick.ones(2)), Mine)


class Arithmetic(unittest.TestCase):
    def test_operators(self):
        x = wick.tensor([1.0, 2.0])
        for got, expected in [
            (x + 1, [2, 3]), (1 + x, [2, 3]), (x - 1, [0, 1]), (1 - x, [0, -1]), (x * 2, [2, 4]), (2 * x, [2, 4]),
            (x / 2, [0.5, 1]), (2 / x, [2, 1]), (x // 2, [0, 1]), (3 // x, [3, 1]), (x % 2, [1, 0]), (3 % x, [0, 1]),
            (x ** 2, [1, 4]), (2 ** x, [2, 4]), (-x, [-1, -2]), (abs(-x), [1, 2]), (+x, [1, 2]),
            (x == 1, [True, False]), (x != 1, [False, True]), (x < 2, [True, False]), (2 > x, [True, False]),
        ]:
            self.assertEqual(got.tolist(), expected)
        i = wick.tensor([1, 6])
        self.assertEqual([(i & 2).tolist(), (i | 1).tolist(), (i ^ 1).tolist(), (~i).tolist()],
                         [[0, 2], [1, 7], [0, 7], [-2, -7]])
        self.assertEqual([(i << 1).tolist(), (i >> 1).tolist()], [[2, 12], [0, 3]])
        self.assertEqual((x @ x).item(), 5)

    def test_in_place(self):
        x = y = wick.tensor([1.0, 2.0])
        x += 1
        x *= 2
        x -= 1
        x /= 3
        self.assertIs(x, y)
        self.assertEqual(x.tolist(), [1, wick.tensor(5 / 3).item()])

    def test_dtypes(self):
        self.assertIs((wick.tensor([1]) + 1.5).dtype, wick.float32)
        self.assertIs((wick.tensor([1], dtype=wick.uint8) + 300).dtype, wick.uint8)
        self.assertIs((wick.tensor([1.5], dtype=wick.float16) * 2.0).dtype, wick.float16)

    def test_refusals(self):
        with self.assertRaises(TypeError):
            wick.ones(2) + "a"
        with self.assertRaisesRegex(RuntimeError, "size of tensor a"):
            wick.ones(2) + wick.ones(3)
        with self.assertRaisesRegex(TypeError, "must be Tensor, not str"):
            wick.relu("a")
        with self.assertRaisesRegex(TypeError, "invalid combination"):
            wick.add(wick.ones(2), wick.ones(2), nonsense=1)
        with self.assertRaises(AttributeError):
            wick.no_such_thing
        with self.assertRaises(RuntimeError):
            bool(wick.ones(2))

    def test_arguments(self):
        x = wick.arange(6).reshape(2, 3)
        self.assertEqual(wick.sum(x, dim=1).tolist(), [3, 12])
        self.assertEqual(wick.sum(input=x, axis=1, keepdims=True).tolist(), [[3], [12]])
        self.assertEqual(x.permute(1, 0).shape, (3, 2))
        self.assertEqual(x.permute((1, 0)).shape, (3, 2))
        self.assertEqual(x.view(3, -1).shape, (3, 2))
        values, indices = x.max(1)
        self.assertEqual(x.max(1).values.tolist(), values.tolist())
        self.assertEqual(indices.tolist(), [2, 2])
        self.assertEqual([part.tolist() for part in x.split(1)], [[[0, 1, 2]], [[3, 4, 5]]])
        self.assertEqual(wick.promote_types(wick.int64, wick.float32), wick.float32)


class Indexing(unittest.TestCase):
    def setUp(self):
        self.x = wick.arange(24).reshape(2, 3, 4)

    def test_views(self):
        x = self.x
        self.assertEqual(x[1, 2, 3].item(), 23)
        self.assertEqual(x[-1, ..., -1].tolist(), [15, 19, 23])
        self.assertEqual(x[:, 1:, ::2].tolist(), [[[4, 6], [8, 10]], [[16, 18], [20, 22]]])
        self.assertEqual(x[None, 0, :, None].shape, (1, 3, 1, 4))
        self.assertEqual(x[()].shape, x.shape)
        self.assertEqual(x[...].data_ptr(), x.data_ptr())
        self.assertEqual([row.tolist() for row in x[0]], [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]])

    def test_tensors(self):
        x = self.x
        self.assertEqual(x[x > 20].tolist(), [21, 22, 23])
        self.assertEqual(x[0, [0, 2]].tolist(), [[0, 1, 2, 3], [8, 9, 10, 11]])
        self.assertEqual(x[[0, 1], [1, 2]].tolist(), [[4, 5, 6, 7], [20, 21, 22, 23]])
        self.assertEqual(x[:, wick.tensor([2, 0]), 1].tolist(), [[9, 1], [21, 13]])
        self.assertEqual(x[wick.tensor(1), 0, 0].item(), 12)
        self.assertEqual(x[True].shape, (1, 2, 3, 4))
        self.assertEqual(x[0, 0][[True, False, True, False]].tolist(), [0, 2])
        self.assertEqual(x[[[0], [1]]].tolist(), [[4, 5, 6, 7]])
        self.assertEqual(x[[0, slice(1, 2)]].tolist(), [[4, 5, 6, 7]])

    def test_assignment(self):
        x = self.x
        x[0] = 0
        self.assertEqual(x[0].sum().item(), 0)
        x[1, :, 0] = wick.tensor([7, 8, 9])
        self.assertEqual(x[1, :, 0].tolist(), [7, 8, 9])
        x[x > 20] = -1
        self.assertEqual(x[1, 2].tolist(), [9, -1, -1, -1])
        x[:, [0, 1], 0] = wick.tensor([5, 6])
        self.assertEqual(x[0, :2, 0].tolist(), [5, 6])
        x[False] = wick.ones(5)
        x[0, 0] += 1
        self.assertEqual(x[0, 0].tolist(), [6, 1, 1, 1])

    def test_refusals(self):
        x = self.x
        with self.assertRaisesRegex(IndexError, "index 2 is out of bounds for dimension 0 with size 2"):
            x[2]
        with self.assertRaisesRegex(IndexError, "too many indices for tensor of dimension 3"):
            x[0, 0, 0, 0]
        with self.assertRaisesRegex(ValueError, "step must be greater than zero"):
            x[::-1]
        with self.assertRaises(IndexError):
            x["a"]
        with self.assertRaises(IndexError):
            x[1.5]
        with self.assertRaises(TypeError):
            del x[0]
        with self.assertRaises(TypeError):
            x[0] = "a"


class Memory(unittest.TestCase):
    def test_buffer(self):
        x = wick.arange(6, dtype=wick.float32).reshape(2, 3)
        view = memoryview(x)
        self.assertEqual((view.format, view.shape, view.strides), ("f", (2, 3), (12, 4)))
        view[0, 0] = 9
        self.assertEqual(x[0, 0].item(), 9)
        self.assertEqual(memoryview(x.T).tolist(), [[9, 3], [1, 4], [2, 5]])
        data = bytearray(8)
        y = wick.frombuffer(data, dtype=wick.int32)
        y[1] = 5
        self.assertEqual(bytes(data), b"\0\0\0\0\5\0\0\0")

    def test_dlpack(self):
        x = wick.arange(3)
        y = wick.from_dlpack(x)
        y[0] = 7
        self.assertEqual(x.tolist(), [7, 1, 2])
        x.__dlpack__()  # that nobody takes
        taken = y.__dlpack__()
        wick.from_dlpack(taken)
        with self.assertRaises(ValueError):
            wick.from_dlpack(taken)
        with self.assertRaises(AttributeError):
            wick.from_dlpack(3)

    @unittest.skipIf(numpy is None, "NumPy is not here")
    def test_numpy(self):
        x = wick.arange(6, dtype=wick.float64).reshape(2, 3)
        array = x.numpy()
        array[0, 0] = 5
        self.assertEqual(x[0, 0].item(), 5)
        self.assertEqual(x.T.numpy().strides, (8, 24))
        shown = wick.from_numpy(array)
        shown[1, 1] = 0
        self.assertEqual(x[1, 1].item(), 0)
        self.assertEqual(numpy.asarray(x).tolist(), x.tolist())
        self.assertEqual(wick.tensor(numpy.float32(2)).dtype, wick.float32)
        self.assertEqual((x + numpy.float64(1)).dtype, wick.float64)
        self.assertEqual(wick.ones(numpy.int64(2)).shape, (2,))
        for dtype in (wick.uint8, wick.int8, wick.int16, wick.int32, wick.int64, wick.float16, wick.float32,
                      wick.float64, wick.complex64, wick.complex128, wick.bool):
            self.assertIs(wick.from_numpy(wick.ones(2).to(dtype).numpy()).dtype, dtype)
        with self.assertRaisesRegex(RuntimeError, "requires grad"):
            wick.ones(2, requires_grad=True).numpy()

    def test_copies(self):
        x = wick.tensor([1.0, 2.0], requires_grad=True)
        y = copy.deepcopy(x)
        self.assertTrue(y.requires_grad and y.tolist() == [1, 2] and y.data_ptr() != x.data_ptr())
        self.assertEqual(copy.copy(x).data_ptr(), x.data_ptr())
        z = pickle.loads(pickle.dumps(x))
        self.assertTrue(z.requires_grad and z.tolist() == [1, 2] and z.dtype is wick.float32)
        self.assertIs(pickle.loads(pickle.dumps(wick.float16)), wick.float16)
        self.assertEqual(pickle.loads(pickle.dumps(wick.device("cpu"))), wick.device("cpu"))
        self.assertEqual(pickle.loads(pickle.dumps(x.shape)), x.shape)


class Gradients(unittest.TestCase):
    def test_backward(self):
        x = wick.tensor([1.0, 2.0], requires_grad=True)
        y = (x * x).sum()
        self.assertFalse(y.is_leaf)
        self.assertEqual(y.grad_fn.name(), "SumBackward0")
        y.backward()
        self.assertEqual(x.grad.tolist(), [2, 4])
        self.assertIs(x.grad, x.grad)
        x.grad = None
        self.assertIsNone(x.grad)
        self.assertEqual(wick.autograd.grad((x ** 3).sum(), x)[0].tolist(), [3, 12])
        with self.assertRaisesRegex(RuntimeError, "scalar outputs"):
            (x * 2).backward()
        with self.assertRaisesRegex(RuntimeError, "does not require grad"):
            wick.ones(1).backward()

    def test_modes(self):
        x = wick.ones(2, requires_grad=True)
        with wick.no_grad():
            self.assertFalse((x * 2).requires_grad)
            with wick.enable_grad():
                self.assertTrue((x * 2).requires_grad)

        @wick.no_grad()
        def f():
            return x * 2
        self.assertFalse(f().requires_grad)
        self.assertTrue(wick.is_grad_enabled())
        with wick.set_grad_enabled(False):
            self.assertFalse(wick.is_grad_enabled())
        with wick.inference_mode():
            self.assertFalse((x * 2).requires_grad)
        self.assertTrue((x * 2).requires_grad)

    def test_hooks(self):
        x = wick.ones(2, requires_grad=True)
        handle = x.register_hook(lambda grad: grad * 3)
        (x * 2).sum().backward()
        self.assertEqual(x.grad.tolist(), [6, 6])
        handle.remove()
        x.grad = None
        (x * 2).sum().backward()
        self.assertEqual(x.grad.tolist(), [2, 2])

        def fail(grad):
            raise KeyError("mine")
        x.register_hook(fail)
        with self.assertRaises(KeyError):
            (x * 2).sum().backward()

    def test_hooks_inside(self):
        x = wick.ones(2, requires_grad=True)
        y = x * 2
        seen = []
        y.register_hook(lambda grad: seen.append(grad.tolist()))
        y.register_hook(lambda grad: grad + 1)
        y.sum().backward()
        self.assertEqual((seen, x.grad.tolist()), ([[1, 1]], [4, 4]))

    def test_function(self):
        class Exp(wick.autograd.Function):
            @staticmethod
            def forward(ctx, x, scale):
                result = x.exp() * scale
                ctx.save_for_backward(result)
                return result

            @staticmethod
            def backward(ctx, grad):
                result, = ctx.saved_tensors
                return grad * result, None

        x = wick.tensor([0.0, 1.0], dtype=wick.float64, requires_grad=True)
        y = Exp.apply(x, 2.0)
        self.assertEqual(y.grad_fn.name(), "ExpBackward")
        y.sum().backward()
        self.assertTrue(wick.allclose(x.grad, x.detach().exp() * 2))
        self.assertTrue(wick.autograd.gradcheck(lambda t: Exp.apply(t, 2.0), (x,)))
        self.assertTrue(wick.autograd.gradgradcheck(lambda t: t ** 3, (x,)))
        with wick.no_grad():
            self.assertFalse(Exp.apply(x, 1.0).requires_grad)

        class Wrong(Exp):
            @staticmethod
            def backward(ctx, grad):
                return grad * 7, None
        with self.assertRaisesRegex(RuntimeError, "Jacobian mismatch"):
            wick.autograd.gradcheck(lambda t: Wrong.apply(t, 2.0), (x,))

        class Fails(Exp):
            @staticmethod
            def backward(ctx, grad):
                raise KeyError("mine")
        with self.assertRaises(KeyError):
            Fails.apply(x, 1.0).sum().backward()

        class TooFew(Exp):
            @staticmethod
            def backward(ctx, grad):
                return grad
        with self.assertRaisesRegex(RuntimeError, "incorrect number of gradients"):
            TooFew.apply(x, 1.0).sum().backward()

    def test_function_frees_what_it_saved(self):
        class Pass(wick.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                result = x * 2
                ctx.save_for_backward(x, result)
                ctx.big = Witness()
                return result

            @staticmethod
            def backward(ctx, grad):
                return grad * 2

        class Witness:
            alive = 0

            def __init__(self):
                Witness.alive += 1

            def __del__(self):
                Witness.alive -= 1

        y = Pass.apply(wick.ones(1, requires_grad=True))
        self.assertEqual(Witness.alive, 1)
        del y
        gc.collect()
        self.assertEqual(Witness.alive, 0)


if __name__ == "__main__":
    unittest.main()
