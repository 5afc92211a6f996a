"""Optimizer: parameter groups, state by parameter, state dicts, and the walk over parameters that a step is."""
import copy
import warnings
from collections import defaultdict
from collections.abc import Iterable

import wick
from wick import Tensor


class _Required:
    """Stands for an argument that every parameter group must have."""

    def __repr__(self):
        return '<required parameter>'

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


required = _Required()


def check(what, value, holds):
    """Raises ValueError that names an argument unless it ``holds``."""
    if not holds:
        raise ValueError('Invalid {}: {}'.format(what, value))


def check_betas(betas):
    """Raises ValueError unless both are at least 0 and below 1."""
    for i, beta in enumerate(betas):
        check('beta parameter at index {}'.format(i), beta, 0.0 <= beta < 1.0)


class Optimizer:
    """Base class of optimizers.

    Args:
        params: parameters, or dicts (parameter groups) with 'params' and arguments of their own.
        defaults: the arguments of groups that do not have them.

    ``param_groups`` may be changed between steps. A subclass defines ``_start(parameter, group)``, the state of a
    parameter before its first step, and ``_update(parameter, grad, state, group)``, or all of ``step``.
    """

    def __init__(self, params, defaults):
        self.defaults = defaults
        if isinstance(params, Tensor):
            raise TypeError('params argument given to the optimizer should be an iterable of Tensors or dicts, but '
                            'got ' + params.type())
        self.state = defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if not groups:
            raise ValueError('optimizer got an empty parameter list')
        for group in groups if isinstance(groups[0], dict) else [{'params': groups}]:
            self.add_param_group(group)

    def __getstate__(self):
        return {'defaults': self.defaults, 'state': self.state, 'param_groups': self.param_groups}

    def __setstate__(self, state):
        self.__dict__.update(state)

    def __repr__(self):
        groups = ('\nParameter Group {}\n'.format(i) + ''.join(
            '    {}: {}\n'.format(key, group[key]) for key in sorted(group) if key != 'params')
            for i, group in enumerate(self.param_groups))
        return type(self).__name__ + ' (' + ''.join(groups) + ')'

    def add_param_group(self, param_group):
        """Adds a dict of 'params' (a tensor or an ordered collection) and arguments of their own."""
        assert isinstance(param_group, dict), 'param group must be a dict'
        params = param_group['params']
        if isinstance(params, Tensor):
            param_group['params'] = [params]
        elif isinstance(params, set):
            raise TypeError('optimizer parameters need to be organized in ordered collections, but the ordering of '
                            'tensors in sets will change between runs. Please use a list instead.')
        else:
            param_group['params'] = list(params)
        params = param_group['params']
        for param in params:
            if not isinstance(param, Tensor):
                raise TypeError('optimizer can only optimize Tensors, but one of the params is '
                                + type(param).__name__)
            if not param.is_leaf and not getattr(param, 'retains_grad', False):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError("parameter group didn't specify a value of required optimization parameter " + name)
            param_group.setdefault(name, default)
        if len({id(param) for param in params}) != len(params):
            warnings.warn('optimizer contains a parameter group with duplicate parameters; in future, this will '
                          'cause an error; see github.com/pytorch/pytorch/issues/40967 for more information',
                          stacklevel=3)
        taken = {id(param) for group in self.param_groups for param in group['params']}
        if any(id(param) in taken for param in params):
            raise ValueError('some parameters appear in more than one parameter group')
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none=False):
        """Makes all gradients zero, or None."""
        for group in self.param_groups:
            for param in group['params']:
                if param.grad is None:
                    continue
                if set_to_none:
                    param.grad = None
                else:
                    param.grad = param.grad.detach()
                    param.grad.zero_()

    def step(self, closure=None):
        """Changes every parameter that has a gradient; ``closure`` computes loss and gradients anew before it.

        Returns what ``closure`` returns.
        """
        loss = None
        if closure is not None:
            with wick.enable_grad():
                loss = closure()
        with wick.no_grad():
            states = self.state
            for group in self.param_groups:
                maximize = group.get('maximize', False)
                for param in group['params']:
                    grad = param.grad
                    if grad is None:
                        continue
                    state = states[param]
                    if not state:
                        state.update(self._start(param, group))
                    self._update(param, -grad if maximize else grad, state, group)
        return loss

    def _start(self, param, group):
        raise NotImplementedError('{} defines neither step nor _start'.format(type(self).__name__))

    def _update(self, param, grad, state, group):
        raise NotImplementedError('{} defines neither step nor _update'.format(type(self).__name__))

    def _refuse_sparse(self, grad, instead=''):
        if grad.layout != wick.strided:
            raise RuntimeError('{} does not support sparse gradients{}'.format(type(self).__name__, instead))

    # ---- state dicts ----
    def state_dict(self):
        """The state by the parameters' positions, and the groups with positions in place of parameters."""
        positions = {}
        groups = []
        for group in self.param_groups:
            for param in group['params']:
                positions.setdefault(id(param), len(positions))
            groups.append({**{key: value for key, value in group.items() if key != 'params'},
                           'params': [positions[id(param)] for param in group['params']]})
        state = {positions[id(key)] if isinstance(key, Tensor) else key: value for key, value in self.state.items()}
        return {'state': state, 'param_groups': groups}

    def load_state_dict(self, state_dict):
        """Takes a copy of a state dict of an optimizer with groups of the same sizes."""
        state_dict = copy.deepcopy(state_dict)
        given = state_dict['param_groups']
        if len(self.param_groups) != len(given):
            raise ValueError('loaded state dict has a different number of parameter groups')
        if any(len(own['params']) != len(other['params']) for own, other in zip(self.param_groups, given)):
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of "
                             "optimizer's group")
        params = {}
        for own, other in zip(self.param_groups, given):
            params.update(zip(other['params'], own['params']))
        state = defaultdict(dict)
        for key, value in state_dict['state'].items():
            param = params.get(key)
            if param is None:
                state[key] = value
            else:
                state[param] = {name: each if name == 'step' else _as_param(each, param)
                                for name, each in value.items()}
        groups = [{**other, 'params': own['params']} for own, other in zip(self.param_groups, given)]
        self.__setstate__({'state': state, 'param_groups': groups})


def _as_param(value, param):
    """Tensors in ``value`` with the dtype and device of ``param`` where that is floating."""
    if isinstance(value, Tensor):
        return value.to(param.device, param.dtype) if param.is_floating_point() else value.to(param.device)
    if isinstance(value, dict):
        return {key: _as_param(each, param) for key, each in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return type(value)(_as_param(each, param) for each in value)
    return value


def zeros_like(param):
    """Zeros that lie in memory as the parameter does."""
    return wick.zeros_like(param, memory_format=wick.preserve_format)


def counter():
    """The count of steps as a tensor, as state dicts have it."""
    return wick.tensor(0.)
