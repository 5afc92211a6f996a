"""A hundred functions of TorchScript. They say `torch` and mean the package that runs them: PyTorch or wick.

`case(*inputs)` gives a function's example inputs; they are made anew for each call. Functions whose inputs are all
tensors are traced as well, unless it says trace=False.
"""

import enum
import math
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple, Union  # noqa: F401

import torch
from torch import Tensor

CASES = []  # (name, function, inputs as a function, whether it is traced)


def case(inputs=lambda: (), trace=None):
    """Notes a function with what makes its inputs."""
    def note(function):
        CASES.append((function.__name__, function, inputs, trace))
        return function
    return note


def ramp(*shape, scale=10.0, shift=0.0):
    """Numbers that differ, the same ones everywhere."""
    count = math.prod(shape)
    return ((torch.arange(count) * 7 % 23).float().reshape(shape) - 11) / scale + shift


def one():
    return (ramp(2, 3),)


def two():
    return ramp(2, 3), ramp(2, 3, scale=5.0, shift=0.5)


# ---- control flow ----

@case(lambda: (ramp(3), 4), trace=False)
def loop_range(x, n: int):
    for i in range(n):
        x = x * 2 + i
    return x


@case(lambda: (ramp(3),), trace=False)
def loop_while(x):
    count = 0
    while bool(x.sum() < 10):
        x = x + 1
        count += 1
    return x, count


@case(lambda: (10,), trace=False)
def loop_break_continue(n: int):
    total = 0
    for i in range(n):
        if i % 2 == 0:
            continue
        if i > 7:
            break
        total += i
    return total


@case(lambda: (ramp(2, 2), True), trace=False)
def branch(x, flag: bool):
    if flag:
        y = x + 1
    else:
        y = x - 1
    return y


@case(lambda: (5,), trace=False)
def early_return(n: int) -> str:
    if n < 0:
        return "negative"
    elif n == 0:
        return "zero"
    return "positive"


@case(lambda: ([3, 1, 2],), trace=False)
def loop_list(xs: List[int]):
    best = xs[0]
    for x in xs:
        if x > best:
            best = x
    return best


@case(lambda: (["a", "b"], [1, 2]), trace=False)
def zip_enumerate(names: List[str], numbers: List[int]):
    out: List[str] = []
    for i, (name, number) in enumerate(zip(names, numbers)):
        out.append(name + str(number + i))
    return out


@case(lambda: (ramp(4, 2),), trace=False)
def loop_tensor(x):
    total = torch.zeros(2)
    for row in x:
        total = total + row * row
    return total


@case(lambda: (ramp(2, 2), 3), trace=False)
def nested_loops(x, n: int):
    for i in range(n):
        for j in range(i):
            if (i + j) % 2 == 1:
                x = x + i * j
            else:
                x = x - j
    return x


@case(lambda: (7, 2.5), trace=False)
def ternary(a: int, b: float):
    c = a if a > b else int(b)
    return c, a > 3 and b < 3, not (a == 7 or b == 2)


@case(lambda: (30,), trace=False)
def collatz(n: int):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@case(lambda: ((ramp(2), ramp(3), ramp(4)),), trace=False)
def loop_tuple(xs: Tuple[Tensor, Tensor, Tensor]):
    total = 0
    for x in xs:
        total += x.numel()
    return total


@case(lambda: (4, 20, 3), trace=False)
def range_steps(a: int, b: int, c: int):
    return [i for i in range(a, b, c)], [i for i in range(b, a, -c)]


# ---- containers ----

@case(lambda: ([4, 2, 9],), trace=False)
def list_methods(xs: List[int]):
    ys = xs.copy()
    ys.append(1)
    ys.extend([7, 7])
    ys.insert(1, 100)
    ys.remove(2)
    last = ys.pop()
    ys.reverse()
    return ys, last, ys.count(7), ys.index(100), len(ys), 9 in ys


@case(lambda: ([3, 1, 2], ["b", "a"]), trace=False)
def list_sort(xs: List[int], names: List[str]):
    xs.sort()
    ys = sorted(xs)
    names.sort(reverse=True)
    return xs, ys, names, min(xs), max(xs), sum(xs)


