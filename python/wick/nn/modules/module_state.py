"""State dicts of modules: collected, and loaded strictly or not."""
import itertools
from collections import OrderedDict, namedtuple

import wick
from wick import Tensor
from wick.nn.parameter import Parameter, is_lazy

_EXTRA_STATE = '_extra_state'


class _IncompatibleKeys(namedtuple('IncompatibleKeys', ['missing_keys', 'unexpected_keys'])):
    """What ``load_state_dict`` returns."""

    __slots__ = ()

    def __repr__(self):
        return super().__repr__() if self.missing_keys or self.unexpected_keys else '<All keys matched successfully>'

    __str__ = __repr__


class StateDicts:
    """The part of Module that is about state dicts."""

    def get_extra_state(self):
        """State of a subclass that is neither parameter nor buffer, for ``state_dict``; to define with its setter."""
        raise RuntimeError("Reached a code path in Module.get_extra_state() that should never be called.")

    def set_extra_state(self, state):
        """Takes what ``get_extra_state`` gave."""
        raise RuntimeError("Reached a code path in Module.set_extra_state() that should never be called.")

    def _has_extra_state(self, method):
        return getattr(type(self), method) is not getattr(StateDicts, method)

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        persistent = ((name, value) for name, value in self._buffers.items()
                      if name not in self._non_persistent_buffers_set)
        for name, value in itertools.chain(self._parameters.items(), persistent):
            if value is not None:
                destination[prefix + name] = value if keep_vars else value.detach()
        if self._has_extra_state('get_extra_state'):
            destination[prefix + _EXTRA_STATE] = self.get_extra_state()

    def state_dict(self, *args, destination=None, prefix='', keep_vars=False):
        """An OrderedDict of parameters and persistent buffers by dotted path, which share the module's memory.

        ``keep_vars`` keeps parameters as they are rather than detached. ``_metadata`` holds versions of modules.
        """
        for name, value in zip(('destination', 'prefix', 'keep_vars'), args):
            if name == 'destination':
                destination = value
            elif name == 'prefix':
                prefix = value
            else:
                keep_vars = value
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {'version': self._version}
        if hasattr(destination, '_metadata'):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=prefix + name + '.', keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            replaced = hook(self, destination, prefix, metadata)
            if replaced is not None:
                destination = replaced
        return destination

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                              error_msgs):
        """Takes this module's own parameters and buffers out of ``state_dict``; what went wrong joins the lists."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        assign = local_metadata.get('assign_to_params_buffers', False)
        own = {**self._parameters, **{name: value for name, value in self._buffers.items()
                                      if name not in self._non_persistent_buffers_set}}
        for name, value in own.items():
            if value is None:
                continue
            key = prefix + name
            if key in state_dict:
                self._load_one(name, value, key, state_dict[key], assign, error_msgs)
            elif strict:
                missing_keys.append(key)
        extra = prefix + _EXTRA_STATE
        if self._has_extra_state('set_extra_state'):
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != extra:
                    name = key[len(prefix):].split('.', 1)[0]
                    if name not in self._modules and name not in own:
                        unexpected_keys.append(key)

    def _load_one(self, name, value, key, given, assign, error_msgs):
        if not isinstance(given, Tensor):
            error_msgs.append('While copying the parameter named "{}", expected torch.Tensor or Tensor-like object '
                              'from checkpoint but received {}'.format(key, type(given)))
            return
        lazy = is_lazy(value)
        if not lazy and value.dim() == 0 and given.dim() == 1 and len(given) > 0:
            given = given[0]  # as files from before there were scalars have it
        if not lazy and given.shape != value.shape:
            error_msgs.append('size mismatch for {}: copying a param with shape {} from checkpoint, the shape in '
                              'current model is {}.'.format(key, given.shape, value.shape))
            return
        try:
            if assign:
                if isinstance(value, Parameter) and not isinstance(given, Parameter):
                    given = Parameter(given, value.requires_grad)
                setattr(self, name, given)
            else:
                with wick.no_grad():
                    value.copy_(given)
        except Exception as error:
            error_msgs.append('While copying the parameter named "{}", whose dimensions in the model are {} and '
                              'whose dimensions in the checkpoint are {}, an exception occurred : {}.'
                              .format(key, value.size(), given.size(), error.args))

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Copies parameters and buffers from a state dict here and below.

        Args:
            state_dict: values by dotted path, as ``state_dict()`` gives them; it is not changed.
            strict: whether the keys must be exactly the module's.
            assign: whether the given tensors take the place of the module's rather than being copied into them.

        Returns the missing and the unexpected keys. Raises RuntimeError that lists everything that does not fit.
        """
        if not isinstance(state_dict, dict) and not hasattr(state_dict, 'items'):
            raise TypeError("Expected state_dict to be dict-like, got {}.".format(type(state_dict)))
        missing_keys, unexpected_keys, error_msgs = [], [], []
        metadata = getattr(state_dict, '_metadata', None)
        state_dict = OrderedDict(state_dict)
        if metadata is not None:
            state_dict._metadata = metadata

        def load(module, local, prefix):
            local_metadata = {} if metadata is None else metadata.get(prefix[:-1], {})
            if assign:
                local_metadata = dict(local_metadata, assign_to_params_buffers=True)
            module._load_from_state_dict(local, prefix, local_metadata, True, missing_keys, unexpected_keys,
                                         error_msgs)
            for name, child in module._modules.items():
                if child is not None:
                    below = prefix + name + '.'
                    load(child, {key: value for key, value in local.items() if key.startswith(below)}, below)
            incompatible = _IncompatibleKeys(missing_keys, unexpected_keys)
            for hook in module._load_state_dict_post_hooks.values():
                if hook(module, incompatible) is not None:
                    raise AssertionError("Hooks registered with ``register_load_state_dict_post_hook`` are not "
                                         "expected to return new values, if incompatible_keys need to be modified, "
                                         "it should be done inplace.")

        load(self, state_dict, '')
        if strict:
            for what, keys in (('Unexpected', unexpected_keys), ('Missing', missing_keys)):
                if keys:
                    error_msgs.insert(0, '{} key(s) in state_dict: {}. '.format(
                        what, ', '.join('"{}"'.format(key) for key in keys)))
        if error_msgs:
            raise RuntimeError('Error(s) in loading state_dict for {}:\n\t{}'.format(type(self).__name__,
                                                                                    '\n\t'.join(error_msgs)))
        return _IncompatibleKeys(missing_keys, unexpected_keys)
