"""Forty-eight modules of TorchScript. They say `torch` and mean the package that runs them: PyTorch or wick.

`case(*inputs)` gives a class's example inputs. Modules are in evaluation mode with parameters that PyTorch made.
"""

import math
from typing import Dict, List, NamedTuple, Optional, Tuple

import torch
import torch.nn.functional as F
from functions import ramp
from torch import Tensor, nn

CASES = []  # (name, what makes the module, inputs as a function, whether it is traced)


def case(inputs, trace=True):
    """Notes a class with what makes its inputs."""
    def note(make):
        CASES.append((make.__name__, make, inputs, trace))
        return make
    return note


def vector():
    return (ramp(2, 6),)


def picture():
    return (ramp(2, 3, 8, 8),)


def sequence():
    return (ramp(5, 2, 4),)


# ---- layers ----

@case(vector)
class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(6, 8), nn.Linear(8, 3, bias=False)

    def forward(self, x):
        return self.second(F.relu(self.first(x)))


@case(picture)
class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1, stride=2)
        self.depthwise = nn.Conv2d(4, 4, 3, groups=4, padding="same")
        self.up = nn.ConvTranspose2d(4, 2, 2, stride=2)

    def forward(self, x):
        return self.up(torch.relu(self.depthwise(self.conv(x))))


