"""Learning rates that change from step to step."""
import math
import warnings
import weakref
from bisect import bisect_right
from collections import Counter

from wick.optim.optimizer import Optimizer

_EPOCH_WARNING = (
    'The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use '
    '`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the closed '
    'form is used instead of the new chainable form, where available.')


class LRScheduler:
    """Base class: ``get_lr`` gives the rates of all groups at ``last_epoch`` from those they have.

    A subclass that has ``_get_closed_form_lr`` can be stepped to a given epoch. The first rates are set when the
    scheduler is made; with ``last_epoch`` other than -1 the groups must have 'initial_lr'.
    """

    def __init__(self, optimizer, last_epoch=-1, verbose=False):
        if not isinstance(optimizer, Optimizer):
            raise TypeError('{} is not an Optimizer'.format(type(optimizer).__name__))
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault('initial_lr', group['lr'])
            elif 'initial_lr' not in group:
                raise KeyError("param 'initial_lr' is not specified in param_groups[{}] when resuming an optimizer"
                               .format(i))
        self.base_lrs = [group['initial_lr'] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        _count_steps(optimizer)
        self.verbose = verbose
        self._initial_step()

    def _initial_step(self):
        self.optimizer._step_count = 0
        self._step_count = 0
        self._get_lr_called_within_step = False
        self.step()

    def state_dict(self):
        """Everything but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != 'optimizer'}

    def load_state_dict(self, state_dict):
        """Takes what ``state_dict`` gave."""
        self.__dict__.update(state_dict)

    def get_last_lr(self):
        """The rates of all groups."""
        return self._last_lr

    def get_lr(self):
        """The rates at ``last_epoch``."""
        raise NotImplementedError

    def _rates(self):
        return [group['lr'] for group in self.optimizer.param_groups]

    def print_lr(self, is_verbose, group, lr, epoch=None):
        """Prints a rate, with ``is_verbose``."""
        if is_verbose:
            start = 'Adjusting' if epoch is None else \
                ('Epoch {:.2f}: adjusting' if isinstance(epoch, float) else 'Epoch {:05d}: adjusting').format(epoch)
            print('{} learning rate of group {} to {:.4e}.'.format(start, group, lr))

    def _warn_of_order(self):
        if self._step_count == 1 and self.optimizer._step_count < 1:
            warnings.warn('Detected call of `lr_scheduler.step()` before `optimizer.step()`. You should call them in '
                          'the opposite order: `optimizer.step()` before `lr_scheduler.step()`. Else the first value '
                          'of the learning rate schedule is skipped.', stacklevel=3)

    def _set(self, rates):
        for i, (group, rate) in enumerate(zip(self.optimizer.param_groups, rates)):
            group['lr'] = rate
            self.print_lr(self.verbose, i, rate)
        self._last_lr = self._rates()

    def step(self, epoch=None):
        """Sets the rates of the next epoch, or of ``epoch``."""
        self._warn_of_order()
        self._step_count += 1
        self._get_lr_called_within_step = True
        try:
            if epoch is None:
                self.last_epoch += 1
                rates = self.get_lr()
            else:
                warnings.warn(_EPOCH_WARNING, UserWarning, stacklevel=2)
                self.last_epoch = epoch
                rates = self._get_closed_form_lr() if hasattr(self, '_get_closed_form_lr') else self.get_lr()
        finally:
            self._get_lr_called_within_step = False
        self._set(rates)


_LRScheduler = LRScheduler


def _count_steps(optimizer):
    """Has ``optimizer.step`` count its calls."""
    if getattr(optimizer.step, '_with_counter', False):
        return
    step, counted = type(optimizer).step, weakref.ref(optimizer)

    def counting(*args, **kwargs):
        instance = counted()
        instance._step_count += 1
        return step(instance, *args, **kwargs)

    counting._with_counter = True
    optimizer.step = counting


def _per_group(value, optimizer, message):
    """A value for each group; ``message`` has places for the number of groups and of values."""
    count = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [value] * count
    if len(value) != count:
        raise ValueError(message.format(count, len(value)))
    return list(value)


class _LambdaScheduler(LRScheduler):
    """Schedulers whose functions of the epoch are kept out of state dicts, but for the state of callable objects."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1, verbose=False):
        self.lr_lambdas = _per_group(lr_lambda, optimizer, 'Expected {} lr_lambdas, but got {}')
        super().__init__(optimizer, last_epoch, verbose)

    def state_dict(self):
        state = {key: value for key, value in self.__dict__.items() if key not in ('optimizer', 'lr_lambdas')}
        state['lr_lambdas'] = [None if hasattr(each, '__code__') else dict(each.__dict__) for each in self.lr_lambdas]
        return state

    def load_state_dict(self, state_dict):
        self.__dict__.update({key: value for key, value in state_dict.items() if key != 'lr_lambdas'})
        for function, state in zip(self.lr_lambdas, state_dict['lr_lambdas']):
            if state is not None:
                function.__dict__.update(state)


class LambdaLR(_LambdaScheduler):
    """The initial rate times ``lr_lambda(epoch)``; one function, or one for each group."""

    def get_lr(self):
        return [base * function(self.last_epoch) for function, base in zip(self.lr_lambdas, self.base_lrs)]


class MultiplicativeLR(_LambdaScheduler):
    """The last rate times ``lr_lambda(epoch)``."""

    def get_lr(self):
        if self.last_epoch == 0:
            return self._rates()
        return [rate * function(self.last_epoch) for function, rate in zip(self.lr_lambdas, self._rates())]


class StepLR(LRScheduler):
    """Times ``gamma`` every ``step_size`` epochs."""

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1, verbose=False):
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch, verbose)

    def get_lr(self):
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return self._rates()
        return [rate * self.gamma for rate in self._rates()]

    def _get_closed_form_lr(self):
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Times ``gamma`` at each of the epochs ``milestones``."""

    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1, verbose=False):
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch, verbose)

    def get_lr(self):
        times = self.milestones.get(self.last_epoch, 0)
        return [rate * self.gamma ** times for rate in self._rates()] if times else self._rates()

    def _get_closed_form_lr(self):
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma ** passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """Times ``factor`` during the first ``total_iters`` epochs."""

    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1, verbose=False):
        if factor > 1.0 or factor < 0:
            raise ValueError('Constant multiplicative factor expected to be between 0 and 1.')
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch, verbose)

    def get_lr(self):
        if self.last_epoch == 0:
            return [rate * self.factor for rate in self._rates()]
        if self.last_epoch != self.total_iters:
            return self._rates()
        return [rate * (1.0 / self.factor) for rate in self._rates()]

    def _get_closed_form_lr(self):
        return [base * (self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor))
                for base in self.base_lrs]


class LinearLR(LRScheduler):
    """Times a factor that goes from ``start_factor`` to ``end_factor`` in ``total_iters`` epochs."""

    def __init__(self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1, verbose=False):
        if start_factor > 1.0 or start_factor < 0:
            raise ValueError('Starting multiplicative factor expected to be between 0 and 1.')
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError('Ending multiplicative factor expected to be between 0 and 1.')
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch, verbose)

    def get_lr(self):
        if self.last_epoch == 0:
            return [rate * self.start_factor for rate in self._rates()]
        if self.last_epoch > self.total_iters:
            return self._rates()
        rise = self.end_factor - self.start_factor
        factor = 1. + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise)
        return [rate * factor for rate in self._rates()]

    def _get_closed_form_lr(self):
        passed = min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * (self.start_factor + (self.end_factor - self.start_factor) * passed) for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Times ``gamma`` every epoch."""

    def __init__(self, optimizer, gamma, last_epoch=-1, verbose=False):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch, verbose)

    def get_lr(self):
        return self._rates() if self.last_epoch == 0 else [rate * self.gamma for rate in self._rates()]

    def _get_closed_form_lr(self):
        return [base * self.gamma ** self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """To zero in ``total_iters`` epochs as a polynomial of degree ``power``."""

    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1, verbose=False):
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch, verbose)

    def get_lr(self):
        if self.last_epoch == 0 or self.last_epoch > self.total_iters:
            return self._rates()
        left, left_before = (1.0 - epoch / self.total_iters for epoch in (self.last_epoch, self.last_epoch - 1))
        return [rate * (left / left_before) ** self.power for rate in self._rates()]

    def _get_closed_form_lr(self):
        passed = min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * (1.0 - passed) ** self.power for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """To ``eta_min`` in ``T_max`` epochs along half a cosine, and back (I. Loshchilov, F. Hutter, 2017)."""

    def __init__(self, optimizer, T_max, eta_min=0, last_epoch=-1, verbose=False):
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch, verbose)

    def get_lr(self):
        epoch, longest, least = self.last_epoch, self.T_max, self.eta_min
        if epoch == 0:
            return self._rates()
        if self._step_count == 1:
            return self._get_closed_form_lr()
        if (epoch - 1 - longest) % (2 * longest) == 0:
            return [rate + (base - least) * (1 - math.cos(math.pi / longest)) / 2
                    for base, rate in zip(self.base_lrs, self._rates())]
        ratio = (1 + math.cos(math.pi * epoch / longest)) / (1 + math.cos(math.pi * (epoch - 1) / longest))
        return [ratio * (rate - least) + least for rate in self._rates()]

    def _get_closed_form_lr(self):
        return [self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
                for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half cosines of ``T_0`` epochs, then ``T_mult`` times as many, ... (I. Loshchilov, F. Hutter, 2017)."""

    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0, last_epoch=-1, verbose=False):
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError('Expected positive integer T_0, but got {}'.format(T_0))
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError('Expected integer T_mult >= 1, but got {}'.format(T_mult))
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur = last_epoch
        super().__init__(optimizer, last_epoch, verbose)

    def get_lr(self):
        return [self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
                for base in self.base_lrs]

    def step(self, epoch=None):
        """Sets the rates of the next epoch, or of ``epoch``, which may be a fraction."""
        if epoch is None and self.last_epoch >= 0:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        else:
            epoch = 0 if epoch is None else epoch
            if epoch < 0:
                raise ValueError('Expected non-negative epoch, but got {}'.format(epoch))
            if epoch < self.T_0:
                self.T_i, self.T_cur = self.T_0, epoch
            elif self.T_mult == 1:
                self.T_cur = epoch % self.T_0
            else:
                restarts = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
                self.T_cur = epoch - self.T_0 * (self.T_mult ** restarts - 1) / (self.T_mult - 1)
                self.T_i = self.T_0 * self.T_mult ** restarts
        self.last_epoch = math.floor(epoch)
        self._set(self.get_lr())


class SequentialLR(LRScheduler):
    """Schedulers one after another; each begins at its milestone."""

    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1, verbose=False):
        _check_optimizers(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError('Sequential Schedulers expects number of schedulers provided to be one more than the '
                             'number of milestone points, but got number of schedulers {} and the number of '
                             'milestones to be equal to {}'.format(len(schedulers), len(milestones)))
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        for group in optimizer.param_groups:
            group['lr'] = group['initial_lr']
        for scheduler in schedulers:  # each made its first step when it was made
            scheduler.last_epoch -= 1
        schedulers[0]._initial_step()
        self._last_lr = schedulers[0].get_last_lr()

    def step(self):
        self.last_epoch += 1
        at = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[at]
        if at > 0 and self._milestones[at - 1] == self.last_epoch:
            scheduler.step(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()

    def state_dict(self):
        state = {key: value for key, value in self.__dict__.items() if key not in ('optimizer', '_schedulers')}
        state['_schedulers'] = [scheduler.state_dict() for scheduler in self._schedulers]
        return state

    def load_state_dict(self, state_dict):
        self.__dict__.update({key: value for key, value in state_dict.items() if key != '_schedulers'})
        for scheduler, state in zip(self._schedulers, state_dict['_schedulers']):
            scheduler.load_state_dict(state)


def _check_optimizers(schedulers, optimizer):
    for i, scheduler in enumerate(schedulers):
        if scheduler.optimizer is not optimizer:
            raise ValueError('Sequential Schedulers expects all schedulers to belong to the same optimizer, but got '
                             'schedulers at index {} and {} to be different'.format(0, i))


class ChainedScheduler(LRScheduler):
    """Schedulers that all step at once."""

    def __init__(self, schedulers):
        _check_optimizers(schedulers, schedulers[0].optimizer)
        self._schedulers = list(schedulers)
        self.optimizer = schedulers[0].optimizer
        self._last_lr = self._rates()

    def step(self):
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._rates()

    state_dict = SequentialLR.state_dict
    load_state_dict = SequentialLR.load_state_dict


class ReduceLROnPlateau:
    """Times ``factor`` when a metric has not become better for ``patience`` epochs; ``step`` takes the metric."""

    def __init__(self, optimizer, mode='min', factor=0.1, patience=10, threshold=1e-4, threshold_mode='rel',
                 cooldown=0, min_lr=0, eps=1e-8, verbose=False):
        if factor >= 1.0:
            raise ValueError('Factor should be < 1.0.')
        if not isinstance(optimizer, Optimizer):
            raise TypeError('{} is not an Optimizer'.format(type(optimizer).__name__))
        if mode not in ('min', 'max'):
            raise ValueError('mode ' + mode + ' is unknown!')
        if threshold_mode not in ('rel', 'abs'):
            raise ValueError('threshold mode ' + threshold_mode + ' is unknown!')
        self.factor = factor
        self.optimizer = optimizer
        self.min_lrs = _per_group(min_lr, optimizer, 'expected {} min_lrs, got {}')
        self.patience = patience
        self.verbose = verbose
        self.cooldown = cooldown
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self.mode_worse = math.inf if mode == 'min' else -math.inf
        self.eps = eps
        self.last_epoch = 0
        self._reset()

    def _reset(self):
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    @property
    def in_cooldown(self):
        """Whether bad epochs do not count yet after a change."""
        return self.cooldown_counter > 0

    def is_better(self, a, best):
        """Whether ``a`` is better than ``best`` by more than the threshold."""
        sign = -1. if self.mode == 'min' else 1.
        if self.threshold_mode == 'rel':
            limit = best * (1. + sign * self.threshold)
        else:
            limit = best + sign * self.threshold
        return a < limit if self.mode == 'min' else a > limit

    def step(self, metrics, epoch=None):
        """Takes the metric of an epoch."""
        current = float(metrics)
        if epoch is None:
            epoch = self.last_epoch + 1
        else:
            warnings.warn(_EPOCH_WARNING, UserWarning, stacklevel=2)
        self.last_epoch = epoch
        if self.is_better(current, self.best):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr(epoch)
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = [group['lr'] for group in self.optimizer.param_groups]

    def _reduce_lr(self, epoch):
        for i, (group, least) in enumerate(zip(self.optimizer.param_groups, self.min_lrs)):
            rate = float(group['lr'])
            reduced = max(rate * self.factor, least)
            if rate - reduced > self.eps:
                group['lr'] = reduced
                if self.verbose:
                    print('Epoch {}: reducing learning rate of group {} to {:.4e}.'.format(
                        '%.2f' % epoch if isinstance(epoch, float) else '%.5d' % epoch, i, reduced))

    def get_last_lr(self):
        """The rates of all groups after the last step."""
        return self._last_lr

    def state_dict(self):
        """Everything but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != 'optimizer'}

    def load_state_dict(self, state_dict):
        """Takes what ``state_dict`` gave."""
        self.__dict__.update(state_dict)


