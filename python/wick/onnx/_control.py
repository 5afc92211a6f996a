"""Nodes that are no operators: constants, containers, attributes, branches, loops."""
import warnings

import wick

from .. import _C
from . import _cells, _model
from ._cells import UNSETTLED, List, Module
from ._rows import known_now
from ._walk import control, is_tensor
from .errors import OnnxExporterWarning, SymbolicValueError

UNROLLED = 1 << 14  # nodes that walking a loop again and again may come to, where its length is known


# ---- constants, attributes ----

@control("prim::Constant")
def _constant(walk, node):
    return walk.of_python(node.output().toIValue())


@control("prim::Uninitialized")
def _uninitialized(walk, node):
    return UNSETTLED


@control("prim::GetAttr")
def _get_attribute(walk, node, module):
    name = node.s("name")
    if module.path + name in walk.assigned:
        return walk.assigned[module.path + name]
    found = module.handle.get(name)
    inner = getattr(found, "_script_handle", None)
    if isinstance(inner, _C.Program):
        return Module(inner, module.path + name + ".")
    thing = walk.of_python(found)
    if isinstance(thing, (List, dict)):
        walk.assigned[module.path + name] = thing  # one object, whoever asks for it
    return thing


@control("prim::SetAttr")
def _set_attribute(walk, node, module, thing):
    name = node.s("name")
    if walk.depth:
        raise SymbolicValueError("the attribute %s%s is set in a branch or loop that the model decides" % (
            module.path, name))
    warnings.warn("the program sets %s%s: the model computes with what was set, and does not keep it for the next "
                  "call" % (module.path, name), OnnxExporterWarning, stacklevel=2)
    walk.assigned[module.path + name] = thing


@control("prim::RaiseException")
def _raise(walk, node, *said):
    message = said[0] if said and isinstance(said[0], str) else ""
    raise SymbolicValueError("the program raises %s" % (message or "an exception"))


@control("prim::Print")
def _print(walk, node, *said):
    return ()


@control("prim::unchecked_cast", "prim::unchecked_unwrap_optional", "aten::_unwrap_optional", "prim::data",
         "prim::Guard", "prim::profile")
def _same(walk, node, thing, *rest):
    return thing


@control("prim::isinstance")
def _is_instance(walk, node, thing):
    raise SymbolicValueError("isinstance is decided by types that the program's graph doesn't tell")


@control("aten::is_grad_enabled")
def _is_grad_enabled(walk, node):
    return True  # so that programs don't choose operators that are for inference alone, which ONNX has not


@control("prim::requires_grad")
def _requires_grad(walk, node, thing):
    return _cells.value_of(thing).parameter


# ---- containers ----

@control("prim::ListConstruct")
def _list(walk, node, *items):
    return List(items, walk.depth)


@control("prim::TupleConstruct")
def _tuple(walk, node, *items):
    return tuple(items)


@control("prim::DictConstruct")
def _dict(walk, node, *items):
    return dict(zip(items[::2], items[1::2]))


@control("prim::TupleUnpack")
def _tuple_unpack(walk, node, items):
    return items if node.outputsSize() != 1 else items[0]


@control("prim::ListUnpack")
def _list_unpack(walk, node, items):
    if len(items) != node.outputsSize():
        raise SymbolicValueError("a list of %d is unpacked to %d" % (len(items), node.outputsSize()))
    return tuple(items) if node.outputsSize() != 1 else items[0]


@control("prim::TupleIndex")
def _tuple_index(walk, node, items, index):
    return items[known_now(index, "the index of a tuple")]


@control("prim::TupleSlice")
def _tuple_slice(walk, node, items):
    return items[node.i("beg"):node.i("end")]


# ---- branches ----

def _raises(block):
    return any(node.kind() == "prim::RaiseException" for node in block.nodes())


