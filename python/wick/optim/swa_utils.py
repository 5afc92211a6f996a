"""Stochastic weight averaging (Izmailov et al., 2018): a running mean of parameters and a schedule that ends flat."""
import copy
import itertools
import math

import wick
from wick.nn import Module
from wick.nn.modules.batchnorm import _BatchNorm
from wick.optim.lr_scheduler import LRScheduler


class AveragedModel(Module):
    """A copy of ``model`` whose parameters are the mean of those that ``update_parameters`` was shown.

    ``avg_fn(average, parameter, count)`` gives the next average, ``(average * count + parameter) / (count + 1)``
    where it is not given. ``use_buffers``: buffers are averaged, too; otherwise they stay those of the copy.
    """

    def __init__(self, model, device=None, avg_fn=None, use_buffers=False):
        super().__init__()
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer('n_averaged', wick.tensor(0, dtype=wick.long, device=device))
        self.avg_fn = _running_mean if avg_fn is None else avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def _averaged(self, model):
        return itertools.chain(model.parameters(), model.buffers()) if self.use_buffers else model.parameters()

    def update_parameters(self, model):
        """Takes the parameters of ``model`` into the mean."""
        for average, now in zip(self._averaged(self.module), self._averaged(model)):
            now = now.detach().to(average.device)
            if self.n_averaged == 0:
                average.detach().copy_(now)
            else:
                average.detach().copy_(self.avg_fn(average.detach(), now, self.n_averaged.to(average.device)))
        self.n_averaged += 1


def _running_mean(average, parameter, count):
    return average + (parameter - average) / (count + 1)


@wick.no_grad()
def update_bn(loader, model, device=None):
    """Computes the statistics of ``model``'s batch normalizations anew, as means over the batches of ``loader``.

    Of a batch that is a list or tuple the first part is given to the model.
    """
    momenta = {module: module.momentum for module in model.modules() if isinstance(module, _BatchNorm)}
    if not momenta:
        return
    for module in momenta:
        module.reset_running_stats()
        module.momentum = None  # a mean over all batches
    was_training = model.training
    model.train()
    for batch in loader:
        if isinstance(batch, (list, tuple)):
            batch = batch[0]
        model(batch if device is None else batch.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Goes from the optimizer's rates to ``swa_lr`` in ``anneal_epochs`` steps, by 'cos' or 'linear', and stays.

    ``swa_lr``: a number, or one for each group of parameters.
    """

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy='cos', last_epoch=-1):
        groups = optimizer.param_groups
        if isinstance(swa_lr, (list, tuple)):
            if len(swa_lr) != len(groups):
                raise ValueError('swa_lr must have the same length as optimizer.param_groups: swa_lr has {}, '
                                 'optimizer.param_groups has {}'.format(len(swa_lr), len(groups)))
        else:
            swa_lr = [swa_lr] * len(groups)
        for rate, group in zip(swa_lr, groups):
            group['swa_lr'] = rate
        if anneal_strategy not in ('cos', 'linear'):
            raise ValueError(
    "anneal_strategy must by one of 'cos' or 'linear', instead got {}".format(anneal_strategy))
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError('anneal_epochs must be equal or greater than 0, got {}'.format(anneal_epochs))
        self.anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, step):
        """How much of the way to ``swa_lr`` is gone after ``step`` steps."""
        way = max(0, min(1, step / max(1, self.anneal_epochs)))
        return way if self.anneal_strategy == 'linear' else (1 - math.cos(math.pi * way)) / 2

    def get_lr(self):
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now, rates = self._share(max(0, step - 1)), self._share(step), []
        for group in self.optimizer.param_groups:
            # the rate that the way began at, from where the last step left it
            begin = group['lr'] if before == 1 else (group['lr'] - before * group['swa_lr']) / (1 - before)
            rates.append(group['swa_lr'] * now + begin * (1 - now))
        return rates
