"""torch._C's passes over graphs of frozen modules: numbers and tensors of one value a channel go into the weights of
the convolution before them; weights of linear layers are transposed once. `fold_frozen_conv_bn` is wick's table's."""

import wick

from ._activations import _nodes, _put

_CONVOLUTIONS = ("aten::conv1d", "aten::conv2d", "aten::conv3d")


def _constant(value):
    """Of a constant its value, else None."""
    return value.toIValue() if value.node().kind() == "prim::Constant" else None


def _insert(graph, before, value):
    with graph.insert_point_guard(before):
        return graph.insertConstant(value)


class _Convolution:
    """A convolution with constant weights, of whose result one node takes the values."""

    def __init__(self, graph, node):
        self.graph, self.node = graph, node
        self.weight, self.bias = _constant(node.inputsAt(1)), _constant(node.inputsAt(2))

    @staticmethod
    def of(graph, user):
        """The one whose result a node takes first; None where there is none, or others see it."""
        node = user.inputsAt(0).node()
        if node.kind() not in _CONVOLUTIONS:
            return None
        if any(use.user != user and use.user.kind() != "aten::dim" for use in node.output().uses()):
            return None
        found = _Convolution(graph, node)
        known = isinstance(found.weight, wick.Tensor) and node.inputsAt(2).node().kind() == "prim::Constant"
        return found if known else None

    def set(self, weight, bias):
        """Gives it other weights."""
        self.node.replaceInput(1, _insert(self.graph, self.node, weight))
        self.node.replaceInput(2, _insert(self.graph, self.node, bias))

    def broadcast(self, value):
        """A number or tensor that adds nothing to the shape of the result and has one value a channel or one at all,
        as that many values of the weights' dtype; else None."""
        channels = self.weight.shape[0]
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            if isinstance(value, float) and not self.weight.is_floating_point():
                return None
            return wick.full((channels,), value, dtype=self.weight.dtype)
        dtype = self.weight.dtype
        if not isinstance(value, wick.Tensor) or wick.promote_types(value.dtype, dtype) != dtype:
            return None
        if value.ndim > self.weight.ndim or value.numel() not in (1, channels):
            return None
        if value.numel() != 1 and (value.ndim < 2 or value.shape[1] != channels or value.ndim != self.weight.ndim):
            return None
        return value.detach().to(self.weight.dtype).reshape(-1).expand(channels)


def _fold(graph, kinds, combine):
    changed = False
    for node in _nodes(graph.block()):
        if node.kind() not in kinds or node.inputsSize() not in (2, 3):
            continue
        convolution = _Convolution.of(graph, node)
        if convolution is None:
            continue
        factor = convolution.broadcast(_constant(node.inputsAt(1)))
        alpha = _constant(node.inputsAt(2)) if node.inputsSize() == 3 else 1
        if factor is None or not isinstance(alpha, (int, float)):
            continue
        with wick.no_grad():
            bias = convolution.bias
            if bias is None:
                bias = wick.zeros(convolution.weight.shape[0], dtype=convolution.weight.dtype)
            weight, bias = combine(node.kind(), convolution.weight.detach(), bias.detach(), factor, alpha)
        convolution.set(weight, bias)
        node.output().replaceAllUsesWith(convolution.node.output())
        node.destroy()
        changed = True
    return changed


def fold_frozen_conv_add_or_sub(graph):
    """What is added to a convolution with constant weights, or taken from it, goes into its bias; whether any did."""
    def combine(kind, weight, bias, value, alpha):
        return weight, getattr(wick, kind.partition("::")[2])(bias, value, alpha=alpha)
    return _fold(graph, ("aten::add", "aten::sub"), combine)


def fold_frozen_conv_mul_or_div(graph):
    """What a convolution with constant weights is multiplied with, or divided by, goes into them; whether any did."""
    def combine(kind, weight, bias, value, alpha):
        change = getattr(wick, kind.partition("::")[2])
        return change(weight, value.reshape([-1] + [1] * (weight.ndim - 1))), change(bias, value)
    return _fold(graph, ("aten::mul", "aten::div"), combine)


def transpose_frozen_linear(graph):
    """Writes linear layers of constant weights as products with the transposed weight, made once, and sums; whether
    there were any."""
    changed = False
    for node in _nodes(graph.block()):
        if node.kind() != "aten::linear":
            continue
        weight = _constant(node.inputsAt(1))
        if not isinstance(weight, wick.Tensor) or weight.ndim != 2:
            continue
        turned = _insert(graph, node, weight.detach().t().contiguous())
        product = graph.create("aten::matmul", [node.inputsAt(0), turned], 1)
        product.insertBefore(node)
        if node.inputsAt(2).node().mustBeNone():
            product.output().copyMetadata(node.output())
            node.output().replaceAllUsesWith(product.output())
        else:
            _put(graph, node, "aten::add", [product.output(), node.inputsAt(2), _insert(graph, node, 1)])
        node.destroy()
        changed = True
    return changed


def concat_frozen_linear(graph):
    """False: torch joins linear layers of one input on CUDA devices only, and so there is nothing to do."""
    return False


def fuse_frozen_conv_add_relu(graph):
    """Nothing: torch's fused operators of this kind are those of cuDNN."""


def optimize_frozen_graph(graph, optimize_numerics=True):
    """Takes out dropout, and where numbers may differ in their last digits, folds what follows convolutions."""
    graph.run_pass("remove_dropout")
    while optimize_numerics:
        before = graph.text(False)
        graph.run_pass("fold_frozen_conv_bn")
        changed = graph.text(False) != before
        changed |= fold_frozen_conv_add_or_sub(graph)
        changed |= fold_frozen_conv_mul_or_div(graph)
        if not changed:
            return