@control("prim::If")
def _if(walk, node, condition):
    then, other = node.blocks()
    condition = _cells.value_of(condition)
    if isinstance(condition, _model.Value) and condition.tensor is not None:
        condition = bool(condition.tensor)
    if not isinstance(condition, _model.Value):
        return _given(node, walk.results(then if condition else other))
    if _raises(then):  # what the program checks, the model takes for granted
        return _given(node, walk.results(other))
    if _raises(other):
        return _given(node, walk.results(then))
    return _given(node, _decided_later(walk, condition, then, other))


def _given(node, results):
    return results[0] if node.outputsSize() == 1 else results


class _Branch:
    """A block of the program in a block of the model: what it gives, and the tensors that it writes to."""

    def __init__(self, walk, name, block, before=None):
        with walk.g.inner(name) as self.block:
            walk.depth += 1
            walk.notes.append({})
            try:
                if before is not None:
                    before(self.block)
                self.results = walk.results(block)
            finally:
                walk.depth -= 1
                self.notes = walk.notes.pop()
                self.written = {key: cell.value for key, (cell, _) in self.notes.items()}
                for cell, old in self.notes.values():
                    cell.put_back(old)

    def finish(self, walk, values, dtypes=None):
        """Makes values the block's outputs."""
        with _reopened(walk.g, self.block):
            for i, value in enumerate(values):
                if not isinstance(value, _model.Value):
                    value = walk.g.constant(value, None if dtypes is None else dtypes[i])
                if dtypes is not None and dtypes[i] is not None and not value.is_sequence:
                    value = walk.g.cast(value, dtypes[i])
                value = value.origin
                if value.node not in self.block.nodes or value in self.block.outputs:
                    is_sequence = value.is_sequence
                    value = walk.g.op("Identity", value)
                    value.is_sequence = is_sequence
                self.block.outputs.append(value)


class _reopened:
    def __init__(self, g, block):
        self.g, self.inner = g, block

    def __enter__(self):
        self.outer, self.g.block = self.g.block, self.inner

    def __exit__(self, *error):
        self.g.block = self.outer


def _one_nesting(things, others):
    """Pairs of things that can be the outputs of one If, those that are not settled on one side as on the other."""
    left, right = [], []
    for a, b in zip(things, others):
        a, b = (b if a is UNSETTLED else a), (a if b is UNSETTLED else b)
        if _cells.nesting(a) != _cells.nesting(b):
            raise SymbolicValueError("the branches give different things, which one output of ONNX can't be: "
                                     "lists of different lengths, or None and a tensor")
        left.append(a)
        right.append(b)
    return left, right


def _decided_later(walk, condition, then, other):
    g = walk.g
    first, second = _Branch(walk, "then", then), _Branch(walk, "else", other)
    cells = {**{key: cell for key, (cell, _) in first.notes.items()},
             **{key: cell for key, (cell, _) in second.notes.items()}}
    left, right = _one_nesting(first.results, second.results)
    a = _cells.flatten(left) + [first.written.get(key, cell.value) for key, cell in cells.items()]
    b = _cells.flatten(right) + [second.written.get(key, cell.value) for key, cell in cells.items()]
    same = [x is y or not isinstance(x, _model.Value) and not isinstance(y, _model.Value) and x == y and
            type(x) is type(y) for x, y in zip(a, b)]
    pairs = [(x, y) for x, y, equal in zip(a, b, same) if not equal]
    if not pairs:
        outputs = ()
    else:
        dtypes = [_one_dtype(g, x, y) for x, y in pairs]
        first.finish(walk, [x for x, _ in pairs], dtypes)
        second.finish(walk, [y for _, y in pairs], dtypes)
        outputs = g.op("If", condition, outputs=len(pairs), then_branch_g=first.block, else_branch_g=second.block)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    for output, (x, y), in zip(outputs, pairs):
        _join(g, output, x, y)
    given = iter(outputs)
    values = [x if equal else next(given) for x, equal in zip(a, same)]
    count = len(_cells.flatten(left))
    for cell, value in zip(cells.values(), values[count:]):
        cell.write(value)
    iterator = iter([walk.held(value) for value in values[:count]])
    return [_cells.rebuilt(thing, iterator) for thing in left]


