"""Tracer: runs a function or a module with Proxies in place of its arguments."""
import contextlib
import functools
import inspect
import math

from .graph import Graph
from .graph_module import GraphModule
from .node import map_aggregate
from .proxy import Proxy, TracerBase

_wrapped = []  # (global names, name) of functions that are recorded as calls


def wrap(fn_or_name):
    """A function of this module, or its name: traces record its calls and do not look into it."""
    if not isinstance(fn_or_name, str) and not callable(fn_or_name):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    frame = inspect.currentframe().f_back
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _wrapped.append((frame.f_globals, name))
    return fn_or_name


def _recording(original):
    @functools.wraps(original)
    def wrapped(*args, **kwargs):
        found = []
        map_aggregate((args, kwargs), lambda leaf: found.append(leaf) if isinstance(leaf, Proxy) else None)
        if not found:
            return original(*args, **kwargs)
        return found[0].tracer.create_proxy("call_function", original, args, kwargs)
    return wrapped


class PHBase:
    """The class of PH."""

    def __repr__(self):
        return "PH"


PH = PHBase()  # in concrete_args: a parameter that the graph keeps
_proxyable_classes = {}


class ProxyableClassMeta(type):
    """A metaclass: objects that are made of Proxies are recorded as calls of their class, those made of other things
    become constants of the module."""

    def __init__(cls, name, bases, attrs):
        _proxyable_classes[cls] = None
        super().__init__(name, bases, attrs)

    def __call__(cls, *args, **kwargs):
        found = []
        map_aggregate((args, kwargs), lambda leaf: found.append(leaf) if isinstance(leaf, Proxy) else None)
        if found:
            return found[0].tracer.create_proxy("call_function", cls, args, kwargs)
        return super().__call__(*args, **kwargs)


_MISSING = object()


@contextlib.contextmanager
def _patched(changes):
    """Sets items of dicts, or attributes of others, and puts back what was there."""
    import builtins
    before = []
    for owner, name, value in changes:
        if isinstance(owner, dict):
            before.append((owner, name, owner.get(name, _MISSING)))
            owner[name] = value if value is not None else _recording(owner.get(name) or getattr(builtins, name))
        else:
            before.append((owner, name, vars(owner).get(name, _MISSING)))
            setattr(owner, name, value)
    try:
        yield
    finally:
        for owner, name, value in reversed(before):
            if isinstance(owner, dict):
                owner.pop(name) if value is _MISSING else owner.__setitem__(name, value)
            else:
                delattr(owner, name) if value is _MISSING else setattr(owner, name, value)


