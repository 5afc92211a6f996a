"""Kullback-Leibler divergences of pairs of distributions."""
import math

import wick

from .bernoulli import Bernoulli
from .beta import Beta
from .categorical import Categorical
from .dirichlet import Dirichlet
from .exponential import Exponential
from .gamma import Gamma
from .geometric import Geometric
from .independent import Independent
from .laplace import Laplace
from .multivariate_normal import MultivariateNormal
from .normal import Normal
from .one_hot_categorical import OneHotCategorical
from .poisson import Poisson
from .transformed_distribution import TransformedDistribution
from .uniform import Uniform
from .utils import sum_rightmost

_REGISTRY = {}


def register_kl(type_p, type_q):
    """A decorator of the function for two classes and what derives of them."""
    for cls in (type_p, type_q):
        if not isinstance(cls, type):
            raise TypeError("Expected type_{} to be a Distribution subclass but got {}".format(
                "p" if cls is type_p else "q", cls))

    def decorate(function):
        _REGISTRY[type_p, type_q] = function
        return function
    return decorate


def _find(type_p, type_q):
    """The function for the nearest classes that these derive from."""
    for cls_p in type_p.__mro__:
        for cls_q in type_q.__mro__:
            if (cls_p, cls_q) in _REGISTRY:
                return _REGISTRY[cls_p, cls_q]
    raise NotImplementedError("No KL(p || q) is implemented for p type {} and q type {}".format(
        type_p.__name__, type_q.__name__))


def kl_divergence(p, q):
    """KL(p || q), the mean under p of ``log p(x) - log q(x)``; a tensor of the batch's shape."""
    return _find(type(p), type(q))(p, q)


@register_kl(Normal, Normal)
def _normal(p, q):
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p, q):
    softplus = wick.nn.functional.softplus
    one = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    one[q.probs == 0], one[p.probs == 0] = math.inf, 0
    zero = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    zero[q.probs == 1], zero[p.probs == 1] = math.inf, 0
    return one + zero


@register_kl(Categorical, Categorical)
def _categorical(p, q):
    terms = p.probs * (p.logits - q.logits)
    terms[(q.probs == 0).expand_as(terms)] = math.inf
    terms[(p.probs == 0).expand_as(terms)] = 0
    return terms.sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot_categorical(p, q):
    return _categorical(p._categorical, q._categorical)


@register_kl(Uniform, Uniform)
def _uniform(p, q):
    result = ((q.high - q.low) / (p.high - p.low)).log()
    result[(q.low > p.low) | (q.high < p.high)] = math.inf
    return result


@register_kl(Exponential, Exponential)
def _exponential(p, q):
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Laplace, Laplace)
def _laplace(p, q):
    ratio, away = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + away / q.scale + ratio * wick.exp(-away / p.scale) - 1


@register_kl(Gamma, Gamma)
def _gamma(p, q):
    return (q.concentration * (p.rate / q.rate).log() + wick.lgamma(q.concentration) - wick.lgamma(p.concentration) +
            (p.concentration - q.concentration) * wick.digamma(p.concentration) +
            (q.rate - p.rate) * (p.concentration / p.rate))


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p, q):
    p_sum, q_sum = p.concentration.sum(-1), q.concentration.sum(-1)
    constants = p_sum.lgamma() - q_sum.lgamma() - (p.concentration.lgamma() - q.concentration.lgamma()).sum(-1)
    means = p.concentration.digamma() - p_sum.digamma().unsqueeze(-1)
    return constants + ((p.concentration - q.concentration) * means).sum(-1)


@register_kl(Beta, Beta)
def _beta(p, q):
    return _dirichlet(p._dirichlet, q._dirichlet)


@register_kl(Poisson, Poisson)
def _poisson(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Geometric, Geometric)
def _geometric(p, q):
    return -p.entropy() - wick.log1p(-q.probs) / p.probs - q.logits


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p, q):
    if p.event_shape != q.event_shape:
        raise ValueError("KL-divergence between two Multivariate Normals with different event shapes cannot be "
                         "computed")
    solved = wick.linalg.solve_triangular(q._factor, p._factor, upper=False)
    trace = solved.pow(2).sum((-2, -1))
    return q._half_log_det() - p._half_log_det() + 0.5 * (trace + q._square(q.loc - p.loc) - p.event_shape[0])


@register_kl(Independent, Independent)
def _independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p, q):
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    extra = len(p.event_shape) - len(p.base_dist.event_shape)
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), extra)


@register_kl(Uniform, Normal)
def _uniform_normal(p, q):
    width = p.high - p.low
    square = (width.pow(2) / 12 + ((p.high + p.low - 2 * q.loc) / 2).pow(2)) / (2 * q.scale.pow(2))
    return 0.5 * (2 * math.pi * (q.scale / width).pow(2)).log() + square
