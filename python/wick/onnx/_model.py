"""A model of ONNX in memory: values, nodes, blocks; and what is known of every value.

A value is the output of a node, an input of a block, or a tensor that is known now (`tensor`): a parameter or a
constant. Sizes are ints, or names of sizes that are known when the model runs; a rank that isn't known is a shape
None.
"""
import itertools

import wick

# wick's dtype -> TensorProto.DataType
TYPES = {
    wick.float32: 1, wick.uint8: 2, wick.int8: 3, wick.int16: 5, wick.int32: 6, wick.int64: 7, wick.bool: 9,
    wick.float16: 10, wick.float64: 11, wick.complex64: 14, wick.complex128: 15, wick.bfloat16: 16,
}
SCALAR_NAMES = {
    wick.float32: "Float", wick.float64: "Double", wick.float16: "Half", wick.bfloat16: "BFloat16",
    wick.uint8: "Byte", wick.int8: "Char", wick.int16: "Short", wick.int32: "Int", wick.int64: "Long",
    wick.bool: "Bool", wick.complex64: "ComplexFloat", wick.complex128: "ComplexDouble",
}


class Value:
    """What a node gives, a block is given, or is known now."""

    __slots__ = ("name", "dtype", "shape", "tensor", "number", "size_name", "node", "parameter", "is_sequence",
                 "origin")

    def __init__(self, name=None, dtype=None, shape=None, tensor=None, parameter=False):
        self.name, self.dtype, self.tensor, self.parameter = name, dtype, tensor, parameter
        self.shape = None if shape is None else tuple(shape)
        self.number = None       # int, float or bool where it is a number of the program's
        self.size_name = None    # the name of the size that it is
        self.node = None
        self.is_sequence = False
        self.origin = self       # what nodes refer to: the same value may be a number or a tensor of the program

    def also(self, number=None):
        """The same value, as a number of the program (its kind) or as a tensor."""
        made = Value(self.name, self.dtype, self.shape, self.tensor, self.parameter)
        made.number, made.size_name, made.node, made.origin = number, self.size_name, self.node, self.origin
        return made

    @property
    def rank(self):
        """How many dimensions it has, or None."""
        return None if self.shape is None else len(self.shape)

    def __repr__(self):
        sizes = "?" if self.shape is None else ", ".join(str(size) for size in self.shape)
        kind = str(self.dtype).rpartition(".")[2]
        return "%%%s : %s(%s)" % (self.name, "seq of " + kind if self.is_sequence else kind, sizes)

    # What symbolic functions of torch ask of a value.
    def type(self):
        """Itself: it answers what is asked of a type."""
        return self

    def sizes(self):
        """The sizes, None for those that aren't known now; None without a rank."""
        return None if self.shape is None else [size if isinstance(size, int) else None for size in self.shape]

    def dim(self):
        """The rank, or None."""
        return self.rank

    def scalarType(self):
        """The dtype's old name, as "Float", or None."""
        return SCALAR_NAMES.get(self.dtype)

    def setType(self, other):
        """Takes over what is known of another value."""
        self.dtype, self.shape = other.dtype, other.shape
        return self


class Node:
    """An operator of ONNX with its attributes: name -> (letter of the kind, value)."""

    __slots__ = ("kind", "domain", "inputs", "outputs", "attributes", "name", "place")

    def __init__(self, kind, domain, inputs, outputs, attributes):
        self.kind, self.domain, self.inputs, self.outputs = kind, domain, list(inputs), list(outputs)
        self.attributes = attributes
        self.name, self.place = None, None
        for output in outputs:
            output.node = self

    def get(self, name, default=None):
        """An attribute's value."""
        found = self.attributes.get(name)
        return default if found is None else found[1]

    def blocks(self):
        """Nested blocks: branches, bodies."""
        return [value for letter, value in self.attributes.values() if letter == "g"]

    def _uses(self):
        yield from (value for value in self.inputs if value is not None)
        for block in self.blocks():
            yield from block.uses()


class Block:
    """Nodes in order, with inputs and outputs: a model's graph, a branch, a loop's body."""

    def __init__(self, name="", outer=None):
        self.name, self.outer, self.inputs, self.outputs, self.nodes = name, outer, [], [], []

    def uses(self):
        """Every value that is used here or in a nested block, as often as it is used."""
        for node in self.nodes:
            yield from node._uses()
        yield from self.outputs

    def all_nodes(self):
        """The nodes, nested ones too."""
        for node in self.nodes:
            yield node
            for block in node.blocks():
                yield from block.all_nodes()

    def remove_unused(self):
        """Takes out nodes whose outputs nobody uses. No operator of ONNX has other effects."""
        used = {id(value) for value in self.outputs}
        kept = []
        for node in reversed(self.nodes):
            if any(id(output) in used for output in node.outputs):
                for block in node.blocks():
                    block.remove_unused()
                used.update(id(value) for value in node._uses())
                kept.append(node)
        self.nodes = kept[::-1]


class Names:
    """Gives every value and every size a name of its own."""

    def __init__(self):
        self.taken, self.sizes, self.numbers = set(), set(), itertools.count()  # sizes: names that axes were given

    def take(self, wanted):
        """That name, or the first one like it that is free."""
        name, n = wanted, 0
        while name in self.taken:
            n += 1
            name = "%s_%d" % (wanted, n)
        self.taken.add(name)
        return name

    def size(self):
        """A name for a size that is known when the model runs."""
        return next(name for name in map("size_%d".__mod__, self.numbers) if name not in self.sizes)


def text(block, indent=0):
    """The block as one reads it."""
    tab = "  " * indent
    lines = [tab + "graph %s (" % block.name + ", ".join(map(repr, block.inputs)) + ") {"]
    for node in block.nodes:
        given = ", ".join("" if value is None else "%" + value.name for value in node.inputs)
        attributes = ", ".join("%s = %s" % (name, _short(value)) for name, (letter, value)
                               in sorted(node.attributes.items()) if letter != "g")
        name = node.domain + "::" + node.kind if node.domain else node.kind
        lines.append("%s  %s = %s%s(%s)" % (tab, ", ".join(map(repr, node.outputs)), name,
                                            "[%s]" % attributes if attributes else "", given))
        lines.extend(text(inner, indent + 2) for inner in node.blocks())
    lines.append("%s  return %s" % (tab, ", ".join("%" + value.name for value in block.outputs)))
    return "\n".join(lines + [tab + "}"])


def _short(value):
    shown = repr(value)
    return shown if len(shown) < 60 else shown[:57] + "..."
