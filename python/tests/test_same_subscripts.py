"""Subscripts as PyTorch has them: what is written where, and what traces keep of them."""
import unittest
import warnings

from beside import torch


def silent(function):
    """The function, without the warnings that tracing gives."""
    def run(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(self)
    return run


class Written(unittest.TestCase):
    def test_part_of_one_element_in_place(self):
        for count in (1, 2, 3):
            x = torch.arange(float(count))
            x[-1:] += 1
            x[:1] *= 2
            x[None] += 1
            want = [i + 1.0 for i in range(count)]
            want[-1] += 1 if count > 1 else 2
            self.assertEqual(x.tolist(), want)

    def test_slices_of_a_number(self):
        for read in ("y[:]", "y[:0]", "y[1:]", "y[::2]"):
            with self.assertRaisesRegex(IndexError, r"slice\(\) cannot be applied to a 0-dim tensor"):
                eval(read, {"y": torch.tensor(5.0)})
        for write in ("y[:] = 3", "y[0:1] = 3", "y[-1:] = 3"):
            with self.assertRaisesRegex(IndexError, r"slice\(\) cannot be applied to a 0-dim tensor"):
                exec(write, {"y": torch.tensor(5.0)})
        y = torch.tensor(5.0)
        y[:0] = 3
        self.assertEqual(y.item(), 3)
        with self.assertRaisesRegex(ValueError, "slice step cannot be zero"):
            y[::0] = 3

    def test_batch_of_one(self):
        for sizes in ((1, 2, 3), (2, 1, 3), (1, 1, 3), (3, 1), (1, 1)):
            x = torch.zeros(sizes)
            x[:, 0] += 1.5
            x[..., 0] -= 0.5
            self.assertEqual(x[0, 0].reshape(-1)[0].item(), 1)
            y = x.clone()
            x[:, 0:1] = x[:, 0:1]
            x[:] = x[:]
            self.assertTrue(torch.equal(x, y))

    def test_leading_ones_of_the_value(self):
        x = torch.zeros(2, 3)
        x[0] = torch.ones(1, 1, 3)
        x[1] = torch.full((1,), 2.0)
        self.assertEqual(x.tolist(), [[1, 1, 1], [2, 2, 2]])
        with self.assertRaises(RuntimeError):
            x[0] = torch.ones(2, 1, 3)

    def test_mask_and_value_of_another_dtype(self):
        x = torch.zeros(3)
        x[torch.tensor([True, False, True])] = torch.tensor(2, dtype=torch.int64)
        self.assertEqual(x.tolist(), [2, 0, 2])
        x[torch.tensor([True, False, True])] = torch.tensor([3.0], dtype=torch.float64)
        self.assertEqual(x.tolist(), [3, 0, 3])

    def test_overlapping_parts(self):
        x = torch.arange(4.0)
        with self.assertRaisesRegex(RuntimeError, "memory location"):
            x[1:] = x[:-1]
        y = torch.zeros(1, 3).expand(1, 3)
        y[0] += 1
        self.assertEqual(y.tolist(), [[1, 1, 1]])


class Traced(unittest.TestCase):
    def follows(self, function, example, *others):
        traced = torch.jit.trace(function, example)
        for inputs in (example,) + others:
            self.assertTrue(torch.equal(traced(*inputs), function(*inputs)), (traced.graph, inputs))

    @silent
    def test_tensors_without_dimensions(self):
        x = torch.arange(10.0).reshape(2, 5)
        one, two = torch.tensor(1), torch.tensor(0)
        self.follows(lambda x, n: x[n], (x, one), (x, two))
        self.follows(lambda x, n: x[:, n], (x, one), (x, two))
        self.follows(lambda x, n: x[n, n - 1], (x, one), (x, two))
        self.follows(lambda x, n: x[..., n, None], (x, one), (x, two))
        self.follows(lambda x, n: x[n:, n], (x, one), (x, two))
        self.follows(lambda x, n: x[n], (x, one.to(torch.int32)), (x, two.to(torch.int32)))
        self.follows(lambda x: x[x.argmax() // 5], (x,), (-x,))

    @silent
    def test_written_through_tensors(self):
        def write(x, n):
            x = x.clone()
            x[n] = 9.0
            x[0, n] = torch.tensor(8.0)
            return x
        x = torch.arange(10.0).reshape(2, 5)
        self.follows(write, (x, torch.tensor(1)), (x, torch.tensor(0)))

    @silent
    def test_arithmetic_on_sizes(self):
        def last(x):
            return x[:, 0:, x.size(2) - 5] + x[:, :, x.shape[1] - 3]
        self.follows(last, (torch.arange(36.0).reshape(2, 3, 6),), (torch.arange(48.0).reshape(2, 3, 8),))


class Checks(unittest.TestCase):
    def test_arguments_that_are_not_contiguous(self):
        for example in (torch.ones(2, 3).t(), torch.ones(1, 3).expand(2, 3), torch.ones(2, 6)[:, ::2]):
            traced = torch.jit.trace(lambda a: a.sum(0) + 1, (example,))
            self.assertEqual(traced(example).tolist(), (example.sum(0) + 1).tolist())


    @silent
    def test_inputs_of_the_other_branch(self):
        def branch(x):
            return x + 1 if x.sum() > 0 else x * 2
        for given in (branch, Branching()):
            with self.assertRaises(torch.jit.TracingCheckError):
                torch.jit.trace(given, (torch.ones(2),), check_inputs=[(torch.ones(2),), (-torch.ones(2),)])
            torch.jit.trace(given, (torch.ones(2),), check_inputs=[(torch.ones(2) * 3,)])


class Branching(torch.nn.Module):
    def forward(self, x):
        return x + 1 if x.sum() > 0 else x * 2


class Containers(unittest.TestCase):
    def test_lists_of_different_things(self):
        x = torch.ones(2)
        for given in ([x, (x, x)], [x, [x, x]], [x, 3], {"a": x, "b": (x, x)}, {"a": x, 3: x}, [(x, x), (x,)]):
            with self.assertRaisesRegex(RuntimeError, "must have consistent"):
                torch.jit.trace(lambda given: x, (given,))
        for given in ([], [[], [x]], {"a": x, "b": []}):
            with self.assertRaisesRegex(RuntimeError, "List trace inputs must have elements"):
                torch.jit.trace(lambda given: x, (given,))

    def test_tuple_of_different_things(self):
        x = torch.ones(2)
        traced = torch.jit.trace(lambda given: given[0] + given[1][1], ((x, [x, x * 2]),))
        self.assertEqual(traced((x, [x, x * 4])).tolist(), [5, 5])


if __name__ == "__main__":
    unittest.main()
