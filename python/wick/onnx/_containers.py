"""Lists, dicts, strings and what else of the program is no tensor: they are known when the model is made, their items
need not be."""
from . import _cells, _fold, _model
from ._cells import UNSETTLED, Cell, List
from ._rows import known_now, of_program
from .errors import SymbolicValueError

Value = _model.Value


def _sequence(thing):
    return getattr(thing, "sequence", None)


def _may_change(walk, thing):
    if isinstance(thing, List) and thing.depth < walk.depth:
        raise SymbolicValueError("a list is changed in a branch or loop that the model decides")


@of_program("__is__")
def _is(walk, a, b):
    return _alike(a, b)


@of_program("__isnot__")
def _is_not(walk, a, b):
    return not _alike(a, b)


def _alike(a, b):
    return a is b or isinstance(a, (bool, int)) and isinstance(b, (bool, int)) and a == b


@of_program("len")
def _len(walk, thing):
    if _sequence(thing) is not None:
        return walk.g.number(walk.g.op("SequenceLength", thing.sequence), "int")
    if isinstance(thing, Cell):
        return walk.g.size(thing.value, 0)
    return len(thing)


@of_program("__getitem__")
def _item(walk, thing, key):
    key = _cells.value_of(key)
    if _sequence(thing) is not None:
        made = walk.g.op("SequenceAt", thing.sequence, key)
        return walk.held(made if thing.kind is None else walk.g.number(made, thing.kind))
    if isinstance(thing, dict):
        return thing[known_now(key, "the key of a dict")]
    is_later = isinstance(key, Value) and key.tensor is None
    if is_later and thing and not any(isinstance(item, (Cell, list)) for item in thing):
        return walk.held(walk.g.number(walk.g.op("Gather", walk.g.ints(thing), key, axis_i=0), "int"))
    return thing[known_now(key, "the index of a list")]


@of_program("append")
def _append(walk, thing, item):
    _may_change(walk, thing)
    if _sequence(thing) is not None:
        value, before = _cells.value_of(item), thing.sequence
        value = value if isinstance(value, Value) else walk.g.constant(value)
        thing.inserted.append(value)
        made = walk.g.op("SequenceInsert", before, walk.g.cast(value, before.dtype))
        made.is_sequence, made.dtype, made.shape = True, before.dtype, before.shape
        thing.sequence = made
        return thing
    thing.append(item)
    return thing


@of_program("add_")
def _add(walk, thing, *rest):
    if isinstance(thing, list):
        return _extend(walk, thing, rest[0])
    return walk.arithmetic("aten::add_", thing, *rest)


@of_program("extend")
def _extend(walk, thing, items):
    _may_change(walk, thing)
    if _sequence(thing) is not None:
        for item in items:
            _append(walk, thing, item)
    else:
        thing.extend(items)
    return thing


@of_program("insert")
def _insert(walk, thing, index, item):
    _may_change(walk, thing)
    thing.insert(known_now(index, "the index of a list"), item)


@of_program("pop")
def _pop(walk, thing, *key):
    _may_change(walk, thing)
    return thing.pop(*key)


@of_program("clear")
def _clear(walk, thing):
    _may_change(walk, thing)
    thing.clear()


@of_program("reverse")
def _reverse(walk, thing):
    _may_change(walk, thing)
    thing.reverse()


@of_program("_set_item")
def _set_item(walk, thing, key, item):
    _may_change(walk, thing)
    thing[known_now(_cells.value_of(key), "an index or key")] = item
    return thing


@of_program("Delete")
def _delete(walk, thing, key):
    _may_change(walk, thing)
    del thing[key]


@of_program("list")
def _list(walk, thing):
    return List(thing, walk.depth)


@of_program("copy")
def _copy(walk, thing, *rest):
    if isinstance(thing, dict):
        return dict(thing)
    if isinstance(thing, List):
        return List(thing, walk.depth)
    values = [_cells.value_of(item) for item in (thing,) + rest]
    return walk.held(walk.compute("aten::copy", values))


@of_program("keys")
def _keys(walk, thing):
    return List(thing, walk.depth)


@of_program("values")
def _values(walk, thing):
    return List(thing.values(), walk.depth)


@of_program("items")
def _items(walk, thing):
    return List(thing.items(), walk.depth)


@of_program("get")
def _get(walk, thing, key, default=None):
    return thing.get(key, default)


@of_program("__contains__")
def _contains(walk, thing, item):
    if isinstance(thing, dict):
        return item in thing
    if _fold.is_known(_cells.value_of(thing)) and _fold.is_known(item):
        return _cells.value_of(item) in _cells.value_of(thing)
    raise SymbolicValueError("whether a list contains what is only known when the model runs")


@of_program("format")
def _format(walk, text, *items):
    return text.format(*[item if _fold.is_known(item) else repr(_cells.value_of(item)) for item in items])


@of_program("warn")
def _warn(walk, *said):
    return None


@of_program("dict")
def _dict(walk, items=()):
    return dict(items)


@of_program("mul")
def _mul(walk, thing, count):
    if isinstance(thing, list):
        return List(list(thing) * known_now(_cells.value_of(count), "how often a list is repeated"), walk.depth)
    return walk.arithmetic("aten::mul", thing, count)


@of_program("slice")
def _slice(walk, thing, *rest):
    rest = [_cells.value_of(item) for item in rest]
    if isinstance(thing, list):
        start, end, step = (known_now(item, "the bound of a slice of a list") for item in (list(rest) + [1])[:3])
        return List(list(thing)[slice(start, end, step)], walk.depth)
    return walk.operator("aten::slice", [thing] + rest)


@of_program("eq")
def _eq(walk, a, b):
    return _compared(walk, "aten::eq", a, b)


@of_program("ne")
def _ne(walk, a, b):
    return _compared(walk, "aten::ne", a, b)


def _compared(walk, kind, a, b):
    """Lists of sizes: alike where they are the same sizes; otherwise the model is for sizes that are, as a program's
    checks want them."""
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        known = [x if isinstance(x, int) else getattr(x, "size_name", None) for x in a], \
                [x if isinstance(x, int) else getattr(x, "size_name", None) for x in b]
        if len(a) != len(b):
            return kind == "aten::ne"
        if None not in known[0] + known[1] and known[0] == known[1]:
            return kind == "aten::eq"
        if all(isinstance(x, int) for x in known[0] + known[1]):
            return (known[0] == known[1]) == (kind == "aten::eq")
        return _all_equal(walk, a, b, kind)
    if isinstance(a, (str, type(None))) or isinstance(b, (str, type(None))) or a is UNSETTLED or b is UNSETTLED:
        return (a == b) == (kind == "aten::eq")
    return walk.arithmetic(kind, a, b)


def _all_equal(walk, a, b, kind):
    made = None
    for x, y in zip(a, b):
        same = walk.arithmetic("aten::eq", x, y)
        made = same if made is None else walk.arithmetic("aten::logical_and", made, same)
    return made if kind == "aten::eq" else walk.arithmetic("aten::logical_not", made)
