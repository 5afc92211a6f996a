"""What the tests of the export to ONNX share: a reader of models, nets and what they are exported with."""
import struct
from typing import List

import wick as torch

nn = torch.nn

DTYPES = {1: torch.float32, 2: torch.uint8, 3: torch.int8, 6: torch.int32, 7: torch.int64, 9: torch.bool,
          10: torch.float16, 11: torch.float64}


def fields(data):
    """The fields of a protobuf message: number -> list of ints and bytes."""
    found, at = {}, 0

    def varint():
        nonlocal at
        number = shift = 0
        while True:
            byte = data[at]
            at += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
    while at < len(data):
        key = varint()
        if key & 7 == 0:
            value = varint()
        elif key & 7 == 2:
            size = varint()
            value, at = data[at:at + size], at + size
        else:
            size = 4 if key & 7 == 5 else 8
            value, at = data[at:at + size], at + size
        found.setdefault(key >> 3, []).append(value)
    return found


def varints(data):
    """Packed integers, as signed 64 bits."""
    found, number, shift = [], 0, 0
    for byte in data:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(number - (1 << 64) if number >> 63 else number)
            number = shift = 0
    return found


def tensor(data):
    """(name, tensor) of a TensorProto."""
    f = fields(data)
    shape = varints(f[1][0]) if 1 in f else []
    dtype = DTYPES[f[2][0]]
    raw = bytes(f[9][0]) if 9 in f else b""
    made = torch.frombuffer(bytearray(raw), dtype=dtype) if raw else torch.zeros(0, dtype=dtype)
    return f[8][0].decode() if 8 in f else "", made.reshape(shape)


def _value(data):
    """(name, element type, sizes) of a ValueInfoProto; sizes None without a rank."""
    f = fields(data)
    kind = fields(f[2][0])
    kind = fields(fields(fields(kind[4][0])[1][0])[1][0]) if 4 in kind else fields(kind[1][0])  # 4: a sequence
    sizes = None
    if 2 in kind:
        sizes = []
        for dim in fields(kind[2][0]).get(1, []):
            d = fields(dim)
            sizes.append(d[1][0] if 1 in d else d[2][0].decode() if 2 in d else None)
    return f[1][0].decode(), DTYPES[kind[1][0]], sizes


class Node:
    """A NodeProto."""

    def __init__(self, data):
        f = fields(data)
        self.inputs = [name.decode() for name in f.get(1, [])]
        self.outputs = [name.decode() for name in f.get(2, [])]
        self.kind, self.domain = f[4][0].decode(), f[7][0].decode() if 7 in f else ""
        self.attributes = dict(map(_attribute, f.get(5, [])))


