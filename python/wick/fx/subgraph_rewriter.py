"""replace_pattern: puts what one function does in the place of what another one, the pattern, does."""
from typing import Any, Dict, NamedTuple

from .graph import Graph
from .graph_module import GraphModule
from .node import Node


class Match(NamedTuple):
    """Where a pattern was found: the Node that its result is, and what stood for each of its Nodes."""

    anchor: Any
    nodes_map: Dict[Any, Any]


def _graph_of(thing):
    from ._symbolic_trace import symbolic_trace
    if isinstance(thing, GraphModule):
        return thing.graph
    return thing if isinstance(thing, Graph) else symbolic_trace(thing).graph


def _fits(pattern, value, found):
    """Whether a value of the graph is what the pattern says; `found` says what stands for its Nodes."""
    if not isinstance(pattern, Node):
        if isinstance(pattern, (tuple, list)):
            return type(pattern) is type(value) and len(pattern) == len(value) and all(
                _fits(p, v, found) for p, v in zip(pattern, value))
        return type(pattern) is type(value) and pattern == value
    if pattern in found:
        return found[pattern] is value
    if pattern.op == "placeholder":
        found[pattern] = value
        return True
    if not isinstance(value, Node) or value.op != pattern.op or value.target != pattern.target:
        return False
    if set(pattern.kwargs) != set(value.kwargs):
        return False
    found[pattern] = value
    return _fits(pattern.args, value.args, found) and all(
        _fits(item, value.kwargs[name], found) for name, item in pattern.kwargs.items())


def _is_closed(result, found):
    """Whether nothing outside takes what is computed on the way to the result."""
    inside = {value for pattern, value in found.items() if isinstance(value, Node) and pattern.op != "placeholder"}
    for pattern, value in found.items():
        if pattern.op in ("placeholder", "get_attr") or pattern is result:
            continue
        if any(user not in inside for user in value.users):
            return False
    return True


def replace_pattern(gm, pattern, replacement):
    """Changes the GraphModule; where the pattern was found. Parts of the graph are replaced once."""
    pattern, replacement = _graph_of(pattern), _graph_of(replacement)
    *_, end = pattern.nodes
    result, parameters = end.args[0], [node for node in pattern.nodes if node.op == "placeholder"]
    if not isinstance(result, Node):
        raise NotImplementedError("replace_pattern: a pattern gives one value")
    matches, taken = [], set()
    for node in gm.graph.nodes:
        found = {}
        if not _fits(result, node, found) or not _is_closed(result, found):
            continue
        inside = [value for one, value in found.items() if one.op != "placeholder"]
        if not taken.intersection(inside):
            taken.update(inside)
            matches.append(Match(node, found))
    replaced = {}  # a Node that is gone -> what stands for it
    for match in matches:
        values = {}
        given = [node for node in replacement.nodes if node.op == "placeholder"]
        for one, parameter in zip(given, parameters):
            value = match.nodes_map[parameter]
            values[one] = replaced.get(value, value)
        with gm.graph.inserting_before(match.anchor):
            made = gm.graph.graph_copy(replacement, values)
        match.anchor.replace_all_uses_with(made)
        replaced[match.anchor] = made
        for node in reversed([n for n in gm.graph.nodes if n in match.nodes_map.values()]):
            if not node.users and node.op not in ("placeholder", "output") and node not in values.values():
                gm.graph.erase_node(node)
    gm.recompile()
    return matches
