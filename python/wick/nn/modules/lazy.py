"""Modules that learn sizes from their first input and then become ordinary ones."""
import warnings

from wick.nn.parameter import is_lazy


class LazyModuleMixin:
    """For a class before its Module class: ``initialize_parameters(*inputs)`` materializes what has no sizes.

    It runs before the first forward; afterwards the instance is of class ``cls_to_become``.
    """

    cls_to_become = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters)
        warnings.warn('Lazy modules are a new feature under heavy development so changes to the API or functionality '
                      'can happen at any moment.')

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        for name, value in [*self._parameters.items(), *self._buffers.items()]:
            if value is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = value if keep_vars or is_lazy(value) else value.detach()

    def _lazy_load_hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        for name, value in [*self._parameters.items(), *self._buffers.items()]:
            given = state_dict.get(prefix + name)
            if given is not None and is_lazy(value) and not is_lazy(given):
                value.materialize(given.shape)

    def initialize_parameters(self, *args, **kwargs):
        """Materializes parameters and buffers for these inputs."""
        raise NotImplementedError('initialize_parameters is not implemented for {}'.format(type(self).__name__))

    def has_uninitialized_params(self):
        """Whether a parameter or buffer has no sizes yet."""
        return any(is_lazy(value) for value in [*self._parameters.values(), *self._buffers.values()])

    def _infer_parameters(self, module, input):
        module.initialize_parameters(*input)
        if module.has_uninitialized_params():
            raise RuntimeError('module {} has not been fully initialized'.format(self._get_name()))
        module._initialize_hook.remove()
        module._load_hook.remove()
        delattr(module, '_initialize_hook')
        delattr(module, '_load_hook')
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become
