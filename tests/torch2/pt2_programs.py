"""The small programs that record_pt2.py exports."""

import collections
from typing import List, NamedTuple, Optional, Tuple

import torch
import torch.nn.functional as F
from torch import nn

AUTO = getattr(torch.export.Dim, "AUTO", None)  # older versions lack it


def dim(name, low=None, high=None):
    return torch.export.Dim(name, min=low, max=high)


def seeded(*sizes, seed=1):
    return torch.rand(*sizes, generator=torch.Generator().manual_seed(seed)) - 0.5


def ids(*sizes, high=50, seed=1):
    return torch.randint(0, high, sizes, generator=torch.Generator().manual_seed(seed))


def module(forward, **state):
    """A module that is one function; what it keeps is buffers or parts."""

    class Program(nn.Module):
        pass

    Program.forward = forward
    Program.__name__ = forward.__name__

    def make():
        program = Program()
        for name, value in state.items():
            value = value() if callable(value) and not isinstance(value, nn.Module) else value
            if isinstance(value, torch.Tensor) and not isinstance(value, nn.Parameter):
                program.register_buffer(name, value.clone())
            else:
                setattr(program, name, value)
        return program

    return make


# ---- nets of a few layers ----


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 16), nn.GELU(), nn.Linear(16, 3))

    def forward(self, x):
        return self.layers(x)


class Encoder(nn.Module):
    """As BERT: embeddings, masked attention, a pooled answer."""

    def __init__(self, norm_first=False):
        super().__init__()
        self.word, self.place = nn.Embedding(50, 32), nn.Embedding(64, 32)
        layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, norm_first=norm_first, activation="gelu")
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.pool = nn.Linear(32, 32)

    def forward(self, words, mask):
        places = torch.arange(words.size(1), device=words.device).unsqueeze(0)
        x = self.word(words) + self.place(places)
        x = self.layers(x, src_key_padding_mask=~mask)
        return x, torch.tanh(self.pool(x[:, 0]))


class BertLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)
        self.out, self.up, self.down = (
            nn.Linear(width, width),
            nn.Linear(width, 4 * width),
            nn.Linear(4 * width, width),
        )
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.drop = nn.Dropout(0.1)

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.heads, -1).transpose(1, 2)

    def forward(self, x, bias):
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        scores = torch.matmul(q, k.transpose(-1, -2)) / (q.size(-1) ** 0.5) + bias
        mixed = torch.matmul(self.drop(F.softmax(scores, dim=-1)), v).transpose(1, 2).flatten(2)
        x = self.norm1(x + self.drop(self.out(mixed)))
        return self.norm2(x + self.drop(self.down(F.gelu(self.up(x)))))


class Bert(nn.Module):
    def __init__(self, width=32, heads=4, layers=2):
        super().__init__()
        self.word, self.place, self.kind = nn.Embedding(50, width), nn.Embedding(64, width), nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(BertLayer(width, heads) for _ in range(layers))
        self.register_buffer("places", torch.arange(64).unsqueeze(0), persistent=False)

    def forward(self, words, mask, kinds):
        x = self.norm(self.word(words) + self.place(self.places[:, : words.size(1)]) + self.kind(kinds))
        bias = (1.0 - mask[:, None, None, :].to(x.dtype)) * torch.finfo(x.dtype).min
        for layer in self.layers:
            x = layer(x, bias)
        return {"last": x, "pooled": x[:, 0].tanh()}


