"""Graph, Block, Node and Value as torch._C has them: programs in SSA form, to be read and to be written.

The parts stand on the handles of `_C`, which know whether what they stand for is still in its graph.
"""
import re

from .. import _C
from . import _graph_types

_show_places = True


class _Searched:
    """What has nodes: they are found by their kind."""

    __slots__ = ()

    def findAllNodes(self, kind, recurse=True):
        """The nodes of a kind, with `recurse` those of nested blocks."""
        found = []
        for node in self._own_nodes():
            if node.kind() == kind:
                found.append(node)
            if recurse:
                found.extend(node.findAllNodes(kind))
        return found

    def findNode(self, kind, recurse=True):
        """The first node of a kind, or None."""
        for node in self._own_nodes():
            if node.kind() == kind:
                return node
            found = node.findNode(kind) if recurse else None
            if found is not None:
                return found
        return None


class Graph(_Searched, _C._Graph):
    """A program in SSA form: a block of nodes, with a place where new ones go."""

    def __repr__(self):
        return self.text(_show_places)

    __str__ = __repr__

    def str(self, print_source_ranges=True):
        """Its text, with the places in the source after the nodes, or without."""
        return self.text(print_source_ranges)

    @staticmethod
    def set_global_print_source_ranges(enabled=True):
        """Whether str() of graphs shows places in the source."""
        global _show_places
        _show_places = bool(enabled)

    @staticmethod
    def global_print_source_ranges():
        """Whether str() of graphs shows places in the source."""
        return _show_places

    def str_with_places(self):
        """Its text, with the place in the source after every node."""
        return self.text(True)

    def nodes(self):
        """The nodes of its block, in order."""
        return iter(self.block().nodes_list())

    def _own_nodes(self):
        return self.block().nodes_list()

    def inputs(self):
        """What it is given."""
        return self.block().inputs()

    def outputs(self):
        """What it gives."""
        return self.block().outputs()

    def param_node(self):
        """The node that gives the inputs."""
        return self.block().paramNode()

    def return_node(self):
        """The node that takes the outputs."""
        return self.block().returnNode()

    def addInput(self, name=""):
        """A new input, a Tensor, after the others."""
        return self.block()._add_input(name)

    def eraseInput(self, index):
        """Takes out an input, which must be unused."""
        self.param_node().eraseOutput(index)

    def eraseOutput(self, index):
        """Takes out an output."""
        self.return_node().removeInput(index)

    def registerOutput(self, value):
        """A further output; its number."""
        return self.block().registerOutput(value)

    def permuteInputs(self, order):
        """Gives the inputs another order: the i-th is the one that had number order[i]."""
        old = list(self.inputs())
        if sorted(order) != list(range(len(old))):
            raise ValueError("permuteInputs: %r is no order of %d inputs" % (order, len(old)))
        for value in [old[i] for i in order]:
            name = value.debugName()
            made = self.param_node().addOutput()
            made.copy_type(value)
            value.replaceAllUsesWith(made)
            value.set_name("")
            made.set_name("" if name.isdigit() else name)
        for _ in old:
            self.eraseInput(0)

    def makeMultiOutputIntoTuple(self):
        """Several outputs become one tuple."""
        outputs = list(self.outputs())
        if len(outputs) == 1:
            return
        made = self.create("prim::TupleConstruct", outputs)
        self.appendNode(made)
        made.output().setType(_graph_types.TupleType([value.type() for value in outputs]))
        for _ in outputs:
            self.eraseOutput(0)
        self.registerOutput(made.output())

    # ---- where new nodes go ----

    def insertPoint(self):
        """The node in front of which new nodes go; the end of the block: its return node."""
        point = self.__dict__.get("_point")
        return point if point is not None else self.return_node()

    def setInsertPoint(self, point):
        """New nodes go in front of a node, or at the end of a block."""
        self._point = point.returnNode() if isinstance(point, Block) else point

    def insert_point_guard(self, point):
        """A context in which new nodes go in front of a node, or at the end of a block."""
        return _InsertPoint(self, point)

    def _before(self):
        point = self.insertPoint()
        if point.kind() == "prim::Return":
            return point._owner_block(), None
        return point.owningBlock(), point

    def create(self, kind, inputs=None, outputs=1):
        """A node that stands nowhere yet: insertNode, insertBefore and insertAfter put it somewhere."""
        if isinstance(inputs, int):
            inputs, outputs = (), inputs
        return self.new_node(kind, inputs or (), outputs)

    def createClone(self, node, map_value):
        """A node like another one, whose inputs are what map_value makes of the other's."""
        made = self.new_node(node.kind(), [map_value(value) for value in node.inputs()], node.outputsSize())
        made.copyAttributes(node)
        if node.graph == self:
            made.copyMetadata(node)
        for output, original in zip(made.outputs(), node.outputs()):
            output.setTypeAs(original)
        return made

    def insertNode(self, node):
        """Puts a new node where new nodes go."""
        node.place(*self._before())
        return node

    def appendNode(self, node):
        """Puts a new node at the end."""
        node.place(self.block(), None)
        return node

    def prependNode(self, node):
        """Puts a new node at the beginning."""
        first = self.block().nodes_list()
        node.place(self.block(), first[0] if first else None)
        return node

    def insertConstant(self, value):
        """A constant of that value, where new nodes go."""
        block, before = self._before()
        return block.insert_constant(before, value)

    def insert(self, name, values, **named):
        """A call of an operator, chosen by its arguments, where new nodes go; its result."""
        block, before = self._before()
        arguments = list(values) + list(named.values())
        arguments = [value if isinstance(value, Value) else block.insert_constant(before, value)
                     for value in arguments]
        return block.insert_call(before, name, arguments, tuple(named))

    def op(self, name, *values, **named):
        """insert(name, values): a call of an operator."""
        return self.insert(name, values, **named)

    def constant(self, value):
        """A constant of that value, where new nodes go."""
        return self.insertConstant(value)

    def insertGraph(self, graph, values):
        """A copy of another graph's nodes, where new nodes go; what its outputs are here."""
        block, before = self._before()
        return block.insert_graph(before, graph, list(values))

    # ---- what it means ----

    def alias_db(self, isFrozen=False, descend_function_calls=False):
        """What may share memory in it."""
        return _C.AliasDb(self)

    def dump_alias_db(self):
        """Prints what may share memory in it."""
        print(self.alias_db())

    def _repr_html_(self):
        from .. import _html
        return _html.graph(self)