def _one_dtype(g, a, b):
    kinds = [value.dtype if isinstance(value, _model.Value) else g.constant(value).dtype for value in (a, b)]
    if kinds[0] == kinds[1]:
        return kinds[0]
    return wick.promote_types(*kinds)


def _join(g, output, a, b):
    """What is known of an output that is one of two values."""
    shapes = [value.shape if isinstance(value, _model.Value) else () for value in (a, b)]
    output.dtype = _one_dtype(g, a, b)
    numbers = {"float" if isinstance(value, float) else "bool" if isinstance(value, bool) else "int"
               if not isinstance(value, _model.Value) else value.number for value in (a, b)}
    output.number = numbers.pop() if len(numbers) == 1 else None
    output.is_sequence = isinstance(a, _model.Value) and a.is_sequence
    output.shape = _joined_shape(g, *shapes)


def _joined_shape(g, a, b):
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else g.sizes.name() for x, y in zip(a, b))


# ---- loops ----

@control("prim::Loop")
def _loop(walk, node, count, condition, *carried):
    body = next(node.blocks())
    count, condition = _cells.value_of(count), _cells.value_of(condition)
    found = _walked(walk, body, count, condition, list(carried))
    if found is None:
        found = _loop_of_model(walk, body, count, condition, list(carried))
    return _given(node, found)