def rotate(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


class LlamaLayer(nn.Module):
    """Rotary positions, grouped heads, RMS norm, gated products, a cache that is given and returned."""

    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.Parameter(torch.ones(32)), nn.Parameter(torch.ones(32))
        self.q, self.k = nn.Linear(32, 32, bias=False), nn.Linear(32, 16, bias=False)
        self.v, self.o = nn.Linear(32, 16, bias=False), nn.Linear(32, 32, bias=False)
        self.gate, self.up = nn.Linear(32, 48, bias=False), nn.Linear(32, 48, bias=False)
        self.down = nn.Linear(48, 32, bias=False)

    @staticmethod
    def norm(x, weight):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * weight

    def forward(self, x, cos, sin, cache: Optional[Tuple[torch.Tensor, torch.Tensor]]):
        b, t, _ = x.shape
        y = self.norm(x, self.norm1)
        q = self.q(y).view(b, t, 4, 8).transpose(1, 2)
        k = self.k(y).view(b, t, 2, 8).transpose(1, 2)
        v = self.v(y).view(b, t, 2, 8).transpose(1, 2)
        q, k = q * cos + rotate(q) * sin, k * cos + rotate(k) * sin
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        wide = [z[:, :, None].expand(b, 2, 2, z.size(2), 8).reshape(b, 4, z.size(2), 8) for z in (k, v)]
        mixed = F.scaled_dot_product_attention(q, wide[0], wide[1], is_causal=cache is None)
        x = x + self.o(mixed.transpose(1, 2).reshape(b, t, 32))
        y = self.norm(x, self.norm2)
        return x + self.down(F.silu(self.gate(y)) * self.up(y)), (k, v)


class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 32)
        self.layers = nn.ModuleList(LlamaLayer() for _ in range(2))
        self.head = nn.Linear(32, 50, bias=False)
        self.head.weight = self.words.weight  # tied
        self.register_buffer("frequencies", 1.0 / 100 ** (torch.arange(0, 8, 2).float() / 8), persistent=False)

    def forward(self, words, caches: Optional[List[Tuple[torch.Tensor, torch.Tensor]]] = None):
        past = caches[0][0].size(2) if caches is not None else 0
        places = torch.arange(past, past + words.size(1), device=words.device)
        angles = torch.outer(places.float(), self.frequencies)
        angles = torch.cat([angles, angles], -1)
        x, made = self.words(words), []
        for i, layer in enumerate(self.layers):
            x, cache = layer(x, angles.cos(), angles.sin(), caches[i] if caches is not None else None)
            made.append(cache)
        return self.head(x), made


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(50, 32), nn.Embedding(64, 32)
        self.qkv, self.out, self.norm = nn.Linear(32, 96), nn.Linear(32, 32), nn.LayerNorm(32)
        self.register_buffer("seen", torch.tril(torch.ones(64, 64, dtype=torch.bool)))

    def forward(self, words):
        b, t = words.shape
        x = self.words(words) + self.places(torch.arange(t, device=words.device))
        q, k, v = self.qkv(self.norm(x)).split(32, dim=2)
        q, k, v = [z.view(b, t, 4, 8).transpose(1, 2) for z in (q, k, v)]
        scores = (q @ k.transpose(-2, -1)) * 8**-0.5
        scores = scores.masked_fill(~self.seen[:t, :t], float("-inf"))
        x = x + self.out((scores.softmax(-1) @ v).transpose(1, 2).contiguous().view(b, t, 32))
        return F.linear(x, self.words.weight)[:, -1]


class Seq2Seq(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 32)
        self.net = nn.Transformer(32, 4, 1, 1, 48, batch_first=True)

    def forward(self, source, target):
        mask = nn.Transformer.generate_square_subsequent_mask(target.size(1))
        return self.net(self.words(source), self.words(target), tgt_mask=mask, tgt_is_causal=True)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2 = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.norm1, self.norm2 = nn.GroupNorm(4, 8), nn.InstanceNorm2d(16, affine=True)
        self.up, self.last = nn.ConvTranspose2d(16, 8, 2, stride=2), nn.Conv2d(16, 2, 1)

    def forward(self, x):
        a = F.silu(self.norm1(self.down1(x)))
        b = F.leaky_relu(self.norm2(self.down2(a)), 0.1)
        c = F.interpolate(self.up(b), size=a.shape[-2:], mode="bilinear", align_corners=False)
        return self.last(torch.cat([a, c], 1))


class Recurrent(nn.Module):
    def __init__(self, kind, **options):
        super().__init__()
        self.words = nn.Embedding(50, 12)
        self.net = getattr(nn, kind)(12, 16, batch_first=True, **options)
        self.last = nn.Linear(16 * (2 if options.get("bidirectional") else 1), 5)

    def forward(self, words):
        x, state = self.net(self.words(words))
        return self.last(x), state


class Stateful(nn.Module):
    """Counts its calls and keeps a moving mean."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.register_buffer("mean", torch.zeros(4))
        self.register_buffer("last", torch.zeros(2, 4), persistent=False)
        self.weight = nn.Parameter(torch.rand(4))

    def forward(self, x):
        self.calls += 1
        self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
        self.last.copy_(x[:2])
        return (x - self.mean) * self.weight, self.calls.clone()


class KeyCache(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("keys", torch.zeros(1, 16, 4))

    def forward(self, x, at):
        self.keys.index_copy_(1, at, x)
        return self.keys.sum(1) + self.keys[:, at].sum(1)


class Pair(NamedTuple):
    first: torch.Tensor
    second: torch.Tensor


torch.utils._pytree._register_namedtuple(Pair, serialized_type_name="pt2_programs.Pair")


class Autocast(nn.Module):
    def __init__(self):
        super().__init__()
        self.net, self.other = nn.Linear(8, 8), nn.Linear(8, 4)

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = self.net(x)
            z = torch.softmax(y, -1)
        return y, self.other(z.float())


class NoGrad(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 4)

    def forward(self, x):
        with torch.no_grad():
            scale = self.net(x).abs().mean()
        y = self.net(x) * scale
        with torch.no_grad():
            y = y + self.net.weight.sum()
        return y.detach() + y


class Loss(nn.Module):
    """Training: the loss of a batch."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))

    def forward(self, x, y):
        return F.cross_entropy(self.net(x), y)


def joint(module, args, kwargs, shapes):
    """Forward and backward in one graph."""
    exported = torch.export.export(module, args, kwargs, dynamic_shapes=shapes)
    from torch.export.experimental import _export_forward_backward

    return _export_forward_backward(exported)


def training(module, args, kwargs, shapes):
    return (
        torch.export.export_for_training(module, args, kwargs, dynamic_shapes=shapes)
        if hasattr(torch.export, "export_for_training")
        else torch.export.export(module, args, kwargs, dynamic_shapes=shapes)
    )


