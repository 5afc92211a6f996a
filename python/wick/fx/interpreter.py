"""Interpreter: runs a Graph Node by Node; its methods say what each kind of Node does."""
from .graph import Graph
from .graph_module import GraphModule
from .node import map_arg
from .proxy import GraphAppendingTracer, Proxy


class Interpreter:
    """Runs the Graph of a GraphModule; derive from it to do something else."""

    def __init__(self, module, garbage_collect_values=True):
        self.module = module
        self.submodules = dict(module.named_modules())
        self.env, self.garbage_collect_values = {}, garbage_collect_values
        self._last_uses = {}
        if garbage_collect_values:
            seen = set()
            for node in reversed(module.graph.nodes):
                for used in node.all_input_nodes:
                    if used not in seen:
                        seen.add(used)
                        self._last_uses.setdefault(node, []).append(used)

    def run(self, *args, initial_env=None):
        """What the Graph gives for such arguments."""
        self.env = dict(initial_env or {})
        self.args_iter = iter(args)
        for node in self.module.graph.nodes:
            if node in self.env:
                continue
            self.env[node] = self.run_node(node)
            if node.op == "output":
                return self.env[node]
            for used in self._last_uses.get(node, ()):
                self.env.pop(used, None)
        return None

    def run_node(self, n):
        """The value of one Node, by the method of its kind."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    def placeholder(self, target, args, kwargs):
        """The next argument, or the default."""
        if target.startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration:
            if args:
                return args[0]
            raise RuntimeError("Expected positional argument for parameter %s, but one was not passed in!"
                               % target) from None

    def get_attr(self, target, args, kwargs):
        """An attribute of the module."""
        return self.fetch_attr(target)

    def call_function(self, target, args, kwargs):
        """A call of a function."""
        return target(*args, **kwargs)

    def call_method(self, target, args, kwargs):
        """A call of a method."""
        return getattr(args[0], target)(*args[1:], **kwargs)

    def call_module(self, target, args, kwargs):
        """A call of a submodule."""
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target, args, kwargs):
        """What the Graph gives."""
        return args[0]

    def fetch_attr(self, target):
        """What stands under a path of the module."""
        found = self.module
        for part in target.split("."):
            found = getattr(found, part)
        return found

    def fetch_args_kwargs_from_env(self, n):
        """The values of what a Node takes."""
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    def map_nodes_to_values(self, args, n):
        """The same structure with values in the place of Nodes."""
        return map_arg(args, lambda used: self.env[used])


class Transformer(Interpreter):
    """An Interpreter with Proxies for values: what its methods do makes another Graph."""

    def __init__(self, module):
        super().__init__(module)
        self.new_graph = Graph()
        self.tracer = _Reading(self.new_graph, module)

    def placeholder(self, target, args, kwargs):
        """A placeholder of the new Graph."""
        return Proxy(self.new_graph.create_node("placeholder", target, args), self.tracer)

    def get_attr(self, target, args, kwargs):
        """A read of the new Graph."""
        return Proxy(self.new_graph.get_attr(target), self.tracer)

    def call_module(self, target, args, kwargs):
        """A call of the new Graph."""
        return self.tracer.create_proxy("call_module", target, args, kwargs)

    def call_function(self, target, args, kwargs):
        """A call of the new Graph."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def call_method(self, target, args, kwargs):
        """A call of the new Graph."""
        return self.tracer.create_proxy("call_method", target, args, kwargs)

    def transform(self):
        """The GraphModule of the new Graph."""
        result = self.run()
        self.new_graph.output(map_proxies(result))
        return GraphModule(self.module, self.new_graph)

    def run(self, *args, initial_env=None):
        """Runs with Proxies."""
        return super().run(*args, initial_env=initial_env)


class _Reading(GraphAppendingTracer):
    def __init__(self, graph, module):
        super().__init__(graph)
        self.root = module


def map_proxies(value):
    """The same structure with Nodes in the place of Proxies."""
    from .node import map_aggregate
    return map_aggregate(value, lambda leaf: leaf.node if isinstance(leaf, Proxy) else leaf)
