"""A step of a Graph: a placeholder, an attribute, a call of a function, a method or a module, or the output."""
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

import wick

from .immutable_collections import immutable_dict, immutable_list

BaseArgumentTypes = Union[str, int, float, bool, complex, wick.dtype, wick.Tensor, wick.device, wick.memory_format,
                          wick.layout]
base_types = BaseArgumentTypes.__args__
Target = Union[Callable[..., Any], str]
Argument = Optional[Union[Tuple[Any, ...], List[Any], Dict[str, Any], slice, "Node", BaseArgumentTypes]]

OPS = ("placeholder", "get_attr", "call_function", "call_method", "call_module", "output", "root")
_effects = {wick._assert}  # functions whose calls stay although nothing uses what they give


def has_side_effect(fn):
    """Marks a function: calls of it are never dead code."""
    _effects.add(fn)
    return fn


def map_aggregate(value, fn):
    """The same structure of tuples, lists, dicts and slices, with what `fn` makes of each leaf; lists and dicts are
    such as can't be changed."""
    if isinstance(value, tuple):
        items = [map_aggregate(item, fn) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, list):
        return immutable_list(map_aggregate(item, fn) for item in value)
    if isinstance(value, dict):
        return immutable_dict((key, map_aggregate(item, fn)) for key, item in value.items())
    if isinstance(value, slice):
        return slice(*(map_aggregate(part, fn) for part in (value.start, value.stop, value.step)))
    return fn(value)


def map_arg(value, fn):
    """The same for Nodes; other leaves stay."""
    return map_aggregate(value, lambda leaf: fn(leaf) if isinstance(leaf, Node) else leaf)


def qualified_name(function):
    """What code calls a function by: "torch.relu", "operator.add"."""
    import builtins
    name = getattr(function, "__name__", None)
    if name is not None and getattr(builtins, name, None) is function:
        return name
    operators = getattr(function, "qualified_name", None)
    if isinstance(operators, str):  # an operator of the registry
        return "torch." + operators.partition("::")[2]
    module = function.__module__ or "builtins"
    if module == "wick._functions":  # where torch has it
        module = "torch.functional" if name in wick.functional.__all__ else "torch"
    if module == "wick" or module.startswith("wick."):
        module = "torch" + module[4:]
    return "%s.%s" % ({"_operator": "operator"}.get(module, module), name or repr(function))


class Node:
    """`op` says which step, `target` what is called or read, `args` and `kwargs` what with; `users` are the Nodes
    that take its value."""

    def __init__(self, graph, name, op, target, args, kwargs, return_type=None):
        if op not in OPS:
            raise AssertionError("%r is no kind of node" % (op,))
        self.graph, self.name, self.op, self.target, self.type = graph, name, op, target, return_type
        self.users, self.meta, self._inputs = {}, {}, {}
        self._prev = self._next = self
        self._erased = False
        self._args, self._kwargs = (), {}
        self._set(args, kwargs)

    @property
    def next(self):
        """The Node after it."""
        return self._next

    @property
    def prev(self):
        """The Node before it."""
        return self._prev

    @property
    def args(self):
        """What it takes by place."""
        return self._args

    @args.setter
    def args(self, args):
        self._set(args, self._kwargs)

    @property
    def kwargs(self):
        """What it takes by name."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, kwargs):
        self._set(self._args, kwargs)

    def _set(self, args, kwargs):
        for used in self._inputs:
            used.users.pop(self, None)
        self._inputs = {}

        def note(used):
            self._inputs[used] = None
            used.users[self] = None
            return used
        self._args, self._kwargs = map_arg((tuple(args), dict(kwargs)), note)

    @property
    def all_input_nodes(self):
        """The Nodes that it takes."""
        return list(self._inputs)

    def update_arg(self, index, arg):
        """Another argument in the place of one."""
        args = list(self._args)
        args[index] = arg
        self.args = tuple(args)

    def update_kwarg(self, key, arg):
        """Another argument under a name."""
        self.kwargs = {**self._kwargs, key: arg}

    def prepend(self, node):
        """Puts a Node of the graph before it."""
        if node is self:
            return
        node._unlink()
        node._prev, node._next = self._prev, self
        self._prev._next = self._prev = node

    def append(self, node):
        """Puts a Node of the graph after it."""
        self._next.prepend(node)

    def _unlink(self):
        self._prev._next, self._next._prev = self._next, self._prev

    def replace_input_with(self, old, new):
        """Takes another Node where it takes `old`."""
        def change(used):
            return new if used is old else used
        self._set(map_arg(self._args, change), map_arg(self._kwargs, change))

    def replace_all_uses_with(self, replacement, delete_user_cb=lambda user: True):
        """What takes this one takes another; the Nodes that do now."""
        changed = [user for user in self.users if delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replacement)
        return changed

    def is_impure(self):
        """Whether it stays although nothing uses it; a module that has ``_is_impure`` set is called."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_module" and self.graph.owning_module is not None:
            return getattr(self.graph.owning_module.get_submodule(self.target), "_is_impure", False)
        return self.op == "call_function" and self.target in _effects

    @property
    def stack_trace(self):
        """Where it was recorded, if its ``meta`` says so."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace):
        self.meta["stack_trace"] = trace

    def normalized_arguments(self, root, arg_types=None, kwarg_types=None, normalize_to_only_use_kwargs=False):
        """The arguments as the signature of what is called has them, with defaults; None where there is no telling.
        ``root`` has the modules; types say which of several overloads is meant."""
        from .operator_schemas import normalize_function, normalize_module
        if self.op == "call_function":
            return normalize_function(self.target, self.args, self.kwargs, arg_types, kwarg_types,
                                      normalize_to_only_use_kwargs)
        if self.op == "call_module":
            return normalize_module(root, self.target, self.args, self.kwargs, normalize_to_only_use_kwargs)
        return None

    def format_node(self):
        """A line of the graph's text."""
        target = self.target if isinstance(self.target, str) else qualified_name(self.target)
        if self.op == "output":
            return "return %s" % (_shown(self.args[0]).replace("%", ""),)
        head = "%%%s : [#users=%d] = %s[target=%s]" % (self.name, len(self.users), self.op, target)
        if self.op in ("placeholder", "get_attr"):
            default = "(default=%s)" % _shown(self.args[0]) if self.op == "placeholder" and self.args else ""
            return head + default
        kwargs = ", ".join("%s: %s" % (name, _shown(value)) for name, value in self.kwargs.items())
        return "%s(args = %s, kwargs = {%s})" % (head, _shown(self.args), kwargs)

    def __repr__(self):
        return self.name


def _shown(value):
    if isinstance(value, tuple):
        items = [_shown(item) for item in value]
        return "(%s%s)" % (", ".join(items), "," if len(items) == 1 else "")
    if isinstance(value, list):
        return "[%s]" % ", ".join(map(_shown, value))
    if isinstance(value, dict):
        return "{%s}" % ", ".join("%s: %s" % (key, _shown(item)) for key, item in value.items())
    return "%" + value.name if isinstance(value, Node) else str(value)
