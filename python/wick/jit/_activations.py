"""torch._C's passes that write few operators in another way: products and sums, activations in place."""

# that have a form in place which gives the same dtype
_ACTIVATIONS = frozenset("aten::" + name for name in (
    "celu", "elu", "gelu", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu", "relu", "relu6", "rrelu", "selu",
    "silu"))
# of which only the form in place becomes the other: they give floats of integers
_ACTIVATIONS_OF_FLOATS = frozenset(("aten::sigmoid", "aten::tanh"))


def _nodes(block):
    for node in list(block.nodes()):
        for inner in node.blocks():
            yield from _nodes(inner)
        yield node


def _put(graph, node, kind, inputs):
    """A node in the place of another one, of the same result."""
    made = graph.create(kind, inputs, 1)
    made.insertBefore(node)
    made.output().copyMetadata(node.output())
    node.output().replaceAllUsesWith(made.output())
    return made


def _is_one(value):
    return value.node().kind() == "prim::Constant" and value.toIValue() == 1


def _are_of_one_dtype(a, b):
    return a.type().dtype() is not None and a.type().dtype() == b.type().dtype()


def fuse_addmm(graph):
    """Writes `mm(a, b) + c` and `c + mm(a, b)` as addmm where a tensor of the same, known dtype is added once;
    whether it did."""
    changed = False
    for node in _nodes(graph.block()):
        if node.kind() != "aten::add" or node.inputsSize() != 3 or not _is_one(node.inputsAt(2)):
            continue
        product, other = node.inputsAt(0), node.inputsAt(1)
        if other.type().kind() != "TensorType":
            continue
        if product.node().kind() != "aten::mm":
            product, other = other, product
        if product.node().kind() != "aten::mm" or not _are_of_one_dtype(other, product.node().inputsAt(0)):
            continue
        with graph.insert_point_guard(node):
            one = graph.insertConstant(1)
        _put(graph, node, "aten::addmm", [other] + list(product.node().inputs()) + [one, one])
        changed = True
    return changed


def fuse_add_relu(graph):
    """Writes relu of a sum as one operator, in place where both are."""
    for node in _nodes(graph.block()):
        if node.kind() not in ("aten::relu", "aten::relu_"):
            continue
        added = node.input().node()
        in_place = added.kind() == "aten::add_" and node.kind() == "aten::relu_"
        if (in_place or added.kind() == "aten::add") and added.inputsSize() == 3 and len(node.input().uses()) == 1:
            _put(graph, node, "aten::_add_relu_" if in_place else "aten::_add_relu", list(added.inputs()))
            node.destroy()
            added.destroy()


def _is_of_one(value):
    """Whether the activation is the only one that sees the value, and nobody outside of the graph does."""
    return len(value.uses()) == 1 and value.node().kind() not in ("prim::Param", "prim::Constant")


def functional_to_inplace_activation(graph):
    """Lets activations work in place where nobody else sees what they take; whether it did."""
    aliases, changed = graph.alias_db(), False
    for node in _nodes(graph.block()):
        if node.kind() not in _ACTIVATIONS or not _is_of_one(node.inputsAt(0)):
            continue
        taken = node.inputsAt(0)
        if any(aliases.may_contain_alias(taken, value) for value in _others(graph, taken, node)):
            continue
        if not _same_dtype(taken, node.output()):
            continue
        made = graph.create(node.kind() + "_", list(node.inputs()), 1)
        made.insertBefore(node)
        made.output().copyMetadata(node.output())
        node.output().replaceAllUsesWith(made.output())
        node.destroy()
        aliases, changed = graph.alias_db(), True
    return changed


def _same_dtype(taken, given):
    before, after = taken.type().dtype(), given.type().dtype()
    return before is None or after is None or before == after


def _others(graph, taken, node):
    for value in graph.inputs():
        yield value
    for other in _nodes(graph.block()):
        for value in other.outputs():
            if value != taken and other != node and value.type().kind() == "TensorType":
                yield value


def inplace_to_functional_activation(graph):
    """Lets activations give a new tensor where nobody sees that what they take changes; whether it did."""
    changed = False
    for node in _nodes(graph.block()):
        kind = node.kind()[:-1]
        if not node.kind().endswith("_") or kind not in _ACTIVATIONS | _ACTIVATIONS_OF_FLOATS:
            continue
        if _is_of_one(node.inputsAt(0)):
            _put(graph, node, kind, list(node.inputs()))
            node.destroy()
            changed = True
    return changed


def filter_non_tensor_arguments(arguments):
    """The tensors among arguments by name."""
    from .. import Tensor
    return {name: value for name, value in arguments.items() if isinstance(value, Tensor)}
