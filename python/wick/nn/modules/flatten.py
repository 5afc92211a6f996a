"""Dimensions joined into one, and one split into several."""
from wick import Tensor
from wick.nn.modules.module import Module


class Flatten(Module):
    """Joins the dimensions from start_dim to end_dim."""

    __constants__ = ['start_dim', 'end_dim']

    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self):
        return 'start_dim={}, end_dim={}'.format(self.start_dim, self.end_dim)


class Unflatten(Module):
    """Splits ``dim`` into dimensions of sizes ``unflattened_size``."""

    __constants__ = ['dim', 'unflattened_size']

    def __init__(self, dim, unflattened_size):
        super().__init__()
        if isinstance(dim, str):
            raise NotImplementedError('Unflatten of a named dimension is not supported')
        if not isinstance(dim, int):
            raise TypeError('unflattened_size must be tuple of ints, but found type {}'.format(type(dim).__name__))
        if not isinstance(unflattened_size, (tuple, list)):
            raise TypeError('unflattened_size must be a tuple of ints, but found type {}'
                            .format(type(unflattened_size).__name__))
        for i, size in enumerate(unflattened_size):
            if not isinstance(size, int):
                raise TypeError('unflattened_size must be tuple of ints, but found element of type {} at pos {}'
                                .format(type(size).__name__, i))
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self):
        return 'dim={}, unflattened_size={}'.format(self.dim, self.unflattened_size)