@case(lambda: (list(range(10)),), trace=False)
def list_slices(xs: List[int]):
    return xs[2:5], xs[:-3], xs[::3], xs[-2], xs[1:2] + xs[8:] * 2


@case(lambda: ({"a": 1, "b": 2},), trace=False)
def dict_methods(d: Dict[str, int]):
    d["c"] = 3
    e = d.copy()
    gone = e.pop("a")
    e.update({"z": 26})
    e.setdefault("y", 25)
    return e, gone, "b" in e, list(d.keys()), list(d.values()), d.get("q", -1), len(e)


@case(lambda: ({1: ramp(2), 2: ramp(3)},), trace=False)
def dict_items(d: Dict[int, Tensor]):
    total = 0.0
    for key, value in d.items():
        total += key * float(value.sum())
    del d[1]
    return total, len(d)


@case(lambda: (["x", "yy", "zzz"],), trace=False)
def comprehensions(words: List[str]):
    lengths = [len(w) for w in words]
    table = {w: len(w) for w in words}
    return lengths, table, [n * n for n in lengths]


@case(lambda: (ramp(3), 2), trace=False)
def tuples(x, n: int):
    pair = (x, n)
    a, b = pair
    nested = (pair, (b, "t"))
    (c, d), (e, f) = nested
    return a + c, b + d + e, f, pair[1], nested[1][-1]


@case(lambda: (3, 2), trace=False)
def nested_lists(n: int, m: int):
    grid: List[List[int]] = []
    for i in range(n):
        row: List[int] = []
        for j in range(m):
            row.append(i * j)
        grid.append(row)
    grid[1][0] = 42
    return grid


@case(lambda: ([ramp(2), ramp(2, shift=1.0)],), trace=False)
def tensor_lists(xs: List[Tensor]):
    xs.append(xs[0] + xs[1])
    return torch.stack(xs), torch.cat(xs, 0)


@case(lambda: ([1, 2, 3],), trace=False)
def unpack_list(xs: List[int]):
    a, b, c = xs
    return a * 100 + b * 10 + c


@case(lambda: (ramp(3),), trace=False)
def list_of_tuples(x):
    pairs: List[Tuple[int, float]] = [(i, float(x[i])) for i in range(3)]
    best = pairs[0]
    for pair in pairs:
        if pair[1] > best[1]:
            best = pair
    return best


# ---- classes, named tuples, enums ----

@torch.jit.script
class Counter:
    def __init__(self, start: int):
        self.value = start
        self.seen: List[int] = []

    def add(self, n: int) -> int:
        self.value += n
        self.seen.append(n)
        return self.value

    def __len__(self) -> int:
        return len(self.seen)

    def __add__(self, other: int) -> int:
        return self.value + other

    def __contains__(self, n: int) -> bool:
        return n in self.seen


@case(lambda: (3,), trace=False)
def class_object(n: int):
    counter = Counter(n)
    for i in range(n):
        counter.add(i)
    return counter.value, len(counter), counter + 100, 2 in counter, counter.seen


@torch.jit.script
class Box:
    def __init__(self, x: Tensor):
        self.x = x

    @property
    def doubled(self) -> Tensor:
        return self.x * 2

    @staticmethod
    def scale(x: Tensor, by: float) -> Tensor:
        return x * by

    def __getitem__(self, i: int) -> Tensor:
        return self.x[i]

    def __eq__(self, other: "Box") -> bool:
        return bool((self.x == other.x).all())

    def __lt__(self, other: "Box") -> bool:
        return bool(self.x.sum() < other.x.sum())

    def __neg__(self) -> Tensor:
        return -self.x

    def __call__(self, y: Tensor) -> Tensor:
        return self.x + y


@case(one, trace=False)
def class_operators(x):
    a, b = Box(x), Box(x + 1)
    return a == b, a < b, -a, a[0], a.doubled, Box.scale(x, 3.0), a(x)


class Point(NamedTuple):
    x: Tensor
    label: str
    weight: float = 0.5


@case(one, trace=False)
def named_tuple(x):
    p = Point(x, "first")
    q = Point(x=p.x * 2, label=p.label + "!", weight=2.0)
    return q.x * q.weight + p.weight, q.label, p[1]


