"""On which devices the tensors of a graph are, as far as that follows from its inputs."""

_ZEROS = {"aten::cpu": "cpu", "aten::cuda": "cuda:0"}


def propagate(graph):
    """Writes devices into the types of tensors; whether any was new."""
    changed = False
    while _block(graph.block()):
        changed = True
    return changed


def _set(value, device):
    kind = value.type()
    if kind.kind() != "TensorType" or kind.device() == device or device is None:
        return False
    value.setType(kind.with_device(device))
    return True


def _of(value):
    kind = value.type()
    return kind.device() if kind.kind() == "TensorType" else None


def _block(block):
    changed = False
    for node in block.nodes():
        for inner in node.blocks():
            changed |= _block(inner)
        changed |= _node(node)
    return changed


def _node(node):
    kind = node.kind()
    if kind == "prim::If":
        sides = [list(block.outputs()) for block in node.blocks()]
        return _all(_set(output, _same([_of(side[i]) for side in sides])) for i, output in enumerate(node.outputs()))
    if kind == "prim::Loop":
        return _loop(node)
    if kind == "prim::Constant" or not node.schema_text():
        return False
    device = _given(node)
    return _all(_set(output, device) for output in node.outputs())


def _all(changes):
    return any(list(changes))


def _same(devices):
    return devices[0] if len(set(map(str, devices))) == 1 else None


def _loop(node):
    body, = node.blocks()
    before, outputs = list(node.inputs())[2:], list(node.outputs())
    inner, after = list(body.inputs())[1:], list(body.outputs())[1:]
    changed = False
    for given, value, result, output in zip(before, inner, after, outputs):
        device = _of(given)
        if device is not None and _of(result) in (None, device):
            came_back = result == value or _of(result) == device
            changed |= _set(value, device)
            if came_back:
                changed |= _set(output, device)
    return changed


def _given(node):
    """The device of what an operator gives: the one that it is told, or the one that all its tensors are on."""
    if node.kind() in _ZEROS:
        from .. import device
        return device(_ZEROS[node.kind()])
    try:
        named = node.namedInput("device")
    except RuntimeError:
        named = None
    if named is not None:
        told = named.toIValue()
        if told is not None:
            return told
        if named.type().kind() != "NoneType":
            return None
    tensors = [value for value in node.inputs() if value.type().kind() == "TensorType"]
    scalars = [value for value in tensors if value.type().dim() == 0]
    rest = [value for value in tensors if value not in scalars] or tensors
    return _same([_of(value) for value in rest]) if rest else None
