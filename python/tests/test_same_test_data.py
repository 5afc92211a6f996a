"""Random tensors and lists of dtypes of torch.testing."""
import unittest
import warnings

from beside import torch


class TestData(unittest.TestCase):
    def test_numbers_of_a_seed(self):
        """What torch.rand and torch.randint give for the seed, between the bounds."""
        for dtype, low, high, expected in (
                (torch.float32, None, None, lambda: (lambda r: 9 * r + -9 * (1 - r))(torch.rand(2, 3))),
                (torch.float64, 1, 2, lambda: (lambda r: 2 * r + 1 * (1 - r))(torch.rand(2, 3, dtype=torch.float64))),
                (torch.int64, None, None, lambda: torch.randint(-9, 10, (2, 3))),
                (torch.uint8, None, None, lambda: torch.randint(0, 10, (2, 3), dtype=torch.uint8)),
                (torch.int8, -1000, 3.5, lambda: torch.randint(-128, 4, (2, 3), dtype=torch.int8)),
                (torch.bool, None, None, lambda: torch.randint(0, 2, (2, 3), dtype=torch.bool)),
                (torch.complex64, None, None, lambda: (lambda r, i: torch.complex(
                    9 * r + -9 * (1 - r), 9 * i + -9 * (1 - i)))(torch.rand(2, 3), torch.rand(2, 3)))):
            with self.subTest(dtype):
                torch.manual_seed(5)
                made = torch.testing.make_tensor((2, 3), dtype=dtype, device="cpu", low=low, high=high)
                torch.manual_seed(5)
                torch.testing.assert_close(made, expected())
        self.assertEqual(torch.testing.make_tensor(4, 5, dtype=torch.half, device="cpu").shape, (4, 5))
        self.assertEqual(torch.testing.make_tensor((), dtype=torch.half, device="cpu").shape, ())

    def test_options(self):
        made = torch.testing.make_tensor(4, 5, dtype=torch.float32, device="cpu", noncontiguous=True,
                                         requires_grad=True)
        self.assertFalse(made.is_contiguous())
        self.assertTrue(made.requires_grad)
        made = torch.testing.make_tensor(100, dtype=torch.int8, device="cpu", low=0, high=2, exclude_zero=True)
        self.assertEqual(made.tolist(), [1] * 100)

    def test_refusals(self):
        for error, text, options in (
                (ValueError, "requires_grad must be False for integral dtype", dict(dtype=torch.int8,
                                                                                   requires_grad=True)),
                (ValueError, "low must be weakly less", dict(dtype=torch.float32, low=2, high=1)),
                (ValueError, "low or high was NaN", dict(dtype=torch.float32, low=float("nan"))),
                (TypeError, "requested dtype 'torch.qint8' is not supported", dict(dtype=torch.qint8))):
            with self.subTest(text), self.assertRaisesRegex(error, text):
                torch.testing.make_tensor(2, device="cpu", **options)

    def test_lists_of_dtypes(self):
        names = lambda dtypes: " ".join(str(dtype)[6:] for dtype in dtypes)  # noqa: E731
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns of them
            t = torch.testing
            self.assertEqual(names(t.floating_types()), "float32 float64")
            self.assertEqual(names(t.floating_types_and(torch.half, torch.bool)), "float32 float64 float16 bool")
            self.assertEqual(names(t.floating_types_and_half()), "float32 float64 float16")
            self.assertEqual(names(t.integral_types()), "uint8 int8 int16 int32 int64")
            self.assertEqual(names(t.integral_types_and(torch.bool)), "uint8 int8 int16 int32 int64 bool")
            self.assertEqual(names(t.complex_types()), "complex64 complex128")
            self.assertEqual(names(t.double_types()), "float64 complex128")
            self.assertEqual(names(t.empty_types()), "")
            self.assertEqual(names(t.floating_and_complex_types()), "float32 float64 complex64 complex128")
            self.assertEqual(names(t.all_types()), "float32 float64 uint8 int8 int16 int32 int64")
            self.assertEqual(names(t.all_types_and_complex_and(torch.half)),
                             "float32 float64 uint8 int8 int16 int32 int64 complex64 complex128 float16")
            self.assertEqual(names(t.all_types() + (torch.half,)), names(t.all_types_and_half()))
            self.assertEqual(names(t.get_all_dtypes()), "uint8 int8 int16 int32 int64 float32 float64 float16 "
                             "bfloat16 bool complex64 complex128")
            self.assertEqual(names(t.get_all_fp_dtypes(include_half=False)), "float32 float64 bfloat16")
            self.assertEqual(names(t.get_all_complex_dtypes(include_complex32=True)),
                             "complex32 complex64 complex128")
            self.assertEqual(names(t.get_all_math_dtypes("cpu")),
                             "uint8 int8 int16 int32 int64 float32 float64 complex64 complex128")
            self.assertEqual(t.get_all_device_types(), ["cpu"])
            x = torch.arange(6.0).view(2, 3)
            made = t.make_non_contiguous(x)
            self.assertFalse(made.is_contiguous())
            self.assertEqual(made.tolist(), x.tolist())


if __name__ == "__main__":
    unittest.main()
