"""Checks what an operator's schema says of memory against what the operator does."""

from . import _function_schema


def _tensors(value):
    from .. import Tensor
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [one for item in value for one in _tensors(item)]
    return []


def _storages(value):
    return {one.storage().data_ptr() for one in _tensors(value) if one.numel()}


def _sets(argument):
    info = argument.alias_info
    return set() if info is None else set(info.before_set)


def check_alias_annotation(graph, inputs, unqualified_op_name):
    """Runs the graph's call of an operator of that name, and raises where a result shares memory with an input of the
    graph that it takes, or such an input is written, that its schema does not say so of."""
    made = graph.copy()
    node = made.findNode("aten::" + unqualified_op_name)
    if node is None:
        raise RuntimeError("Couldn't find node 'aten::%s' in the graph" % unqualified_op_name)
    schema = _function_schema.parse_schema(node.schema())
    known = dict(zip(made.inputs(), inputs))
    taken = [(argument, known[value]) for argument, value in zip(schema.arguments, node.inputs()) if value in known]
    before = [[(one, one._version) for one in _tensors(value)] for _, value in taken]
    shared = [_storages(value) for _, value in taken]
    for _ in list(made.outputs()):
        made.eraseOutput(0)
    for value in node.outputs():
        made.registerOutput(value)
    results = made.compile("checked").function("checked")(*inputs)
    results = results if isinstance(results, tuple) and len(schema.returns) > 1 else (results,)
    for (argument, _), was in zip(taken, before):
        is_written = any(one._version != version for one, version in was)
        if is_written and (argument.alias_info is None or not argument.alias_info.is_write):
            raise RuntimeError("aten::%s writes '%s', but its schema does not say so" % (unqualified_op_name,
                                                                                         argument.name))
    for returned, result in zip(schema.returns, results):
        for (argument, _), storages in zip(taken, shared):
            if storages & _storages(result) and not _sets(argument) & _sets(returned):
                raise RuntimeError("a result of aten::%s may share memory with '%s', but its schema does not say so"
                                   % (unqualified_op_name, argument.name))


NAMES = {"_jit_check_alias_annotation": check_alias_annotation}