@case(lambda: (ramp(3),), trace=False)
def named_result(x):
    return Point(x.relu(), "relu", 1.0)


class Color(enum.Enum):
    RED = 1
    GREEN = 2


@case(lambda: (Color.GREEN,), trace=False)
def enums(color: Color):
    if color == Color.RED:
        return color.name, color.value
    return "not " + Color.RED.name, Color.GREEN.value + color.value


@case(lambda: (), trace=False)
def enum_loop():
    total = 0
    for color in Color:
        total += color.value
    return total


@torch.jit.script
@dataclass
class Range:
    low: int
    high: int = 10

    def width(self) -> int:
        return self.high - self.low


@case(lambda: (3,), trace=False)
def data_class(n: int):
    r = Range(n)
    return r.width(), r == Range(n, 10), Range(n, 4).width()


# ---- Optional, Union, isinstance ----

@case(lambda: (ramp(2), None), trace=False)
def optional_refined(x, y: Optional[Tensor]):
    if y is None:
        y = torch.ones_like(x)
    return x + y


@case(lambda: (3, None), trace=False)
def optional_both(a: Optional[int], b: Optional[int]):
    if a is not None and b is not None:
        return a + b
    if a is not None:
        return a
    return -1


@case(lambda: (None,), trace=False)
def optional_assert(a: Optional[int]):
    b = a if a is not None else 5
    c: Optional[int] = b
    assert c is not None
    return b + c


@case(lambda: ([1, 2], "text"), trace=False)
def union_refined(a: Union[int, List[int]], b: Union[str, float]):
    if isinstance(a, int):
        n = a
    else:
        n = len(a)
    if isinstance(b, str):
        return n, b + "?"
    return n, str(b)


@case(lambda: (1.5, {"k": 1}), trace=False)
def any_isinstance(a: Any, b: Any):
    out: List[str] = []
    if isinstance(a, float):
        out.append("float %s" % str(a + 1))
    if torch.jit.isinstance(b, Dict[str, int]):
        out.append("dict %d" % b["k"])
    return out


@case(lambda: (3,), trace=False)
def optional_loop(n: int):
    best: Optional[int] = None
    for i in range(n):
        if best is None:
            best = i
        elif i * i > best:
            best = i * i
    return best


# ---- fork, wait, exceptions, calls ----

def slow_power(x, n: int):
    for _ in range(n):
        x = x * x
    return x


@case(one, trace=False)
def forks(x):
    future = torch.jit.fork(slow_power, x, 2)
    other = torch.jit.fork(slow_power, x, n=1)
    y = x + 1
    return torch.jit.wait(future) + y + torch.jit.wait(other)


@case(lambda: (ramp(2), 4), trace=False)
def fork_list(x, n: int):
    futures: List[torch.jit.Future[Tensor]] = []
    for i in range(n):
        futures.append(torch.jit.fork(slow_power, x + i, 1))
    results: List[Tensor] = []
    for future in futures:
        results.append(torch.jit.wait(future))
    return torch.stack(results)


@case(lambda: (3,), trace=False)
def raises_value(n: int):
    if n > 2:
        raise ValueError("too large: " + str(n))
    return n


@case(lambda: (ramp(2),), trace=False)
def raises_assert(x):
    assert x.dim() == 2, f"expected two dimensions, got {x.dim()}"
    return x


@case(lambda: ({"a": 1},), trace=False)
def raises_key(d: Dict[str, int]):
    return d["b"]


@case(lambda: ([1],), trace=False)
def raises_index(xs: List[int]):
    return xs[3]


def helper(x, scale: float = 2.0, shift: int = 1):
    return x * scale + shift


@case(one)
def calls(x):
    return helper(x) + helper(x, shift=3) - helper(x, scale=0.5)


@case(lambda: (5,), trace=False)
def lambdas_no(n: int):
    return helper_int(n) + helper_int(helper_int(n))


def helper_int(n: int) -> int:
    return n * 3 - 1


@torch.jit._overload  # noqa: F811
def pick(x: int) -> int:  # noqa: F811
    ...


