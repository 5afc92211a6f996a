"""Optimizers that scale each element by the gradients it had: RMSprop, Adagrad, Adadelta, Rprop; and averaged SGD."""
import wick
from wick.optim.optimizer import Optimizer, check, counter, zeros_like


class RMSprop(Optimizer):
    """Steps by gradients over roots of running means of their squares (G. Hinton, 2012; A. Graves, 2013)."""

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False,
                 foreach=None, maximize=False, differentiable=False):
        check('learning rate', lr, lr >= 0.0)
        check('epsilon value', eps, eps >= 0.0)
        check('momentum value', momentum, momentum >= 0.0)
        check('weight_decay value', weight_decay, weight_decay >= 0.0)
        check('alpha value', alpha, alpha >= 0.0)
        super().__init__(params, dict(lr=lr, momentum=momentum, alpha=alpha, eps=eps, centered=centered,
                                      weight_decay=weight_decay, foreach=foreach, maximize=maximize,
                                      differentiable=differentiable))

    def _start(self, param, group):
        state = {'step': 0, 'square_avg': zeros_like(param)}
        if group['momentum'] > 0:
            state['momentum_buffer'] = zeros_like(param)
        if group['centered']:
            state['grad_avg'] = zeros_like(param)
        return state

    def _update(self, param, grad, state, group):
        self._refuse_sparse(grad)
        state['step'] += 1
        alpha = group['alpha']
        if group['weight_decay'] != 0:
            grad = grad.add(param, alpha=group['weight_decay'])
        square = state['square_avg']
        square.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if group['centered']:
            mean = state['grad_avg']
            mean.mul_(alpha).add_(grad, alpha=1 - alpha)
            scale = square.addcmul(mean, mean, value=-1).sqrt_().add_(group['eps'])
        else:
            scale = square.sqrt().add_(group['eps'])
        if group['momentum'] > 0:
            velocity = state['momentum_buffer']
            velocity.mul_(group['momentum']).addcdiv_(grad, scale)
            param.add_(velocity, alpha=-group['lr'])
        else:
            param.addcdiv_(grad, scale, value=-group['lr'])


class Adagrad(Optimizer):
    """Steps by gradients over roots of sums of their squares (J. Duchi et al., 2011)."""

    def __init__(self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10,
                 foreach=None, *, maximize=False):
        check('learning rate', lr, lr >= 0.0)
        check('lr_decay value', lr_decay, lr_decay >= 0.0)
        check('weight_decay value', weight_decay, weight_decay >= 0.0)
        check('initial_accumulator_value value', initial_accumulator_value, initial_accumulator_value >= 0.0)
        check('epsilon value', eps, eps >= 0.0)
        super().__init__(params, dict(lr=lr, lr_decay=lr_decay, eps=eps, weight_decay=weight_decay,
                                      initial_accumulator_value=initial_accumulator_value, foreach=foreach,
                                      maximize=maximize))
        for group in self.param_groups:
            for param in group['params']:
                self.state[param].update(self._start(param, group))

    def _start(self, param, group):
        return {'step': counter(), 'sum': wick.full_like(param, group['initial_accumulator_value'],
                                                         memory_format=wick.preserve_format)}

    def share_memory(self):
        """Moves the sums to memory that processes share."""
        for group in self.param_groups:
            for param in group['params']:
                self.state[param]['sum'].share_memory_()

    def _update(self, param, grad, state, group):
        state['step'] += 1
        if group['weight_decay'] != 0:
            if grad.is_sparse:
                raise RuntimeError('weight_decay option is not compatible with sparse gradients')
            grad = grad.add(param, alpha=group['weight_decay'])
        rate = group['lr'] / (1 + (state['step'].item() - 1) * group['lr_decay'])
        total = state['sum']
        if grad.is_sparse:
            grad = grad.coalesce()
            places, values = grad._indices(), grad._values()
            total.add_(wick.sparse_coo_tensor(places, values.pow(2), grad.shape))
            scale = total.sparse_mask(grad)._values().sqrt_().add_(group['eps'])
            param.add_(wick.sparse_coo_tensor(places, values.div(scale), grad.shape), alpha=-rate)
            return
        total.addcmul_(grad, grad, value=1)
        param.addcdiv_(grad, total.sqrt().add_(group['eps']), value=-rate)


