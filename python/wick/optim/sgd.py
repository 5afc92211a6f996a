"""Stochastic gradient descent."""
from wick.optim.optimizer import Optimizer, check, required


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum (also Nesterov's) and weight decay."""

    def __init__(self, params, lr=required, momentum=0, dampening=0, weight_decay=0, nesterov=False, *,
                 maximize=False, foreach=None, differentiable=False):
        if lr is not required:
            check('learning rate', lr, lr >= 0.0)
        check('momentum value', momentum, momentum >= 0.0)
        check('weight_decay value', weight_decay, weight_decay >= 0.0)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError('Nesterov momentum requires a momentum and zero dampening')
        super().__init__(params, dict(lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay,
                                      nesterov=nesterov, maximize=maximize, foreach=foreach,
                                      differentiable=differentiable))

    def _start(self, param, group):
        return {'momentum_buffer': None}

    def _update(self, param, grad, state, group):
        if group['weight_decay'] != 0:
            grad = grad.add(param, alpha=group['weight_decay'])
        momentum = group['momentum']
        if momentum != 0:
            velocity = state['momentum_buffer']
            if velocity is None:
                velocity = state['momentum_buffer'] = grad.detach().clone()
            else:
                velocity.mul_(momentum).add_(grad, alpha=1 - group['dampening'])
            grad = grad.add(velocity, alpha=momentum) if group['nesterov'] else velocity
        param.add_(grad, alpha=-group['lr'])