@torch.jit._overload  # noqa: F811
def pick(x: str) -> str:  # noqa: F811
    ...


def pick(x):  # noqa: F811
    return x + x


@case(lambda: (3, "ab"), trace=False)
def overloads(n: int, text: str):
    return pick(n), pick(text)


@torch.jit.unused
def not_compiled(x: Tensor) -> Tensor:
    return x + [i for i in (1, 2)][0]


@case(one)
def unused_not_reached(x):
    if torch.jit.is_scripting() and False:
        return not_compiled(x)
    return x + 2


@case(one)
def is_scripting(x):
    if torch.jit.is_scripting():
        return x + 1
    else:
        return x + 1


# ---- strings ----

@case(lambda: ("wick", 3, 1.5), trace=False)
def f_strings(name: str, n: int, x: float):
    return f"{name} has {n} of {x}", "{} and {}".format(name, n), "%s-%d-%s" % (name, n, x)


@case(lambda: ("  Hello, World  ",), trace=False)
def string_methods(s: str):
    t = s.strip()
    return (t.upper(), t.lower(), t.split(", "), t.replace("l", "L"), t.find("World"), t.startswith("Hello"),
            t.endswith("?"), "-".join(["a", "b"]), t.title(), t.swapcase(), len(t), t.count("o"))


@case(lambda: ("abc123",), trace=False)
def string_tests(s: str):
    return (s.isalnum(), s.isdigit(), s[3:].isdigit(), s[:3].isalpha(), s.isupper(), s.islower(), s.zfill(8),
            s.center(10, "*"), s.ljust(8), s.rjust(8), s.partition("1"), s.rpartition("c"))


@case(lambda: ("hello",), trace=False)
def string_slices(s: str):
    out = ""
    for c in s:
        out = c + out
    return s[1:3], s[-1], s[::2], out, "ell" in s, s < "help"


@case(lambda: ("a=1;b=22",), trace=False)
def string_parse(s: str):
    table: Dict[str, int] = {}
    for part in s.split(";"):
        key, value = part.split("=")[0], part.split("=")[1]
        table[key] = int(value)
    return table, float("2.5"), ord("a"), chr(98), hex(255), bin(5), oct(8)


@case(lambda: ("one\ntwo\n three",), trace=False)
def string_lines(s: str):
    return s.splitlines(), s.split(), s.lstrip("o"), s.rstrip("e"), s.expandtabs(), s.capitalize()


# ---- numbers ----

@case(lambda: (2.7, -7), trace=False)
def math_functions(x: float, n: int):
    return (math.sqrt(x), math.exp(x), math.log(x), math.floor(x), math.ceil(x), math.pow(x, 2.0), math.fabs(n),
            math.atan2(x, 1.0), math.copysign(x, n), math.gcd(12, n), math.factorial(5), math.degrees(x), math.pi)


@case(lambda: (17, -5, 2.5), trace=False)
def arithmetic(a: int, b: int, c: float):
    return (a // b, a % b, a / b, a ** 2, a & 6, a | 8, a ^ 3, a << 2, a >> 1, -b, abs(b), divmod(a, 5), c // 2,
            round(c * 1.3), int(c), float(a), bool(a), a * c, c ** a)


@case(lambda: (3, 4.5, True), trace=False)
def comparisons(a: int, b: float, c: bool):
    return a < b, a >= b, a == 3, a != b, 1 < a < 5, min(a, 2), max(b, 1.0), c and a > 1, not c, a is not None


@case(lambda: (1 + 2j,), trace=False)
def complex_numbers(z: complex):
    return abs(z), z * 2, -z, z + 1.5, z == complex(1, 2)


@case(lambda: (), trace=False)
def infinities():
    return [float("inf"), -float("inf"), math.inf], math.isnan(float("nan")), math.isinf(math.inf), 1.5, 0x10


# ---- tensors: indexing, views, in place ----

@case(lambda: (ramp(4, 5, 6),))
def index_forms(x):
    return x[1], x[1, 2], x[..., 0], x[:, 1:3], x[::2, None, 3], x[-1, :, -2:], x[:, 1, 2:5:2]


