"""``torch.functional``: functions of tensors that are no single operators, under the name of torch's module."""
import wick

__all__ = [
    "align_tensors", "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_tensors",
    "cartesian_prod", "cdist", "chain_matmul", "einsum", "istft", "meshgrid", "norm", "split", "stft", "tensordot",
    "unique", "unique_consecutive",
]


def __getattr__(name):
    if name not in __all__:
        raise AttributeError("module 'wick.functional' has no attribute %r" % name)
    return getattr(wick, name)


def __dir__():
    return list(__all__)
