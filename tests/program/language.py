# Statements and expressions of the language; recorded by make_language.py under PyTorch 1.13.


def walk(x: Dict[str, List[int]], k: str) -> int:
    total = 0
    for name, vals in x.items():
        if name not in [k]:
            total += sum(vals)
    del x[k]
    x["new"] = [1]
    x["new"][0] += 5
    return total + len(x) + x["new"][0]


def union(x: Union[int, str, List[int]]) -> int:
    if isinstance(x, (int, str)):
        if isinstance(x, int):
            return x
        return len(x)
    return x[0]


def anything(x: Any) -> str:
    if isinstance(x, int):
        return "int" + str(x + 1)
    elif isinstance(x, Tensor):
        return "tensor" + str(x.dim())
    elif torch.jit.isinstance(x, List[int]):
        return "ints" + str(x[0])
    return "?"


def matrix(x):
    y = torch.zeros(2, 3)
    y[0, 1:] = 5
    y[:, 0] += 2
    y[y > 4] = 1
    y[[0, 1], 2] = 7
    return y, x[..., -1], x[None].shape, x[1:, ::2]


def modes(x):
    with torch.no_grad():
        y = x * 2
    return y.requires_grad, y


def early(x: List[int]) -> int:
    for a in x:
        for b in x:
            if a * b > 6:
                return a * b
            if b == 2:
                continue
        c = a
    return -1


def leaf(x, y: Optional[int]):
    if y is None or y > 3:
        return torch.relu(x)
    elif y == 2:
        return -x
    return x


def forked(x):
    f1 = torch.jit.fork(leaf, x, 2)
    fs = [torch.jit.fork(leaf, x, i) for i in range(3)]
    r = torch.jit.wait(f1)
    for f in fs:
        r = r + f.wait()
    return r


def strings(s: str) -> List[str]:
    return [s.upper(), s[::-1], s.replace("a", "b"), s.strip().title(), s.center(9, "*"), " ".join(s.split()), s[1:3],
            "%f|%s|%d" % (1.5, s, 3), str(s.find("b")), f"{s} and {len(s)}"]


def numbers(a: int, b: int):
    return a // b, a % b, a / b, a**2, a << 1, math.sqrt(a), a < b < 10, abs(-a), -a // b, -a % b


def loops(n: int) -> str:
    r = ""
    for k in range(n):
        for m in [3, 2, 1]:
            if m == 2 and k == 1:
                break
            r += f"{k}{m} " if m == 1 else "%d-%s " % (k, m)
    i = 0
    while True:
        i += 1
        if i % 2 == 0:
            continue
        if i > 7:
            break
        r += str(i)
    a, *b = (1, "x", 2.5)
    return r + str(b) + "{}|{}".format(1.234, a)


def unpack(x: Tuple[int, Tuple[str, float]], l: List[int]):
    a, (b, c) = x
    d, e = l
    f = g = [d, e]
    g.append(a)
    return a, b, c, f, {str(i): j for i, j in enumerate(l)}, [i * j for i, j in zip(l, f)], x[1][0], x[-1]


def raising(n: int) -> int:
    if n > 3:
        raise ValueError("big", n)
    assert n != 2, f"two {n}"
    return n
