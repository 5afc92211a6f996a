"""What calls leave behind: every public function gives back each reference that it took, right call or wrong, and
memory stays flat.

A debug Python counts all references (sys.gettotalrefcount); others count blocks of memory and the references of what
was passed. WICK_HOSTILE_FLAT_CALLS says how many calls memory is watched over (30,000)."""
import gc
import inspect
import os
import random
import re
import sys
import unittest
import warnings

import wick
from hostile_values import LEFT_OUT, SEED, operator_names, tensors, values

FLAT_CALLS = int(os.environ.get("WICK_HOSTILE_FLAT_CALLS", "30000"))
WARM, TURNS = 2, 4


def total():
    """What leaks add to."""
    return sys.gettotalrefcount() if hasattr(sys, "gettotalrefcount") else sys.getallocatedblocks()


def quietly(call):
    """Whether it gave a result."""
    try:
        call()
        return True
    except Exception:
        return False


def growth(call, turns, collected=False):
    """How much of what `total` counts stays behind with each call."""
    for _ in range(WARM):
        quietly(call)
    if collected:
        gc.collect()
    before = total()
    for _ in range(turns):
        quietly(call)
    if collected:
        gc.collect()
    return (total() - before) / turns


def leak_of(call, watched):
    """What stays behind after a call, as text; None: nothing does."""
    for attempt in range(2):  # the first may make what is kept
        before = [sys.getrefcount(value) for value in watched]
        first = growth(call, TURNS)
        moved = [sys.getrefcount(value) - count for value, count in zip(watched, before)]
        if max(map(abs, moved)) < TURNS:
            break
    else:
        return "references of arguments: %s" % moved
    if first < 1 or growth(call, 5 * TURNS) < 1 or growth(call, 15 * TURNS) < 1:
        return None  # or caches that fill; with more calls it is cycles, or a leak
    for turns in (60 * TURNS, 120 * TURNS):
        more = growth(call, turns, collected=True)
        if more < 1:
            return None
    return "%.2f references or blocks for each call" % more


class Arguments:
    """Arguments of the types that a schema names."""

    def __init__(self):
        self.x, self.y, self.written = wick.rand(2, 3) + 0.5, wick.ones(2, 3), wick.ones(2, 3)
        self.sizes, self.list, self.text = [2, 3], [self.x, self.y], "mean"
        self.generator, self.number = wick.Generator(), 1.5
        self.watched = [self.x, self.y, self.written, self.sizes, self.list, self.generator, self.number,
                        wick.float32]

    def of_type(self, kind):
        if "!" in kind:
            return self.written
        kind = re.sub(r"\([^()]*\)|\?$", "", kind).strip()
        if "[" in kind:
            return self.list if kind.startswith("Tensor") else [self.of_type(kind[:kind.index("[")])] * 2
        return {"Tensor": self.x, "int": 1, "SymInt": 1, "float": self.number, "double": self.number, "bool": True,
                "Scalar": self.number, "number": self.number, "str": self.text, "ScalarType": wick.float32,
                "Layout": wick.strided, "Device": "cpu", "MemoryFormat": wick.contiguous_format,
                "Generator": self.generator, "complex": 1j}.get(kind, None)

    def of_schema(self, schema):
        """Positional arguments and keywords; those with a default are left out."""
        inside = schema[schema.index("(") + 1:schema.rindex(")", 0, schema.rindex(" -> "))]
        positional, keywords, named = [], {}, False
        for part in re.split(r", (?![^\[]*\])", inside):
            if part == "*":
                named = True
            elif part and "=" not in part and " " in part:
                kind, name = part.rsplit(" ", 1)
                if named:
                    keywords[name] = self.of_type(kind)
                else:
                    positional.append(self.of_type(kind))
        return positional, keywords