@case(lambda: (ramp(4, 5), torch.tensor([0, 3, 1])))
def index_tensors(x, i):
    return x[i], x[:, i], x[i, i], x[x > 0.5], x[i][:, None], x[0, i]


@case(lambda: (ramp(3, 4),))
def assign_forms(x):
    y = x.clone()
    y[0] = 1.5
    y[1, 1:3] = x[0, 1:3]
    y[:, 0] += 2
    y[y > 1] = 0
    return y


@case(lambda: (ramp(3, 4), torch.tensor([2, 0])))
def assign_index(x, i):
    y = x.clone()
    y[i] = 7.0
    y[:, i] = x[:, i] * 2
    return y.sum(1), y


@case(lambda: (ramp(2, 3, 4),))
def views(x):
    y = x.view(6, 4).t().reshape(2, -1)
    z = x.permute(2, 0, 1).transpose(0, 1).flatten(1)
    return y, z, x.unsqueeze(0).squeeze(), x.unflatten(2, [2, 2]), x.expand(2, 2, 3, 4), x.narrow(2, 1, 2)


@case(one)
def in_place(x):
    y = x.clone()
    y.add_(1).mul_(2)
    y -= 0.5
    v = y.view(-1)
    v[2:].zero_()
    y.clamp_(min=-1)
    return y, v


@case(one)
def view_writes(x):
    y = torch.zeros(4, 3)
    y[1:3].copy_(x)
    y.t()[0].fill_(9)
    y.select(0, 3).sub_(1)
    return y


@case(two)
def arithmetic_tensors(x, y):
    return x + y, x - 2, 3 * x, x / y, x // 2, x % 2, x ** 2, 2 ** x, -x, abs(x), 1 - x, 1 / y, x @ y.t()


@case(two)
def comparisons_tensors(x, y):
    return x > y, x == y, x != 0, (x > 0) & (y > 0), (x < 0) | (y < 0), ~(x > y), x.ge(0.5), \
        torch.logical_xor(x > 0, y > 0)


@case(lambda: (ramp(2, 3), ramp(2, 3, scale=5.0)))
def like_others(x, y):
    return x.expand_as(y), x.view_as(y), x.type_as(y), x.reshape_as(y), x.mT, x.T, x.to(y), x.new_zeros(2), \
        torch.full_like(x, 2.0), x.new_full([2], 3.0)


# ---- tensors: operators ----

@case(lambda: (ramp(3, 4),))
def reductions(x):
    return x.sum(), x.mean(1), x.max(), x.max(1), x.min(dim=0), x.argmax(1), x.std(), x.var(0), x.prod(1), x.norm(), \
        x.any(), x.all(1), x.median(), x.cumsum(0), x.logsumexp(1), x.amax([0, 1])


@case(lambda: (ramp(3, 4, scale=5.0),))
def pointwise(x):
    return x.exp(), x.sin(), x.tanh(), x.sigmoid(), x.abs().sqrt(), x.abs().log1p(), x.floor(), x.round(), x.sign(), \
        x.clamp(-0.5, 0.5), x.erf(), x.relu(), x.neg(), x.reciprocal(), x.trunc(), x.frac()


@case(lambda: (ramp(2, 6),))
def splitting(x):
    a, b = x.split(3, dim=1)
    c, d, e = torch.chunk(x, 3, 1)
    f, g = x.unbind(0)
    return a * b, c + d - e, f - g, torch.cat([a, c], 1), torch.stack([f, g], dim=1)


@case(lambda: (ramp(3, 3), torch.tensor([[0, 1, 2], [2, 1, 0]])))
def gathering(x, i):
    return x.gather(0, i), x.index_select(1, i[0]), torch.zeros(3, 3).scatter(0, i, 1.0), x.take(i), \
        torch.where(x > 0, x, torch.zeros_like(x)), x.masked_fill(x < 0, 0.0)


@case(lambda: (ramp(3, 5),))
def sorting(x):
    values, places = x.sort(dim=1)
    top = x.topk(2)
    return values, places, top[0], top[1], x.argsort(0), torch.unique(x), x.flip(0), x.roll(1, 1)


