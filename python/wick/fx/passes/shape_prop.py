"""Sizes, dtypes and strides of what Nodes give, found by running a Graph."""
import traceback
from typing import Any, Dict, NamedTuple, Optional, Tuple

import wick

from ..interpreter import Interpreter
from ..node import map_aggregate

__all__ = ["TensorMetadata", "ShapeProp"]


class TensorMetadata(NamedTuple):
    """What a Node's ``meta["tensor_meta"]`` says of a tensor."""
    shape: wick.Size
    dtype: wick.dtype
    requires_grad: bool
    stride: Tuple[int, ...]
    memory_format: Optional[wick.memory_format]
    is_quantized: bool
    qparams: Dict[str, Any]


_PER_TENSOR = (wick.per_tensor_affine, wick.per_tensor_symmetric)


def _quantization(tensor):
    scheme = tensor.qscheme()
    if scheme in _PER_TENSOR:
        return {"qscheme": scheme, "scale": tensor.q_scale(), "zero_point": tensor.q_zero_point()}
    return {"qscheme": scheme, "scale": tensor.q_per_channel_scales().tolist(),
            "zero_point": tensor.q_per_channel_zero_points().tolist(), "axis": tensor.q_per_channel_axis()}


def _extract_tensor_metadata(result):
    """What there is to say of one tensor."""
    formats = (wick.contiguous_format, wick.channels_last, wick.channels_last_3d)
    memory_format = next((one for one in formats if result.is_contiguous(memory_format=one)), None)
    return TensorMetadata(result.shape, result.dtype, result.requires_grad, result.stride(), memory_format,
                          result.is_quantized, _quantization(result) if result.is_quantized else {})


class ShapeProp(Interpreter):
    """Runs a Graph and writes to each Node's ``meta`` the class of its value (``type``) and, where there are tensors
    in it, their TensorMetadata in the value's structure (``tensor_meta``)."""

    def run_node(self, n):
        try:
            result = super().run_node(n)
        except Exception:
            traceback.print_exc()
            raise RuntimeError("ShapeProp error for: node={} with meta={}".format(n.format_node(), n.meta))
        found = []

        def described(leaf):
            if not isinstance(leaf, wick.Tensor):
                return leaf
            found.append(leaf)
            return _extract_tensor_metadata(leaf)
        meta = map_aggregate(result, described)
        if found:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args):
        """What the Graph gives for the arguments."""
        return self.run(*args)
