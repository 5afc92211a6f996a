"""Losses."""
import math
from typing import Callable, Optional

import wick
from wick import Tensor
from wick.nn.functional._arguments import _reduction_number, _same_sizes


def l1_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
            reduction: str = 'mean') -> Tensor:
    """|input - target|."""
    input, target = _same_sizes(input, target)
    return wick.l1_loss(input, target, _reduction_number(reduction, size_average, reduce))


def mse_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
             reduction: str = 'mean') -> Tensor:
    """(input - target) ** 2."""
    input, target = _same_sizes(input, target)
    return wick.mse_loss(input, target, _reduction_number(reduction, size_average, reduce))


def smooth_l1_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                   reduction: str = 'mean', beta: float = 1.0) -> Tensor:
    """Squared below ``beta``, absolute above."""
    input, target = _same_sizes(input, target)
    return wick.smooth_l1_loss(input, target, _reduction_number(reduction, size_average, reduce), beta)


def huber_loss(input: Tensor, target: Tensor, reduction: str = 'mean', delta: float = 1.0) -> Tensor:
    """Half the square below ``delta``, linear above."""
    input, target = _same_sizes(input, target)
    return wick.huber_loss(input, target, _reduction_number(reduction), delta)


def nll_loss(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, size_average: Optional[bool] = None,
             ignore_index: int = -100, reduce: Optional[bool] = None, reduction: str = 'mean') -> Tensor:
    """Minus the log-probability of the target class."""
    return wick.nll_loss_nd(input, target, weight, _reduction_number(reduction, size_average, reduce), ignore_index)


def cross_entropy(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, size_average: Optional[bool] = None,
                  ignore_index: int = -100, reduce: Optional[bool] = None, reduction: str = 'mean',
                  label_smoothing: float = 0.0) -> Tensor:
    """nll_loss of log_softmax; the target may be probabilities."""
    return wick.cross_entropy_loss(input, target, weight, _reduction_number(reduction, size_average, reduce),
                                   ignore_index, label_smoothing)


def binary_cross_entropy(input: Tensor, target: Tensor, weight: Optional[Tensor] = None,
                         size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                         reduction: str = 'mean') -> Tensor:
    """Cross entropy of probabilities with targets between 0 and 1."""
    if target.size() != input.size():
        raise ValueError('Using a target size ({}) that is different to the input size ({}) is deprecated. Please '
                         'ensure they have the same size.'.format(target.size(), input.size()))
    if weight is not None:
        weight = weight.expand_as(target) if weight.dim() <= target.dim() else weight
    return wick.binary_cross_entropy(input, target, weight, _reduction_number(reduction, size_average, reduce))


def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Optional[Tensor] = None,
                                     size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                                     reduction: str = 'mean', pos_weight: Optional[Tensor] = None) -> Tensor:
    """binary_cross_entropy of sigmoid(input), computed stably."""
    if target.size() != input.size():
        raise ValueError('Target size ({}) must be the same as input size ({})'.format(target.size(), input.size()))
    return wick.binary_cross_entropy_with_logits(input, target, weight, pos_weight,
                                                 _reduction_number(reduction, size_average, reduce))


def kl_div(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
           reduction: str = 'mean', log_target: bool = False) -> Tensor:
    """Kullback-Leibler divergence of ``target`` from the log-probabilities ``input``."""
    if reduction == 'batchmean' and size_average is None and reduce is None:
        total = wick.kl_div(input, target, 2, log_target=log_target)
        return total / input.size(0) if input.dim() != 0 else total
    return wick.kl_div(input, target, _reduction_number(reduction, size_average, reduce), log_target=log_target)


def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool = True, full: bool = False,
                     size_average: Optional[bool] = None, eps: float = 1e-08, reduce: Optional[bool] = None,
                     reduction: str = 'mean') -> Tensor:
    """Negative log-likelihood of Poisson counts; ``full`` adds Stirling's term."""
    return wick.poisson_nll_loss(input, target, log_input, full, eps,
                                 _reduction_number(reduction, size_average, reduce))


