"""What is set for all data pipes that a data pipe is made of."""
import wick
from wick.utils.data.datapipes._base import IterDataPipe
from wick.utils.data.graph import all_pipes, traverse


def get_all_graph_pipes(graph):
    """The pipes of a graph of traverse(), each once."""
    return all_pipes(graph)


def apply_sharding(datapipe, num_of_instances, instance_id):
    """Tells those that filter by parts which part is meant."""
    for pipe in all_pipes(traverse(datapipe)):
        if isinstance(pipe, IterDataPipe) and hasattr(type(pipe), "apply_sharding"):
            pipe.apply_sharding(num_of_instances, instance_id)
    return datapipe


def _shufflers(datapipe):
    return [pipe for pipe in all_pipes(traverse(datapipe)) if hasattr(type(pipe), "set_shuffle")]


def apply_shuffle_settings(datapipe, shuffle=None):
    """Switches shuffling on or off, and where nothing shuffles and something has to, puts that last."""
    if shuffle is None:
        return datapipe
    shufflers = _shufflers(datapipe)
    if not shufflers and shuffle:
        datapipe = datapipe.shuffle()
        shufflers = [datapipe]
    for pipe in shufflers:
        pipe.set_shuffle(shuffle)
    return datapipe


def apply_random_seed(datapipe, rng):
    """Gives each that draws random numbers a seed of the generator."""
    for pipe in all_pipes(traverse(datapipe)):
        if hasattr(type(pipe), "set_seed"):
            pipe.set_seed(int(wick.empty((), dtype=wick.int64).random_(generator=rng).item()))
    return datapipe
