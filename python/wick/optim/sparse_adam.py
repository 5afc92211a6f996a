"""Adam for sparse gradients: what has no gradient in a step is left as it is, means and all."""
import math

import wick
from wick.optim.optimizer import Optimizer, check, check_betas, zeros_like


class SparseAdam(Optimizer):
    """Adam over the rows that a step's sparse gradients name, as those of ``nn.Embedding(..., sparse=True)`` do."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False):
        check('learning rate', lr, lr > 0.0)
        check('epsilon value', eps, eps > 0.0)
        check_betas(betas)
        params = list(params)
        sparse = [i for i, param in enumerate(params) if not isinstance(param, dict) and param.is_sparse]
        sparse += [[i, j] for i, group in enumerate(params) if isinstance(group, dict)
                   for j, param in enumerate(group.get('params', ())) if param.is_sparse]
        if sparse:
            raise ValueError('Sparse params at indices {}: SparseAdam requires dense parameter tensors'
                             .format(sparse))
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, maximize=maximize))

    def _start(self, param, group):
        return {'step': 0, 'exp_avg': zeros_like(param), 'exp_avg_sq': zeros_like(param)}

    def _update(self, param, grad, state, group):
        if not grad.is_sparse:
            raise RuntimeError('SparseAdam does not support dense gradients, please consider Adam instead')
        state['step'] += 1
        beta1, beta2 = group['betas']
        grad = grad.coalesce()
        places, values = grad._indices(), grad._values()
        if values.numel() == 0:
            return

        def moved(mean, target, beta):
            """The mean at the places, moved towards the target; and added to the whole."""
            old = mean.sparse_mask(grad)._values()
            change = target.sub(old).mul_(1 - beta)
            mean.add_(wick.sparse_coo_tensor(places, change, grad.shape))
            return change.add_(old)

        mean = moved(state['exp_avg'], values, beta1)
        square = moved(state['exp_avg_sq'], values.pow(2), beta2)
        size = group['lr'] * math.sqrt(1 - beta2 ** state['step']) / (1 - beta1 ** state['step'])
        step = mean.div_(square.sqrt_().add_(group['eps'])).mul_(-size)
        param.add_(wick.sparse_coo_tensor(places, step, grad.shape))
