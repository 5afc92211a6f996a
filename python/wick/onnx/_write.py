"""Models of ONNX as bytes: the messages of onnx.proto, by the numbers of their fields."""
import os

import wick

from . import _model
from ._protobuf import Message
from .errors import OnnxExporterError

LIMIT = (1 << 31) - 1   # bytes of a protobuf message at most
_ATTRIBUTE = {"f": (2, 1), "i": (3, 2), "s": (4, 3), "t": (5, 4), "g": (6, 5)}      # letter -> field, type
_ATTRIBUTES = {"f": (7, 6), "i": (8, 7), "s": (9, 8), "t": (10, 9), "g": (11, 10)}


def _bytes_of(tensor):
    """The elements one after the other, lowest byte first, without a copy where they lie so."""
    tensor = tensor.contiguous()
    if tensor.numel() == 0:
        return b""
    if tensor.dtype == wick.bfloat16:
        tensor = tensor.view(wick.int16)
    elif tensor.dtype in (wick.complex64, wick.complex128):
        tensor = wick.view_as_real(tensor)
    return memoryview(tensor.reshape(-1)).cast("B")


class _Outside:
    """Where the bytes of large tensors go when they don't fit the model: a file beside it."""

    def __init__(self, path):
        self.path, self.name, self.pieces, self.size = path + ".data", os.path.basename(path) + ".data", [], 0

    def put(self, message, content):
        """Notes in a TensorProto where its bytes are."""
        for key, value in (("location", self.name), ("offset", str(self.size)), ("length", str(len(content)))):
            entry = Message()
            entry.text(1, key)
            entry.text(2, value)
            message.message(13, entry)
        message.integer(14, 1)
        self.pieces.append(content)
        self.size += len(content)

    def write(self):
        """The file."""
        with open(self.path, "wb") as file:
            for piece in self.pieces:
                file.write(piece)


def _tensor(tensor, name=None, outside=None):
    message, content = Message(), _bytes_of(tensor)
    message.integers(1, list(tensor.shape))
    message.integer(2, _model.TYPES[tensor.dtype])
    if name is not None:
        message.text(8, name)
    if outside is not None and len(content) >= 1024:
        outside.put(message, content)
    else:
        message.data(9, content)
    return message


def _value_info(value):
    message, kind, tensor = Message(), Message(), Message()
    if value.dtype is None:
        raise OnnxExporterError("the dtype of %r is not known" % value)
    tensor.integer(1, _model.TYPES[value.dtype])
    if value.shape is not None:
        shape = Message()
        for size in value.shape:
            dim = Message()
            dim.integer(1, size) if isinstance(size, int) else dim.text(2, size)
            shape.message(1, dim)
        tensor.message(2, shape)
    kind.message(1, tensor)
    if value.is_sequence:
        outer, sequence = Message(), Message()
        sequence.message(1, kind)
        outer.message(4, sequence)
        kind = outer
    message.text(1, value.name)
    message.message(2, kind)
    return message


def _put_one(message, field, letter, value):
    if letter == "f":
        message.real(field, value)
    elif letter == "i":
        message.integer(field, value)
    elif letter == "s":
        message.text(field, value)
    elif letter == "t":
        message.message(field, _tensor(value))
    else:
        message.message(field, _block(value))


def _attribute(name, letter, value):
    message = Message()
    message.text(1, name)
    if isinstance(value, list):
        field, kind = _ATTRIBUTES[letter]
        if letter == "i":
            message.integers(field, value)
        elif letter == "f":
            message.reals(field, value)
        else:
            for item in value:
                _put_one(message, field, letter, item)
    else:
        field, kind = _ATTRIBUTE[letter]
        _put_one(message, field, letter, value)
    message.integer(20, kind)
    return message


def _node(node):
    message = Message()
    for value in node.inputs:
        message.text(1, "" if value is None else value.name)
    for value in node.outputs:
        message.text(2, value.name)
    message.text(3, node.name)
    message.text(4, node.kind)
    for name, (letter, value) in sorted(node.attributes.items()):
        message.message(5, _attribute(name, letter, value))
    if node.domain:
        message.text(7, node.domain)
    return message


def _block(block, initializers=(), more_inputs=(), outside=None):
    message = Message()
    for node in block.nodes:
        message.message(1, _node(node))
    message.text(2, block.name)
    for value in initializers:
        message.message(5, _tensor(value.tensor, value.name, outside))
    for value in block.inputs + list(more_inputs):
        message.message(11, _value_info(value))
    for value in block.outputs:
        message.message(12, _value_info(value))
    return message


class Model:
    """A complete model: its graph, the tensors that it starts with, and the opsets that it uses."""

    def __init__(self, block, opset, domains):
        self.block, self.opset, self.domains = block, opset, domains
        self.initializers, self.more_inputs = [], []

    def collect(self, names, export_params, as_inputs):
        """Finds the tensors that nodes use, names the constants among them."""
        seen = set()
        for value in self.block.uses():
            if value.tensor is not None and id(value) not in seen:
                seen.add(id(value))
                if value.name is None:
                    value.name = names.take("constant")
                if value.parameter and not export_params:
                    self.more_inputs.append(value)
                    continue
                self.initializers.append(value)
                if value.parameter and as_inputs:
                    self.more_inputs.append(value)

    def message(self, outside=None):
        """The ModelProto."""
        message = Message()
        message.integer(1, 7 if self.opset < 15 else 8)
        message.text(2, "wick")
        message.text(3, wick.__version__)
        message.message(7, _block(self.block, self.initializers, self.more_inputs, outside))
        for domain, version in [("", self.opset)] + sorted(self.domains.items()):
            entry = Message()
            if domain:
                entry.text(1, domain)
            entry.integer(2, version)
            message.message(8, entry)
        return message

    def save(self, f):
        """Into a file, by its path or open; weights of a model above the limit into a file of their own."""
        message, outside = self.message(), None
        if message.size > LIMIT:
            if hasattr(f, "write"):
                raise OnnxExporterError("the model has %d bytes, protobuf allows %d: give a path, so that the "
                                        "weights can go into a file beside it" % (message.size, LIMIT))
            outside = _Outside(os.fspath(f))
            message = self.message(outside)
        if hasattr(f, "write"):
            return message.write(f)
        with open(f, "wb") as file:
            message.write(file)
        if outside is not None:
            outside.write()
        return None
