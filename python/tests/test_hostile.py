"""Random calls with hostile arguments, by every door: a result or an exception, never a crash; on many threads, too.

WICK_HOSTILE_CALLS says how many calls of each kind (2,000), WICK_HOSTILE_SEED where they begin. What the calls left
behind is in test_balance.py."""
import random
import threading
import unittest
import warnings

import wick
from hostile_values import CALLS, LEFT_OUT, SEED, operator_names, tensors, values


def call_at_random(rng, names, made):
    """One call; whether it gave a result."""
    operator = wick._C.operator(rng.choice(names))
    args = [values(rng, made) for _ in range(rng.choice((0, 1, 1, 2, 2, 3, 4)))]
    keywords = {rng.choice(("dim", "out", "dtype", "other", "alpha", "keepdim", "size", "nonsense")):
                values(rng, made) for _ in range(rng.choice((0, 0, 1)))}
    try:
        repr(operator(*args, **keywords))
        return True
    except Exception:
        return False


class Hostile(unittest.TestCase):
    def setUp(self):
        wick.manual_seed(SEED)  # numbers that calls drew can be the sizes of later ones

    def test_calls(self):
        rng = random.Random(SEED)
        names, given = operator_names(), 0
        for i in range(CALLS):
            if i % 50 == 0:
                made = tensors()
            given += call_at_random(rng, names, made)
        self.assertGreater(given, 0)

    def test_subscripts(self):
        rng = random.Random(SEED)
        for i in range(CALLS):
            if i % 50 == 0:
                made = tensors()
            x = rng.choice(made or tensors())
            items = tuple(rng.choice([slice(None, values(rng, made)), None, ..., 0, -1, values(rng, made)])
                          for _ in range(rng.choice((1, 1, 2, 3))))
            try:
                if rng.random() < 0.7:
                    x[items if len(items) > 1 else items[0]]
                else:
                    x[items if len(items) > 1 else items[0]] = values(rng, made)
            except Exception:
                pass

    def test_other_doors(self):
        rng = random.Random(SEED)
        left_out = LEFT_OUT + ("_C", "trace", "compile", "trim", "autocast_call")
        doors = [value for name, value in sorted(vars(wick._C).items())
                 if callable(value) and not any(word in name for word in left_out)]
        doors += [wick.Tensor._make_subclass, wick._C._load_value_memory, wick.finfo, wick.broadcast_shapes,
                  wick.einsum, wick.autograd.grad, wick.autograd.backward, wick.set_printoptions]
        self.assertGreater(len(doors), 20)
        try:
            for i in range(CALLS):
                if i % 50 == 0:
                    made = tensors()
                try:
                    rng.choice(doors)(*[values(rng, made) for _ in range(rng.choice((0, 1, 1, 2, 3)))])
                except Exception:
                    pass
        finally:
            wick.set_default_dtype(wick.float32)
            wick.set_printoptions(profile="default")
            wick._C._set_grad_enabled(True)
            wick._C._set_inference_mode(False)
            wick._C._set_autocast(False)
            wick._C._record_into(None)

    def test_methods(self):
        rng = random.Random(SEED)
        own = [name for name in vars(wick.Tensor) if not any(word in name for word in LEFT_OUT)
               and name not in ("__dict__", "__weakref__", "__class__")]
        for i in range(CALLS):
            if i % 50 == 0:
                made = tensors()
            x, name = rng.choice(made or tensors()), rng.choice(own)
            try:
                attribute = getattr(x, name)
                if callable(attribute):
                    attribute(*[values(rng, made) for _ in range(rng.choice((0, 0, 1, 2)))])
                elif rng.random() < 0.3:
                    setattr(x, name, values(rng, made))
            except Exception:
                pass

    def test_threads(self):
        """16 threads, each with tensors of its own."""
        names, failures = operator_names(), []

        def work(number):
            rng = random.Random(SEED + number)
            try:
                for i in range(CALLS // 16):
                    if i % 50 == 0:
                        made = tensors()
                    call_at_random(rng, names, made)
            except BaseException as error:
                failures.append(error)
        threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])


class Threads(unittest.TestCase):
    def test_threads_share_a_tensor(self):
        x = wick.arange(1000.0)
        failures = []

        def work(number):
            try:
                for i in range(100):
                    wick._C._set_grad_enabled(number % 2 == 0)
                    y = (x * number)[i:].sum()
                    assert y.item() == number * sum(range(i, 1000)), (number, i, y)
                    assert wick.is_grad_enabled() == (number % 2 == 0)
            except BaseException as error:
                failures.append(error)
        threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    unittest.main()
