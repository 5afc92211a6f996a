"""Functions and modules traced with stand-ins for values: as a Graph of calls, and a module that runs it."""
from . import immutable_collections  # noqa: F401
from ._symbolic_trace import PH, ProxyableClassMeta, Tracer, symbolic_trace, wrap  # noqa: F401
from .graph import CodeGen, Graph  # noqa: F401
from .graph_module import GraphModule  # noqa: F401
from .interpreter import Interpreter, Transformer  # noqa: F401
from .node import Node, has_side_effect, map_arg  # noqa: F401
from .proxy import Proxy, TraceError  # noqa: F401
from .subgraph_rewriter import Match, replace_pattern  # noqa: F401


def __getattr__(name):
    """What few programs need is imported when it is first named."""
    if name not in ("operator_schemas", "passes"):
        raise AttributeError("module 'wick.fx' has no attribute %r" % name)
    import importlib
    return importlib.import_module("." + name, __name__)
