"""Operators as record_pt2.py exports them: one call each, of the first samples of torch.testing's database."""

import torch
from torch import nn
from torch.utils import _pytree as pytree

NUMEL = 5000  # larger samples are left out
SAMPLES = 2
RANDOM = (
    "dropout",
    "rand",
    "bernoulli",
    "multinomial",
    "normal",
    "cauchy",
    "exponential",
    "geometric",
    "uniform",
    "log_normal",
    "empty",
    "poisson",
    "rrelu",
    "pca_lowrank",
    "svd_lowrank",
)


class Call(nn.Module):
    """op(...) with the tensors of a sample as arguments and all else as it stands."""

    def __init__(self, op, spec, leaves):
        super().__init__()
        self.op, self.spec, self.leaves = op, spec, leaves

    def forward(self, *tensors):
        left = iter(tensors)
        filled = [next(left) if isinstance(leaf, torch.Tensor) else leaf for leaf in self.leaves]
        args, kwargs = pytree.tree_unflatten(filled, self.spec)
        result = self.op(*args, **kwargs)
        if isinstance(result, tuple):  # named ones are not written
            return tuple(result)
        return result


def cases(Case):
    from torch.testing._internal.common_methods_invocations import op_db

    made = []
    for op in op_db:
        if any(word in op.name for word in RANDOM) or torch.float32 not in op.supported_dtypes("cpu"):
            continue
        try:
            samples = list(op.sample_inputs("cpu", torch.float32, requires_grad=False))
        except Exception:
            continue
        count = 0
        for sample in samples[:: max(1, len(samples) // SAMPLES)]:
            leaves, spec = pytree.tree_flatten(((sample.input, *sample.args), dict(sample.kwargs)))
            given = tuple(leaf for leaf in leaves if isinstance(leaf, torch.Tensor))
            if not given or count == SAMPLES or sum(t.numel() for t in given) > NUMEL:
                continue
            name = "op_%s_%d" % (op.formatted_name.replace(".", "_"), count)
            made.append(Case(name, lambda op=op, spec=spec, leaves=leaves: Call(op.op, spec, leaves), [given]))
            count += 1
    return made
