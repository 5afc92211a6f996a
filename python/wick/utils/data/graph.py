"""Which data pipes a data pipe is made of."""
from wick.utils.data.datapipes._base import IterDataPipe, MapDataPipe


def _pipes_in(value, seen):
    if isinstance(value, (IterDataPipe, MapDataPipe)):
        yield value
    elif id(value) in seen:
        return
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _pipes_in(inner, seen | {id(value)})
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _pipes_in(inner, seen | {id(value)})
    elif type(value).__module__.startswith("wick.utils.data.datapipes"):
        yield from _pipes_in(vars(value), seen | {id(value)})


def traverse(datapipe, only_datapipe=None):
    """{id: (pipe, what it is made of in the same form)}."""
    made = {}
    for value in vars(datapipe).values():
        for pipe in _pipes_in(value, frozenset()):
            made.update(traverse(pipe))
    return {id(datapipe): (datapipe, made)}


def all_pipes(graph):
    """The pipes of such a graph, each once."""
    found = {}

    def walk(level):
        for number, (pipe, inner) in level.items():
            found[number] = pipe
            walk(inner)
    walk(graph)
    return list(found.values())
