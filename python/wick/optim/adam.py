"""Adam (D. Kingma, J. Ba, 2015), and AdamW with decoupled weight decay (I. Loshchilov, F. Hutter, 2019)."""
import math

import wick
from wick.optim.optimizer import Optimizer, check, check_betas, counter, zeros_like


class Adam(Optimizer):
    """Steps by running means of gradients over roots of running means of their squares."""

    _decoupled = False

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, foreach=None,
                 maximize=False, capturable=False, differentiable=False, fused=False):
        self._check(lr, betas, eps, weight_decay)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad,
                                      maximize=maximize, foreach=foreach, capturable=capturable,
                                      differentiable=differentiable, fused=fused))

    @staticmethod
    def _check(lr, betas, eps, weight_decay):
        check('learning rate', lr, lr >= 0.0)
        check('epsilon value', eps, eps >= 0.0)
        check_betas(betas)
        check('weight_decay value', weight_decay, weight_decay >= 0.0)

    def _start(self, param, group):
        state = {'step': counter(), 'exp_avg': zeros_like(param), 'exp_avg_sq': zeros_like(param)}
        if group['amsgrad']:
            state['max_exp_avg_sq'] = zeros_like(param)
        return state

    def _update(self, param, grad, state, group):
        self._refuse_sparse(grad, ', please consider SparseAdam instead')
        beta1, beta2 = group['betas']
        state['step'] += 1
        step = state['step'].item()
        if self._decoupled:
            param.mul_(1 - group['lr'] * group['weight_decay'])
        elif group['weight_decay'] != 0:
            grad = grad.add(param, alpha=group['weight_decay'])
        mean, square = state['exp_avg'], state['exp_avg_sq']
        if param.is_complex():
            param, grad, mean, square = (wick.view_as_real(each) for each in (param, grad, mean, square))
        mean.mul_(beta1).add_(grad, alpha=1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        if group['amsgrad']:
            largest = state['max_exp_avg_sq']
            largest = wick.view_as_real(largest) if largest.is_complex() else largest
            square = largest.copy_(wick.maximum(largest, square))
        scale = (square.sqrt() / math.sqrt(1 - beta2 ** step)).add_(group['eps'])
        param.addcdiv_(mean, scale, value=-(group['lr'] / (1 - beta1 ** step)))


class AdamW(Adam):
    """Adam that decays weights apart from the gradients."""

    _decoupled = True

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *,
                 maximize=False, foreach=None, capturable=False):
        self._check(lr, betas, eps, weight_decay)
        Optimizer.__init__(self, params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad,
                                              foreach=foreach, maximize=maximize, capturable=capturable))