class Tracer(TracerBase):
    """Makes a Graph of what a function or a module does. Derive from it to say which modules are leaves.

    Calls of ``autowrap_functions``, and of the public functions of ``autowrap_modules``, are recorded and not looked
    into.
    """

    def __init__(self, autowrap_modules=(math,), autowrap_functions=(), param_shapes_constant=False):
        if param_shapes_constant:
            raise NotImplementedError("wick does not trace with the shapes of parameters as constants")
        self._modules = tuple(autowrap_modules)
        self._functions = {id(function) for function in autowrap_functions}
        self._functions |= {id(value) for module in self._modules for name, value in vars(module).items()
                            if not name.startswith("_") and callable(value)}
        self.root = self.graph = None
        self.module_paths = {}

    # ---- what can be said otherwise ----

    def is_leaf_module(self, m, module_qualified_name):
        """Whether calls of a module are recorded as calls: those of wick.nn are, containers aside."""
        from .. import nn
        return type(m).__module__.startswith(("wick.nn", "torch.nn")) and not isinstance(m, nn.Sequential)

    def path_of_module(self, mod):
        """The path of a module in the root."""
        for path, module in self.root.named_modules():
            if module is mod:
                return path
        raise NameError("module is not installed as a submodule")

    def call_module(self, m, forward, args, kwargs):
        """A call of a module: recorded, or looked into by calling `forward`."""
        path = self.path_of_module(m)
        if not self.is_leaf_module(m, path):
            return forward(*args, **kwargs)
        return self.create_proxy("call_module", path, args, kwargs)

    def getattr(self, attr, attr_val, parameter_proxy_cache):
        """What a module that is looked into reads: of a parameter of the root a Proxy, one for each."""
        from ..nn import Parameter
        if not isinstance(attr_val, Parameter):
            return attr_val
        for path, parameter in self.root.named_parameters():
            if parameter is attr_val:
                if path not in parameter_proxy_cache:
                    parameter_proxy_cache[path] = self.create_proxy("get_attr", path, (), {})
                return parameter_proxy_cache[path]
        return attr_val

    # ---- tensors ----

    def create_arg(self, a):
        """Proxies as their Nodes; tensors and modules of the root as reads of attributes."""
        return map_aggregate(a, self._attribute_or_leaf)

    def _attribute_or_leaf(self, value):
        import wick
        if isinstance(value, wick.Tensor):
            return self.create_node("get_attr", self._path_of_tensor(value), (), {})
        if isinstance(value, wick.nn.Module):
            return self.create_node("get_attr", self.path_of_module(value), (), {})
        if type(value) in _proxyable_classes:
            return self.create_node("get_attr", self._constant(value, "_%s_constant_" % type(value).__name__), (), {})
        return self._leaf(value)

    def _path_of_tensor(self, tensor):
        for table in (self.root.named_parameters(), self.root.named_buffers()):
            for path, value in table:
                if value is tensor:
                    return path
        for prefix, module in self.root.named_modules():
            for name, value in vars(module).items():
                if value is tensor:
                    return prefix + "." + name if prefix else name
        return self._constant(tensor, "_tensor_constant")

    def _constant(self, value, name):
        """The path of a value that is kept in the root under a new name."""
        count = 0
        while hasattr(self.root, name + str(count)):
            count += 1
        setattr(self.root, name + str(count), value)
        return name + str(count)

    # ---- tracing ----

    def _parameters(self, function, concrete_args):
        made, named = [], {}
        for name, one in inspect.signature(function).parameters.items():
            has_default = one.default is not inspect.Parameter.empty
            default = (one.default,) if has_default else ()
            if concrete_args is not None and concrete_args.get(name, PH) is not PH:
                value = self._fixed(name, concrete_args[name])
            elif one.kind == one.VAR_POSITIONAL:
                made.append(self.create_proxy("placeholder", "*" + name, (), {}))
                continue
            elif one.kind == one.VAR_KEYWORD:
                named["**"] = self.create_proxy("placeholder", "**" + name, (), {})
                continue
            else:
                value = self.create_proxy("placeholder", name, default, {}, type_expr=one.annotation if
                                          one.annotation is not inspect.Parameter.empty else None)
            if one.kind == one.KEYWORD_ONLY:
                named[name] = value
            else:
                made.append(value)
        return made, named

    def _fixed(self, name, value):
        """A parameter whose value is known to the trace: the graph checks that it is given that."""
        import wick
        leaves = []
        map_aggregate(value, leaves.append)
        if PH in leaves:
            raise NotImplementedError("wick does not trace with PH inside of containers")
        given = self.create_proxy("placeholder", name + "_1", (), {})
        text = "%s has been specialized to have value %s but got another value" % (name, value)
        self.create_proxy("call_function", wick._assert, (given == value, text), {})
        return value

    def trace(self, root, concrete_args=None):
        """The Graph of `root`; some of its parameters may have values."""
        from .. import nn
        if isinstance(root, nn.Module):
            self.root, function = root, root.forward
        else:
            self.root, function = nn.Module(), root
        self.graph = Graph(self.root, type(self))
        args, kwargs = self._parameters(function, concrete_args)
        if "**" in kwargs:
            raise NotImplementedError("symbolic_trace: parameters of the kind **kwargs")
        plain_call, plain_getattr, tracer, proxies = nn.Module.__call__, nn.Module.__getattr__, self, {}

        def call(module, *args, **kwargs):
            return tracer.call_module(module, functools.partial(plain_call, module), args, kwargs)

        def read(module, name):
            return tracer.getattr(name, plain_getattr(module, name), proxies)
        changes = [(nn.Module, "__call__", call), (nn.Module, "__getattr__", read)]
        changes += [(names, name, None) for names, name in _wrapped]
        changes += self._wrapped_names(function)
        with _patched(changes):
            result = function(*args, **kwargs)
        self.create_node("output", "output", (self.create_arg(result),), {})
        return self.graph


    def _wrapped_names(self, function):
        """Where functions that are not looked into are named: in the modules that are wrapped, and beside the
        function and the modules' forwards."""
        tables = {id(vars(module)): vars(module) for module in self._modules}
        for one in [function] + [type(module).forward for module in self.root.modules()]:
            names = getattr(inspect.unwrap(one), "__globals__", {})
            tables[id(names)] = names
        return [(names, name, None) for names in tables.values() for name, value in list(names.items())
                if id(value) in self._functions and not name.startswith("_")]


def symbolic_trace(root, concrete_args=None):
    """A GraphModule that does what a function or module does, for any values: no branch may depend on these."""
    from .. import nn
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, nn.Module) else root.__name__
    return GraphModule(tracer.root, graph, name)