class Adadelta(Optimizer):
    """Steps as large as those of late, by gradients over the root of their mean square (M. Zeiler, 2012)."""

    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *, maximize=False):
        check('learning rate', lr, lr >= 0.0)
        check('rho value', rho, 0.0 <= rho <= 1.0)
        check('epsilon value', eps, eps >= 0.0)
        check('weight_decay value', weight_decay, weight_decay >= 0.0)
        super().__init__(params, dict(lr=lr, rho=rho, eps=eps, weight_decay=weight_decay, maximize=maximize,
                                      foreach=foreach))

    def _start(self, param, group):
        return {'step': 0, 'square_avg': zeros_like(param), 'acc_delta': zeros_like(param)}

    def _update(self, param, grad, state, group):
        self._refuse_sparse(grad)
        state['step'] += 1
        rho, eps = group['rho'], group['eps']
        if group['weight_decay'] != 0:
            grad = grad.add(param, alpha=group['weight_decay'])
        square, steps = state['square_avg'], state['acc_delta']
        square.mul_(rho).addcmul_(grad, grad, value=1 - rho)
        delta = steps.add(eps).sqrt_().div_(square.add(eps).sqrt_()).mul_(grad)
        steps.mul_(rho).addcmul_(delta, delta, value=1 - rho)
        param.add_(delta, alpha=-group['lr'])


class Rprop(Optimizer):
    """Steps by signs of gradients alone, longer while these stay the same (M. Riedmiller, H. Braun, 1993)."""

    def __init__(self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), foreach=None, maximize=False):
        check('learning rate', lr, lr >= 0.0)
        check('eta values', '{}, {}'.format(*etas), 0.0 < etas[0] < 1.0 < etas[1])
        super().__init__(params, dict(lr=lr, etas=etas, step_sizes=step_sizes, foreach=foreach, maximize=maximize))

    def _start(self, param, group):
        return {'step': 0, 'prev': zeros_like(param), 'step_size': wick.full_like(param.grad, group['lr'])}

    def _update(self, param, grad, state, group):
        self._refuse_sparse(grad)
        state['step'] += 1
        shorter, longer = group['etas']
        last, size = state['prev'], state['step_size']
        product = grad.mul(last)
        turned = product < 0
        factor = wick.ones_like(product).masked_fill_(product > 0, longer).masked_fill_(turned, shorter)
        size.mul_(factor).clamp_(*group['step_sizes'])
        grad = grad.masked_fill(turned, 0)
        param.addcmul_(grad.sign(), size, value=-1)
        last.copy_(grad)


class ASGD(Optimizer):
    """Stochastic gradient descent that averages its parameters in state 'ax' (B. Polyak, A. Juditsky, 1992)."""

    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None, maximize=False):
        check('learning rate', lr, lr >= 0.0)
        check('weight_decay value', weight_decay, weight_decay >= 0.0)
        super().__init__(params, dict(lr=lr, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay,
                                      foreach=foreach, maximize=maximize))

    def _start(self, param, group):
        return {'step': counter(), 'eta': wick.tensor(float(group['lr'])), 'mu': wick.tensor(1.),
                'ax': zeros_like(param)}

    def _update(self, param, grad, state, group):
        self._refuse_sparse(grad)
        state['step'] += 1
        step, eta, mu = state['step'].item(), state['eta'].item(), state['mu'].item()
        if group['weight_decay'] != 0:
            grad = grad.add(param, alpha=group['weight_decay'])
        param.mul_(1 - group['lambd'] * eta)
        param.add_(grad, alpha=-eta)
        mean = state['ax']
        if mu != 1:
            mean.add_(param.sub(mean).mul_(mu))
        else:
            mean.copy_(param)
        state['eta'] = wick.tensor(group['lr'] / (1 + group['lambd'] * group['lr'] * step) ** group['alpha'])
        state['mu'] = wick.tensor(1. / max(1, step - group['t0']))