def gaussian_nll_loss(input: Tensor, target: Tensor, var: Tensor, full: bool = False, eps: float = 1e-06,
                      reduction: str = 'mean') -> Tensor:
    """Negative log-likelihood of normal values with variances ``var``, at least ``eps``."""
    if var.size() != input.size():
        if input.size()[:-1] == var.size():
            var = var.unsqueeze(-1)
        elif input.size()[:-1] != var.size()[:-1] or var.size(-1) != 1:
            raise ValueError('var is of incorrect size')
    if reduction not in ('none', 'mean', 'sum'):
        raise ValueError(reduction + ' is not valid')
    if bool((var < 0).any()):
        raise ValueError('var has negative entry/entries')
    var = var.clone()
    with wick.no_grad():
        var.clamp_(min=eps)
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return _reduced(loss, _reduction_number(reduction))


def _reduced(loss: Tensor, number: int) -> Tensor:
    if number == 1:
        return loss.mean()
    return loss.sum() if number == 2 else loss


def soft_margin_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None,
                     reduce: Optional[bool] = None, reduction: str = 'mean') -> Tensor:
    """log(1 + exp(-target * input))."""
    return wick.soft_margin_loss(input, target, _reduction_number(reduction, size_average, reduce))


def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, size_average: Optional[bool] = None,
                         reduce: Optional[bool] = None, reduction: str = 'mean') -> Tensor:
    """input where target is 1, max(0, margin - input) where it is -1."""
    return wick.hinge_embedding_loss(input, target, margin, _reduction_number(reduction, size_average, reduce))


def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0,
                        size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                        reduction: str = 'mean') -> Tensor:
    """max(0, -target * (input1 - input2) + margin)."""
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise RuntimeError('margin_ranking_loss : All input tensors should have same dimension but got sizes: '
                           'input1: {}, input2: {}, target: {} '.format(input1.size(), input2.size(), target.size()))
    return wick.margin_ranking_loss(input1, input2, target, margin,
                                    _reduction_number(reduction, size_average, reduce))


def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0,
                          size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                          reduction: str = 'mean') -> Tensor:
    """1 - cos where target is 1, max(0, cos - margin) where it is -1."""
    return wick.cosine_embedding_loss(input1, input2, target, margin,
                                      _reduction_number(reduction, size_average, reduce))


def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2,
                        eps: float = 1e-06, swap: bool = False, size_average: Optional[bool] = None,
                        reduce: Optional[bool] = None, reduction: str = 'mean') -> Tensor:
    """max(0, distance to positive - distance to negative + margin)."""
    return wick.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap,
                                    _reduction_number(reduction, size_average, reduce))


def triplet_margin_with_distance_loss(anchor: Tensor, positive: Tensor, negative: Tensor, *,
                                      distance_function: Optional[Callable[[Tensor, Tensor], Tensor]] = None,
                                      margin: float = 1.0, swap: bool = False, reduction: str = 'mean') -> Tensor:
    """triplet_margin_loss with a distance of one's own."""
    distance = pairwise_distance if distance_function is None else distance_function
    to_positive, to_negative = distance(anchor, positive), distance(anchor, negative)
    if swap:
        to_negative = wick.minimum(to_negative, distance(positive, negative))
    return _reduced(wick.clamp(margin + to_positive - to_negative, min=0.0), _reduction_number(reduction))


def multi_margin_loss(input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0, weight: Optional[Tensor] = None,
                      size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                      reduction: str = 'mean') -> Tensor:
    """Hinge loss of many classes."""
    number = _reduction_number(reduction, size_average, reduce)
    if p != 1 and p != 2:
        raise ValueError('only p == 1 and p == 2 supported')
    if weight is not None and weight.dim() != 1:
        raise ValueError('weight must be one-dimensional')
    return wick.multi_margin_loss(input, target, p, margin, weight, number)


def multilabel_margin_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None,
                           reduce: Optional[bool] = None, reduction: str = 'mean') -> Tensor:
    """Hinge loss of many classes and labels."""
    return wick.multilabel_margin_loss(input, target, _reduction_number(reduction, size_average, reduce))


def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Optional[Tensor] = None,
                                size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                                reduction: str = 'mean') -> Tensor:
    """Binary cross entropy of many labels, averaged over them."""
    loss = -(target * wick.log_sigmoid(input) + (1 - target) * wick.log_sigmoid(-input))
    if weight is not None:
        loss = loss * weight
    loss = loss.sum(dim=-1) / input.size(-1)
    return _reduced(loss, _reduction_number(reduction, size_average, reduce))


def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor, blank: int = 0,
             reduction: str = 'mean', zero_infinity: bool = False) -> Tensor:
    """Connectionist temporal classification."""
    return wick.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, _reduction_number(reduction),
                         zero_infinity)