class _InsertPoint:
    def __init__(self, graph, point):
        self.graph, self.point = graph, point

    def __enter__(self):
        self.before = self.graph.__dict__.get("_point")
        self.graph.setInsertPoint(self.point)

    def __exit__(self, *error):
        self.graph._point = self.before
        return False


class Block(_Searched, _C._Block):
    """Nodes in order, with inputs and outputs."""

    __slots__ = ()

    def nodes_list(self):
        """Its nodes, in order, in a list."""
        return super().nodes()

    def nodes(self):
        """Its nodes, in order."""
        return iter(super().nodes())

    _own_nodes = nodes_list

    def inputs(self):
        """What it is given."""
        return self.paramNode().outputs()

    def outputs(self):
        """What it gives."""
        return self.returnNode().inputs()

    def addInputToBlock(self):
        """A new input, a Tensor, after the others."""
        return self._add_input("")

    def _add_input(self, name):
        made = self.paramNode().addOutput()
        if name:
            made.setDebugName(name)
        return made

    def registerOutput(self, value):
        """A further output; its number."""
        node = self.returnNode()
        node.addInput(value)
        return node.inputsSize() - 1

    def addNode(self, kind, values):
        """A new node at the end, with one output."""
        made = self.graph.create(kind, list(values))
        made.place(self, None)
        return made


class Use:
    """A node that uses a value, and which of its inputs that is."""

    __slots__ = ("user", "offset")

    def __init__(self, user, offset):
        self.user, self.offset = user, offset

    def isAfter(self, other):
        """Whether the node stands after that of another use."""
        if self.user == other.user:
            return self.offset > other.offset
        return self.user.isAfter(other.user)

    def __repr__(self):
        return "Use(%r, %d)" % (self.user.kind(), self.offset)


