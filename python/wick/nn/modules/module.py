"""Module: parameters, buffers and children by name, and hooks. Walks over them and state dicts are in files beside
this one."""
import functools
import weakref
from collections import OrderedDict

import wick
from wick import Tensor
from wick.nn.modules.module_state import StateDicts
from wick.nn.modules.module_walks import Walks
from wick.nn.parameter import Parameter, is_lazy
from wick.utils.hooks import BackwardHook, RemovableHandle

# Set while a program is traced: called as wrapper(module, args, kwargs) in place of module._call_plain.
_call_wrapper = None

_global_forward_pre_hooks = OrderedDict()
_global_forward_hooks = OrderedDict()
_global_backward_hooks = OrderedDict()
_global_is_full_backward_hook = None

# Attributes that every module has, in the order of its __dict__; a module that was pickled without one gets it empty.
_FIELDS = (('_parameters', OrderedDict), ('_buffers', OrderedDict), ('_non_persistent_buffers_set', set),
           ('_backward_hooks', OrderedDict), ('_is_full_backward_hook', lambda: None),
           ('_forward_hooks', OrderedDict), ('_forward_hooks_with_kwargs', OrderedDict),
           ('_forward_pre_hooks', OrderedDict), ('_forward_pre_hooks_with_kwargs', OrderedDict),
           ('_state_dict_hooks', OrderedDict), ('_state_dict_pre_hooks', OrderedDict),
           ('_load_state_dict_pre_hooks', OrderedDict), ('_load_state_dict_post_hooks', OrderedDict),
           ('_modules', OrderedDict))


def _typename(value):
    if isinstance(value, Tensor):
        return value.type()
    kind = type(value)
    return kind.__name__ if kind.__module__ == 'builtins' else kind.__module__ + '.' + kind.__qualname__


def _addindent(text, spaces):
    return text.replace('\n', '\n' + ' ' * spaces)


def _add_hook(hooks, hook, prepend=False, extra=None):
    handle = RemovableHandle(hooks, extra=extra)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def register_module_forward_pre_hook(hook):
    """Has ``hook(module, args)`` called before every module's forward."""
    return _add_hook(_global_forward_pre_hooks, hook)


def register_module_forward_hook(hook):
    """Has ``hook(module, args, output)`` called after every module's forward."""
    return _add_hook(_global_forward_hooks, hook)


def register_module_full_backward_hook(hook):
    """Has ``hook(module, grad_input, grad_output)`` called for every module in backward passes."""
    return _add_global_backward_hook(hook, True)


def register_module_backward_hook(hook):
    """As ``register_module_full_backward_hook``, seeing the gradients of a module's last operator alone."""
    return _add_global_backward_hook(hook, False)


def _add_global_backward_hook(hook, full):
    global _global_is_full_backward_hook
    if _global_is_full_backward_hook is (not full):
        raise RuntimeError("Cannot use both regular backward hooks and full backward hooks as a global Module hook. "
                           "Please use only one of them.")
    _global_is_full_backward_hook = full
    return _add_hook(_global_backward_hooks, hook)


def _forward_unimplemented(self, *input):
    """What the module computes; every class defines it."""
    raise NotImplementedError('Module [{}] is missing the required "forward" function'.format(type(self).__name__))


def _parse_to(args, kwargs):
    """The (device, dtype, non_blocking, memory_format) that the arguments of ``Tensor.to`` stand for."""
    device, dtype = kwargs.pop('device', None), kwargs.pop('dtype', None)
    non_blocking, memory_format = kwargs.pop('non_blocking', False), kwargs.pop('memory_format', None)
    other = kwargs.pop('tensor', kwargs.pop('other', None))
    kwargs.pop('copy', None)
    if kwargs:
        raise TypeError("to() received an invalid combination of arguments: unknown {}".format(sorted(kwargs)))
    flags = []
    for value in args:
        if isinstance(value, Tensor):
            other = value
        elif isinstance(value, wick.dtype):
            dtype = value
        elif isinstance(value, bool):
            flags.append(value)
        elif isinstance(value, wick.memory_format):
            memory_format = value
        elif value is not None:
            device = value
    if other is not None:
        device, dtype = other.device, other.dtype
    if flags:
        non_blocking = flags[0]
    return None if device is None else wick.device(device), dtype, non_blocking, memory_format


