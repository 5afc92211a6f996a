"""Proxy: stands for a value while a function is traced; whatever is done with it becomes a Node."""
import dis
import inspect
import operator

from .node import Node, map_aggregate


class TraceError(ValueError):
    """Something was done that depends on the value."""


class TracerBase:
    """Makes Nodes of a graph, and Proxies for them."""

    graph = None

    def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
        """A Node at the graph's insert point."""
        return self.graph.create_node(kind, target, args, kwargs, name, type_expr)

    def proxy(self, node):
        """What stands for a Node's value."""
        return Proxy(node, self)

    def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, proxy_factory_fn=None):
        """A Node of arguments that hold Proxies, and the Proxy of its value."""
        node = self.create_node(kind, target, self.create_arg(args), self.create_arg(kwargs), name, type_expr)
        return proxy_factory_fn(node) if proxy_factory_fn else self.proxy(node)

    def create_arg(self, a):
        """An argument of a Node: Proxies become their Nodes."""
        return map_aggregate(a, self._leaf)

    def _leaf(self, value):
        if isinstance(value, Proxy):
            return value.node
        if value is None or value is Ellipsis or isinstance(value, (Node, bool, int, float, complex, str, type)):
            return value
        import wick
        if isinstance(value, (wick.dtype, wick.device, wick.layout, wick.memory_format, wick.Tensor)):
            return value
        if isinstance(value, range):
            return range(*(self._leaf(part) for part in (value.start, value.stop, value.step)))
        raise NotImplementedError("argument of type: %s" % type(value))

    def to_bool(self, obj):
        """Called where a Proxy decides a branch."""
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj):
        """Called where a Proxy is iterated; taking apart `a, b = proxy` has a known number."""
        frame = inspect.currentframe().f_back.f_back
        for instruction in dis.get_instructions(frame.f_code):
            if instruction.offset == frame.f_lasti and instruction.opname == "UNPACK_SEQUENCE":
                return iter([obj[i] for i in range(instruction.argval)])
        raise TraceError("Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or "
                         "as a *args or **kwargs function argument.")

    def keys(self, obj):
        """Called for **proxy."""
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """Adds to a graph that is there."""

    def __init__(self, graph):
        self.graph = graph


class Proxy:
    """Stands for the value of `node`."""

    def __init__(self, node, tracer=None):
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self):
        return "Proxy(%s)" % self.node.name

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Attribute(self, name)

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", "__call__", (self,) + args, kwargs)

    def __iter__(self):
        return self.tracer.iter(self)

    def __bool__(self):
        return self.tracer.to_bool(self)

    def keys(self):
        """For **proxy."""
        return self.tracer.keys(self)

    def __len__(self):
        raise RuntimeError("'len' is not supported in symbolic tracing by default. If you want this call to be "
                           "recorded, please call torch.fx.wrap('len') at module scope")

    @classmethod
    def __torch_function__(cls, orig_method, types, args=None, kwargs=None):
        args, kwargs, found = args or (), kwargs or {}, []
        map_aggregate((args, kwargs), lambda leaf: found.append(leaf) if isinstance(leaf, Proxy) else None)
        return found[0].tracer.create_proxy("call_function", orig_method, args, kwargs)


class Attribute(Proxy):
    """An attribute of a Proxy: a method where it is called, else a Node that reads it."""

    def __init__(self, root, attr):
        self.root, self.attr, self.tracer, self._node = root, attr, root.tracer, None

    @property
    def node(self):
        """The Node that reads it, when it is wanted."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", self.attr, (self.root,) + args, kwargs)


def _magic(name, function, is_reflected=False):
    def method(self, *args):
        given = tuple(reversed((self,) + args)) if is_reflected else (self,) + args
        return self.tracer.create_proxy("call_function", function, given, {})
    method.__name__ = name
    setattr(Proxy, name, method)


for _name in ("eq", "ne", "lt", "gt", "le", "ge", "pos", "neg", "invert", "getitem"):
    _magic("__%s__" % _name, getattr(operator, _name))
for _name in ("add", "sub", "mul", "floordiv", "truediv", "mod", "pow", "lshift", "rshift", "and_", "or_", "xor",
              "matmul"):
    _magic("__%s__" % _name.rstrip("_"), getattr(operator, _name))
    _magic("__r%s__" % _name.rstrip("_"), getattr(operator, _name), True)
Proxy.__hash__ = object.__hash__
