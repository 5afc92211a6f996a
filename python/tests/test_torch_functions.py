"""Functions of torch that arrange calls of operators, with PyTorch 1.13's numbers."""
import math
import unittest

import wick

functional = wick.autograd.functional


class Functions(unittest.TestCase):
    def test_tensordot(self):
        a, b = wick.arange(6.0).reshape(2, 3), wick.arange(12.0).reshape(3, 4)
        expected = (a @ b).tolist()
        for dims in (1, ([1], [0]), ((-1,), (0,)), (1, 0), wick.tensor(1), wick.tensor([[1], [0]])):
            self.assertEqual(wick.tensordot(a, b, dims).tolist(), expected)
        self.assertEqual(wick.tensordot(a, a).item(), 55)
        with self.assertRaisesRegex(RuntimeError, "dims >= 0"):
            wick.tensordot(a, b, -1)

    def test_norm(self):
        x = wick.tensor([[3.0, 4.0], [6.0, 8.0]])
        self.assertAlmostEqual(wick.norm(x).item(), math.sqrt(125), 5)
        self.assertEqual(x.norm(dim=1).tolist(), [5, 10])
        self.assertEqual(wick.norm(x, 1, 0, True).tolist(), [[9, 12]])
        self.assertEqual(x.norm(math.inf).item(), 8)
        self.assertEqual(wick.norm(x, 2, dim=(0, 1), dtype=wick.float64).dtype, wick.float64)
        out = wick.empty(0)
        self.assertIs(wick.norm(x, 2, 1, out=out), out)
        self.assertEqual(out.tolist(), [5, 10])
        with self.assertRaisesRegex(ValueError, "dtype argument is not supported in frobenius norm"):
            wick.norm(x, dtype=wick.float64)

    def test_nonzero(self):
        x = wick.tensor([[0, 1], [2, 0]])
        self.assertEqual(x.nonzero().tolist(), [[0, 1], [1, 0]])
        for found in (wick.nonzero(x, as_tuple=True), x.nonzero(as_tuple=True)):
            self.assertEqual([part.tolist() for part in found], [[0, 1], [1, 0]])

    def test_stft(self):
        """Around the signal's begin, unless center is false."""
        signal = wick.arange(16.0)
        whole = wick.stft(signal, 4, return_complex=True)
        self.assertEqual(whole.shape, (3, 17))
        self.assertEqual(signal.stft(4, return_complex=True)[0].real.tolist()[:3], [4, 4, 6])
        self.assertEqual(wick.stft(signal, 4, center=False, return_complex=True).shape, (3, 13))
        self.assertEqual(wick.istft(whole, 4).round().tolist(), signal.tolist())

    def test_products_of_matrices_take_no_numbers(self):
        for product in (lambda: 3 @ wick.ones(2), lambda: wick.ones(2) @ 3):
            with self.assertRaisesRegex(TypeError, "unsupported operand"):
                product()

    def test_map(self):
        self.assertEqual(wick.arange(3).map_(wick.tensor(2), lambda a, b: a * b).tolist(), [0, 2, 4])

    def test_texts_are_the_operators(self):
        """Without the places of those that are written in TorchScript."""
        with self.assertRaises(IndexError) as caught:
            wick.nn.functional.cross_entropy(wick.ones(1, 3), wick.tensor([5]))
        self.assertEqual(str(caught.exception), "Target 5 is out of bounds.")

    def test_no_cuda(self):
        self.assertEqual((wick.cuda.is_available(), wick.cuda.device_count(), wick.version.cuda), (False, 0, None))
        with self.assertRaisesRegex(AssertionError, "not compiled with CUDA"):
            wick.cuda.current_device()


class Derivatives(unittest.TestCase):
    def test_jacobian(self):
        self.assertEqual(functional.jacobian(lambda x: x ** 2, wick.arange(3.0)).tolist(),
                         [[0, 0, 0], [0, 2, 0], [0, 0, 4]])
        (of_a, of_b), (sum_of_a, sum_of_b) = functional.jacobian(lambda a, b: (a * b, a.sum()),
                                                                 (wick.arange(2.0), wick.ones(2)))
        self.assertEqual([of_a.tolist(), of_b.tolist()], [[[1, 0], [0, 1]], [[0, 0], [0, 1]]])
        self.assertEqual([sum_of_a.tolist(), sum_of_b.tolist()], [[1, 1], [0, 0]])
        with self.assertRaisesRegex(RuntimeError, "strict"):
            functional.jacobian(lambda x: wick.ones(2), wick.ones(2), strict=True)
        x = wick.ones(2, requires_grad=True)
        functional.jacobian(lambda x: x ** 3, x, create_graph=True).sum().backward()
        self.assertEqual(x.grad.tolist(), [6, 6])

    def test_hessian(self):
        self.assertEqual(functional.hessian(lambda x: (x ** 3).sum(), wick.arange(2.0)).tolist(), [[0, 0], [0, 6]])
        (aa, ab), (ba, bb) = functional.hessian(lambda a, b: (a * b ** 2).sum(), (wick.ones(2), wick.ones(2)))
        self.assertEqual([part.tolist() for part in (aa, ab, ba, bb)],
                         [[[0, 0], [0, 0]], [[2, 0], [0, 2]], [[2, 0], [0, 2]], [[2, 0], [0, 2]]])
        with self.assertRaisesRegex(RuntimeError, "single element"):
            functional.hessian(lambda x: x, wick.ones(2))

    def test_products(self):
        v = wick.tensor([1.0, 2.0])
        for product in (functional.vjp, functional.jvp):
            found = product(lambda x: x ** 2, wick.ones(2), v)
            self.assertEqual([part.tolist() for part in found], [[1, 1], [2, 4]])
        for product in (functional.vhp, functional.hvp):
            value, found = product(lambda x: (x ** 3).sum(), wick.ones(2), v)
            self.assertEqual((value.item(), found.tolist()), (2, [6, 12]))
        with self.assertRaisesRegex(RuntimeError, "can only be None"):
            functional.vjp(lambda x: x, wick.ones(2))
        with self.assertRaisesRegex(TypeError, "must be either a Tensor or a tuple of Tensors"):
            functional.jacobian(lambda x: 1, wick.ones(2))


if __name__ == "__main__":
    unittest.main()
