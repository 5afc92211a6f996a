"""The generator that random numbers come from unless a call is given another: seeds and states."""
import contextlib

from . import _C

default_generator = _C._default_generator()


def manual_seed(seed):
    """Random numbers begin anew with the seed; gives the generator."""
    return default_generator.manual_seed(int(seed))


def initial_seed():
    """The seed that random numbers began with."""
    return default_generator.initial_seed()


def seed():
    """Begins anew with a seed nobody knows, and gives it."""
    return default_generator.seed()


def get_rng_state():
    """Where the sequence of random numbers stands, as a tensor of bytes that torch takes, too."""
    return default_generator.get_state()


def set_rng_state(new_state):
    """Random numbers go on from a state that get_rng_state gave, here or in torch."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(devices=None, enabled=True, _caller="fork_rng", _devices_kw="devices"):
    """What is drawn within the context leaves the sequence outside of it as it was."""
    if not enabled:
        yield
        return
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)
