"""Nested containers taken apart into their leaves and put together again."""
from collections import OrderedDict, namedtuple

# flatten(container) -> (children, context); unflatten(children, context) -> container
NodeDef = namedtuple('NodeDef', ('flatten_fn', 'unflatten_fn'))
SUPPORTED_NODES = {}


def _register_pytree_node(typ, flatten_fn, unflatten_fn):
    """Makes a class one of containers; those that derive from it are leaves."""
    SUPPORTED_NODES[typ] = NodeDef(flatten_fn, unflatten_fn)


register_pytree_node = _register_pytree_node
_register_pytree_node(dict, lambda d: (list(d.values()), list(d)), lambda values, keys: dict(zip(keys, values)))
_register_pytree_node(list, lambda values: (values, None), lambda values, _: list(values))
_register_pytree_node(tuple, lambda values: (list(values), None), lambda values, _: tuple(values))
_register_pytree_node(namedtuple, lambda values: (list(values), type(values)), lambda values, kind: kind(*values))
_register_pytree_node(OrderedDict, lambda d: (list(d.values()), list(d)),
                      lambda values, keys: OrderedDict(zip(keys, values)))


def _is_namedtuple_instance(pytree):
    return isinstance(pytree, tuple) and type(pytree).__bases__ == (tuple,) and hasattr(pytree, '_fields')


def _get_node_type(pytree):
    return namedtuple if _is_namedtuple_instance(pytree) else type(pytree)


def _is_leaf(pytree):
    return _get_node_type(pytree) not in SUPPORTED_NODES


class TreeSpec:
    """What stands around the leaves: a container's class, what its class wants to know, the specs of its children."""

    def __init__(self, type, context, children_specs):
        self.type, self.context, self.children_specs = type, context, children_specs
        self.num_leaves = sum(spec.num_leaves for spec in children_specs)

    def _parts(self):
        return self.type, self.context, self.children_specs

    def __eq__(self, other):
        return isinstance(other, TreeSpec) and self._parts() == other._parts()

    def __ne__(self, other):
        return not self == other

    def __repr__(self):
        return 'TreeSpec(%s, %s, %r)' % (self.type.__name__, self.context, self.children_specs)


class LeafSpec(TreeSpec):
    """The spec of a leaf."""

    def __init__(self):
        super().__init__(None, None, [])
        self.num_leaves = 1

    def __repr__(self):
        return '*'


def tree_flatten(pytree):
    """The leaves, and the spec that `tree_unflatten` takes."""
    if _is_leaf(pytree):
        return [pytree], LeafSpec()
    kind = _get_node_type(pytree)
    children, context = SUPPORTED_NODES[kind].flatten_fn(pytree)
    leaves, specs = [], []
    for child in children:
        of_child, spec = tree_flatten(child)
        leaves += of_child
        specs.append(spec)
    return leaves, TreeSpec(kind, context, specs)


def tree_unflatten(values, spec):
    """The containers of a spec around other leaves."""
    if not isinstance(spec, TreeSpec):
        raise ValueError('tree_unflatten(values, spec): Expected `spec` to be instance of TreeSpec but got item of '
                         'type {}.'.format(type(spec)))
    if len(values) != spec.num_leaves:
        raise ValueError('tree_unflatten(values, spec): `values` has length {} but the spec refers to a pytree that '
                         'holds {} items ({}).'.format(len(values), spec.num_leaves, spec))
    return _unflatten(iter(values), spec)


def _unflatten(values, spec):
    if isinstance(spec, LeafSpec):
        return next(values)
    return SUPPORTED_NODES[spec.type].unflatten_fn([_unflatten(values, child) for child in spec.children_specs],
                                                   spec.context)


def tree_leaves(pytree):
    """The leaves."""
    return tree_flatten(pytree)[0]


def tree_structure(pytree):
    """The spec."""
    return tree_flatten(pytree)[1]


def tree_map(fn, pytree, *rests):
    """The same containers around what a function gives for each leaf, and those at its place in others."""
    leaves, spec = tree_flatten(pytree)
    others = [tree_leaves(rest) for rest in rests]
    return tree_unflatten([fn(*at_place) for at_place in zip(leaves, *others)], spec)


def _only(ty, fn):
    return lambda leaf: fn(leaf) if isinstance(leaf, ty) else leaf


def map_only(ty):
    """A decorator: the function for leaves of a type, or of several; others stay."""
    return lambda fn: _only(ty, fn)


def tree_map_only(ty, fn, pytree):
    """tree_map of the leaves of a type alone."""
    return tree_map(_only(ty, fn), pytree)


def tree_all(pred, pytree):
    """Whether all leaves are so."""
    return all(map(pred, tree_leaves(pytree)))


def tree_any(pred, pytree):
    """Whether a leaf is so."""
    return any(map(pred, tree_leaves(pytree)))


def tree_all_only(ty, pred, pytree):
    """Whether all leaves of a type are so."""
    return all(pred(leaf) for leaf in tree_leaves(pytree) if isinstance(leaf, ty))


def tree_any_only(ty, pred, pytree):
    """Whether a leaf of a type is so."""
    return any(pred(leaf) for leaf in tree_leaves(pytree) if isinstance(leaf, ty))


def _broadcast_to_and_flatten(pytree, spec):
    """The leaves as a larger spec has them, each for all that stands at its place; None where that does not fit."""
    if _is_leaf(pytree):
        return [pytree] * spec.num_leaves
    if isinstance(spec, LeafSpec) or _get_node_type(pytree) != spec.type:
        return None
    children, context = SUPPORTED_NODES[spec.type].flatten_fn(pytree)
    if len(children) != len(spec.children_specs) or context != spec.context:
        return None
    result = []
    for child, of_child in zip(children, spec.children_specs):
        flat = _broadcast_to_and_flatten(child, of_child)
        if flat is None:
            return None
        result += flat
    return result
