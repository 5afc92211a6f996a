"""A GraphModule cut into modules by what a function says of its Nodes."""
from ..graph import Graph
from ..graph_module import GraphModule
from ..node import map_arg
from ..proxy import GraphAppendingTracer, Proxy

__all__ = ["Partition", "split_module"]


class Partition:
    """The Nodes of one module to be: what it takes from before and gives to after, and those it comes after."""

    def __init__(self, name):
        self.name, self.submod_name = name, "submod_" + name
        self.node_names, self.inputs, self.outputs = [], {}, {}
        self.partitions_dependent_on, self.partition_dependents = {}, {}
        self.graph, self.environment, self.targets = Graph(), {}, {}

    def __repr__(self):
        return "name: {},\n nodes: {},\n inputs: {},\n outputs: {},\n partitions dependent on: {},\n " \
            "partition dependents: {}".format(self.name, self.node_names, self.inputs, self.outputs,
                                              self.partitions_dependent_on, self.partition_dependents)


def _partitions(graph, split_callback):
    """The Partitions by name, and that of each Node that is in one."""
    partitions, place = {}, {}

    def note_use(used, user):
        """A value that crosses from one module to another, or to the result."""
        source, target = place.get(used), place.get(user)
        if source is target:
            return
        if source is not None:
            source.outputs.setdefault(used)
        if target is not None:
            target.inputs.setdefault(used)
        if source is not None and target is not None:
            source.partition_dependents.setdefault(target.name)
            target.partitions_dependent_on.setdefault(source.name)
    for node in graph.nodes:
        if node.op not in ("placeholder", "get_attr", "output"):
            name = str(split_callback(node))
            place[node] = partitions.setdefault(name, Partition(name))
            place[node].node_names.append(node.name)
        if node.op not in ("placeholder", "get_attr"):
            for used in node.all_input_nodes:
                note_use(used, node)
    return partitions, place


def _ordered(partitions):
    """Each after those whose values it takes."""
    waiting = {name: set(partition.partitions_dependent_on) for name, partition in partitions.items()}
    ready, order = [name for name, before in waiting.items() if not before], []
    while ready:
        name = ready.pop()
        order.append(partitions[name])
        for dependent in partitions[name].partition_dependents:
            waiting[dependent].discard(name)
            if not waiting[dependent]:
                ready.append(dependent)
    if len(order) != len(partitions):
        raise RuntimeError("cycle exists between partitions!")
    return order


def _attribute(module, path):
    for name in path.split("."):
        if not hasattr(module, name):
            raise RuntimeError("Operator target {} not found!".format(path))
        module = getattr(module, name)
    return module


def _copied(node, partition, module, qualname_map):
    """The Node in its Partition's Graph."""
    target = node.target
    if node.op == "call_module":
        target = target.replace(".", "_")
        partition.targets[target] = _attribute(module, node.target)
        if qualname_map is not None:
            qualname_map[partition.submod_name + "." + target] = node.target
    made = partition.graph.create_node(
        node.op, target, map_arg(node.args, partition.environment.__getitem__),
        map_arg(node.kwargs, partition.environment.__getitem__), type_expr=node.type)
    made.meta = dict(node.meta)
    partition.environment[node] = made


def _called(partition, graph, environment):
    """The call of a Partition's module, whose results are put into the environment."""
    call = graph.call_module(partition.submod_name, tuple(environment[used] for used in partition.inputs))
    if len(partition.outputs) == 1:
        environment[next(iter(partition.outputs))] = call
        return
    results = Proxy(call, GraphAppendingTracer(graph))
    for i, output in enumerate(partition.outputs):
        environment[output] = results[i].node


def split_module(m, root_m, split_callback, qualname_map=None, keep_original_order=False):
    """A GraphModule of modules ``submod_NAME``, one for each name that ``split_callback`` gives to Nodes.

    ``qualname_map``: a dict to put in where each submodule stood in ``m``. With ``keep_original_order`` modules are
    called in the order in which they were first named, else in one that their values allow.
    """
    partitions, place = _partitions(m.graph, split_callback)
    order = _ordered(partitions)
    for partition in order:
        for used in partition.inputs:
            taken = partition.graph.placeholder(used.name)
            taken.meta = dict(used.meta)
            partition.environment[used] = taken
    for node in m.graph.nodes:
        if node in place:
            _copied(node, place[node], m, qualname_map)
    base, environment, attributes = Graph(), {}, {}
    for node in m.graph.nodes:
        if node.op in ("placeholder", "get_attr"):
            environment[node] = base.create_node(node.op, node.target, node.args, {}, type_expr=node.type)
            environment[node].meta = dict(node.meta)
        if node.op == "get_attr":
            attributes[node.target] = _attribute(m, node.target)
    for partition in partitions.values() if keep_original_order else order:
        outputs = tuple(partition.environment[output] for output in partition.outputs)
        partition.graph.output(outputs[0] if len(outputs) == 1 else outputs)
        attributes[partition.submod_name] = GraphModule(partition.targets, partition.graph)
        _called(partition, base, environment)
    for node in m.graph.nodes:
        if node.op == "output":
            base.output(map_arg(node.args[0], environment.__getitem__))
    return GraphModule(attributes, base)