@case(lambda: (ramp(3, 4), ramp(4, 5)))
def products(x, y):
    return torch.matmul(x, y), x.mm(y), torch.einsum("ij,jk->ki", x, y), torch.dot(x[0], y[:, 0]), x.mv(y[:, 1]), \
        torch.bmm(x[None], y[None]), torch.addmm(torch.ones(5), x, y), torch.outer(x[0], y[0])


@case(lambda: (ramp(2, 3, 3) + torch.eye(3) * 3,))
def linear_algebra(x):
    return torch.inverse(x), torch.det(x), torch.linalg.solve(x, x[:, :, 0]), torch.trace(x[0]), torch.diag(x[0]), \
        torch.tril(x), torch.triu(x, 1), x.diagonal(0, 1, 2)


@case(lambda: (ramp(2, 3),))
def dtypes(x):
    return x.double(), x.to(torch.int64), x.long() + x, (x > 0).float(), x.half().float(), \
        x.to(torch.bool), x.int() / 2


@case(lambda: (), trace=False)
def factories():
    return torch.zeros(2), torch.ones(2, 3), torch.full([2], 7), torch.arange(5), torch.arange(1, 2, 0.25), \
        torch.linspace(0, 1, 5), torch.eye(2), torch.tensor([1.5, 2.5]), torch.tensor([[1, 2], [3, 4]]), \
        torch.empty(0).numel(), torch.zeros([2, 2], dtype=torch.int64)


@case(lambda: (ramp(3, 4),))
def sizes(x):
    return x.view(x.size(0) * x.size(1)), x.reshape(-1, x.shape[0]), x.new_ones([x.shape[1]]), \
        torch.zeros(x.shape), x.sum() / x.numel()


@case(lambda: (ramp(3, 4),), trace=False)
def attributes(x):
    return x.dim(), x.shape, x.size(), x.numel(), x.is_floating_point(), x.dtype == torch.float32, x.device, \
        x.requires_grad, x.is_contiguous(), x.stride(), x.t().is_contiguous(), x.ndim, x.is_cuda, x.element_size()


@case(lambda: (ramp(1, 2, 6, 6), ramp(3, 2, 3, 3), ramp(3)))
def convolutions(x, w, b):
    y = torch.nn.functional.conv2d(x, w, b, stride=[2, 1], padding=1)
    return y, torch.conv2d(x, w, b, dilation=2), torch.nn.functional.conv1d(x[0], w.reshape(3, 6, 3), None), \
        torch.nn.functional.conv_transpose2d(x, w.transpose(0, 1), b)


@case(lambda: (ramp(2, 2, 8, 8),))
def pooling(x):
    F = torch.nn.functional
    return F.max_pool2d(x, 2), F.avg_pool2d(x, 3, 2, 1), F.adaptive_avg_pool2d(x, [2, 2]), \
        F.adaptive_max_pool2d(x, 1), F.interpolate(x, scale_factor=0.5), F.pad(x, [1, 1], "constant", 2.0)


@case(lambda: (ramp(3, 4),))
def activations(x):
    F = torch.nn.functional
    return F.relu(x), F.gelu(x), F.leaky_relu(x, 0.1), F.elu(x), F.softplus(x), F.hardswish(x), F.silu(x), \
        F.softmax(x, dim=1), F.log_softmax(x, 1), F.glu(x, 1), F.hardtanh(x), F.mish(x), F.normalize(x, dim=1)


@case(lambda: (ramp(4, 3), torch.tensor([0, 2, 1, 2]), ramp(4, 3, shift=0.3)))
def losses(x, target, y):
    F = torch.nn.functional
    return F.cross_entropy(x, target), F.mse_loss(x, y), F.l1_loss(x, y), F.nll_loss(F.log_softmax(x, 1), target), \
        F.binary_cross_entropy_with_logits(x, (y > 0).float()), F.smooth_l1_loss(x, y), \
        F.cosine_similarity(x, y), F.one_hot(target, 3)


@case(lambda: (ramp(2, 4), ramp(4), ramp(4)))
def normalizing(x, w, b):
    F = torch.nn.functional
    return F.layer_norm(x, [4], w, b), F.batch_norm(x, b * 0, w * 0 + 1, w, b), F.group_norm(x[:, :, None], 2), \
        F.instance_norm(x[:, :, None].repeat(1, 1, 3))