@case(lambda: (ramp(2, 3, 10),))
class Convolutions1d(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(3, 4, 3, dilation=2)
        self.circular = nn.Conv1d(4, 4, 3, padding=1, padding_mode="circular")

    def forward(self, x):
        return self.circular(self.conv(x))


@case(lambda: (ramp(1, 2, 4, 4, 4),))
class Convolutions3d(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.pool = nn.Conv3d(2, 3, 3, padding=1), nn.MaxPool3d(2)

    def forward(self, x):
        return self.pool(self.conv(x))


@case(picture)
class BatchNorms(nn.Module):
    def __init__(self):
        super().__init__()
        self.two, self.one = nn.BatchNorm2d(3), nn.BatchNorm1d(3, affine=False)

    def forward(self, x):
        return self.one(self.two(x).flatten(2))


@case(picture)
class OtherNorms(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.group = nn.LayerNorm([8, 8]), nn.GroupNorm(3, 3)
        self.instance = nn.InstanceNorm2d(3, affine=True)
        self.local = nn.LocalResponseNorm(2)

    def forward(self, x):
        return self.local(self.instance(self.group(self.layer(x))))


@case(picture)
class Pools(nn.Module):
    def __init__(self):
        super().__init__()
        self.pools = nn.ModuleList([nn.MaxPool2d(2), nn.AvgPool2d(2), nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten()])

    def forward(self, x):
        for pool in self.pools:
            x = pool(x)
        return x


@case(vector)
class Activations(nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = nn.Sequential(nn.PReLU(), nn.GELU(), nn.ELU(), nn.Hardswish(), nn.SiLU(), nn.Softplus(),
                                   nn.LeakyReLU(0.2), nn.Hardtanh(), nn.ReLU6(inplace=False), nn.LogSoftmax(dim=1))

    def forward(self, x):
        return self.steps(x)


@case(sequence)
class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(4, 3, num_layers=2, bidirectional=True)

    def forward(self, x):
        y, (h, c) = self.rnn(x)
        return y, h + c


@case(sequence)
class Gru(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(4, 3, batch_first=True)

    def forward(self, x):
        return self.rnn(x)[0]


@case(sequence)
class Rnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(4, 3, nonlinearity="relu")

    def forward(self, x):
        y, h = self.rnn(x)
        return torch.cat([y, h])


@case(sequence)
class LstmCell(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(4, 3)

    def forward(self, x):
        h = torch.zeros(2, 3)
        c = torch.zeros(2, 3)
        outs = []
        for i in range(5):
            h, c = self.cell(x[i], (h, c))
            outs.append(h)
        return torch.stack(outs)


@case(sequence)
class OtherCells(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru, self.rnn = nn.GRUCell(4, 3), nn.RNNCell(4, 3)

    def forward(self, x):
        return self.gru(x[0]) + self.rnn(x[1], torch.ones(2, 3))


@case(sequence)
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 2)

    def forward(self, x):
        y, weights = self.attention(x * 1, x + 1, x)
        return y, weights


@case(sequence)
class EncoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, activation="gelu")

    def eval(self):  # PyTorch has an operator of its own for this layer in evaluation mode
        return self

    def forward(self, x):
        return self.layer(x)


@case(lambda: (ramp(4, 2, 4), ramp(3, 2, 4)))
class DecoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerDecoderLayer(4, 2, 8, dropout=0.0)

    def forward(self, memory, x):
        return self.layer(x, memory)


class Head(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)
        self.scale = 1.0 / math.sqrt(width)

    def forward(self, x, mask: Optional[Tensor] = None):
        scores = torch.matmul(self.q(x), self.k(x).transpose(-2, -1)) * self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        return torch.matmul(torch.softmax(scores, dim=-1), self.v(x))


@case(lambda: (ramp(2, 5, 4), torch.ones(5, 5).tril()))
class CausalBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.head, self.norm = Head(4), nn.LayerNorm(4)
        self.feed = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 4))

    def forward(self, x, mask):
        x = x + self.head(self.norm(x), mask)
        return x + self.feed(x)


@case(lambda: (torch.tensor([[1, 4, 2], [0, 3, 3]]),))
class Embeddings(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(5, 4, padding_idx=0), nn.Embedding(8, 4)
        self.bag = nn.EmbeddingBag(5, 4, mode="sum")

    def forward(self, i):
        places = torch.arange(i.size(1))
        return self.words(i) + self.places(places), self.bag(i)


@case(picture)
class Paddings(nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = nn.Sequential(nn.ReflectionPad2d(1), nn.ZeroPad2d((1, 0, 2, 0)), nn.ReplicationPad2d(1),
                                   nn.Upsample(scale_factor=2.0), nn.PixelUnshuffle(2))

    def forward(self, x):
        return self.steps(x)


@case(lambda: (ramp(2, 6), ramp(2, 5)))
class Bilinears(nn.Module):
    def __init__(self):
        super().__init__()
        self.bilinear, self.distance = nn.Bilinear(6, 5, 3), nn.CosineSimilarity(dim=1)

    def forward(self, x, y):
        return self.bilinear(x, y), self.distance(x[:, :5], y)


@case(lambda: (ramp(4, 3), torch.tensor([0, 2, 1, 2])))
class Losses(nn.Module):
    def __init__(self):
        super().__init__()
        self.entropy, self.square = nn.CrossEntropyLoss(), nn.MSELoss(reduction="sum")

    def forward(self, x, target):
        return self.entropy(x, target) + self.square(x, x * 2)


# ---- containers and sharing ----

@case(vector)
class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(6, 6) for _ in range(3)])
        self.norms = nn.ModuleList([nn.LayerNorm(6) for _ in range(3)])

    def forward(self, x):
        for layer, norm in zip(self.layers, self.norms):
            x = x + norm(layer(x))
        return x


@case(vector)
class Enumerated(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(6, 6), nn.Linear(6, 6)])

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = layer(x) * (i + 1)
        return x + self.layers[0](x)


@case(vector, trace=False)
class Chosen(nn.Module):
    def __init__(self):
        super().__init__()
        self.choices = nn.ModuleDict({"plain": nn.Linear(6, 2), "wide": nn.Sequential(nn.Linear(6, 2), nn.Tanh())})

    def forward(self, x):
        out: Dict[str, Tensor] = {}
        for name, layer in self.choices.items():
            out[name] = layer(x)
        return out, "plain" in self.choices, len(self.choices)


@case(vector)
class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 6)
        self.second = self.first
        self.third = nn.Linear(6, 6)
        self.third.weight = self.first.weight

    def forward(self, x):
        return self.second(self.first(x)) + self.third(x)


@case(vector)
class CalledTwice(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Perceptron()
        self.back = nn.Linear(3, 6)

    def forward(self, x):
        return self.inner(self.back(self.inner(x)))


@case(vector)
class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(nn.Sequential(nn.Linear(6, 4), nn.ReLU()), nn.Sequential(nn.Linear(4, 6)))

    def forward(self, x):
        return self.blocks(x) + self.blocks[0][0](x).sum()


@case(vector)
class ParameterLists(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(6) * 2)
        self.offset = nn.Parameter(torch.zeros(6), requires_grad=False)
        self.register_parameter("absent", None)

    def forward(self, x):
        y = x * self.scale + self.offset
        if self.absent is not None:
            y = y + self.absent
        return y


# ---- state ----

@case(vector)
class Running(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(6))
        self.register_buffer("count", torch.tensor(0))

    def forward(self, x):
        self.count += 1
        self.mean.mul_(0.9).add_(x.mean(0) * 0.1)
        return x - self.mean, self.count


@case(vector, trace=False)
class Assigned(nn.Module):
    total: Tensor
    history: List[int]

    def __init__(self):
        super().__init__()
        self.total = torch.zeros(6)
        self.calls = 0
        self.history = []

    def forward(self, x):
        self.total = self.total + x.sum(0)
        self.calls += 1
        self.history.append(self.calls)
        return self.total, self.calls, self.history


@case(vector, trace=False)
class Attributes(nn.Module):
    names: List[str]
    limit: torch.jit.Final[int]
    maybe: Optional[Tensor]
    table: Dict[str, float]

    __constants__ = ["factor"]

    def __init__(self):
        super().__init__()
        self.names = ["a", "b"]
        self.limit = 3
        self.factor = 0.5
        self.maybe = None
        self.table = {"x": 1.0}
        self.pair = (1, "two")

    def forward(self, x):
        y = x * self.factor
        maybe = self.maybe
        if maybe is not None:
            y = y + maybe
        for i in range(self.limit):
            y = y + self.table["x"]
        return y, self.names, self.pair


@case(vector, trace=False)
class Modes(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop, self.norm = nn.Dropout(0.5), nn.BatchNorm1d(6)

    def forward(self, x):
        if self.training:
            return self.drop(x) + 1
        return self.norm(self.drop(x))


@case(vector)
class Properties(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6, 4)
        self.offset = 2.0

    @property
    def width(self) -> int:
        return self.linear.weight.size(0)

    @property
    def shift(self) -> float:
        return self.offset

    @shift.setter
    def shift(self, value: float):
        self.offset = value

    def forward(self, x):
        return self.linear(x) * 4.0 + self.offset


# ---- methods ----

@case(vector)
class Methods(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6, 6)

    def helper(self, x, n: int = 2):
        for _ in range(n):
            x = torch.tanh(self.linear(x))
        return x

    @staticmethod
    def double(x):
        return x * 2

    def forward(self, x):
        return self.double(self.helper(x)) + self.helper(x, n=1)


@case(vector, trace=False)
class Exported(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6, 6)

    @torch.jit.export
    def encode(self, x, scale: float = 1.0):
        return self.linear(x) * scale

    @torch.jit.unused
    def slow(self, x: Tensor) -> Tensor:
        return torch.tensor([v for v in x])

    @torch.jit.ignore
    def not_here(self, x: Tensor) -> Tensor:
        return x

    def forward(self, x):
        if x.dim() > 5:
            x = self.slow(x)
        return self.encode(x, 2.0)


@torch.jit.interface
class Step(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass


class Doubles(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * 2


@case(vector, trace=False)
class Interfaces(nn.Module):
    step: Step

    def __init__(self):
        super().__init__()
        self.step = Doubles()

    def forward(self, x: Tensor) -> Tensor:
        return self.step.forward(x) + 1


class Overloaded(nn.Module):
    @torch.jit._overload_method  # noqa: F811
    def forward(self, x: Tensor) -> Tensor:  # noqa: F811
        ...

    @torch.jit._overload_method  # noqa: F811
    def forward(self, x: int) -> int:  # noqa: F811
        ...

    def forward(self, x):  # noqa: F811
        return x + x


@case(vector, trace=False)
class CallsOverloaded(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Overloaded()

    def forward(self, x):
        return self.inner(x), self.inner(3)


@case(vector, trace=False)
class Hooked(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6, 6)

        def before(self, inputs: Tuple[Tensor]) -> Tuple[Tensor]:
            return (inputs[0] * 2,)

        def after(self, inputs: Tuple[Tensor], output: Tensor) -> Tensor:
            return output + inputs[0]
        self.linear.register_forward_pre_hook(before)
        self.linear.register_forward_hook(after)

    def forward(self, x):
        return self.linear(x)


class Output(NamedTuple):
    mean: Tensor
    deviation: Tensor


@case(vector)
class NamedOutput(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean, self.deviation = nn.Linear(6, 2), nn.Linear(6, 2)

    def forward(self, x):
        return Output(self.mean(x), torch.exp(self.deviation(x)))


@case(lambda: (ramp(2, 6), {"bias": ramp(6)}), trace=False)
class TakesDict(nn.Module):
    def forward(self, x, options: Dict[str, Tensor]):
        y = x
        for key in options:
            y = y + options[key]
        return {"y": y, "x": x}


@case(vector)
class Forks(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(6, 3), nn.Linear(6, 3)

    def forward(self, x):
        future = torch.jit.fork(self.left, x)
        y = self.right(x)
        return y + torch.jit.wait(future)


# ---- traced in scripted, scripted in traced ----

def loops(x, n: int):
    for i in range(n):
        if bool(x.sum() > i):
            x = x - 1
        else:
            x = x * 2
    return x


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6, 6)

    def forward(self, x):
        if bool(x.sum() > 0):
            y = self.linear(x)
        else:
            y = -self.linear(x)
        return y


@case(vector)
class ScriptedInside(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.gate = nn.Linear(6, 6), torch.jit.script(Gate())

    def forward(self, x):
        return self.gate(self.before(x))


@case(vector)
class TracedInside(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.jit.trace(Perceptron(), ramp(2, 6))
        self.after = nn.Linear(3, 2)

    def forward(self, x):
        return self.after(self.inner(x))


scripted_loops = torch.jit.script(loops)


@case(vector)
class CallsScripted(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6, 6)

    def forward(self, x):
        return scripted_loops(self.linear(x), 3)


# ---- whole networks ----

@case(lambda: (ramp(1, 3, 16, 16),))
class Unet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2 = self.block(3, 4), self.block(4, 8)
        self.up, self.out = nn.ConvTranspose2d(8, 4, 2, 2), nn.Conv2d(8, 2, 1)

    def block(self, width_in, width_out):
        return nn.Sequential(nn.Conv2d(width_in, width_out, 3, padding=1), nn.BatchNorm2d(width_out),
                             nn.ReLU(inplace=True))

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        return self.out(torch.cat([a, self.up(b)], dim=1))


@case(lambda: (torch.tensor([[1, 2, 3, 4]]),))
class SmallLanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.rnn, self.out = nn.Embedding(10, 6), nn.GRU(6, 5, batch_first=True), nn.Linear(5, 10)
        self.drop = nn.Dropout(0.1)

    def forward(self, i):
        y, _ = self.rnn(self.drop(self.embed(i)))
        return F.log_softmax(self.out(y), dim=-1)


@case(lambda: (ramp(2, 6), 3), trace=False)
class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.GRUCell(6, 6), nn.Linear(6, 6)

    def forward(self, h, steps: int):
        x = torch.zeros_like(h)
        best: List[Tensor] = []
        for _ in range(steps):
            h = self.cell(x, h)
            scores = self.out(h)
            best.append(scores.argmax(1))
            x = F.one_hot(best[-1], 6).float()
        return torch.stack(best, 1), h


@case(lambda: (ramp(4, 2, 4), ramp(3, 2, 4)))
class WholeTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Transformer(4, 2, 1, 1, 8, dropout=0.0)

    def eval(self):
        return self

    def forward(self, source, target):
        return self.net(source, target)