def _set_momentum(group, momentum):
    """Momentum of SGD and its kin, or the first beta of Adam and its kin."""
    if 'betas' in group:
        group['betas'] = (momentum, *group['betas'][1:])
    else:
        group['momentum'] = momentum


def _check_momentum(optimizer):
    if 'momentum' not in optimizer.defaults and 'betas' not in optimizer.defaults:
        raise ValueError('optimizer must support momentum with `cycle_momentum` option enabled')


class CyclicLR(LRScheduler):
    """Up from ``base_lr`` to ``max_lr`` and down again (L. Smith, 2017), momentum the other way.

    ``mode``: triangular; triangular2, with half the height every cycle; exp_range, with height gamma ** step; or the
    height by ``scale_fn`` of cycle or iteration (``scale_mode``).
    """

    def __init__(self, optimizer, base_lr, max_lr, step_size_up=2000, step_size_down=None, mode='triangular',
                 gamma=1., scale_fn=None, scale_mode='cycle', cycle_momentum=True, base_momentum=0.8,
                 max_momentum=0.9, last_epoch=-1, verbose=False):
        if not isinstance(optimizer, Optimizer):
            raise TypeError('{} is not an Optimizer'.format(type(optimizer).__name__))
        bases = _per_group(base_lr, optimizer, 'expected {} values for base_lr, got {}')
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, bases):
                group['lr'] = rate
        self.max_lrs = _per_group(max_lr, optimizer, 'expected {} values for max_lr, got {}')
        step_size_up = float(step_size_up)
        self.total_size = step_size_up + (step_size_up if step_size_down is None else float(step_size_down))
        self.step_ratio = step_size_up / self.total_size
        if mode not in ('triangular', 'triangular2', 'exp_range') and scale_fn is None:
            raise ValueError('mode is invalid and scale_fn is None')
        self.mode = mode
        self.gamma = gamma
        self._scale_fn = scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else 'iterations' if mode == 'exp_range' else 'cycle'
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            _check_momentum(optimizer)
            self.base_momentums = _per_group(base_momentum, optimizer, 'expected {} values for base_momentum, got {}')
            self.max_momentums = _per_group(max_momentum, optimizer, 'expected {} values for max_momentum, got {}')
            if last_epoch == -1:
                for group, momentum in zip(optimizer.param_groups, self.max_momentums):
                    _set_momentum(group, momentum)
        super().__init__(optimizer, last_epoch, verbose)
        self.base_lrs = bases

    def scale_fn(self, x):
        """The height of the cycle or iteration ``x``."""
        if self._scale_fn is not None:
            return self._scale_fn(x)
        if self.mode == 'triangular':
            return 1.
        return 1 / (2. ** (x - 1)) if self.mode == 'triangular2' else self.gamma ** x

    def get_lr(self):
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1. + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == 'cycle' else self.last_epoch)
        if self.cycle_momentum:
            for group, least, most in zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums):
                _set_momentum(group, most - (most - least) * height * scale)
        return [base + (most - base) * height * scale for base, most in zip(self.base_lrs, self.max_lrs)]

    def state_dict(self):
        return {key: value for key, value in super().state_dict().items() if key != '_scale_fn'}