@case(lambda: (torch.tensor([1, 0, 2]), ramp(3, 4)))
def embedding(i, table):
    return torch.nn.functional.embedding(i, table), torch.nn.functional.linear(table, table)


@case(lambda: (ramp(2, 3, 4), ramp(2, 5, 4)))
def attention(q, k):
    scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(4)
    return torch.matmul(scores.softmax(-1), k), torch.baddbmm(torch.zeros(2, 3, 5), q, k.transpose(-2, -1))


@case(lambda: (ramp(2, 3),))
def grad_mode(x):
    with torch.no_grad():
        y = x * 2
    return y + x.detach()


@case(lambda: (ramp(6),), trace=False)
def scalars_from_tensors(x):
    return int(x[0]), float(x[1]), bool(x[2] > 0), x[3].item(), len(x)


@case(lambda: (ramp(4, 4), 2), trace=False)
def dynamic_slices(x, n: int):
    return x[:n], x[n:], x[:, n], x[n - 1:n + 1, ::n], x[-n:]


@case(lambda: (ramp(3, 5, scale=2.0),))
def fake_network(x):
    for i in range(3):
        x = torch.tanh(x) * 0.5 + x
        if i == 1:
            x = x - x.mean(dim=1, keepdim=True)
    return x


@case(lambda: (ramp(2, 3), ramp(2, 3)))
def stacked_calls(x, y):
    first = torch.add(x, y, alpha=2)
    second = torch.sub(first, other=y, alpha=0.5)
    return torch.mul(second, y), torch.div(x, 2, rounding_mode="floor"), torch.pow(x, y), torch.atan2(x, y), \
        torch.lerp(x, y, 0.3), torch.addcmul(x, y, y, value=0.5), torch.maximum(x, y), torch.fmod(x, 2)


@case(lambda: (torch.tensor([3, 5, 8]), torch.tensor([2, 2, 3])))
def integers(x, y):
    return x // y, x % y, x & y, x | 1, x ^ y, x << 1, x >> y, ~x, x / y, x.float().pow(2), torch.bitwise_not(x)


@case(lambda: (ramp(2, 8),))
def transforms(x):
    z = torch.fft.rfft(x)
    return z.real, z.abs(), torch.fft.irfft(z), torch.view_as_real(z), torch.special.expit(x)


@case(lambda: (ramp(2, 5),))
def meshes(x):
    a, b = torch.meshgrid([x[0, :2], x[1, :3]])
    return a, b, torch.broadcast_tensors(x[:, :1], x)[0], torch.cdist(x, x), torch.repeat_interleave(x, 2, dim=0), \
        x.repeat(2, 1), torch.tile(x, (1, 2))


@case(lambda: (ramp(5), 3), trace=False)
def accumulating(x, n: int):
    outs: List[Tensor] = []
    state = torch.zeros_like(x)
    for i in range(n):
        state = state * 0.9 + x * i
        outs.append(state)
    return torch.stack(outs), state


@case(lambda: ("abcab",), trace=False)
def histogram(s: str):
    counts: Dict[str, int] = {}
    for c in s:
        if c in counts:
            counts[c] += 1
        else:
            counts[c] = 1
    return counts


@case(lambda: ([5, 2, 8, 1],), trace=False)
def bubble_sort(xs: List[int]):
    n = len(xs)
    for i in range(n):
        for j in range(n - 1 - i):
            if xs[j] > xs[j + 1]:
                xs[j], xs[j + 1] = xs[j + 1], xs[j]
    return xs


@case(lambda: (20,), trace=False)
def primes(n: int):
    found: List[int] = []
    for candidate in range(2, n):
        is_prime = True
        for p in found:
            if p * p > candidate:
                break
            if candidate % p == 0:
                is_prime = False
                break
        if is_prime:
            found.append(candidate)
    return found


@case(lambda: (ramp(3), torch.tensor(2)), trace=False)
def tensor_numbers(x, n):
    total = x.sum()
    for i in range(int(n)):
        total += i
    if n > 1:
        total = -total
    return total, n + 1, n * 2.5
