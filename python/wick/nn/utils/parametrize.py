"""Parameters and buffers that are computed from others each time they are read."""
import copy
from contextlib import contextmanager

import wick
from wick import Tensor
from wick.nn.modules.container import ModuleDict, ModuleList
from wick.nn.parameter import Parameter

_kept, _depth = {}, 0  # within `cached`: (id of a module, name) -> value; how deep


@contextmanager
def cached():
    """Within it each parametrized tensor is computed once."""
    global _depth
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if not _depth:
            _kept.clear()


def _register(module, name, value):
    if isinstance(value, Parameter):
        module.register_parameter(name, value)
    else:
        module.register_buffer(name, value)


def _same_kind(made, like):
    return Parameter(made, like.requires_grad) if isinstance(like, Parameter) else made


def _start_of(step, value):
    """What the parametrization makes `value` of, or the value where it cannot say."""
    if not hasattr(step, 'right_inverse'):
        return value
    try:
        return step.right_inverse(value)
    except NotImplementedError:
        return value


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, first applied first, with what they are applied to: `original`, or
    `original0`, `original1`... where the last one's right_inverse gives several."""

    def __init__(self, modules, original, unsafe=False):
        super().__init__(modules)
        self.unsafe = unsafe
        start = original
        with wick.no_grad():
            for step in reversed(self):
                start = _start_of(step, start)
        several = not isinstance(start, Tensor)
        if several and not (isinstance(start, (tuple, list)) and all(isinstance(one, Tensor) for one in start)):
            raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got {}"
                             .format(type(start).__name__))
        self.is_tensor, self.ntensors = not several, len(start) if several else 1
        if several:
            for i, one in enumerate(start):
                _register(self, 'original%d' % i, _same_kind(one, original))
            return
        if not unsafe and start.dtype != original.dtype:
            raise ValueError("When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                             "original.dtype: {}\n"
                             "right_inverse(original).dtype: {}".format(original.dtype, start.dtype))
        if start is not original:
            with wick.no_grad():
                original.data = start
        _register(self, 'original', original)

    def _originals(self):
        return (self.original,) if self.is_tensor else tuple(getattr(self, 'original%d' % i)
                                                            for i in range(self.ntensors))

    def right_inverse(self, value):
        """Changes the originals so that `value` comes out of them, as far as the parametrizations can."""
        with wick.no_grad():
            for step in reversed(self):
                if not hasattr(step, 'right_inverse'):
                    raise RuntimeError("parametrization {} does not implement right_inverse."
                                       .format(type(step).__name__))
                value = step.right_inverse(value)
            values = (value,) if isinstance(value, Tensor) else tuple(value)
            if len(values) != self.ntensors:
                raise ValueError("'right_inverse' must return a sequence of tensors of length {}. Got a sequence of "
                                 "length {}.".format(self.ntensors, len(values)))
            for original, one in zip(self._originals(), values):
                original.data = one

    def forward(self):
        """The tensor."""
        if wick.jit.is_scripting():
            raise RuntimeError("Parametrization is not working with scripting.")
        value = self[0](*self._originals())
        for i in range(1, len(self)):
            value = self[i](value)
        return value


def _property(name):
    def read(self) -> Tensor:
        if wick.jit.is_scripting():
            raise RuntimeError("Parametrization is not working with scripting.")
        parametrization = self.parametrizations[name]
        if not _depth:
            return parametrization()
        key = id(self), name
        if key not in _kept:
            _kept[key] = parametrization()
        return _kept[key]

    def write(self, value: Tensor):
        if wick.jit.is_scripting():
            raise RuntimeError("Parametrization is not working with scripting.")
        self.parametrizations[name].right_inverse(value)
    return property(read, write)


def _refuse_pickling(self):
    raise RuntimeError("Serialization of parametrized modules is only supported through state_dict(). See:\n"
                       "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
                       "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training")


def _deepcopy(self, memo):
    made = memo[id(self)] = self.__new__(type(self))
    made.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return made


def _parametrized_class(module):
    """Gives the module a class of its own, in which its parametrized tensors are properties."""
    cls = type(module)
    members = {'__getstate__': _refuse_pickling, '_unparametrized_class': cls}
    if not hasattr(cls, '__deepcopy__'):
        members['__deepcopy__'] = _deepcopy
    module.__class__ = type('Parametrized' + cls.__name__, (cls,), members)
    module.parametrizations = ModuleDict()


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """Has ``module.tensor_name`` be what ``parametrization`` makes of the tensor that it is now; several follow each
    other.

    What ``right_inverse`` of the parametrization gives is kept as the original, so that assigning to the attribute
    works. With ``unsafe`` it is not checked that dtype and sizes stay. Returns the module.
    """
    parametrization.train(module.training)
    parametrized = is_parametrized(module, tensor_name)
    if not parametrized and tensor_name not in module._parameters and tensor_name not in module._buffers:
        raise ValueError("Module '{}' does not have a parameter, a buffer, or a parametrized element with name '{}'"
                         .format(module, tensor_name))
    with wick.no_grad():
        before = getattr(module, tensor_name)
        if parametrized:
            steps = module.parametrizations[tensor_name]
            if not unsafe:
                _check_step(parametrization, before)
            steps.append(parametrization)
            steps.unsafe |= unsafe
            return module
        if not unsafe:
            _check_step(parametrization, before)
        steps = ParametrizationList([parametrization], before, unsafe)
        table = module._parameters if tensor_name in module._parameters else module._buffers
        del table[tensor_name]
        if not is_parametrized(module):
            _parametrized_class(module)
        setattr(type(module), tensor_name, _property(tensor_name))
        module.parametrizations[tensor_name] = steps
    return module


def _check_step(step, before):
    start = _start_of(step, before)
    after = step(start) if isinstance(start, Tensor) else step(*start)
    told = ("Registering a parametrization may not change the {0} of the tensor, unless `unsafe` flag is enabled.\n"
            "unparametrized {0}: {1}\nparametrized {0}: {2}")
    if not isinstance(after, Tensor):
        raise ValueError("A parametrization must return a tensor. Got {}.".format(type(after).__name__))
    for what in ('dtype', 'shape'):
        if getattr(after, what) != getattr(before, what):
            raise ValueError(told.format(what, getattr(before, what), getattr(after, what)))


def is_parametrized(module, tensor_name=None):
    """Whether the module has parametrizations, or one of that tensor."""
    parametrizations = getattr(module, 'parametrizations', None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    """Makes the tensor an ordinary one again: with the value that it has, or else the original's."""
    if not is_parametrized(module, tensor_name):
        raise ValueError("Module {} does not have a parametrization on {}".format(module, tensor_name))
    steps = module.parametrizations[tensor_name]
    if not leave_parametrized and not steps.is_tensor:
        raise ValueError("Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in "
                         "terms of a sequence of tensors.")
    with wick.no_grad():
        value = getattr(module, tensor_name)
        if not steps.is_tensor:
            original = Parameter(value) if steps.original0.requires_grad else value
        else:
            original = steps.original
            if leave_parametrized:
                original.data = value
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type(module)._unparametrized_class
    return module


def type_before_parametrizations(module):
    """The class that the module had before it was parametrized."""
    return type(module)._unparametrized_class if is_parametrized(module) else type(module)
