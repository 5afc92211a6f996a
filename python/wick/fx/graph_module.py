"""GraphModule: a module whose forward is the code of a Graph."""
import copy
import itertools
import linecache

from ..nn import Module

_numbers = itertools.count()


def _copy_attr(source, target, path):
    """Makes what stands under a path in one module stand there in another."""
    *prefix, last = path.split(".")
    for name in prefix:
        source = getattr(source, name)
        if not hasattr(target, name):
            setattr(target, name, Module())
        target = getattr(target, name)
    from .. import Tensor
    from ..nn import Parameter
    value = getattr(source, last)
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        target.register_buffer(last, value)
    else:
        setattr(target, last, value)


class GraphModule(Module):
    """Has what its Graph calls and reads of `root`, a module or a dict by paths."""

    __jit_unused_properties__ = ["graph", "code"]

    def __new__(cls, *args, **kwargs):
        class GraphModuleImpl(cls):  # each has a forward of its own
            pass
        GraphModuleImpl.__qualname__ = GraphModuleImpl.__name__ = "GraphModule"
        return super().__new__(GraphModuleImpl)

    def __init__(self, root, graph, class_name="GraphModule"):
        super().__init__()
        type(self).__name__ = type(self).__qualname__ = class_name
        paths = dict.fromkeys(node.target for node in graph.nodes if node.op in ("get_attr", "call_module"))
        if isinstance(root, Module):
            self.training = root.training
            for path in paths:
                _copy_attr(root, self, path)
        else:
            missing = [path for path in paths if path not in root]
            if missing:
                raise RuntimeError("the graph names %r, which the dict has not" % missing[0])
            for path in sorted(paths, key=lambda path: path.count(".")):
                self._put(path, root[path])
        self.graph = graph

    def _put(self, path, value):
        *prefix, last = path.split(".")
        target = self
        for name in prefix:
            if not hasattr(target, name):
                setattr(target, name, Module())
            target = getattr(target, name)
        setattr(target, last, value)

    @property
    def graph(self):
        """What forward does; after changes of it `recompile` makes a new forward."""
        return self._graph

    @graph.setter
    def graph(self, graph):
        self._graph = graph
        graph.owning_module = self
        self.recompile()

    @property
    def code(self):
        """The text of forward."""
        return self._code

    def recompile(self):
        """Makes forward of the Graph as it is now."""
        made = self._graph.python_code("self")
        self._code = made.src
        name = "<wick.fx.GraphModule %d>" % next(_numbers)
        linecache.cache[name] = (len(made.src), None, made.src.splitlines(True), name)  # for jit.script, tracebacks
        names = dict(made.globals)
        exec(compile(made.src.rstrip(" "), name, "exec"), names)
        type(self).forward = names["forward"]
        type(self).forward.__module__ = type(self).__module__
        return made

    def add_submodule(self, target, m):
        """Puts a module under a path; whether that could be."""
        *prefix, last = target.split(".")
        owner = self
        for name in prefix:
            inner = getattr(owner, name, None)
            if inner is None:
                inner = Module()
                setattr(owner, name, inner)
            if not isinstance(inner, Module):
                return False
            owner = inner
        owner.add_module(last, m)
        return True

    def delete_submodule(self, target):
        """Takes out the module under a path; whether there was one."""
        *prefix, last = target.split(".")
        owner = self
        for name in prefix:
            owner = getattr(owner, name, None)
        if owner is None or last not in owner._modules:
            return False
        delattr(owner, last)
        return True

    def delete_all_unused_submodules(self):
        """Takes out modules that the Graph neither calls nor reads."""
        used = set()
        for node in self._graph.nodes:
            if node.op in ("get_attr", "call_module"):
                parts = node.target.split(".")
                used.update(".".join(parts[:i + 1]) for i in range(len(parts)))
                if node.op == "call_module":
                    inner = self.get_submodule(node.target).named_modules()
                    used.update(node.target + "." + name for name, _ in inner)
        for name, _ in list(self.named_modules()):
            if name and name not in used:
                self.delete_submodule(name)

    def print_readable(self):
        """Prints the code."""
        print(self._code)

    def __deepcopy__(self, memo):
        from .graph import Graph
        plain, values = Module(), {}
        for name, value in vars(self).items():
            if name not in ("_graph", "_code"):
                plain.__dict__[name] = copy.deepcopy(value, memo)
        graph = Graph()
        graph.output(graph.graph_copy(self._graph, values))
        return GraphModule(plain, graph, type(self).__name__)

    def __copy__(self):
        return GraphModule(self, self._graph, type(self).__name__)

    def __str__(self):
        return super().__str__() + "\n" + self._code

    __repr__ = __str__