class Value(_C._GraphValue):
    """What a node or a block gives, with its type and its users."""

    __slots__ = ()

    def type(self):
        """Its type."""
        kind = _graph_types.parse(self.type_text())
        if getattr(kind, "_sizes", None) and None in kind._sizes:  # texts have no symbols
            kind._sizes = [None if size == -1 else size + 1 if size < 0 else size for size in self.known_sizes()]
        return kind

    def setType(self, kind):
        """Says of which type it is."""
        self.set_type_text(kind.text() if isinstance(kind, _graph_types.TensorType) else kind.str())
        return self

    def setTypeAs(self, other):
        """The type of another value."""
        if other.graph == self.graph:
            self.copy_type(other)
        else:
            self.set_type_text(other.type_text())
        return self

    def inferTypeFrom(self, tensor):
        """The type of that tensor, with all that is known of it."""
        return self.setType(_graph_types.TensorType.create_from_tensor(tensor))

    def setDebugName(self, name):
        """Names it; where the name is taken, followed by a number."""
        self.set_name(name)
        return self

    def copyMetadata(self, other):
        """The type and name of another value."""
        self.setTypeAs(other)
        if not other.debugName().isdigit():
            self.set_name(other.debugName())
        return self

    def uses(self):
        """Who uses it."""
        return [Use(node, offset) for node, offset in self.users()]

    def requires_grad(self):
        """What its type says: False only where it is known that it needs no gradient."""
        return self.type().requires_grad()

    requiresGrad = requires_grad

    def isCompleteTensor(self):
        """Whether dtype, device, sizes and strides are known."""
        return self.type().is_complete()

    def __repr__(self):
        return "%s defined in (%s)" % (self.debugName(), self.node())


class Node(_Searched, _C._Node):
    """A node: an operator, a constant, control flow; or an end of a block."""

    __slots__ = ()

    def _owner_block(self):
        """The block that it is an end of."""
        return self.owningBlock()

    def inputs(self):
        """What it takes."""
        return iter(self.inputs_list())

    def outputs(self):
        """What it gives."""
        return iter(self.outputs_list())

    def blocks(self):
        """Its nested blocks."""
        return iter(self.blocks_list())

    def _own_nodes(self):
        return [node for block in self.blocks_list() for node in block.nodes_list()]

    def inputsSize(self):
        """How many inputs it has."""
        return len(self.inputs_list())

    def outputsSize(self):
        """How many outputs it has."""
        return len(self.outputs_list())

    def inputsAt(self, index):
        """An input by its number."""
        return _at(self.inputs_list(), index)

    def outputsAt(self, index):
        """An output by its number."""
        return _at(self.outputs_list(), index)

    def input(self):
        """Its only input."""
        return _only(self.inputs_list(), "input", self)

    def output(self):
        """Its only output."""
        return _only(self.outputs_list(), "output", self)

    def namedInput(self, name):
        """The input for the argument of that name."""
        found = super().namedInput(name)
        if found is None:
            raise RuntimeError("Couldn't find an argument called %s" % name)
        return found

    def hasMultipleOutputs(self):
        """Whether it has more than one output."""
        return self.outputsSize() > 1

    def hasUses(self):
        """Whether one of its outputs is used."""
        return any(value.users() for value in self.outputs())

    def schema(self):
        """The schema of its operator."""
        return self.schema_text() or "(no schema)"

    def matches(self, schema):
        """Whether its operator has that schema."""
        own = self.schema_text()
        return own != "" and _form(own) == _form(schema)

    def isNondeterministic(self):
        """Whether it draws random numbers."""
        return self.kind().partition("::")[2] in _DRAWING

    def mustBeNone(self):
        """Whether it gives None whatever happens."""
        return self.outputsSize() == 1 and (
            self.kind() == "prim::Constant" and not self.hasAttributes() or self.output().type_text() == "NoneType")

    def getModuleHierarchy(self):
        """The submodules that it was inlined from."""
        return self.scopeName()

    def prev(self):
        """The node in front of it; of the first one the block's param node."""
        before = self.previous()
        return before if before is not None else self.owningBlock().paramNode()

    def isAfter(self, other):
        """Whether it stands after another node."""
        return other.isBefore(self)

    # ---- changes ----

    def addInput(self, value):
        """A further input."""
        self.insert_input(self.inputsSize(), value)
        return value

    def replaceInput(self, index, value):
        """Puts another value in the place of an input; the old one."""
        old = self.inputsAt(index)
        self.set_input(index, value)
        return old

    def replaceInputWith(self, old, value):
        """Puts another value in the place of an input, wherever it stands."""
        for i, given in enumerate(self.inputs_list()):
            if given == old:
                self.set_input(i, value)

    def removeAllInputs(self):
        """Takes out all inputs."""
        for i in reversed(range(self.inputsSize())):
            self.removeInput(i)

    def addOutput(self):
        """A further output, a Tensor."""
        return self.insert_output(self.outputsSize())

    def replaceAllUsesWith(self, node):
        """Users of its outputs use those of another node."""
        for mine, others in zip(self.outputs_list(), node.outputs_list()):
            mine.replaceAllUsesWith(others)

    def insertBefore(self, other):
        """Puts a new node in front of another one."""
        if other.kind() == "prim::Return":
            self.place(other.owningBlock(), None)
        else:
            self.place(other.owningBlock(), other)
        return self

    def insertAfter(self, other):
        """Puts a new node after another one."""
        if other.kind() == "prim::Param":
            nodes = other.owningBlock().nodes_list()
            self.place(other.owningBlock(), nodes[0] if nodes else None)
        else:
            following = other.next()
            if following != self:
                self.place(other.owningBlock(), following)
        return self

    moveBefore, moveAfter = insertBefore, insertAfter

    # ---- attributes ----

    def hasAttribute(self, name):
        """Whether it has an attribute of that name."""
        return self.attribute_kind(name) is not None

    def hasAttributes(self):
        """Whether it has attributes."""
        return bool(self.attributeNames())

    def kindOf(self, name):
        """"i", "fs", "t", "g" ..."""
        kind = self.attribute_kind(name)
        if kind is None:
            raise RuntimeError("required keyword attribute '%s' is undefined" % name)
        return kind

    def _get(self, name, kind):
        if self.kindOf(name) != kind:
            raise RuntimeError("required keyword attribute '%s' has the wrong type" % name)
        return self.attribute(name)

    def _set(self, name, value):
        self.set_attribute(name, value)
        return self

    def ival(self, name):
        """An attribute of any kind of value."""
        return self._get(name, "ival")

    def g(self, name):
        """An attribute that is a graph: itself, changes are the node's."""
        self._get(name, "g")
        return self.attribute_graph(name)

    def gs(self, name):
        """An attribute that is a list of graphs."""
        self._get(name, "gs")
        found = []
        while True:
            try:
                found.append(self.attribute_graph(name, len(found)))
            except (RuntimeError, ValueError):
                return found

    def g_(self, name, graph):
        """Sets a graph, which is copied."""
        self.set_graph(name, graph)
        return self

    def ty(self, name):
        """An attribute that is a type."""
        return _graph_types.parse(self.attribute_type(name))

    def ty_(self, name, kind):
        """Sets a type."""
        self.set_type(name, kind.str())
        return self

    def copyAttributes(self, other):
        """Takes over the attributes of another node."""
        for name in other.attributeNames():
            kind = other.kindOf(name)
            if kind == "g":
                self.g_(name, other.g(name))
            elif kind == "ty":
                self.set_type(name, other.attribute_type(name))
            elif kind in ("gs", "tys"):
                raise NotImplementedError("copyAttributes: '%s' is a list of %s" % (
                    name, "graphs" if kind == "gs" else "types"))
            else:
                self.set_attribute(name, other.attribute(name))
        return self

    def __getitem__(self, name):
        kind = self.kindOf(name)
        return getattr(self, kind)(name)


