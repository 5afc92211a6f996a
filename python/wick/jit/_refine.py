"""What tests tell of integers: where `x == 3` holds, x is the constant 3."""


def _number(value):
    """Of a constant integer its value, else None."""
    if value.node().kind() != "prim::Constant":
        return None
    found = value.toIValue()
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _constant_bool(value):
    return value.toIValue() if value.node().kind() == "prim::Constant" else None


def _facts(condition):
    """What is known where a condition holds, and where it does not: values and their numbers."""
    node = condition.node()
    kind = node.kind()
    if kind in ("aten::eq", "aten::ne"):
        for value, other in (list(node.inputs()), list(node.inputs())[::-1]):
            number = _number(other)
            if number is not None and value.type().kind() == "IntType" and _number(value) is None:
                return ({value: number}, {}) if kind == "aten::eq" else ({}, {value: number})
    elif kind == "aten::__not__":
        return _facts(node.input())[::-1]
    elif kind == "prim::If":
        return _facts_of_if(node, list(node.outputs()).index(condition))
    return {}, {}


def _facts_of_if(node, at):
    """`a and b` is an If whose second branch gives False, `a or b` one whose first gives True."""
    holds, fails = _facts(node.input())
    first, second = [list(block.outputs())[at] for block in node.blocks()]
    of_first, of_second = _facts(first), _facts(second)
    ways = ((_constant_bool(first), {**holds, **of_first[0]}, {**holds, **of_first[1]}),
            (_constant_bool(second), {**fails, **of_second[0]}, {**fails, **of_second[1]}))
    return (_common([when for constant, when, _ in ways if constant is not False]),
            _common([when for constant, _, when in ways if constant is not True]))


def _common(ways):
    if not ways:
        return {}
    return {value: number for value, number in ways[0].items() if all(way.get(value) == number for way in ways)}


def _raises(block):
    return any(node.kind() == "prim::RaiseException" for node in block.nodes())


class _Refining:
    def __init__(self, graph):
        self.graph, self.changed = graph, False

    def node(self, node, known):
        """Puts constants in the place of what it takes."""
        for i, value in enumerate(list(node.inputs())):
            number = known.get(value)
            if number is not None:
                with self.graph.insert_point_guard(node if node.kind() != "prim::Return" else node.owningBlock()):
                    node.replaceInput(i, self.graph.insertConstant(number))
                self.changed = True

    def block(self, block, known):
        """Does so in a block, where that is known on entry."""
        known = dict(known)
        for node in list(block.nodes()):
            self.node(node, known)
            if node.kind() != "prim::If":
                for inner in node.blocks():
                    self.block(inner, known)
                continue
            facts = _facts(node.input())
            first, second = node.blocks()
            for inner, told in zip((first, second), facts):
                self.block(inner, {**known, **told})
            if _raises(first) or _raises(second):
                known.update(facts[1] if _raises(first) else facts[0])
        self.node(block.returnNode(), known)


def integer_value_refinement(graph):
    """Puts constants in the place of integers that are known by tests; whether there were any."""
    refining = _Refining(graph)
    refining.block(graph.block(), {})
    return refining.changed


refine_integer_values = integer_value_refinement
