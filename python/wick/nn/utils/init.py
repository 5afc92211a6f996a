"""Modules without initial values."""
import inspect

import wick


def skip_init(module_cls, *args, **kwargs):
    """A module whose parameters and buffers are not initialized; its class must take ``device``."""
    if not (isinstance(module_cls, type) and issubclass(module_cls, wick.nn.Module)):
        raise RuntimeError('Expected a Module; got {}'.format(module_cls))
    if 'device' not in inspect.signature(module_cls).parameters:
        raise RuntimeError('Module must support a \'device\' arg to skip initialization')
    device = kwargs.pop('device', 'cpu')
    kwargs['device'] = device
    made = module_cls(*args, **kwargs)
    return made.to_empty(device=device)