def _walked(walk, body, count, condition, carried):
    """The body as often as the loop runs, where that is known now; None where it is not."""
    if isinstance(count, _model.Value) or isinstance(condition, _model.Value):
        return None
    inputs, outputs = list(body.inputs()), list(body.outputs())
    is_counted = outputs[0].node().kind() == "prim::Constant" and outputs[0].toIValue() is True
    turns = max(1, UNROLLED // (1 + sum(1 for _ in _nodes(body))))
    if is_counted and count > turns or not is_counted and not _settles(body):
        return None
    i = 0
    while condition and i < count:
        for value, thing in zip(inputs, [i] + carried):
            walk.set(value, thing)
        condition, *carried = walk.results(body)
        condition = known_now(_cells.value_of(condition), "whether a loop goes on")
        i += 1
        if i > turns:
            raise SymbolicValueError("a loop runs more than %d times" % turns)
    return carried


def _settles(body):
    """Whether what decides if a loop goes on has nothing to do with tensors."""
    seen, rest = set(), [list(body.outputs())[0]]
    while rest:
        value = rest.pop()
        if value.debugName() in seen:
            continue
        seen.add(value.debugName())
        if is_tensor(value):
            return False
        node = value.node()
        if node.kind() not in ("prim::Param", "aten::len", "aten::size"):
            rest.extend(node.inputs_list())
            rest.extend(inner for block in node.blocks() for inner in block.outputs())
    return True


def _loop_of_model(walk, body, count, condition, carried):
    """A Loop. What is known of what it carries is what holds before and after every turn: the body is written until
    it holds."""
    g = walk.g
    lists = _changed_lists(walk, body)
    for changed in lists:
        if changed.depth < walk.depth:
            raise SymbolicValueError("a list is changed in loops in one another that the model decides")
        _make_sequence(walk, changed)
    for thing, value in zip(carried, list(body.inputs())[1:]):
        if isinstance(thing, List) and thing.sequence is None and _grows(body, value):
            _make_sequence(walk, thing)
    cells, start = {}, [_carried_value(g, value) for value in _cells.flatten(carried)]
    shapes, numbers = [value.shape for value in start], [value.number for value in start]
    dtypes = [value.dtype for value in start]
    while True:
        turn = _Turn(walk, body, start, carried, cells, lists, dtypes, shapes, numbers)
        more = {key: cell for key, (cell, _) in turn.branch.notes.items() if key not in cells}
        if more:
            cells.update(more)
            values = [cell.value for cell in more.values()]
            start += values
            shapes += [value.shape for value in values]
            numbers += [None for value in values]
            dtypes += [value.dtype for value in values]
            continue
        unsettled = [_settle_sequence(walk, changed) for changed in lists + turn.grown]
        for i, value in enumerate(start):
            if value.is_sequence:
                dtypes[i], shapes[i] = value.dtype, value.shape
        if not turn.widen(g, dtypes, shapes) and not any(unsettled):
            break
    return turn.write(walk, count, condition, start, carried, cells, lists)


def _carried_value(g, value):
    if isinstance(value, _model.Value):
        return value
    if value is None or isinstance(value, (str, _cells.Unsettled)):
        raise SymbolicValueError("a loop carries what is no tensor and no number")
    made = g.constant(value)
    return g.number(made, "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "float")


class _Turn:
    """One writing of a loop's body, for what is known of what it carries."""

    def __init__(self, walk, body, start, carried, cells, lists, dtypes, shapes, numbers):
        g, inputs = walk.g, list(body.inputs())
        self.sequences = [changed.sequence for changed in lists]

        def begin(block):
            def given(name, dtype, shape, number=None):
                made = _model.Value(g.names.take(name), dtype, shape)
                made.number = number
                block.inputs.append(made)
                return made
            counter = given("turn", wick.int64, (), "int")
            given("goes_on", wick.bool, ())
            values = [given("carried", *known) for known in zip(dtypes, shapes, numbers)]
            for value, first in zip(values, start):
                value.is_sequence = first.is_sequence
            count = len(_cells.flatten(carried))
            iterator = iter([walk.held(value) for value in values[:count]])
            walk.set(inputs[0], counter)
            for value, thing in zip(inputs[1:], carried):
                made = _cells.rebuilt(thing, iterator)
                if isinstance(thing, List) and thing.sequence is not None:
                    made.kind = thing.kind
                walk.set(value, made)
            for cell, value in zip(cells.values(), values[count:]):
                cell.write(value)
            for changed in lists:
                value = given("carried", changed.sequence.dtype, changed.sequence.shape)
                value.is_sequence = True
                changed.sequence, changed.depth = value, walk.depth
        self.branch = _Branch(walk, "body", body, begin)
        results = self.branch.results
        for thing, result in zip(carried, results[1:]):
            if _cells.nesting(thing) != _cells.nesting(result):
                raise SymbolicValueError("a loop changes the length of a list that it carries, or None to a tensor")
        self.grown = []
        for thing, result in zip(carried, results[1:]):
            if isinstance(thing, List) and thing.sequence is not None:
                thing.inserted += result.inserted
                self.grown.append(thing)
        self.goes_on = _cells.value_of(results[0])
        self.after = [_carried_value(g, value) for value in _cells.flatten(results[1:])] + \
            [self.branch.written.get(key, cell.value) for key, cell in cells.items()]
        self.after_sequences = [changed.sequence for changed in lists]
        for changed, sequence in zip(lists, self.sequences):
            changed.sequence, changed.depth = sequence, walk.depth

    def widen(self, g, dtypes, shapes):
        """Forgets what a turn changes; whether there was something."""
        before = list(dtypes), list(shapes)
        for i, value in enumerate(self.after):
            if value.is_sequence:
                continue
            dtypes[i] = value.dtype if dtypes[i] is None else dtypes[i]
            if value.shape != shapes[i]:
                given = self.branch.block.inputs[2 + i].shape
                if shapes[i] is None or value.shape is None or len(value.shape) != len(shapes[i]):
                    shapes[i] = None
                elif value.shape != given:
                    shapes[i] = tuple(x if x == y or isinstance(x, str) and x.startswith("size_any") else
                                      g.names.take("size_any") for x, y in zip(shapes[i], value.shape))
        return (dtypes, shapes) != before

    def write(self, walk, count, condition, start, carried, cells, lists):
        """The Loop itself; what the program's carries are after it."""
        g = walk.g
        dtypes = [wick.bool] + [value.dtype for value in self.branch.block.inputs[2:]]
        self.branch.finish(walk, [self.goes_on] + self.after + self.after_sequences, dtypes)
        limit = None if isinstance(count, int) and count >= 1 << 62 else count
        start = [g.cast(value, dtype) for value, dtype in zip(start, dtypes[1:])] + self.sequences
        if not start:
            return []
        outputs = g.op("Loop", limit, condition if isinstance(condition, _model.Value) else g.constant(condition),
                       *start, outputs=len(start), body_g=self.branch.block)
        outputs = list(outputs) if isinstance(outputs, tuple) else [outputs]
        for output, known in zip(outputs, self.branch.block.inputs[2:]):
            output.dtype, output.number, output.is_sequence = known.dtype, known.number, known.is_sequence
            output.shape = None if known.shape is None else tuple(
                g.sizes.name() if str(size).startswith("size_any") else size for size in known.shape)
        flat = len(_cells.flatten(carried))
        iterator = iter([walk.held(value) for value in outputs[:flat]])
        found = [_cells.rebuilt(thing, iterator) for thing in carried]
        for thing, after in zip(carried, found):
            if isinstance(thing, List) and thing.sequence is not None:
                after.kind = thing.kind
        for cell, value in zip(cells.values(), outputs[flat:]):
            cell.write(value)
        for changed, value in zip(lists, outputs[flat + len(cells):]):
            changed.sequence = value
        return found


_GROW = frozenset(("aten::append", "aten::add_", "aten::extend"))


def _grows(body, value):
    """Whether a loop's body appends to a list."""
    name = value.debugName()
    return any(node.kind() in _GROW and node.inputsAt(0).debugName() == name for node in _nodes(body))


def _changed_lists(walk, body):
    """Lists from outside that a loop's body appends to."""
    nodes, found = list(_nodes(body)), []
    own = {value.debugName() for node in nodes for value in node.outputs()}
    own.update(value.debugName() for value in body.inputs())
    own.update(value.debugName() for node in nodes for block in node.blocks() for value in block.inputs())
    for node in nodes:
        if node.kind() in _GROW and node.inputsAt(0).debugName() not in own:
            thing = walk.get(node.inputsAt(0))
            if isinstance(thing, List) and not any(thing is other for other in found):
                found.append(thing)
    return found


def _nodes(block):
    for node in block.nodes():
        yield node
        for inner in node.blocks():
            yield from _nodes(inner)


def _make_sequence(walk, changed):
    """A list becomes a sequence of the model."""
    if changed.sequence is not None:
        return
    values = [_carried_value(walk.g, _cells.value_of(item)) for item in changed]
    dtype = values[0].dtype if values else wick.get_default_dtype()
    changed.sequence = walk.g.op("SequenceConstruct", *values) if values else \
        walk.g.op("SequenceEmpty", dtype_i=_model.TYPES[dtype])
    changed.sequence.is_sequence, changed.sequence.dtype = True, dtype
    changed.inserted = list(values)
    changed.kind = values[0].number if values else None


def _settle_sequence(walk, changed):
    """What was appended says what the items of a sequence are; whether that was not known before."""
    first, before = changed.inserted[0] if changed.inserted else None, changed.sequence
    if first is None:
        return False
    shape = first.shape
    for value in changed.inserted[1:]:
        shape = _joined_shape(walk.g, shape, value.shape) if shape != value.shape else shape
    shape = shape if before.shape is None or shape is None else before.shape if len(shape) == len(before.shape) \
        else None
    known = (before.dtype, before.shape, changed.kind)
    changed.kind = first.number
    before.shape = shape
    if before.node.kind == "SequenceEmpty":
        before.dtype, before.node.attributes["dtype"] = first.dtype, ("i", _model.TYPES[first.dtype])
    return known != (before.dtype, before.shape, changed.kind)
