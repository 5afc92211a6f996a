"""Adam with other second moments or corrections: Adamax, NAdam, RAdam."""
import math

import wick
from wick.optim.optimizer import Optimizer, check, check_betas, counter, zeros_like


class _Moments(Optimizer):
    """Checks and first moments that the variants share."""

    def __init__(self, params, lr, betas, eps, weight_decay, more):
        check('learning rate', lr, lr >= 0.0)
        check('epsilon value', eps, eps >= 0.0)
        check_betas(betas)
        check('weight_decay value', weight_decay, weight_decay >= 0.0)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, **more))

    def _begin(self, param, grad, state, group):
        """The number of the step, and the gradient with weight decay."""
        self._refuse_sparse(grad)
        state['step'] += 1
        if group['weight_decay'] != 0:
            grad = grad.add(param, alpha=group['weight_decay'])
        return state['step'].item(), grad


class Adamax(_Moments):
    """Adam with the largest gradient of late in place of the second moment (D. Kingma, J. Ba, 2015)."""

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *,
                 maximize=False):
        super().__init__(params, lr, betas, eps, weight_decay, dict(foreach=foreach, maximize=maximize))

    def _start(self, param, group):
        return {'step': counter(), 'exp_avg': zeros_like(param), 'exp_inf': zeros_like(param)}

    def _update(self, param, grad, state, group):
        step, grad = self._begin(param, grad, state, group)
        beta1, beta2 = group['betas']
        mean, largest = state['exp_avg'], state['exp_inf']
        mean.mul_(beta1).add_(grad, alpha=1 - beta1)
        largest.copy_(wick.maximum(largest.mul_(beta2), grad.abs().add_(group['eps'])))
        param.addcdiv_(mean, largest, value=-(group['lr'] / (1 - beta1 ** step)))


class NAdam(_Moments):
    """Adam with Nesterov's momentum (T. Dozat, 2016)."""

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3,
                 foreach=None):
        check('momentum_decay value', momentum_decay, momentum_decay >= 0.0)
        super().__init__(params, lr, betas, eps, weight_decay, dict(momentum_decay=momentum_decay, foreach=foreach))

    def _start(self, param, group):
        return {'step': counter(), 'mu_product': wick.tensor(1.), 'exp_avg': zeros_like(param),
                'exp_avg_sq': zeros_like(param)}

    def _update(self, param, grad, state, group):
        step, grad = self._begin(param, grad, state, group)
        beta1, beta2 = group['betas']
        mu, mu_next = (beta1 * (1. - 0.5 * 0.96 ** (at * group['momentum_decay'])) for at in (step, step + 1))
        state['mu_product'] *= mu
        product = state['mu_product'].item()
        mean, square = state['exp_avg'], state['exp_avg_sq']
        mean.mul_(beta1).add_(grad, alpha=1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        scale = square.div(1 - beta2 ** step).sqrt_().add_(group['eps'])
        param.addcdiv_(grad, scale, value=-group['lr'] * (1. - mu) / (1. - product))
        # mu stands twice in this product: the numbers are those of PyTorch 1.13
        param.addcdiv_(mean, scale, value=-group['lr'] * mu_next / (1. - product * mu * mu_next))


class RAdam(_Moments):
    """Adam whose adaptive rate is held back while few steps have been seen (L. Liu et al., 2020)."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None):
        super().__init__(params, lr, betas, eps, weight_decay, dict(foreach=foreach))

    def _start(self, param, group):
        return {'step': counter(), 'exp_avg': zeros_like(param), 'exp_avg_sq': zeros_like(param)}

    def _update(self, param, grad, state, group):
        step, grad = self._begin(param, grad, state, group)
        beta1, beta2 = group['betas']
        mean, square = state['exp_avg'], state['exp_avg_sq']
        mean.mul_(beta1).add_(grad, alpha=1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        corrected = mean / (1 - beta1 ** step)
        correction2 = 1 - beta2 ** step
        most = 2 / (1 - beta2) - 1
        length = most - 2 * step * beta2 ** step / correction2
        if length > 5.:
            rectified = math.sqrt((length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length))
            adaptive = math.sqrt(correction2) / square.sqrt().add_(group['eps'])
            param.add_(corrected * group['lr'] * adaptive * rectified, alpha=-1.0)
        else:
            param.add_(corrected * group['lr'], alpha=-1.0)
