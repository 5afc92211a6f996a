"""Walk: a program's graph, node by node, into nodes of ONNX.

What is known now (numbers, sizes, parameters) is computed now, branches that are decided now are walked alone, loops
whose length is known now are walked as often as they run. The rest becomes nodes, If and Loop. Of operators that
have no row the walk names all that the program has.
"""
import warnings

import wick

from ..jit import _graph_types
from . import _cells, _fold, _model, _rows
from ._cells import Cell, List
from .errors import OnnxExporterWarning, SymbolicValueError, UnsupportedOperatorError

_CONTROL = {}


def control(*kinds):
    """Notes how nodes that are no operators are walked: a function of the Walk, the node and its inputs."""
    def note(function):
        for kind in kinds:
            _CONTROL[kind] = function
        return function
    return note


def is_tensor(value):
    """Whether a value of the program's graph is a tensor."""
    return isinstance(value.type(), _graph_types.TensorType)


class Walk:
    """The state of an export: what the program's values are."""

    def __init__(self, builder, graph):
        self.g, self.graph = builder, graph
        self.depth, self.notes = 0, []      # of nested blocks of the model; for each, the cells written to
        self._env, self._parameters, self._tensors = {}, {}, {}
        self.assigned = {}                  # attributes that the program set

    # ---- the program's values ----

    def name_parameters(self, module):
        """Notes by which names the module's tensors go."""
        for named in (module.named_parameters(), module.named_buffers()):
            for name, tensor in named:
                self._parameters.setdefault(id(tensor), name)

    def of_python(self, thing):
        """A value of Python as one of the program's."""
        if isinstance(thing, wick.Tensor):
            return self._of_tensor(thing)
        if isinstance(thing, list):
            return List([self.of_python(item) for item in thing], self.depth)
        if isinstance(thing, tuple):
            return tuple(self.of_python(item) for item in thing)
        if isinstance(thing, dict):
            return {key: self.of_python(item) for key, item in thing.items()}
        return thing

    def _of_tensor(self, tensor):
        if id(tensor) not in self._tensors:
            name = self._parameters.get(id(tensor))
            value = self.g.constant(tensor) if name is None else \
                _model.Value(self.g.names.take(name), tensor.dtype, tensor.shape, tensor.detach(), parameter=True)
            self._tensors[id(tensor)] = tensor, Cell(self, value)
        return self._tensors[id(tensor)][1]

    def get(self, value):
        """What a value of the program's graph is."""
        return self._env[value.debugName()]

    def set(self, value, thing):
        """Says what a value of the program's graph is."""
        self._env[value.debugName()] = thing

    def held(self, value):
        """A value of the model as one of the program's: tensors can be written to."""
        if isinstance(value, _model.Value) and value.number is None and not value.is_sequence:
            return Cell(self, value)
        if isinstance(value, _model.Value) and value.is_sequence:
            made = List((), self.depth)
            made.sequence = value
            return made
        if isinstance(value, list):
            return List([self.held(item) for item in value], self.depth)
        if isinstance(value, tuple):
            return tuple(self.held(item) for item in value)
        return value

    def note_write(self, cell):
        """A tensor is written to: blocks of the model that it was made outside of give it back changed."""
        for depth, note in enumerate(self.notes, 1):
            if cell.depth < depth:
                note.setdefault(id(cell), (cell, cell.value))
        value = cell.value
        if value.parameter:
            warnings.warn("the program writes to %s: the model computes with what was written, and does not keep it "
                          "for the next call" % value.name, OnnxExporterWarning, stacklevel=2)

    # ---- blocks and nodes ----

    def block(self, block):
        """The nodes of a block of the program."""
        for node in block.nodes():
            self.node(node)

    def results(self, block):
        """The nodes of a block, and what it gives."""
        self.block(block)
        return [self.get(value) for value in block.outputs()]

    def node(self, node):
        """One node of the program."""
        kind, g = node.kind(), self.g
        g.place = node
        scope = node.scopeName().rpartition("/")[2]  # the innermost module's path
        g.scope = scope.replace("__module.model", "").replace("__module", "").replace(".", "/")
        handler, outputs = _CONTROL.get(kind), node.outputs_list()
        arguments = [self.get(value) for value in node.inputs_list()]
        try:
            found = self.call(kind, arguments, node) if handler is None else handler(self, node, *arguments)
        except SymbolicValueError as error:
            raise _with_place(error, node)
        for value, thing in zip(outputs, (found,) if len(outputs) == 1 else found or ()):
            self.set(value, self._with_type(thing, value))

    def _with_type(self, thing, value):
        """What a trace knows of a tensor that the model's rows don't."""
        found = thing.value if isinstance(thing, Cell) else None
        if found is not None and (found.dtype is None or found.shape is None) and is_tensor(value):
            kind = value.type()
            if found.dtype is None and kind.dtype() is not None:
                found.dtype = kind.dtype()
            if found.shape is None and kind.dim() is not None:
                found.shape = tuple(self.g.sizes.name() for _ in range(kind.dim()))
        return thing

    def call(self, kind, arguments, node=None):
        """An operator of the program for things of the program; what it gives."""
        own = _rows.OF_PROGRAM.get(kind)
        is_later = any(getattr(thing, "sequence", None) is not None for thing in arguments)
        if is_later and kind not in _rows.OF_SEQUENCES:
            raise SymbolicValueError("a list whose length is only known when the model runs")
        return own(self, *arguments) if own is not None else self.operator(kind, arguments, node)

    def arithmetic(self, kind, *arguments):
        """An operator of tensors and numbers."""
        return self.operator(kind, list(arguments), self.g.place)

    def operator(self, kind, arguments, node=None):
        """call() for what is no container."""
        plain = kind[:-1]
        if kind.endswith("_") and not kind.endswith("__") and arguments and isinstance(arguments[0], Cell):
            made = self.compute(plain, [_cells.value_of(thing) for thing in arguments], node, kind)
            target = arguments[0]
            made = made if made.dtype == target.value.dtype else self.g.cast(made, target.value.dtype)
            target.write(made)
            return target
        values = [_cells.value_of(thing) for thing in arguments]
        made = self.compute(kind, values, node)
        if arguments and isinstance(arguments[0], Cell):
            return self._in_memory_of(arguments[0], kind, values, made)
        return self.held(made)

    def _in_memory_of(self, base, kind, values, made):
        """What an operator made of a tensor: a view of it, pieces of it, or something new."""
        if kind in _rows.PIECES and isinstance(made, list):
            return List(_cells.pieces(self, base, kind, values, made), self.depth)
        if not isinstance(made, _model.Value) or kind in _rows.MAY_COPY and not base.is_contiguous():
            return self.held(made)
        if kind == "aten::to" and made is not values[0]:
            return self.held(made)
        if kind in _rows.VIEWS or kind in _rows.READ_ONLY_VIEWS:
            return Cell(self, made, base, (kind, values[1:]))
        return self.held(made)

    def compute(self, kind, values, node=None, said=None):
        """An operator for values of the model and of Python: computed now, or by nodes."""
        if self._folds(kind, values, node):
            return self._fold(kind, values, node)
        row = _rows.find(kind, self.g.opset)
        if row is None:
            raise UnsupportedOperatorError(self._missing(said or kind, node), self.g.opset)
        try:
            return row(self.g, *values)
        except (AttributeError, TypeError) as error:  # a list or a number where a row takes a tensor
            schema = node.schema_text() if node is not None and node.kind() == kind else kind
            raise SymbolicValueError("%s is not exported for such arguments (%s)" % (
                schema or kind, error)) from error

    def _folds(self, kind, values, node):
        if not all(_fold.is_known(value) for value in values) or kind in _rows.CUSTOM:
            return False
        if not self.g.folds_parameters and _fold.has_parameter(values):
            return False
        if node is not None and node.isNondeterministic() or "rand" in kind:
            return False
        return not _fold.grows(kind, values)

    def _fold(self, kind, values, node):
        same = node is not None and node.kind() == kind
        types = [_type_text(value) for value in node.inputs_list()] if same else None
        results = [_type_text(value) for value in node.outputs_list()] if same else None
        return self.known(_fold.compute(kind, values, types, results))

    def known(self, result):
        """What wick's operators gave, as values of the model."""
        if isinstance(result, wick.Tensor):
            return self.g.constant(result)
        if isinstance(result, (list, tuple)):
            items = [self.known(item) for item in result]
            return items if isinstance(result, list) else tuple(items)
        if isinstance(result, dict):
            return {key: self.known(item) for key, item in result.items()}
        return result

    def _missing(self, kind, node):
        """The operators without a row of the whole program, each with its place in the source."""
        found = {kind: _place(node)}
        for other in _all_nodes(self.graph.block()):
            name = other.kind()
            plain = name[:-1] if name.endswith("_") and not name.endswith("__") else name
            if name in _CONTROL or name in _rows.OF_PROGRAM or _rows.find(plain, self.g.opset) is not None:
                continue
            if _rows.find(name, self.g.opset) is None and any(map(is_tensor, other.inputs_list())):
                found.setdefault(name, _place(other))
        return found

    # ---- views ----

    def view_of(self, base, kind, rest):
        """A view computed anew."""
        return self.compute(kind, [base] + list(rest))

    def written_through(self, base, value, kind, rest):
        """The base of a view after a value was written to the view."""
        if kind not in _rows.VIEWS:
            raise SymbolicValueError("what %s gives is written to" % kind)
        return _rows.VIEWS[kind](self, base, value, *rest)


def _type_text(value):
    return "Tensor" if is_tensor(value) else value.type_text()


def _place(node):
    if node is None:
        return ""
    lines = node.sourceRange().splitlines() if node.sourceRange() else []
    return lines[0].strip() if lines else ""


def _with_place(error, node):
    if getattr(error, "placed", False):
        return error
    place = _place(node)
    made = SymbolicValueError("%s: %s%s" % (node.kind(), error, "\n  " + place if place else ""), error.value)
    made.placed = True
    return made


def _all_nodes(block):
    for node in block.nodes():
        yield node
        for inner in node.blocks():
            yield from _all_nodes(inner)
