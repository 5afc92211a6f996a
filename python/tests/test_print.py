"""Printing: texts as torch 1.13 gives them."""
import unittest

import wick

CASES = [
    ("wick.tensor(1)",
     "tensor(1)"),
    ("wick.tensor(1.5)",
     "tensor(1.5000)"),
    ("wick.tensor(2.)",
     "tensor(2.)"),
    ("wick.tensor([])",
     "tensor([])"),
    ("wick.empty(0,3)",
     "tensor([], size=(0, 3))"),
    ("wick.zeros(2,3)",
     "tensor([[0., 0., 0.],\n"
     "        [0., 0., 0.]])"),
    ("wick.arange(6).reshape(2,3)",
     "tensor([[0, 1, 2],\n"
     "        [3, 4, 5]])"),
    ("wick.arange(6.).reshape(2,3)/3",
     "tensor([[0.0000, 0.3333, 0.6667],\n"
     "        [1.0000, 1.3333, 1.6667]])"),
    ("wick.tensor([1e-5,1])",
     "tensor([1.0000e-05, 1.0000e+00])"),
    ("wick.tensor([1e9])",
     "tensor([1.0000e+09])"),
    ("wick.tensor([1,1000.5])",
     "tensor([1.0000e+00, 1.0005e+03])"),
    ("wick.tensor([1,2000.5])",
     "tensor([1.0000e+00, 2.0005e+03])"),
    ("wick.tensor([float('inf'),1,float('nan')])",
     "tensor([inf, 1., nan])"),
    ("wick.tensor([float('inf'),1.5,float('nan')])",
     "tensor([   inf, 1.5000,    nan])"),
    ("wick.tensor([float('nan')])",
     "tensor([nan])"),
    ("wick.tensor([1+2j,3.5-1j])",
     "tensor([1.0000+2.j, 3.5000-1.j])"),
    ("wick.tensor([True,False])",
     "tensor([ True, False])"),
    ("wick.tensor([1,2],dtype=wick.int32)",
     "tensor([1, 2], dtype=torch.int32)"),
    ("wick.tensor([1.],dtype=wick.float64)",
     "tensor([1.], dtype=torch.float64)"),
    ("wick.tensor([1.5],dtype=wick.float16)",
     "tensor([1.5000], dtype=torch.float16)"),
    ("wick.tensor([1.5,2.25],dtype=wick.bfloat16)",
     "tensor([1.5000, 2.2500], dtype=torch.bfloat16)"),
    ("wick.arange(2000)",
     "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])"),
    ("wick.arange(2000.).reshape(40,50)",
     "tensor([[0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 4.7000e+01, 4.8000e+01,\n"
     "         4.9000e+01],\n"
     "        [5.0000e+01, 5.1000e+01, 5.2000e+01,  ..., 9.7000e+01, 9.8000e+01,\n"
     "         9.9000e+01],\n"
     "        [1.0000e+02, 1.0100e+02, 1.0200e+02,  ..., 1.4700e+02, 1.4800e+02,\n"
     "         1.4900e+02],\n"
     "        ...,\n"
     "        [1.8500e+03, 1.8510e+03, 1.8520e+03,  ..., 1.8970e+03, 1.8980e+03,\n"
     "         1.8990e+03],\n"
     "        [1.9000e+03, 1.9010e+03, 1.9020e+03,  ..., 1.9470e+03, 1.9480e+03,\n"
     "         1.9490e+03],\n"
     "        [1.9500e+03, 1.9510e+03, 1.9520e+03,  ..., 1.9970e+03, 1.9980e+03,\n"
     "         1.9990e+03]])"),
    ("wick.arange(24.).reshape(2,3,4)",
     "tensor([[[ 0.,  1.,  2.,  3.],\n"
     "         [ 4.,  5.,  6.,  7.],\n"
     "         [ 8.,  9., 10., 11.]],\n"
     "\n"
     "        [[12., 13., 14., 15.],\n"
     "         [16., 17., 18., 19.],\n"
     "         [20., 21., 22., 23.]]])"),
    ("wick.arange(100.)",
     "tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.,\n"
     "        14., 15., 16., 17., 18., 19., 20., 21., 22., 23., 24., 25., 26., 27.,\n"
     "        28., 29., 30., 31., 32., 33., 34., 35., 36., 37., 38., 39., 40., 41.,\n"
     "        42., 43., 44., 45., 46., 47., 48., 49., 50., 51., 52., 53., 54., 55.,\n"
     "        56., 57., 58., 59., 60., 61., 62., 63., 64., 65., 66., 67., 68., 69.,\n"
     "        70., 71., 72., 73., 74., 75., 76., 77., 78., 79., 80., 81., 82., 83.,\n"
     "        84., 85., 86., 87., 88., 89., 90., 91., 92., 93., 94., 95., 96., 97.,\n"
     "        98., 99.])"),
    ("wick.ones(3,requires_grad=True)",
     "tensor([1., 1., 1.], requires_grad=True)"),
    ("wick.ones(3,requires_grad=True)*2",
     "tensor([2., 2., 2.], grad_fn=<MulBackward0>)"),
    ("wick.ones(2,2,requires_grad=True).sum()",
     "tensor(4., grad_fn=<SumBackward0>)"),
    ("-wick.arange(5.)",
     "tensor([-0., -1., -2., -3., -4.])"),
    ("wick.tensor([-1.5,100.25])",
     "tensor([ -1.5000, 100.2500])"),
    ("wick.tensor([0.,0.])",
     "tensor([0., 0.])"),
    ("wick.tensor([1e-3,1.])",
     "tensor([0.0010, 1.0000])"),
    ("wick.tensor([-1,100,-1000])",
     "tensor([   -1,   100, -1000])"),
    ("wick.arange(2000.).reshape(2,1000)*1.5",
     "tensor([[0.0000e+00, 1.5000e+00, 3.0000e+00,  ..., 1.4955e+03, 1.4970e+03,\n"
     "         1.4985e+03],\n"
     "        [1.5000e+03, 1.5015e+03, 1.5030e+03,  ..., 2.9955e+03, 2.9970e+03,\n"
     "         2.9985e+03]])"),
    ("wick.zeros(0,dtype=wick.int64)",
     "tensor([], dtype=torch.int64)"),
    ("wick.tensor([[1.123456789,2]])",
     "tensor([[1.1235, 2.0000]])"),
    ("wick.tensor(3,dtype=wick.uint8)",
     "tensor(3, dtype=torch.uint8)"),
    ("wick.ones(1001,dtype=wick.float64)",
     "tensor([1., 1., 1.,  ..., 1., 1., 1.], dtype=torch.float64)"),
    ("wick.tensor([1e10+1j])",
     "tensor([1.0000e+10+1.j])"),
    ("wick.ones(1,1,1,1)",
     "tensor([[[[1.]]]])"),
    ("wick.arange(16).reshape(2,2,2,2)",
     "tensor([[[[ 0,  1],\n"
     "          [ 2,  3]],\n"
     "\n"
     "         [[ 4,  5],\n"
     "          [ 6,  7]]],\n"
     "\n"
     "\n"
     "        [[[ 8,  9],\n"
     "          [10, 11]],\n"
     "\n"
     "         [[12, 13],\n"
     "          [14, 15]]]])"),
    ("wick.ones(2000,dtype=wick.bool)",
     "tensor([True, True, True,  ..., True, True, True])"),
    ("wick.tensor([0.1]*30, dtype=wick.float64, requires_grad=True)",
     "tensor([0.1000, 0.1000, 0.1000, 0.1000, 0.1000, 0.1000, 0.1000, 0.1000, 0.1000,\n"
     "        0.1000, 0.1000, 0.1000, 0.1000, 0.1000, 0.1000, 0.1000, 0.1000, 0.1000,\n"
     "        0.1000, 0.1000, 0.1000, 0.1000, 0.1000, 0.1000, 0.1000, 0.1000, 0.1000,\n"
     "        0.1000, 0.1000, 0.1000], dtype=torch.float64, requires_grad=True)"),
    ("wick.tensor([1j]).conj()",
     "tensor([0.-1.j])"),
    ("wick.tensor([2**40,1])",
     "tensor([1099511627776,             1])"),
    ("wick.tensor([1.0,2.5],dtype=wick.float64).exp()",
     "tensor([ 2.7183, 12.1825], dtype=torch.float64)"),
    ("wick.tensor([1000000.])",
     "tensor([1000000.])"),
    ("wick.tensor([99999999.])",
     "tensor([100000000.])"),
    ("wick.tensor([100000001.])",
     "tensor([100000000.])"),
    ("wick.eye(3,dtype=wick.complex128)",
     "tensor([[1.+0.j, 0.+0.j, 0.+0.j],\n"
     "        [0.+0.j, 1.+0.j, 0.+0.j],\n"
     "        [0.+0.j, 0.+0.j, 1.+0.j]], dtype=torch.complex128)"),
]


class Printing(unittest.TestCase):
    def test_cases(self):
        for expression, expected in CASES:
            with self.subTest(expression):
                self.assertEqual(repr(eval(expression, {"wick": wick})), expected)

    def test_options(self):
        try:
            wick.set_printoptions(precision=2, sci_mode=False)
            self.assertEqual(repr(wick.tensor([1.23456, 10000.5])), "tensor([    1.23, 10000.50])")
            wick.set_printoptions(profile="short")
            self.assertEqual(repr(wick.tensor([1.23456])), "tensor([1.23])")
        finally:
            wick.set_printoptions(profile="default")

    def test_format(self):
        self.assertEqual("%s" % wick.tensor(2), "tensor(2)")
        self.assertEqual("{:.2f}".format(wick.tensor(2.0)), "2.00")
        self.assertEqual(str(wick.Size([2, 3])), "torch.Size([2, 3])")


if __name__ == "__main__":
    unittest.main()
