"""What is made better in a model before it is written: batch norms go into the convolutions before them, and what
nobody uses vanishes."""
import wick

from . import _model

SMALL = 1024  # elements of a constant that a nested block has for itself


def run(g):
    """All of it."""
    g.block.remove_unused()
    if g.folds_parameters:
        _fold_batch_norms(g)
    g.block.remove_unused()
    for block in _blocks(g.block):
        if block is not g.block:
            _keep_constants(g, block)


def _keep_constants(g, block):
    """Small constants of a nested block stand in it, as nodes: readers of models infer shapes from those there."""
    made = {}
    for node in block.nodes:
        for i, value in enumerate(node.inputs):
            if value is not None and value.tensor is not None and not value.parameter and \
                    value.tensor.numel() <= SMALL:
                if id(value) not in made:
                    output = _model.Value(g.names.take(block.name + "/constant"), value.dtype, value.shape)
                    made[id(value)] = _model.Node("Constant", "", [], [output], {"value": ("t", value.tensor)})
                    made[id(value)].name = g.names.take(block.name + "/Constant")
                node.inputs[i] = made[id(value)].outputs[0]
    block.nodes[:0] = made.values()


def _fold_batch_norms(g):
    counts = {}
    for value in g.block.uses():
        counts[id(value)] = counts.get(id(value), 0) + 1
    for block in _blocks(g.block):
        for node in block.nodes:
            if node.kind == "BatchNormalization" and len(node.outputs) == 1:
                _fold_batch_norm(g, block, node, counts)


def _blocks(block):
    yield block
    for node in block.nodes:
        for inner in node.blocks():
            yield from _blocks(inner)


def _fold_batch_norm(g, block, norm, counts):
    conv = norm.inputs[0].node
    if conv is None or conv.kind not in ("Conv", "ConvTranspose") or conv.domain or counts[id(norm.inputs[0])] != 1:
        return
    known = conv.inputs[1:] + norm.inputs[1:]
    if any(value is not None and (value.tensor is None or not value.dtype.is_floating_point) for value in known):
        return
    if conv.kind == "ConvTranspose" and conv.get("group", 1) != 1 or conv not in block.nodes:
        return
    scale, shift, mean, variance = (value.tensor for value in norm.inputs[1:])
    weight = conv.inputs[1].tensor
    factor = scale / wick.sqrt(variance + norm.get("epsilon", 1e-5))
    bias = conv.inputs[2].tensor if len(conv.inputs) > 2 and conv.inputs[2] is not None else wick.zeros_like(mean)
    sizes = [1] * weight.dim()
    sizes[0 if conv.kind == "Conv" else 1] = -1
    folded = [weight * factor.reshape(sizes), (bias - mean) * factor + shift]
    conv.inputs = [conv.inputs[0]] + [_parameter(g, tensor, conv) for tensor in folded]
    result = norm.outputs[0]  # keeps its name: it may be an output
    conv.outputs, result.node = [result], conv
    block.nodes.remove(norm)


def _parameter(g, tensor, conv):
    name = g.names.take("onnx::%s_%s" % (conv.kind, "weight" if tensor.dim() > 1 else "bias"))
    return _model.Value(name, tensor.dtype, tensor.shape, tensor, parameter=True)