def quantizer():
    """What quantizes graphs: PyTorch's own up to 2.9, then torchao's."""
    try:
        from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
        from torchao.testing.pt2e._xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config
    except ImportError:
        from torch.ao.quantization.quantize_pt2e import convert_pt2e, prepare_pt2e
        from torch.ao.quantization.quantizer.xnnpack_quantizer import (
            XNNPACKQuantizer,
            get_symmetric_quantization_config,
        )
    return prepare_pt2e, convert_pt2e, XNNPACKQuantizer, get_symmetric_quantization_config


def pt2e(**options):
    def export(module, args, kwargs, shapes):
        prepare, convert, kind, settings = quantizer()
        if hasattr(torch.export, "export_for_training"):
            graph = torch.export.export_for_training(module, args, kwargs, dynamic_shapes=shapes).module()
        else:
            graph = torch.export.export(module, args, kwargs, dynamic_shapes=shapes).module()
        prepared = prepare(graph, kind().set_global(settings(**options)))
        prepared(*args, **kwargs)
        return torch.export.export(convert(prepared), args, kwargs, dynamic_shapes=shapes)

    return export


def cases(Case):
    cond = torch.cond
    made = []

    def add(name, make, calls, **options):
        made.append(Case(name, make, calls, **options))

    batch = {0: dim("batch", 2, 64)}

    # ---- nets with sizes that may change ----
    add(
        "mlp",
        MLP,
        [(seeded(3, 4),), (seeded(2, 4),), (seeded(64, 4),)],
        refused=[(seeded(65, 4),), (seeded(1, 4),), (seeded(3, 5),), (seeded(3, 4, 1),), (ids(3, 4),)],
        shapes=[batch],
        grads=True,
        strict=True,
    )
    add("mlp_fixed", MLP, [(seeded(3, 4),)], refused=[(seeded(4, 4),), (seeded(3, 4).double(),)], strict=True)
    for norm_first in (False, True):
        add(
            "encoder_%s" % ("pre" if norm_first else "post"),
            lambda n=norm_first: Encoder(n),
            [(ids(b, t), ids(b, t, high=4) > 0) for b, t in ((2, 7), (3, 9), (5, 31))],
            refused=[(ids(2, 65), ids(2, 65) > 0), (ids(2, 7), ids(2, 8) > 0)],
            shapes=[{0: dim("b", 2, 32), 1: dim("t", 2, 64)}] * 2,
        )
    add(
        "bert",
        Bert,
        [(ids(b, t), ids(b, t, high=3) > 0, ids(b, t, high=2)) for b, t in ((2, 7), (3, 9), (5, 31))],
        refused=[(ids(2, 65), ids(2, 65) > 0, ids(2, 65, high=2)), (ids(2, 7), ids(3, 7) > 0, ids(2, 7, high=2))],
        shapes=[{0: dim("b", 2, 32), 1: dim("t", 2, 64)}] * 3,
        strict=True,
    )
    add(
        "gpt",
        GPT,
        [(ids(b, t),) for b, t in ((2, 7), (3, 9), (5, 31))],
        refused=[(ids(2, 65),)],
        shapes=[{0: AUTO, 1: AUTO}],
        strict=True,
    )
    add(
        "llama_prompt",
        Llama,
        [(ids(b, t),) for b, t in ((2, 7), (3, 9), (5, 31))],
        shapes={"words": {0: dim("b", 2, 32), 1: dim("t", 2, 64)}},
    )

    def caches(b, past):
        return [(seeded(b, 2, past, 8, seed=i), seeded(b, 2, past, 8, seed=i + 9)) for i in range(2)]

    b, past = dim("b", 2, 32), dim("past", 2, 64)
    add(
        "llama_step",
        Llama,
        [(ids(b, 1), caches(b, t)) for b, t in ((2, 7), (3, 9), (5, 31))],
        refused=[(ids(2, 1), caches(3, 7)), (ids(2, 1),)],
        shapes={"words": {0: b}, "caches": [({0: b, 2: past}, {0: b, 2: past})] * 2},
    )
    add(
        "seq2seq",
        Seq2Seq,
        [(ids(b, s), ids(b, t)) for b, s, t in ((2, 7, 5), (3, 9, 4), (5, 31, 11))],
        shapes=[{0: b, 1: dim("s", 2, 64)}, {0: b, 1: dim("t", 2, 64)}],
    )
    add(
        "unet",
        UNet,
        [(seeded(b, 3, h, w),) for b, h, w in ((1, 16, 24), (1, 18, 20), (1, 30, 32))],
        shapes=[{2: 2 * dim("h", 4, 64), 3: 2 * dim("w", 4, 64)}],
        refused=[(seeded(1, 3, 17, 24),)],
        grads=True,
    )
    for kind in ("LSTM", "GRU", "RNN"):
        add(kind.lower(), lambda k=kind: Recurrent(k), [(ids(b, t),) for b, t in ((2, 7), (2, 7))])
        add(
            kind.lower() + "_dynamic",
            lambda k=kind: Recurrent(k),
            [(ids(b, 6),) for b in (2, 3, 5)],
            shapes=[{0: dim("b", 2, 32)}],
        )
    add("lstm_deep", lambda: Recurrent("LSTM", num_layers=2, bidirectional=True), [(ids(2, 5),)])
    add("gru_deep", lambda: Recurrent("GRU", num_layers=2, bidirectional=True), [(ids(2, 5),)])
    add("mha", lambda: nn.MultiheadAttention(16, 4, batch_first=True), [(seeded(2, 5, 16),) * 3])
    add(
        "mha_need_no_weights",
        lambda: nn.MultiheadAttention(16, 4, batch_first=True),
        [((seeded(2, 5, 16),) * 3, {"need_weights": False})],
    )

    # ---- inputs, outputs, state ----
    add("stateful", Stateful, [(seeded(3, 4, seed=i),) for i in range(4)], strict=True)
    add("key_cache", KeyCache, [(seeded(1, 2, 4, seed=i), torch.tensor([2 * i, 2 * i + 1])) for i in range(3)])

    def writes(self, x, y):
        x.add_(1)
        y[:, 0] = x[:, 1]
        return x * y

    add("inputs_written", module(writes), [(seeded(3, 4), seeded(3, 4, seed=2))], strict=True)

    def nested(self, a, b, *, scale=2.0, extra=None):
        x = a["left"] + a["right"][0] * scale
        pair = Pair(x, b.first - b.second)
        return {"sum": x, "items": [x * 2, None, (x.sum(), 3)], "pair": pair}

    def nested_alike(self, a, b):
        x = a["left"] + a["right"] * b[0][1]
        return {"sum": x, "difference": x - b[1][0]}, [(x, None), {"k": x * 2}], Pair(x, x.sum())

    alike = {"left": seeded(2, 3), "right": seeded(2, 3, seed=2)}
    add("nested_alike", module(nested_alike), [(alike, [[seeded(2, 3), seeded(3)], [seeded(1)]])], strict=True)
    value = {"left": seeded(2, 3), "right": [seeded(2, 3, seed=2)]}
    add("nested", module(nested), [((value, Pair(seeded(2), seeded(2, seed=3))), {"scale": 0.5})])
    add("nested_none", module(nested), [((value, Pair(seeded(2), seeded(2, seed=3))), {"scale": 3, "extra": None})])

    def names(self, x, *, weight, bias=None, mode="a"):
        y = x * weight
        return y if bias is None else y + bias

    add(
        "kwargs",
        module(names),
        [
            ((seeded(2, 3),), {"weight": seeded(3), "bias": seeded(3, seed=4)}),
            ((seeded(2, 3),), {"bias": seeded(3, seed=4), "weight": seeded(3)}),
        ],
    )
    add(
        "kwargs_none",
        module(names),
        [((seeded(2, 3),), {"weight": seeded(3), "bias": None, "mode": "b"})],
        refused=[((seeded(2, 3),), {"weight": seeded(3), "bias": None, "mode": "c"})],
    )

    def many(self, *xs, **named):
        return sum(xs) + named["k"], xs[0], None

    add("varargs", module(many), [((seeded(2), seeded(2, seed=2), seeded(2, seed=3)), {"k": seeded(2, seed=4)})])

    def numbers(self, x, n: int, f: float, flag: bool, name: str):
        return x[:n] * f if flag else x

    add(
        "number_inputs",
        module(numbers),
        [(seeded(5), 3, 0.5, True, "hey")],
        refused=[(seeded(5), 4, 0.5, True, "hey"), (seeded(5), 3, 0.5, False, "hey")],
    )

    def symbolic_number(self, x, n: int):
        return x * n, n + 1

    add(
        "number_dynamic",
        module(symbolic_number),
        [(seeded(5), 7), (seeded(5), 9)],
        shapes=[None, getattr(torch.export.Dim, "DYNAMIC", None)],
    )

    def ordered(self, x):
        return collections.OrderedDict(b=x + 1, a=x - 1)

    add("ordered", module(ordered), [(seeded(3),)])

    def same_output(self, x):
        y = x + 1
        return y, y, x, self.w

    add("same_output", module(same_output, w=torch.ones(2)), [(seeded(3),)])

    def constants(self, x):
        return x + torch.tensor([1.0, 2.0, 3.0]) + self.table[0], torch.tensor(7), torch.zeros(2)

    add("constants", module(constants, table=torch.arange(6.0).view(2, 3)), [(seeded(3),)], strict=True)

    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)
            self.b.weight = self.a.weight
            self.register_buffer("whole", torch.arange(8.0))
            self.register_buffer("part", self.whole[2:6])

        def forward(self, x):
            self.part.add_(1)
            return self.b(self.a(x)) + self.whole[:4] + self.part

    add("tied", Shared, [(seeded(2, 4),), (seeded(2, 4),)])
    add("tied_head", Llama, [(ids(2, 5),)])

    # ---- sizes in arithmetic ----
    b2, n2 = dim("b", 2, 32), dim("n", 4, 64)

    def sizes(self, x):
        n = x.size(0)
        y = torch.full((n,), 2.0) + torch.arange(n)
        half = n // 2
        return (
            y,
            x[:half],
            x.reshape(-1, 2) if x.size(1) % 2 == 0 else x,
            torch.zeros(min(n, 8), max(n, 3)),
            n * 2,
            x.new_ones(n + 1),
            n % 3,
            n / 2,
        )

    add("sizes", module(sizes), [(seeded(n, 4),) for n in (6, 9, 31)], shapes=[{0: AUTO}], strict=True)

    def two_sizes(self, x, y):
        return torch.cat([x, y], 0), x.size(0) + y.size(0), torch.outer(x.sum(1), y.sum(1)).view(-1)

    add(
        "two_sizes",
        module(two_sizes),
        [(seeded(m, 3), seeded(n, 3)) for m, n in ((4, 6), (5, 5), (9, 2))],
        shapes=[{0: dim("m", 2, 64)}, {0: dim("n", 2, 64)}],
        strict=True,
    )

    def related(self, x, y):
        return x + y[1:]

    d = dim("d", 2, 63)
    add(
        "related",
        module(related),
        [(seeded(n), seeded(n + 1)) for n in (4, 6, 9)],
        refused=[(seeded(4), seeded(6)), (seeded(4), seeded(4)), (seeded(64), seeded(65))],
        shapes=[{0: d}, {0: d + 1}],
    )

    def windows(self, x):
        b, t, c = x.shape
        x = F.pad(x, (0, 0, 0, (4 - t % 4) % 4))
        return x.view(b, -1, 4, c).mean(2), -t, t**2

    add(
        "windows",
        module(windows),
        [(seeded(b, t, 3),) for b, t in ((2, 7), (3, 8), (5, 31))],
        shapes=[{0: b2, 1: dim("t", 5, 64)}],
    )

    def checked(self, x):
        torch._check(x.size(0) >= 4)
        torch._check(x.size(0) != 13)
        return x[:4] * x.size(0)

    add(
        "checked",
        module(checked),
        [(seeded(n),) for n in (6, 9)],
        refused=[(seeded(3),)],
        shapes=[{0: getattr(torch.export.Dim, "DYNAMIC", None)}],
    )

    def from_data(self, x, n):
        k = n.item()
        torch._check(k >= 2)
        torch._check(k <= x.size(0))
        return x[:k].sum(0), x.new_zeros(k), k

    add(
        "from_data",
        module(from_data),
        [(seeded(6, 3), torch.tensor(n)) for n in (2, 4, 6)],
        refused=[(seeded(6, 3), torch.tensor(7)), (seeded(6, 3), torch.tensor(1))],
    )

    def masked(self, x):
        found = x[x > 0]
        places = (x > 0).nonzero()
        return found * 2, places, found.size(0)

    add("masked", module(masked), [(seeded(3, 4, seed=i),) for i in range(3)])

    def repeated(self, x, n):
        return x.repeat_interleave(n, dim=0)

    add(
        "repeated",
        module(repeated),
        [(seeded(3, 2), torch.tensor([1, 2, 3])), (seeded(3, 2), torch.tensor([0, 4, 1]))],
    )

    def gathered(self, x, at, y):
        z = x.scatter(1, at, y)
        return (
            z.gather(1, at),
            z.index_select(0, at[0] % x.size(0)),
            x[at[0] % x.size(0), :2],
            torch.cat([x, z], 1)[:, ::2],
        )

    add(
        "gathered",
        module(gathered),
        [(seeded(b, 6), ids(b, 3, high=6), seeded(b, 3)) for b in (2, 3, 5)],
        shapes=[{0: b2}, {0: b2}, {0: b2}],
    )

    def indexed(self, x, at):
        x = x.clone()
        x[at] = 1.0
        x[:, 1:3] += 2
        x.index_put_((at,), x[at] * 2, accumulate=True)
        x.index_add_(0, at, x[at])
        x.masked_fill_(x > 3, 0.5)
        return x.t(), x[..., None, ::2], x[at, at % x.size(1)]

    add("indexed", module(indexed), [(seeded(b, 6), ids(3, high=2)) for b in (2, 3, 5)], shapes=[{0: b2}, None])

    # ---- attention ----
    def attention(self, q, k, v, mask):
        return (
            F.scaled_dot_product_attention(q, k, v),
            F.scaled_dot_product_attention(q, k, v, is_causal=True),
            F.scaled_dot_product_attention(q, k, v, attn_mask=mask),
            F.scaled_dot_product_attention(q, k, v, scale=0.3),
            F.scaled_dot_product_attention(q, k, v, attn_mask=mask > 0),
        )

    t2 = dim("t", 2, 64)
    add(
        "attention",
        module(attention),
        [
            tuple(seeded(b, 2, t, 8, seed=i) for i in range(3)) + (seeded(t, t),)
            for b, t in ((2, 5), (3, 7), (2, 33))
        ],
        shapes=[{0: b2, 2: t2}] * 3 + [{0: t2, 1: t2}],
        grads=True,
    )

    def grouped(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, enable_gqa=True)

    add(
        "attention_grouped", module(grouped), [(seeded(2, 4, 5, 8), seeded(2, 2, 5, 8), seeded(2, 2, 5, 8, seed=3))]
    )

    # ---- control flow ----
    def branches(self, x):
        return cond(x.sum() > 0, lambda x: x * 2 + self.w, lambda x: x - 1, (x,))

    add("cond", module(branches, w=torch.ones(3)), [(seeded(3) + 1,), (seeded(3) - 1,)], strict=True)

    def size_branch(self, x):
        return cond(x.size(0) > 4, lambda x: x.sin(), lambda x: x.cos(), (x,))

    add("cond_size", module(size_branch), [(seeded(3),), (seeded(6),)], shapes=[{0: dim("n", 2, 64)}])

    def nested_branch(self, x, flag):
        def inner(x):
            return cond(x.max() > 1, lambda x: (x + 1, x.sum()), lambda x: (x + 2, x.mean()), (x,))

        return cond(flag, inner, lambda x: (x * 3, x.max()), (x,))

    add(
        "cond_nested",
        module(nested_branch),
        [(seeded(3) + n, torch.tensor(f)) for n, f in ((2, True), (0, True), (0, False))],
    )

    def looped(self, x):
        from torch._higher_order_ops.while_loop import while_loop

        return while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, y * 2 + self.w), (torch.tensor(0), x))

    add("while_loop", module(looped, w=torch.ones(3)), [(seeded(3),)], strict=True)

    def looped_data(self, n, x):
        from torch._higher_order_ops.while_loop import while_loop

        return while_loop(lambda i, y: y.sum() < 10, lambda i, y: (i + 1, y + i), (n, x))

    add("while_loop_data", module(looped_data), [(torch.tensor(n), seeded(3)) for n in (1, 3)])

    def mapped(self, xs, y):
        from torch._higher_order_ops.map import map as torch_map

        return torch_map(lambda x, y: x * y + x.sum(), xs, y)

    add("map", module(mapped), [(seeded(4, 3), seeded(3)), (seeded(6, 3), seeded(3))], shapes=[{0: n2}, None])

    def scanned(self, init, xs):
        from torch._higher_order_ops.scan import scan

        return scan(lambda c, x: (c * 0.5 + x, c.sin() + x), init, xs, dim=0)

    add("scan", module(scanned), [(seeded(3), seeded(5, 3))], strict=True)

    def associative(self, xs):
        from torch._higher_order_ops.associative_scan import associative_scan

        return associative_scan(lambda a, b: a + b, xs, 0, combine_mode="generic")

    add("associative_scan", module(associative), [(seeded(5, 3),)])

    def checkpointed(self, x):
        from torch.utils.checkpoint import checkpoint

        return checkpoint(lambda x: self.net(x).relu(), x, use_reentrant=False)

    add("checkpoint", module(checkpointed, net=lambda: nn.Linear(3, 3)), [(seeded(2, 3),)])

    # ---- dtypes, autocast, no_grad, random, training ----
    add("autocast", Autocast, [(seeded(3, 8),)], loose=1e-2, strict=True)
    add("no_grad", NoGrad, [(seeded(3, 4),)], grads=True, strict=True)

    def converted(self, x):
        return (
            x.to(torch.float64),
            x.half().float(),
            x.to(torch.bfloat16),
            x.long(),
            (x > 0).to(torch.uint8),
            x.type(torch.int32),
            x.to("cpu", torch.complex64),
            x.double() + 1,
            x.to(dtype=torch.float32, copy=True),
        )

    add("converted", module(converted), [(seeded(3, 4) * 5,)], strict=True)
    add("half_net", lambda: MLP().half(), [(seeded(3, 4).half(),)], loose=1e-2)
    add("bfloat16_net", lambda: MLP().bfloat16(), [(seeded(3, 4).bfloat16(),)], loose=2e-2)
    add("double_net", lambda: MLP().double(), [(seeded(3, 4).double(),)])

    def complexes(self, x):
        y = torch.fft.rfft(x)
        return torch.fft.irfft(y * self.w), torch.view_as_real(y), y.abs(), torch.fft.fft2(x).real

    add("complex", module(complexes, w=torch.ones(5, dtype=torch.complex64) * 1j), [(seeded(3, 8),)])

    def spectrogram(self, x):
        y = torch.stft(x, 16, 4, window=self.window, return_complex=True)
        return y.abs() ** 2, torch.istft(y, 16, 4, window=self.window)

    add("spectrogram", module(spectrogram, window=torch.hann_window(16)), [(seeded(2, 64),)])
    add("loss", Loss, [(seeded(4, 6), ids(4, high=3))], train=True, strict=True)
    add("loss_joint", Loss, [(seeded(4, 6), ids(4, high=3))], train=True, export=joint, decompose=False)
    add("mlp_training", MLP, [(seeded(4, 4),)], train=True, export=training)

    def autograd(self, x):
        y = x.detach().requires_grad_()
        with torch.enable_grad():
            (g,) = torch.autograd.grad((y * y * self.w).sum(), [y])
        return g

    add("gradient_inside", module(autograd, w=torch.arange(3.0)), [(seeded(2, 3),)])

    def transforms(self, x):
        return torch.func.vmap(lambda v: v.sin() * self.w)(x), torch.func.vmap(torch.dot)(x, x + 1)

    add("transforms", module(transforms, w=torch.arange(3.0)), [(seeded(2, 3),)])

    # ---- operators that decompose ----
    def layers(self, x):
        x = F.layer_norm(F.pixel_shuffle(x, 2), (8, 8))
        y = (
            F.adaptive_avg_pool2d(x, (3, 3)),
            F.adaptive_max_pool2d(x, 2),
            F.avg_pool2d(x, 2),
            F.max_pool2d(x, 3, 2, 1),
        )
        z = F.interpolate(x, scale_factor=2.0, mode="nearest"), F.interpolate(x, size=(5, 7), mode="bicubic")
        return (
            y
            + z
            + (
                F.pad(x, (1, 2, 1, 0), mode="reflect"),
                F.unfold(x, 3),
                F.hardswish(x),
                F.mish(x),
                F.softplus(x),
                F.elu(x),
                F.glu(x, 3),
                F.normalize(x, dim=-1),
                F.local_response_norm(x, 2),
                F.prelu(x, self.w),
            )
        )

    add("layers", module(layers, w=torch.tensor([0.1])), [(seeded(2, 8, 4, 4),)], grads=True, strict=True)

    def norms(self, x):
        return (
            F.batch_norm(x, self.mean, self.var, self.mean, self.var),
            F.group_norm(x, 2, self.mean, self.var),
            F.instance_norm(x),
            F.rms_norm(x, (5,)),
            F.batch_norm(x, self.mean.clone(), self.var.clone(), training=True),
        )

    add("norms", module(norms, mean=seeded(4), var=seeded(4) + 1), [(seeded(2, 4, 5),)], grads=True)

    def views(self, x):
        a, b, c = x.split([1, 2, 3], 1)
        d, e = x.chunk(2, 1)
        first, *_ = x.unbind(0)
        return (
            a + 0,
            b * 2,
            c.permute(1, 0),
            d.expand(2, *d.shape),
            e.squeeze(),
            first,
            x.unfold(1, 2, 2),
            x.diagonal(),
            x.as_strided((2, 2), (1, 2)),
            x.flatten(),
            x.view(3, 2, -1).transpose(0, 2),
            x.narrow(1, 1, 2),
            x.T.contiguous(),
            torch.stack([x, x]).movedim(0, 2),
            x.unsqueeze(-1).swapaxes(0, 1),
            x.view(torch.int32),
            x.roll(1, 0),
            x.flip(1),
            x.repeat(2, 1),
            x.tril(),
            x.unflatten(1, (2, 3)),
            torch.meshgrid(x[0], x[1], indexing="ij")[0],
        )

    add("views", module(views), [(seeded(3, 6),)], strict=True)

    def reductions(self, x):
        return tuple(
            tuple(y) if isinstance(y, tuple) else y
            for y in (
                x.sum(1),
                x.mean((0, 1), keepdim=True),
                x.var(1),
                x.std(0, unbiased=False),
                x.max(1),
                x.min(),
                x.argmax(1),
                x.topk(2),
                x.sort(descending=True),
                x.cumsum(1),
                x.prod(1),
                x.norm(),
                x.norm(1, 0),
                x.logsumexp(1),
                x.median(1),
                x.any(),
                x.all(1),
                x.amax(1),
                torch.var_mean(x, 1),
                x.softmax(1),
                x.log_softmax(0),
                torch.linalg.vector_norm(x, 2, 1),
                x.cumprod(0),
                torch.aminmax(x),
                x.nansum(),
                torch.histc(x, 4),
                x.kthvalue(2),
                x.count_nonzero(),
            )
        )

    add("reductions", module(reductions), [(seeded(3, 6),)])

    def pointwise(self, x, y):
        return (
            torch.where(x > y, x, 0.0),
            x.clamp(-0.2, 0.3),
            torch.maximum(x, y),
            x.addcmul(y, y, value=2),
            x.lerp(y, 0.3),
            x**2,
            2.0**x,
            x // 0.3,
            x % 0.3,
            torch.atan2(x, y),
            x.sign() * y.abs(),
            x.round(decimals=1),
            x.floor().long() | 3,
            ~(x > 0) ^ (y > 0),
            x.isnan(),
            x.erf(),
            x.sigmoid().logit(),
            torch.fmod(x, 0.3),
            x.reciprocal(),
            x.square(),
            torch.logaddexp(x, y),
            x.hypot(y),
            torch.rsub(x, 1),
            x.true_divide(3),
            torch.floor_divide(x, 0.2),
            x.trunc(),
            x.expm1(),
            torch.bitwise_left_shift((x * 9).long(), 2),
            x.nan_to_num(),
            torch.heaviside(x, y),
            x.remainder(y),
            x.sinc(),
        )

    add("pointwise", module(pointwise), [(seeded(3, 6), seeded(3, 6, seed=2))])

    def products(self, a, b, v):
        return (
            a @ b,
            torch.einsum("bij,bjk->bik", a, b),
            torch.bmm(a, b),
            a.matmul(v),
            torch.baddbmm(a, a, b),
            torch.addmv(v, a[0], v),
            torch.linalg.norm(a),
            torch.kron(a[0], b[0]),
            torch.cdist(a, b),
            torch.tensordot(a[0], b[0], 2),
            torch.linalg.inv(a + torch.eye(4)),
            torch.linalg.solve(a + torch.eye(4), b),
            torch.det(a),
            v.dot(v),
            torch.cross(a[:, :3, :3], b[:, :3, :3], dim=2),
            torch.linalg.cholesky(a @ a.mT + torch.eye(4)),
            torch.linalg.qr(a)[1].abs(),
            torch.trace(a[0]),
            torch.outer(v, v),
        )

    add("products", module(products), [(seeded(2, 4, 4), seeded(2, 4, 4, seed=2), seeded(4))], loose=1e-3)

    def losses(self, x, y, k):
        return (
            F.mse_loss(x, y),
            F.l1_loss(x, y),
            F.smooth_l1_loss(x, y),
            F.huber_loss(x, y),
            F.cross_entropy(x, k, label_smoothing=0.1),
            F.nll_loss(x, k),
            F.binary_cross_entropy_with_logits(x, y.sigmoid()),
            F.kl_div(x, y.softmax(1)),
            F.cosine_similarity(x, y),
            F.one_hot(k, 5),
            F.embedding_bag(k.view(1, -1), y),
            F.binary_cross_entropy(x.sigmoid(), y.sigmoid()),
        )

    add("losses", module(losses), [(seeded(4, 5), seeded(4, 5, seed=2), ids(4, high=4))])

    def sampled(self, x, grid):
        return (
            F.grid_sample(x, grid, align_corners=False),
            F.affine_grid(grid[:, :2, 0, :1].expand(-1, 2, 3), (2, 1, 4, 4), align_corners=True),
            F.conv1d(x.flatten(2), self.w1, padding="same"),
            F.conv_transpose2d(x, self.w2, stride=2),
            F.conv2d(x, self.w2, dilation=2, groups=1),
            F.conv3d(x.unsqueeze(2), self.w3),
            F.fold(F.unfold(x, 2), (6, 6), 2),
        )

    add(
        "sampled",
        module(sampled, w1=seeded(2, 3, 3), w2=seeded(3, 3, 2, 2), w3=seeded(2, 3, 1, 3, 3)),
        [(seeded(2, 3, 6, 6), seeded(2, 4, 4, 2))],
    )

    def created(self, x):
        return (
            torch.zeros_like(x),
            torch.ones(2, 3),
            torch.full_like(x, 3),
            torch.arange(5),
            torch.linspace(0, 1, 5),
            torch.eye(3),
            x.new_full((2,), 7),
            torch.tril_indices(3, 3),
            torch.arange(1.0, 3.0, 0.5),
            torch.empty(2, 0),
            torch.scalar_tensor(2.5),
            torch.logspace(0, 2, 3),
            torch.tensor([[1, 2], [3, 4]]),
            torch.triu(torch.ones(3, 3)),
            x.new_zeros(2),
            torch.bucketize(x, x.flatten().sort()[0]),
        )

    add("created", module(created), [(seeded(2, 3),)], strict=True)

    def in_place(self, x):
        y = x.clone()
        y.relu_().mul_(2).sub_(1)
        y[0].zero_()
        y.view(-1)[1::2].fill_(3)
        y.clamp_(min=-1)
        y.transpose(0, 1).add_(x.t())
        return y

    add("in_place", module(in_place), [(seeded(3, 4),)], strict=True)

    class Custom(nn.Module):
        def forward(self, x):
            return torch.ops.pt2_programs.twice(x) + 1

    def custom():
        if not hasattr(torch.ops.pt2_programs, "twice"):

            @torch.library.custom_op("pt2_programs::twice", mutates_args=())
            def twice(x: torch.Tensor) -> torch.Tensor:
                return x * 2

            twice.register_fake(lambda x: torch.empty_like(x))
        return Custom()

    add("custom_operator", custom, [(seeded(3),)])

    # ---- quantized ----
    class Convs(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.last = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3), nn.Linear(8, 4)

        def forward(self, x):
            x = self.a(x).relu()
            x = self.b(x) + x[:, :, 1:-1, 1:-1]
            return self.last(F.adaptive_avg_pool2d(x, 1).flatten(1))

    for name, how in (
        ("pt2e", pt2e()),
        ("pt2e_channels", pt2e(is_per_channel=True)),
        ("pt2e_dynamic", pt2e(is_dynamic=True)),
    ):
        add(name + "_convs", Convs, [(seeded(2, 3, 8, 8),)], export=how, loose=1e-2)
        add(name + "_mlp", MLP, [(seeded(3, 4),)], export=how, loose=1e-2)
    return made