class Balance(unittest.TestCase):
    def setUp(self):
        gc.collect()
        gc.disable()
        self.addCleanup(gc.enable)

    def test_every_operator(self):
        leaks, right, names = [], 0, operator_names()
        for name in names:
            operator = wick._C.operator(name)
            for schema in operator.schemas:
                made = Arguments()
                positional, keywords = made.of_schema(schema)
                right += quietly(lambda: operator(*positional, **keywords))
                wrong = list(positional)
                if wrong:
                    wrong[random.Random(SEED).randrange(len(wrong))] = made.watched
                for given in (positional, wrong, [made.list] + positional[1:]):
                    leak = leak_of(lambda: operator(*given, **keywords), made.watched)
                    if leak:
                        leaks.append("%s%r: %s" % (schema, tuple(map(type, given)), leak))
        self.assertGreater(right, len(names) / 2)
        self.assertEqual(leaks, [])

    def test_every_function(self):
        """Those of Python, and the extension's own."""
        leaks, right, seen = [], 0, 0
        left_out = LEFT_OUT + ("set_default", "printoptions", "interop", "trim", "_trace", "autocast",
                               "record_into", "compile", "wait_for", "register_operator", "set_executor",
                               "inference", "grad_enabled", "seed", "rng")
        if hasattr(sys, "gettotalrefcount"):  # NumPy, built for other Pythons, releases references uncounted
            left_out += ("numpy", "__array__")
        for module in (wick, wick._C, wick.nn.functional, wick.autograd, wick.nn.init, wick.nn.utils, wick.linalg,
                       wick.Tensor):
            for name, function in sorted(vars(module).items()):
                is_function = inspect.isroutine(function) or isinstance(function, type(wick._C.operator("aten::add")))
                if not is_function or any(word in name for word in left_out):
                    continue
                seen += 1
                made = Arguments()
                x, index = made.x, wick.tensor([0, 1])
                for given in ((x,), (x, made.y), (x, index), (made.list,), (made.sizes,), (made.text, x),
                              ("ij->ji", x), (), (object(), made.number), (x, made.number, made.sizes)):
                    right += quietly(lambda: function(*given))
                    leak = leak_of(lambda: function(*given), made.watched)
                    if leak:
                        leaks.append("%s.%s%r: %s" % (module.__name__, name, tuple(map(type, given)), leak))
        self.assertGreater(right, seen / 2)
        self.assertEqual(leaks, [])

    def test_what_is_no_function(self):
        """Subscripts, arithmetic, conversions, gradients, buffers, pickles."""
        made = Arguments()
        x, y = made.x, made.y
        index, table = (slice(0, 1), None, [0]), {"dim": 0}
        leaf = wick.ones(2, requires_grad=True)

        def hooked():
            handle = leaf.register_hook(lambda grad: grad * 2)
            (leaf * 2).sum().backward()
            handle.remove()
            leaf.grad = None

        def failing_hook():
            z = leaf * 2
            z.register_hook(lambda grad: made.text + 1)
            z.sum().backward()

        class Double(wick.autograd.Function):
            @staticmethod
            def forward(ctx, value):
                ctx.save_for_backward(value)
                return value * 2

            @staticmethod
            def backward(ctx, grad):
                return grad * ctx.saved_tensors[0]

        import copy
        import pickle
        calls = [
            lambda: x + y, lambda: x + made.number, lambda: made.number - x, lambda: 2 / x, lambda: x ** 2,
            lambda: x + made.text, lambda: x == y, lambda: -x, lambda: x.__iadd__(y), lambda: x @ y.t(),
            lambda: x @ y,
            lambda: x[index], lambda: x[0], lambda: x[..., 1:], lambda: x[x > 0], lambda: x[[0, 1]], lambda: x[None],
            lambda: x[made.text], lambda: x[7], lambda: x[0, 0, 0], lambda: x.__setitem__(0, y[0]),
            lambda: x.__setitem__(index, 3), lambda: x.__setitem__(made.text, y), lambda: x.__setitem__(0, "text"),
            lambda: x.sum(**table), lambda: wick.zeros(made.sizes, made.text), lambda: wick.add(x, y, out=y),
            lambda: wick.max(x, 0, out=[wick.empty(0), wick.empty(0, dtype=wick.int64)]),
            lambda: wick.max(x, 0, out=[y]), lambda: x.max(0), lambda: wick.add(x, y, out=made.text),
            lambda: wick.add(x, y, nonsense=made.number), lambda: repr(x), lambda: format(x[0, 0], ".2f"),
            lambda: float(x[0, 0]), lambda: bool(x), lambda: list(x), lambda: len(x), lambda: hash(x),
            lambda: memoryview(x), lambda: memoryview(x).tolist(),
            lambda: wick.frombuffer(bytearray(8), dtype=wick.int32),
            lambda: wick.from_dlpack(x), lambda: x.__dlpack__(), lambda: copy.deepcopy(x),
            lambda: pickle.loads(pickle.dumps(x)),
            lambda: wick.tensor(made.list), lambda: wick.tensor([[1, 2], [3]]),
            lambda: wick.tensor([made.sizes, made.text]),
            lambda: wick.Size(made.sizes) + (1,), lambda: wick.Size(made.list), lambda: wick.device("cpu", 1),
            lambda: wick.device(made.text), hooked, failing_hook, lambda: Double.apply(leaf).sum().backward(),
            lambda: wick.autograd.grad(leaf.sum(), leaf), lambda: wick.autograd.grad(leaf, leaf),
            lambda: setattr(x, "data", x.clone()), lambda: setattr(leaf, "grad", wick.ones(2)),
            lambda: setattr(leaf, "grad", made.text), lambda: x.new_zeros(2),
            lambda: wick.Tensor._make_subclass(wick.Tensor, x),
            lambda: wick.ops.aten.add.Tensor(x, y), lambda: wick._C.operator("aten::none"),
            lambda: wick.jit.CompilationUnit("def f(x: int):\n    return x\n").f(2),
            lambda: wick.jit.CompilationUnit("def f(x: int):\n    return y\n"),
        ]
        leaks = ["call %d: %s" % (i, leak) for i, leak in
                 enumerate(leak_of(call, made.watched + [index, table]) for call in calls) if leak]
        self.assertEqual(leaks, [])


class Memory(unittest.TestCase):
    @unittest.skipIf("asan" in os.environ.get("LD_PRELOAD", ""), "released memory is kept aside by the sanitizer")
    def test_memory_is_flat(self):
        def resident():
            gc.collect()
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * 4096

        x = wick.ones(16, 16, requires_grad=True)

        def turn():
            """Ten calls."""
            y = (x * 2 + 1).relu()
            y[0].sum().backward()
            x.grad = None
            try:
                y @ wick.ones(3)
            except RuntimeError:
                pass
            return y.detach().tolist()
        for _ in range(min(3000, FLAT_CALLS // 20)):
            turn()
        before = resident()
        for _ in range(FLAT_CALLS // 10):
            turn()
        self.assertLess(resident() - before, 8 << 20)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    unittest.main()
