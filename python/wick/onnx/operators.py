"""Operators that give shapes as tensors, which exports follow."""
import wick


def shape_as_tensor(x):
    """The sizes as a tensor."""
    return wick._shape_as_tensor(x)


def reshape_from_tensor_shape(x, shape):
    """x in the shape that a tensor tells."""
    return wick._reshape_from_tensor(x, shape)