class OneCycleLR(LRScheduler):
    """Once up to ``max_lr`` and down to far below the start (L. Smith, N. Topin, 2018), momentum the other way."""

    def __init__(self, optimizer, max_lr, total_steps=None, epochs=None, steps_per_epoch=None, pct_start=0.3,
                 anneal_strategy='cos', cycle_momentum=True, base_momentum=0.85, max_momentum=0.95, div_factor=25.,
                 final_div_factor=1e4, three_phase=False, last_epoch=-1, verbose=False):
        if not isinstance(optimizer, Optimizer):
            raise TypeError('{} is not an Optimizer'.format(type(optimizer).__name__))
        if total_steps is None and (epochs is None or steps_per_epoch is None):
            raise ValueError('You must define either total_steps OR (epochs AND steps_per_epoch)')
        for name, value in (('total_steps', total_steps),) if total_steps is not None else \
                (('epochs', epochs), ('steps_per_epoch', steps_per_epoch)):
            if value <= 0 or not isinstance(value, int):
                raise ValueError('Expected positive integer {}, but got {}'.format(name, value))
        self.total_steps = total_steps if total_steps is not None else epochs * steps_per_epoch
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError('Expected float between 0 and 1 pct_start, but got {}'.format(pct_start))
        if anneal_strategy not in ('cos', 'linear'):
            raise ValueError("anneal_strategy must by one of 'cos' or 'linear', instead got {}"
                             .format(anneal_strategy))
        # (last step, rate at the start and at the end, momentum at the start and at the end)
        peak, last = float(pct_start * self.total_steps) - 1, self.total_steps - 1
        self._schedule_phases = [(peak, 'initial_lr', 'max_lr', 'max_momentum', 'base_momentum')]
        if three_phase:
            self._schedule_phases += [(2 * peak, 'max_lr', 'initial_lr', 'base_momentum', 'max_momentum'),
                                      (last, 'initial_lr', 'min_lr', 'max_momentum', 'max_momentum')]
        else:
            self._schedule_phases.append((last, 'max_lr', 'min_lr', 'base_momentum', 'max_momentum'))
        self._linear = anneal_strategy == 'linear'
        most = _per_group(max_lr, optimizer, 'expected {} values for max_lr, got {}')
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, most):
                group['initial_lr'] = rate / div_factor
                group['max_lr'] = rate
                group['min_lr'] = group['initial_lr'] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            _check_momentum(optimizer)
            self.use_beta1 = 'betas' in optimizer.defaults
            if last_epoch == -1:
                for group, high, low in zip(
                        optimizer.param_groups,
                        _per_group(max_momentum, optimizer, 'expected {} values for max_momentum, got {}'),
                        _per_group(base_momentum, optimizer, 'expected {} values for base_momentum, got {}')):
                    _set_momentum(group, high)
                    group['max_momentum'] = high
                    group['base_momentum'] = low
        super().__init__(optimizer, last_epoch, verbose)

    def _between(self, start, end, part):
        if self._linear:
            return (end - start) * part + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)

    def get_lr(self):
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError('Tried to step {} times. The specified number of total steps is {}'
                             .format(step, self.total_steps))
        start = 0
        for phase in self._schedule_phases:
            if step <= phase[0] or phase is self._schedule_phases[-1]:
                break
            start = phase[0]
        end, rate_from, rate_to, momentum_from, momentum_to = phase
        part = (step - start) / (end - start)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._between(group[rate_from], group[rate_to], part))
            if self.cycle_momentum:
                _set_momentum(group, self._between(group[momentum_from], group[momentum_to], part))
        return rates
