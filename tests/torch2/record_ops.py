#!/usr/bin/env python3
"""Records what operators of the PyTorch that runs this do with their own sample inputs (torch.testing's op_db).

usage: record_ops.py [--samples N] [--dtypes float32,int64,...] [--errors] FOLDER [OPERATOR...]

Each sample of an operator becomes FOLDER/NAME.pt, a scripted program of one call (a traced one where it can't be
scripted), and NAME.io.pt with inputs, results and gradients, for `wick check NAME.pt NAME.io.pt`. What was left out, and
why, is in FOLDER/LEFT_OUT.tsv. Not for the test suite: it takes
minutes and a PyTorch of its own.
"""
import argparse, math, os, re, sys, warnings

import torch
from torch.testing._internal.common_methods_invocations import op_db

warnings.filterwarnings("ignore")
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--samples", type=int, default=3, help="of an operator, form and dtype, evenly picked")
parser.add_argument("--dtypes", default="float32,int64,complex64,bool,bfloat16,float64")
parser.add_argument("--errors", action="store_true", help="inputs that are refused, too")
parser.add_argument("--numel", type=int, default=20000, help="larger inputs are left out")
parser.add_argument("folder")
parser.add_argument("operators", nargs="*")
options = parser.parse_args()


class LeftOut(Exception):
    pass


# ---- one call as the text of a program ----


class Program:
    """A call with its tensors as arguments and everything else written out."""

    def __init__(self):
        self.tensors, self.types = [], []

    def argument(self, value, kind):
        self.types.append(kind)
        self.tensors.append(value)
        return "i%d" % (len(self.types) - 1)

    def literal(self, value):
        if isinstance(value, torch.Tensor):
            return self.argument(value, "Tensor")
        if isinstance(value, (list, tuple)) and value and all(isinstance(v, torch.Tensor) for v in value):
            return self.argument(list(value), "List[Tensor]")
        if isinstance(value, torch.Size):
            value = list(value)
        if isinstance(value, (list, tuple)):
            return "[%s]" % ", ".join(self.literal(v) for v in value)
        if value is None or isinstance(value, bool):
            return repr(value)
        if isinstance(value, int):
            if not -2**63 <= value < 2**63:
                raise LeftOut("a number of more than 64 bits")
            return repr(value)
        if isinstance(value, float):
            if math.isfinite(value):
                return repr(value)
            return "float('%s')" % value
        if isinstance(value, complex):
            return "complex(%s, %s)" % (self.literal(value.real), self.literal(value.imag))
        if isinstance(value, str):
            return repr(value)
        if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)):
            return str(value)
        if isinstance(value, torch.device):
            return "torch.device(%r)" % str(value)
        raise LeftOut("an argument of type " + type(value).__name__)

    def text(self, call):
        parameters = "".join(", i%d: %s" % pair for pair in enumerate(self.types))
        return "def forward(self%s):\n    return %s\n" % (parameters, call)


def spelled(op):
    """torch.nn.functional.relu, as a program names it."""
    for space in ("torch.nn.functional", "torch.linalg", "torch.special", "torch.fft", "torch._C._nn", "torch"):
        holder = torch._C._nn if space == "torch._C._nn" else sys.modules[space]
        if getattr(holder, getattr(op.op, "__name__", ""), None) is op.op:
            return space + "." + op.op.__name__
    found = torch
    for part in op.name.split("."):  # wrapped by the database, to seed it or to change its arguments' order
        found = getattr(found, part, None)
    if not callable(found):
        raise LeftOut("a function of the database's own")
    return "torch." + op.name


def forms(op):
    yield "function", lambda p, s: "%s(%s)" % (spelled(op), arguments(p, (s.input,) + tuple(s.args), s.kwargs))
    name, other = getattr(op.method_variant, "__name__", None), getattr(op.inplace_variant, "__name__", None)
    if name:
        yield "method", lambda p, s: "%s.%s(%s)" % (p.literal(s.input), name, arguments(p, s.args, s.kwargs))
    if other:
        yield "inplace", lambda p, s: "%s.%s(%s)" % (p.literal(s.input), other, arguments(p, s.args, s.kwargs))


def arguments(program, positional, named):
    words = [program.literal(v) for v in positional]
    return ", ".join(words + ["%s=%s" % (k, program.literal(v)) for k, v in named.items()])


class Traced(torch.nn.Module):
    def __init__(self, text):
        super().__init__()
        scope = {"torch": torch}
        exec(re.sub(r": (Tensor|List\[Tensor\])", "", text), scope)
        self.call = scope["forward"]

    def forward(self, *args):
        return self.call(self, *args)


def module_of(program, text):
    module = type("Case", (torch.jit.ScriptModule,), {})()  # methods belong to the class
    try:
        module.define(text)
        return module, "scripted"
    except Exception as reason:
        first = str(reason).strip().splitlines()[0] if str(reason).strip() else type(reason).__name__
    if any(kind != "Tensor" for kind in program.types):
        raise LeftOut("not scripted: " + first)
    try:
        return torch.jit.trace(Traced(text), tuple(copy(program.tensors)), check_trace=False), "traced"
    except Exception:
        raise LeftOut("neither scripted nor traced: " + first)


# ---- values ----


def copy(value):
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, (list, tuple)):
        return type(value)(copy(v) for v in value) if type(value) in (list, tuple) else [copy(v) for v in value]
    return value