class Module(Walks, StateDicts):
    """Base class of neural network layers and of networks.

    Parameters, Modules and (by ``register_buffer``) Tensors that are assigned as attributes become part of what
    ``parameters()``, ``to()``, ``state_dict()`` and their kin see. A class defines ``forward``; calls of the module
    run it between the hooks.
    """

    dump_patches = False
    _version = 1
    training: bool

    def __init__(self):
        fields = self.__dict__
        fields['training'] = True
        for name, make in _FIELDS:
            fields[name] = make()

    forward = _forward_unimplemented

    # ---- calls ----
    def __call__(self, *args, **kwargs):
        if _call_wrapper is not None:
            return _call_wrapper(self, args, kwargs)
        if not (self._forward_hooks or self._forward_pre_hooks or self._backward_hooks or _global_forward_hooks
                or _global_forward_pre_hooks or _global_backward_hooks):
            return self.forward(*args, **kwargs)
        return self._call_hooked(args, kwargs)

    def _call_plain(self, *args, **kwargs):
        """A call as it is without a tracer."""
        return self._call_hooked(args, kwargs)

    def _call_hooked(self, args, kwargs):
        for key, hook in [*_global_forward_pre_hooks.items(), *self._forward_pre_hooks.items()]:
            if key in self._forward_pre_hooks_with_kwargs:
                result = hook(self, args, kwargs)
                if result is None:
                    continue
                if not (isinstance(result, tuple) and len(result) == 2):
                    raise RuntimeError("forward pre-hook must return None or a tuple of (new_args, new_kwargs), but "
                                       "got {}.".format(result))
                args, kwargs = result
            else:
                result = hook(self, args)
                if result is not None:
                    args = result if isinstance(result, tuple) else (result,)
        full, plain = self._get_backward_hooks()
        backward = BackwardHook(self, full) if full else None
        if backward:
            args = backward.setup_input(args)
        result = self.forward(*args, **kwargs)
        for key, hook in [*_global_forward_hooks.items(), *self._forward_hooks.items()]:
            if key in self._forward_hooks_with_kwargs:
                changed = hook(self, args, kwargs, result)
            else:
                changed = hook(self, args, result)
            if changed is not None:
                result = changed
        if backward:
            result = backward.setup_output(result)
        if plain:
            self._hook_last_operator(result, plain)
        return result

    def _get_backward_hooks(self):
        """The backward hooks of both kinds: those of whole modules, those of their last operators."""
        full, plain = [], []
        for hooks, is_full in ((_global_backward_hooks, _global_is_full_backward_hook),
                               (self._backward_hooks, self._is_full_backward_hook)):
            (full if is_full else plain).extend(hooks.values())
        return full, plain

    def _hook_last_operator(self, result, hooks):
        value = result
        while not isinstance(value, Tensor):
            if isinstance(value, dict):
                value = next(each for each in value.values() if isinstance(each, Tensor))
            else:
                value = value[0]
        if value.grad_fn is None:
            return
        for hook in hooks:
            value.grad_fn.register_hook(functools.partial(hook, self))

    # ---- hooks ----
    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """Has ``hook(module, args)`` called before forward; what it returns unless None replaces the arguments.

        With ``with_kwargs`` it is called as ``hook(module, args, kwargs)`` and returns None or both.
        """
        handle = _add_hook(self._forward_pre_hooks, hook, prepend, self._forward_pre_hooks_with_kwargs)
        if with_kwargs:
            self._forward_pre_hooks_with_kwargs[handle.id] = True
        return handle

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False):
        """Has ``hook(module, args, output)`` called after forward; what it returns unless None replaces the output.

        With ``with_kwargs`` it is called as ``hook(module, args, kwargs, output)``.
        """
        handle = _add_hook(self._forward_hooks, hook, prepend, self._forward_hooks_with_kwargs)
        if with_kwargs:
            self._forward_hooks_with_kwargs[handle.id] = True
        return handle

    def register_full_backward_hook(self, hook, prepend=False):
        """Has ``hook(module, grad_input, grad_output)`` called when the gradients of the module's positional tensor
        arguments are known; what it returns unless None replaces ``grad_input``."""
        return self._add_backward_hook(hook, True, prepend)

    def register_backward_hook(self, hook):
        """As ``register_full_backward_hook``, but ``grad_input`` is that of the module's last operator alone."""
        return self._add_backward_hook(hook, False, False)

    def _add_backward_hook(self, hook, full, prepend):
        if self._is_full_backward_hook is (not full):
            raise RuntimeError("Cannot use both regular backward hooks and full backward hooks on a single Module. "
                               "Please use only one of them.")
        self._is_full_backward_hook = full
        return _add_hook(self._backward_hooks, hook, prepend)

    def _register_state_dict_hook(self, hook):
        return _add_hook(self._state_dict_hooks, hook)

    def register_state_dict_pre_hook(self, hook):
        """Has ``hook(module, prefix, keep_vars)`` called before ``state_dict`` collects the module's state."""
        return _add_hook(self._state_dict_pre_hooks, hook)

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        if with_module:
            hook = functools.partial(_call_with_module, weakref.ref(self), hook)
        return _add_hook(self._load_state_dict_pre_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook):
        """Has ``hook(module, state_dict, prefix, local_metadata, strict, missing, unexpected, errors)`` called before
        the module takes its state from a state dict."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook):
        """Has ``hook(module, incompatible_keys)`` called after ``load_state_dict``; it may change the keys' lists."""
        return _add_hook(self._load_state_dict_post_hooks, hook)

    # ---- members ----
    def register_parameter(self, name, param):
        """Adds a parameter (or None, a parameter that is not there) under ``name``."""
        if '_parameters' not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        self._check_name('parameter', name, self._parameters)
        if param is None:
            self._parameters[name] = None
        elif not isinstance(param, Parameter):
            raise TypeError("cannot assign '{}' object to parameter '{}' (torch.nn.Parameter or None required)"
                            .format(_typename(param), name))
        elif param.grad_fn is not None:
            raise ValueError("Cannot assign non-leaf Tensor to parameter '{0}'. Model parameters must be created "
                             "explicitly. To express '{0}' as a function of another Tensor, compute the value in the "
                             "forward() method.".format(name))
        else:
            self._parameters[name] = param

    def register_buffer(self, name, tensor, persistent=True):
        """Adds a tensor (or None) that is state but no parameter; state dicts have it when it is ``persistent``."""
        if '_buffers' not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._check_name('buffer', name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError("cannot assign '{}' object to buffer '{}' (torch Tensor or None required)"
                            .format(_typename(tensor), name))
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name, module):
        """Adds a child (or None) under ``name``."""
        if not isinstance(module, Module) and module is not None:
            raise TypeError("{} is not a Module subclass".format(_typename(module)))
        if not isinstance(name, str):
            raise TypeError("module name should be a string. Got {}".format(_typename(name)))
        if hasattr(self, name) and name not in self._modules:
            raise KeyError("attribute '{}' already exists".format(name))
        if '.' in name:
            raise KeyError('module name can\'t contain ".", got: {}'.format(name))
        if name == '':
            raise KeyError('module name can\'t be empty string ""')
        self._modules[name] = module

    def register_module(self, name, module):
        """The same as ``add_module``."""
        self.add_module(name, module)

    def _check_name(self, what, name, taken):
        if not isinstance(name, str):
            raise TypeError("{} name should be a string. Got {}".format(what, _typename(name)))
        if '.' in name:
            raise KeyError('{} name can\'t contain "."'.format(what))
        if name == '':
            raise KeyError('{} name can\'t be empty string ""'.format(what))
        if hasattr(self, name) and name not in taken:
            raise KeyError("attribute '{}' already exists".format(name))

    def get_submodule(self, target):
        """The module at the dotted path ``target``; '' is the module itself."""
        module = self
        for name in target.split('.') if target else ():
            if not hasattr(module, name):
                raise AttributeError("{} has no attribute `{}`".format(module._get_name(), name))
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError("`{}` is not an nn.Module".format(name))
        return module

    def get_parameter(self, target):
        """The parameter at the dotted path ``target``."""
        return self._get_member(target, lambda module, name, value: isinstance(value, Parameter), 'an nn.Parameter')

    def get_buffer(self, target):
        """The buffer at the dotted path ``target``."""
        return self._get_member(target, lambda module, name, value: name in module._buffers, 'a buffer')

    def _get_member(self, target, is_wanted, what):
        path, _, name = target.rpartition('.')
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError("{} has no attribute `{}`".format(module._get_name(), name))
        value = getattr(module, name)
        if not is_wanted(module, name, value):
            raise AttributeError("`{}` is not {}".format(name, what))
        return value

    def __getattr__(self, name):
        fields = self.__dict__
        for group in ('_parameters', '_buffers', '_modules'):
            members = fields.get(group)
            if members is not None and name in members:
                return members[name]
        raise AttributeError("'{}' object has no attribute '{}'".format(type(self).__name__, name))

    def __setattr__(self, name, value):
        fields = self.__dict__
        parameters = fields.get('_parameters')
        if isinstance(value, Parameter):
            if parameters is None:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._forget(name, '_buffers', '_modules')
            self.register_parameter(name, value)
            return
        if parameters is not None and name in parameters:
            if value is not None:
                raise TypeError("cannot assign '{}' as parameter '{}' (torch.nn.Parameter or None expected)"
                                .format(_typename(value), name))
            self.register_parameter(name, value)
            return
        modules = fields.get('_modules')
        if isinstance(value, Module):
            if modules is None:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._forget(name, '_parameters', '_buffers')
            modules[name] = value
            return
        if modules is not None and name in modules:
            if value is not None:
                raise TypeError("cannot assign '{}' as child module '{}' (torch.nn.Module or None expected)"
                                .format(_typename(value), name))
            modules[name] = value
            return
        buffers = fields.get('_buffers')
        if buffers is not None and name in buffers:
            if value is not None and not isinstance(value, Tensor):
                raise TypeError("cannot assign '{}' as buffer '{}' (torch.Tensor or None expected)"
                                .format(_typename(value), name))
            buffers[name] = value
            return
        object.__setattr__(self, name, value)

    def _forget(self, name, *groups):
        """Takes ``name`` out of the instance and of the named groups, for another group to have it."""
        fields = self.__dict__
        fields.pop(name, None)
        for group in groups:
            if group in fields:
                fields[group].pop(name, None)
        if '_non_persistent_buffers_set' in fields:
            fields['_non_persistent_buffers_set'].discard(name)

    def __delattr__(self, name):
        for group in (self._parameters, self._buffers, self._modules):
            if name in group:
                del group[name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self):
        names = {*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers}
        return sorted(name for name in names if not name[0].isdigit())

    def __setstate__(self, state):
        self.__dict__.update(state)
        for name, make in _FIELDS:
            if name not in self.__dict__:
                self.__dict__[name] = make()

    # ---- dtype and place ----
    def _apply(self, fn):
        """Replaces every parameter, gradient and buffer here and below by what ``fn`` makes of it."""
        for module in self.children():
            module._apply(fn)
        for name, parameter in self._parameters.items():
            if parameter is None:
                continue
            with wick.no_grad():
                parameter.data = fn(parameter.data if not is_lazy(parameter) else parameter)
                if parameter.grad is not None:
                    parameter.grad = fn(parameter.grad).requires_grad_(parameter.grad.requires_grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args, **kwargs):
        """Moves to a device, converts floating parameters and buffers to a dtype, or both; in place.

        Takes ``(device=None, dtype=None, non_blocking=False)``, ``(dtype, non_blocking=False)``,
        ``(tensor, non_blocking=False)`` or ``(memory_format=...)``.
        """
        device, dtype, non_blocking, memory_format = _parse_to(args, kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError("nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={}"
                            .format(dtype))

        def convert(tensor):
            converted = dtype is not None and (tensor.is_floating_point() or tensor.is_complex())
            wanted = dtype if converted else tensor.dtype
            where = tensor.device if device is None else device
            if memory_format is not None and tensor.dim() in (4, 5):
                return tensor.to(where, wanted, non_blocking, memory_format=memory_format)
            return tensor.to(where, wanted, non_blocking)

        return self._apply(convert)

    def to_empty(self, *, device):
        """Moves to ``device`` without the values."""
        return self._apply(lambda tensor: wick.empty_like(tensor, device=device))

    def type(self, dst_type):
        """Converts all parameters and buffers to a dtype."""
        return self._apply(lambda tensor: tensor.type(dst_type))

    def _to_floating(self, dtype):
        return self._apply(lambda tensor: tensor.to(dtype) if tensor.is_floating_point() else tensor)

    def float(self):
        """Converts floating parameters and buffers to float32."""
        return self._to_floating(wick.float32)

    def double(self):
        """Converts floating parameters and buffers to float64."""
        return self._to_floating(wick.float64)

    def half(self):
        """Converts floating parameters and buffers to float16."""
        return self._to_floating(wick.float16)

    def bfloat16(self):
        """Converts floating parameters and buffers to bfloat16."""
        return self._to_floating(wick.bfloat16)

    def cpu(self):
        """Moves to the processor."""
        return self._apply(lambda tensor: tensor.cpu())

    def cuda(self, device=None):
        """Moves to a graphics processor, where there is one."""
        return self._apply(lambda tensor: tensor.cuda(device))

    def share_memory(self):
        """Moves to memory that processes share, where tensors can."""
        return self._apply(lambda tensor: tensor.share_memory_())

    # ---- text ----
    def _get_name(self):
        return type(self).__name__

    def extra_repr(self):
        """What ``repr`` shows between the parentheses, for subclasses to define."""
        return ''

    def __repr__(self):
        extra = self.extra_repr()
        lines = extra.split('\n') if extra else []
        children = ['({}): {}'.format(name, _addindent(repr(module), 2)) for name, module in self._modules.items()]
        if len(lines) == 1 and not children:
            inside = lines[0]
        else:
            inside = ''.join('\n  ' + line for line in lines + children)
            inside += '\n' if inside else ''
        return self._get_name() + '(' + inside + ')'


def _call_with_module(module, hook, *args):
    return hook(module(), *args)
