"""Decompositions: what stands in the place of an operator in graphs, as the graph of a program."""

from . import _graph

_known = {}  # text of a schema -> Graph
_TEXT = """
def var(input: Tensor, unbiased: bool = True) -> Tensor:
    dims: List[int] = []
    centred = input - torch.mean(input, dims, True)
    count = input.numel()
    if unbiased:
        count = count - 1
    return torch.sum(centred * centred, dims, False) / count
"""
_VAR = "aten::var(Tensor self, bool unbiased=True) -> Tensor"


def _text(schema):
    return str(schema).strip()


def _all():
    if _VAR not in _known:
        from ._script import CompilationUnit
        _known[_VAR] = CompilationUnit(_TEXT).var.graph
    return _known


def register_for_schema(schema, graph):
    """Makes a graph the decomposition of the operator with that schema."""
    if not isinstance(graph, _graph.Graph):
        raise TypeError("a decomposition is a Graph, not %s" % type(graph).__name__)
    _all()[_text(schema)] = graph


def graph_for_node(node):
    """The decomposition of a node's operator, or None."""
    return _all().get(_text(node.schema()))


def _register_decomposition(op, graph):
    """Makes a graph the decomposition of an overload, `torch.ops.aten.square.default`."""
    register_for_schema(op._schema, graph)


def run_decompositions(graph):
    """Puts decompositions in the place of nodes that have one."""
    def walk(block):
        for node in list(block.nodes()):
            for inner in node.blocks():
                walk(inner)
            made = graph_for_node(node) if node.kind().startswith("aten::") else None
            if made is None:
                continue
            with graph.insert_point_guard(node):
                values = list(graph.insertGraph(made, list(node.inputs())))
            for old, new in zip(node.outputs(), values):
                new.setTypeAs(old)
                old.replaceAllUsesWith(new)
            node.destroy()
    walk(graph.block())
    for name in ("peephole", "constant_propagation_mutable", "constant_pooling"):
        graph.run_pass(name)


NAMES = {"_jit_register_decomposition_for_schema": register_for_schema,
         "_jit_decomposition_graph_for_node": graph_for_node, "_jit_pass_run_decompositions": run_decompositions}