def plain(value):
    """Only what files of cases hold; None says it is something else."""
    if isinstance(value, torch.Tensor):
        if value.layout != torch.strided or value.is_quantized:
            raise LeftOut("a result that is not strided")
        if type(value) is not torch.Tensor:
            raise LeftOut("a result of a subclass")
        return value.detach().clone()
    if isinstance(value, (list, tuple)) or type(value).__name__ == "ScriptList":
        items = [plain(v) for v in value]
        return tuple(items) if isinstance(value, tuple) else items
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return value
    raise LeftOut("a result of type " + type(value).__name__)


def tensors(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for v in value:
            yield from tensors(v)


def same(a, b):
    if isinstance(a, torch.Tensor):
        return a.shape == b.shape and a.dtype == b.dtype and torch.equal(torch.nan_to_num(a), torch.nan_to_num(b))
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return a == b or a != a


# ---- a case ----


def record(program, module, wants_grads):
    torch.manual_seed(5)
    with torch.no_grad():
        given = copy(program.tensors)
        output = plain(module(*given))
        for seed in range(6, 12):  # a few numbers can be the same by chance
            torch.manual_seed(seed)
            if not same(output, plain(module(*copy(program.tensors)))):
                raise LeftOut("random or uninitialized results")
    call = {"method": "forward", "args": tuple(copy(program.tensors)), "kwargs": {}, "output": output}
    after = plain(tuple(given))
    if not same(list(after), list(program.tensors)):
        call["args_after"] = after
    elif wants_grads:
        grads = gradients(program, module)
        if grads is not None:
            call["grads"] = grads
    return {"wick_io": 1, "entry": "forward", "calls": [call]}


def gradients(program, module):
    given = copy(program.tensors)
    asked = [i for i, t in enumerate(given) if isinstance(t, torch.Tensor) and t.is_floating_point()]
    for i in asked:
        given[i].requires_grad_(True)
    try:
        floating = [t for t in tensors(module(*given)) if t.is_floating_point() and t.requires_grad]
        if not asked or not floating:
            return None
        found = torch.autograd.grad(sum(t.sum() for t in floating), [given[i] for i in asked], allow_unused=True)
    except RuntimeError:
        return None
    grads = [None] * len(given)
    for i, g in zip(asked, found):
        grads[i] = None if g is None else plain(g)
    return grads


def write(name, module, io):
    torch.jit.save(module, os.path.join(options.folder, name + ".pt"))
    torch.save(io, os.path.join(options.folder, name + ".io.pt"))


def picked(samples):
    samples = [s for s in samples if sum(t.numel() for t in tensors([s.input, list(s.args)])) <= options.numel]
    step = max(1, len(samples) // options.samples)
    return samples[::step][: options.samples]


def cases_of(op, dtype, left_out):
    try:
        samples = picked(list(op.sample_inputs("cpu", dtype, requires_grad=False)))
    except Exception as reason:
        left_out(op, "", dtype, "no samples: %s" % str(reason).splitlines()[:1])
        return
    grads = dtype in (torch.float32, torch.float64) and op.supports_autograd
    for form, spell in forms(op):
        for index, sample in enumerate(samples):
            program = Program()
            try:
                text = program.text(spell(program, sample))
                module, _ = module_of(program, text)
                yield form, index, module, record(program, module, grads)
            except LeftOut as reason:
                left_out(op, form, dtype, reason)
            except Exception as reason:
                left_out(op, form, dtype, "raises: %s" % (str(reason).strip().splitlines() or [type(reason).__name__])[-1])


def refused(op, left_out):
    try:
        inputs = list(op.error_inputs("cpu"))
    except Exception:
        return
    for index, wrong in enumerate(inputs):
        program = Program()
        try:
            text = program.text(dict(forms(op))["function"](program, wrong.sample_input))
            module, how = module_of(program, text)
            if how == "traced":
                continue
            try:
                module(*copy(program.tensors))
            except Exception as error:
                words = [line for line in str(error).splitlines() if line.strip()]
                said = words[-1].split("RuntimeError: ")[-1].split("IndexError: ")[-1] if words else ""
                yield index, module, {"wick_io": 1, "entry": "forward", "calls": [], "raising_calls": [
                    {"method": "forward", "args": tuple(copy(program.tensors)), "kwargs": {}, "raises": said}]}
        except LeftOut as reason:
            left_out(op, "errors", None, reason)


def main():
    os.makedirs(options.folder, exist_ok=True)
    with open(os.path.join(options.folder, "LEFT_OUT.tsv"), "w") as log:

        def left_out(op, form, dtype, reason):
            log.write("%s\t%s\t%s\t%s\n" % (op.formatted_name, form, str(dtype).replace("torch.", ""), reason))

        count = 0
        for op in op_db:
            if (options.operators and op.name not in options.operators) or "empty" in op.name:  # uninitialized
                continue
            supported = op.supported_dtypes("cpu")
            name = op.formatted_name.replace(".", "_")
            for dtype in (getattr(torch, d) for d in options.dtypes.split(",")):
                if dtype not in supported:
                    continue
                for form, index, module, io in cases_of(op, dtype, left_out):
                    write("%s_%s_%s_%d" % (name, form, str(dtype)[6:], index), module, io)
                    count += 1
            if options.errors:
                for index, module, io in refused(op, left_out):
                    write("%s_error_%d" % (name, index), module, io)
                    count += 1
        print("%d cases of PyTorch %s" % (count, torch.__version__))


main()