def _attribute(data):
    f = fields(data)
    kind = f[20][0]
    read = {1: lambda: struct.unpack("<f", f[2][0])[0], 2: lambda: varints_of(f[3][0]), 3: lambda: f[4][0].decode(),
            4: lambda: tensor(f[5][0])[1], 5: lambda: Graph(f[6][0]), 7: lambda: varints(f[8][0]),
            6: lambda: list(struct.unpack("<%df" % (len(f[7][0]) // 4), f[7][0])),
            8: lambda: [text.decode() for text in f[9]]}
    return f[1][0].decode(), read[kind]()


def varints_of(number):
    """A varint as a signed number."""
    return number - (1 << 64) if number >> 63 else number


class Graph:
    """A GraphProto."""

    def __init__(self, data):
        f = fields(data)
        self.nodes = [Node(part) for part in f.get(1, [])]
        self.tensors = dict(tensor(part) for part in f.get(5, []) if 13 not in fields(part))
        self.inputs = [_value(part) for part in f.get(11, [])]
        self.outputs = [_value(part) for part in f.get(12, [])]

    def kinds(self):
        """The operators, in order."""
        return [node.kind for node in self.nodes]

    def check(self, outer=()):
        """Raises where a value is used that no node in front gives, or a name is given twice."""
        known = set(outer) | {""} | set(self.tensors)
        known.update(name for name, _, _ in self.inputs)
        for node in self.nodes:
            missing = [name for name in node.inputs if name not in known]
            assert not missing, (node.kind, missing)
            for value in node.attributes.values():
                if isinstance(value, Graph):
                    value.check(known)
            twice = [name for name in node.outputs if name in known]
            assert not twice, (node.kind, twice)
            known.update(node.outputs)
        missing = [name for name, _, _ in self.outputs if name not in known]
        assert not missing, missing


class Model:
    """A ModelProto."""

    def __init__(self, data):
        f = fields(data)
        self.ir_version, self.producer = f[1][0], f[2][0].decode()
        self.opsets = {}
        for part in f[8]:
            opset = fields(part)
            self.opsets[opset[1][0].decode() if 1 in opset else ""] = opset[2][0]
        self.graph = Graph(f[7][0])
        self.graph.check()


# ---- operators ----

def operators():
    """(name, function, inputs), one operator or a few each."""
    F = nn.functional
    x, y, image = torch.rand(3, 4) * 4 - 2, torch.rand(3, 4) + 0.5, torch.rand(2, 4, 6, 6)
    whole, mask = torch.tensor([[7, -7, 5], [-5, 0, 9]]), torch.tensor([[True, False, True], [False, False, True]])
    at = torch.tensor([2, 0])
    table = {
        "div floor": (lambda a, b: torch.div(a, b, rounding_mode="floor"), x, y),
        "div trunc": (lambda a, b: torch.div(a, b, rounding_mode="trunc"), x, y),
        "div of integers": (lambda a: (a / 2, a // 2, torch.div(a, 2, rounding_mode="trunc")), whole),
        "remainder": (lambda a, b: (a % b, torch.fmod(a, b), a % 1.5), x, y),
        "remainder of integers": (lambda a: (a % 3, a % -3, torch.fmod(a, 3)), whole),
        "promotion": (lambda a, b: (a + b, a * 2.5, a > 1.5, b * a.sum(), a + True), whole, torch.rand(2, 3)),
        "truth": (lambda a, b: (a & b, a | ~b, a ^ b, a + b, a * b, a == b), mask, ~mask),
        "pow": (lambda a, b: (a ** 2, a ** 0.5, 2 ** a, a ** b, a.square()), y, y),
        "rsub": (lambda a: (1 - a, torch.rsub(a, 2, alpha=3), torch.add(a, a, alpha=2)), x),
        "functions": (lambda a: (a.exp(), a.log(), a.rsqrt(), a.log2(), a.log1p(), a.expm1(), a.erf(),
            a.sigmoid()), y),
        "angles": (lambda a: (a.sin(), a.cos(), a.tan(), a.atan(), a.sinh(), a.asinh(), a.tanh()), x),
        "rounding": (lambda a: (a.floor(), a.ceil(), a.round(), a.trunc(), a.frac(), a.sign(), a.abs()), x),
        "atan2": (torch.atan2, x, torch.rand(3, 4) - 0.5),
        "clamp": (lambda a, b: (a.clamp(-1, 1), a.clamp(max=0.5), a.clamp(min=0), torch.clamp(a, b, b + 1)), x, y),
        "clamp of integers": (lambda a: (a.clamp(-3, 3), a.clamp(min=0)), whole),
        "extremes": (lambda a, b: (torch.maximum(a, b), torch.minimum(a, b), torch.max(a, b), a.max(),
            a.min()), x, y),
        "extremes of dimensions": (lambda a: (*a.max(1), *a.min(0, keepdim=True), a.amax((0, 1)), a.argmin()), x),
        "not a number": (lambda a: (a.sqrt().isnan(), torch.nan_to_num(a.sqrt(), 7.), torch.isinf(a / 0)), x),
        "where": (lambda a, b: (torch.where(a > 0, a, b), a.masked_fill(a < 0, 3), torch.where(a > 0)[0]), x, y),
        "lerp": (lambda a, b: (torch.lerp(a, b, 0.3), torch.addcmul(a, a, b, value=2), torch.addcdiv(a, a, b)), x, y),
        "sums": (lambda a: (a.sum(), a.sum(1), a.sum((0, 1), keepdim=True), a.mean(0), a.prod(1), a.prod()), x),
        "sums of integers": (lambda a, m: (a.sum(), m.sum(1), a.cumsum(0), m.any(), m.all(1),
            a.prod(1)), whole, mask),
        "variance": (lambda a: (a.var(), a.std(1), a.var(1, unbiased=False), *torch.var_mean(a, 0, keepdim=True)), x),
        "norms": (lambda a: (a.norm(), a.norm(1, 1), a.norm(3, 1), torch.linalg.vector_norm(a, dim=0),
                             a.norm(float("inf")), F.normalize(a)), x),
        "logsumexp": (lambda a: (a.logsumexp(1), a.softmax(0), a.log_softmax(-1)), x),
        "order": (lambda a: (*a.sort(1), *a.topk(2, 0), *a.sort(0, descending=True), a.argsort(1),
            a.kthvalue(2)[0]), x),
        "shapes": (lambda a: (a.view(2, 6), a.t(), a.unsqueeze(-1), a[None].squeeze(), a.flatten(),
            a.reshape(-1)), x),
        "permutations": (lambda a: (a.permute(3, 0, 2, 1), a.transpose(1, -1), a.movedim(1, -1), a.flip(2,
            3)), image),
        "pieces": (lambda a: (a[1:, ::2], a[..., -1], a[:, None, 1:3], a.narrow(1, 1, 2), a.select(0, -1)), x),
        "pieces of lists": (lambda a: (*a.chunk(3, 1), *a.split([1, 3], 1), *a.split(2), *a.unbind(0)), x),
        "joined": (lambda a, b: (torch.cat([a, b], 1), torch.stack([a, b], -1), torch.cat([a, b > 1])), x, y),
        "repeated": (lambda a: (a.repeat(2, 1, 2), a.expand(2, 3, 4), a.repeat_interleave(2, 1), a.roll(1, 1)), x),
        "tables": (lambda a: (torch.zeros_like(a), a.new_full((2,), 3), torch.arange(a.size(0)) * 2,
                              torch.eye(3) + a[:, :3], torch.ones(2, 3).cumsum(1) + a[:2, :3]), x),
        "triangles": (lambda a: (a.tril(), a.triu(1), (a > 0).tril(-1)), x),
        "index": (lambda a, i: (a[i], a[:, i], a[i, i], a[a > 0], a.index_select(1, i), a.take(i)), x, at),
        "index of dimensions": (lambda a, i: (a[:, i, i], a[i // 2, :, i], a[:, :, i, i], a[:, i[:, None],
            i]), image, at),
        "gather": (lambda a, i: (a.gather(0, i[:, None].expand(2, 4)), torch.take_along_dim(a, a.argsort(1),
            1)), x, at),
        "scatter": (lambda a, i: (a.scatter(0, i[:, None], 1.5), a.scatter_add(1, i[:, None], a),
                                  a.index_fill(1, i, 2.), a.index_add(0, i, a[:2]), a.index_copy(0, i, a[:2])),
                      x, at),
        "index_put": (lambda a, i: (torch.index_put(a, (i,), a[:2] * 2), torch.index_put(a, (i, i), a[0, :2], True)),
                      x, at),
        "nonzero": (lambda a: (a.nonzero(), torch.masked_select(a, a > 2), (a > 0).nonzero()), whole),
        "one_hot": (lambda i: F.one_hot(i, 4), at),
        "searches": (lambda a: (torch.bucketize(a, torch.tensor([-1., 0., 1.])),
                                torch.searchsorted(torch.tensor([-1., 0., 1.]), a, right=True)), x),
        "products": (lambda a, b: (a @ b.t(), torch.mv(a, b[0]), torch.addmm(a[:, :3], a, b.t(), beta=2, alpha=0.5),
                                   torch.einsum("ij,kj->ik", a, b), torch.outer(a[0], b[0])), x, y),
        "batches": (lambda a: (torch.bmm(a[0], a[1]), torch.baddbmm(a[0], a[0], a[1]), a @ a[0, 0]), image),
        "activations": (lambda a: (F.elu(a), F.selu(a), F.celu(a), F.silu(a), F.mish(a), F.gelu(a), F.softplus(a),
                                   F.hardswish(a), F.hardsigmoid(a), F.relu6(a), F.logsigmoid(a), F.glu(a)), x),
        "shrinking": (lambda a: (F.hardshrink(a), F.softshrink(a), F.tanhshrink(a), F.threshold(a, 0.1, 2),
                                 F.hardtanh(a, -0.5, 0.7), F.softsign(a), F.gelu(a, approximate="tanh")), x),
        "convolutions": (lambda a: (F.conv2d(a, torch.ones(2, 4, 3, 3), padding="same"),
                                    F.conv_transpose2d(a, torch.ones(4, 2, 3, 3), stride=2, output_padding=1),
                                    F.conv1d(a[0], torch.ones(2, 6, 2)), F.conv2d(a[0], torch.ones(1, 4, 2, 2))),
                      image),
        "pools": (lambda a: (F.max_pool2d(a, 3, 2, 1, ceil_mode=True), F.avg_pool2d(a, 2, padding=1),
                             F.avg_pool2d(a, 3, 2, 1, count_include_pad=False), F.adaptive_avg_pool2d(a, 4),
                             F.adaptive_max_pool2d(a, (3, 4)), *F.max_pool2d(a, 2, return_indices=True)), image),
        "norms of layers": (lambda a: (F.layer_norm(a, (6, 6)), F.group_norm(a, 2), F.instance_norm(a),
                                       F.layer_norm(a, (6,), torch.arange(6.), torch.ones(6))), image),
        "sizes of images": (lambda a: (F.interpolate(a, scale_factor=2), F.interpolate(a, (9, 4)),
                                       F.interpolate(a, (9, 13), mode="bilinear", align_corners=True),
                                       F.interpolate(a, (3, 1), mode="bilinear", align_corners=False),
                                       F.interpolate(a, scale_factor=1.5, mode="bilinear"),
                                       F.interpolate(a, (11, 1), mode="bicubic"), F.pixel_shuffle(a, 2),
                                       F.pixel_unshuffle(a, 2)), image),
        "padding": (lambda a: (F.pad(a, (1, 2, 0, -1), value=3), F.pad(a, (1, 2, 2, 1), mode="reflect"),
                               F.pad(a, (1, 2, 2, 1), mode="replicate"), F.pad(a > 0.5, (1, 1), value=True)), image),
        "losses": (lambda a, b: (F.mse_loss(a, b), F.l1_loss(a, b, reduction="sum"), F.smooth_l1_loss(a, b),
                                 F.cross_entropy(a, torch.tensor([1, 3, 0])), F.kl_div(a, b, reduction="sum"),
                                 F.binary_cross_entropy_with_logits(a, b / 2),
                                 F.nll_loss(a, torch.tensor([1, 3, 0]), reduction="none")), x, y),
        "likeness": (lambda a, b: F.cosine_similarity(a, b), x, y),
        "bags": (lambda i: (F.embedding(i, torch.ones(4, 2).cumsum(0)),
                            F.embedding_bag(i, torch.ones(4, 2).cumsum(0), torch.tensor([0, 1]), mode="sum"),
                            F.embedding_bag(i, torch.ones(4, 2).cumsum(0), torch.tensor([0, 0]), mode="mean")), at),
        "dtypes": (lambda a: (a.to(torch.float64), a.int(), a.bool(), a.type_as(a > 0), a.long() + 1, a.half()), x),
        "grids": (lambda a: torch.meshgrid(a[0], a[:, 0], indexing="xy") + torch.meshgrid(a[0], a[1],
            indexing="ij"), x),
        "diagonals": (lambda a: (torch.diagonal(a), a.diagonal(1), a.unfold(1, 2, 1)), x),
    }
    for name, (function, *inputs) in table.items():
        yield name, function, tuple(inputs)


# ---- nets ----

class Recurrent(nn.Module):
    """A recurrent layer from a state of zeros."""

    def __init__(self, kind, **options):
        super().__init__()
        self.layer = kind(5, 4, **options)

    def forward(self, x):
        return self.layer(x)


class Branches(nn.Module):
    """A branch that the data decides, and a loop as long as the input."""

    def forward(self, x):
        if bool(x.sum() > 0):
            y = x * 2
        else:
            y = -x
        for i in range(x.size(0)):
            y = y + x[i] * i
        return y


class Steps(nn.Module):
    """A cell in a loop of Python, with lists that grow."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 4)

    def forward(self, x):
        state = torch.zeros(x.size(1), 4)
        states: List[torch.Tensor] = []
        places: List[int] = []
        halves = torch.jit.annotate(List[torch.Tensor], [])
        for i in range(x.size(0)):
            state = self.cell(x[i], state)
            states.append(state)
            places.append(i * i)
            halves += [state[:, :2]]
        return torch.stack(states), torch.cat(halves, 1), torch.tensor(places), states[0], len(halves)


class Doubled(nn.Module):
    """A loop that goes on until the data says so, and carries what grows."""

    def forward(self, x):
        y = x
        while bool(y.sum() < 100):
            y = torch.cat([y, y + 1])
        if y.size(0) > 5:
            z = y[:5]
        else:
            z = y
        return y, z


class Sorted(nn.Module):
    """A packed sequence through a recurrent layer."""

    def __init__(self):
        super().__init__()
        self.layer = nn.GRU(3, 4, batch_first=True, bidirectional=True)

    def forward(self, x, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        y, state = self.layer(packed)
        return nn.utils.rnn.pad_packed_sequence(y, batch_first=True)[0], state


class Attention(nn.Module):
    """One layer of a transformer, with a mask."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 8)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        size = x.size(1)
        mask = torch.triu(torch.full((size, size), -1e9), 1)
        return torch.softmax(self.head(self.layer(self.embedding(x), mask)), -1)


class Written(nn.Module):
    """Writes to pieces of a tensor."""

    def forward(self, x):
        y = x.clone()
        y[:, 1] = 3
        y[0] += 1
        y[:, :1].mul_(2)
        y.view(-1).add_(1)
        return y, y.t().relu_()


def convolutions():
    """Convolution, norm, pool, head."""
    return nn.Sequential(nn.Conv2d(3, 6, 3, stride=2, padding=1), nn.BatchNorm2d(6), nn.ReLU(True),
                         nn.Conv2d(6, 6, 3, groups=3, bias=False), nn.BatchNorm2d(6), nn.Hardswish(),
                         nn.MaxPool2d(2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 4))


def images():
    """Sizes of images: up, padded, shuffled, with a norm of groups."""
    return nn.Sequential(nn.ConvTranspose2d(4, 8, 2, stride=2), nn.GroupNorm(2, 8), nn.SiLU(),
                         nn.Upsample(scale_factor=2, mode="bilinear"), nn.ReflectionPad2d(1), nn.AvgPool2d(3, 1),
                         nn.PixelShuffle(2), nn.LeakyReLU(0.2))


def losses(x, y):
    """Functions of elements, reductions, indices."""
    z = torch.clamp((x - y).abs().sqrt(), 0.1, 2) ** 3 / (x.exp() + 1)
    top, at = torch.topk(z, 2, dim=1)
    best = z.gather(1, at).sum(1, keepdim=True) + x[:, [2, 0]].mean(1, keepdim=True)
    return top, best, z.std(1), torch.where(z > z.mean(), z, y).cumsum(1), x.argmax(1), (x // 1).to(torch.int64) % 3


def scripted():
    """Branches as a script: If and Loop."""
    return torch.jit.script(Branches())


def nets():
    """(name, net, inputs, other inputs of other sizes, dynamic axes of the first inputs)"""
    def r(*sizes):
        return torch.rand(sizes)
    batch = {0: {0: "batch"}}
    yield "convolutions", convolutions(), (r(2, 3, 16, 16),), (r(3, 3, 16, 16),), batch
    yield "convolutions of any size", convolutions(), (r(1, 3, 16, 20),), (r(3, 3, 21, 18),), {
        0: {0: "n", 2: "h", 3: "w"}}
    yield "images", images(), (r(1, 4, 5, 6),), (r(2, 4, 5, 6),), batch
    for kind in (nn.LSTM, nn.GRU, nn.RNN):
        for options in ({}, {"bidirectional": True, "num_layers": 2}, {"batch_first": True, "bias": False}):
            name = "%s %s" % (kind.__name__, " ".join(sorted(options)))
            yield name, Recurrent(kind, **options), (r(3, 2, 5),), (r(6, 4, 5),), {0: {0: "a", 1: "b"}}
    yield "attention", Attention(), (torch.tensor([[1, 2, 3, 4]]),), (torch.tensor([[5, 2, 1, 7], [10, 9, 8, 0]]),), \
        batch
    yield "written", Written(), (r(3, 3),), (r(3, 3),), {}
    yield "functions", losses, (r(3, 4) * 5, r(3, 4)), (r(6, 4) * 5, r(6, 4)), {0: {0: "n"}, 1: {0: "n"}}
    yield "branches", scripted(), (r(3, 3),), (-r(3, 3),), {}
    yield "steps", torch.jit.script(Steps()), (r(3, 2, 3),), (r(3, 2, 3),), {}
    yield "steps of any length", torch.jit.script(Steps()), (r(3, 2, 3),), (r(5, 4, 3),), {0: {0: "t", 1: "n"}}
    yield "doubled", torch.jit.script(Doubled()), (r(2, 3),), (r(4, 3),), {0: {0: "n"}}
    yield "packed", Sorted(), (r(3, 5, 3), torch.tensor([2, 5, 3])), (r(3, 5, 3), torch.tensor([4, 1, 2])), {}
    yield "branches of any length", scripted(), (r(4, 4),), (-r(6, 6),), {0: {0: "n", 1: "n"}}