def _accessors():
    """i, i_, fs, fs_ ...: attributes by their kind."""
    readers = {"i": int, "f": float, "c": complex, "s": str, "t": None, "is": list, "fs": list, "cs": list,
               "ss": list, "ts": list, "z": None}
    for letter, convert in readers.items():
        kind = {"z": "t"}.get(letter, letter)

        def read(self, name, kind=kind):
            return self._get(name, kind)

        def write(self, name, value, convert=convert):
            return self._set(name, convert(value) if convert else value)
        read.__doc__ = "An attribute of the kind \"%s\"." % kind
        write.__doc__ = "Sets an attribute of the kind \"%s\"." % kind
        setattr(Node, letter, read)
        setattr(Node, letter + "_", write)

    def write_any(self, name, value):
        return self._set(name, value)
    write_any.__doc__ = "Sets an attribute of any kind of value."
    Node.ival_ = write_any


_accessors()
_DRAWING = frozenset("""dropout alpha_dropout feature_dropout multinomial normal poisson binomial bernoulli rand
    rand_like randint randint_like randn randn_like randperm rrelu rrelu_with_noise uniform exponential geometric
    log_normal cauchy random native_dropout""".split())


def _at(values, index):
    if not 0 <= index < len(values):
        raise RuntimeError("there is no %d-th of %d" % (index, len(values)))
    return values[index]


def _only(values, what, node):
    if len(values) != 1:
        raise RuntimeError("%s has %d %ss, not one" % (node.kind(), len(values), what))
    return values[0]


def _form(schema):
    """A schema without spaces, its overload's name and the marks of what is written."""
    name, bracket, rest = re.sub(r"\s+", "", schema).partition("(")
    return name.partition(".")[0] + bracket + re.sub(r"\([a-z!|*>-]+\)", "", rest)


_C.set_graph_classes(Graph, Block, Node, Value)
