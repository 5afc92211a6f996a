"""Kullback-Leibler divergences of pairs of distributions."""
import math

import wick

from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .categorical import Categorical
from .cauchy import Cauchy
from .continuous_bernoulli import ContinuousBernoulli
from .dirichlet import Dirichlet
from .exp_family import ExponentialFamily, bregman_divergence
from .exponential import Exponential
from .gamma import Gamma
from .geometric import Geometric
from .gumbel import Gumbel
from .half_normal import HalfNormal
from .independent import Independent
from .laplace import Laplace
from .lowrank_multivariate_normal import LowRankMultivariateNormal
from .multivariate_normal import MultivariateNormal
from .normal import Normal
from .one_hot_categorical import OneHotCategorical
from .pareto import Pareto
from .poisson import Poisson
from .transformed_distribution import TransformedDistribution
from .uniform import Uniform
from .utils import euler_constant, sum_rightmost

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
    return result.masked_fill((q.low > p.low) | (q.high < p.high), math.inf)


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
    return kl_divergence(p.base_dist, q.base_dist)


register_kl(ExponentialFamily, ExponentialFamily)(bregman_divergence)


@register_kl(Binomial, Binomial)
def _binomial(p, q):
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    odds = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return (p.total_count * odds).masked_fill(p.total_count > q.total_count, math.inf)


@register_kl(Cauchy, Cauchy)
def _cauchy(p, q):
    """Chyzak and Nielsen, "A closed-form formula for the Kullback-Leibler divergence between Cauchy distributions",
    2019."""
    return ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log() - (4 * p.scale * q.scale).log()


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p, q):
    return (p.mean * (p.logits - q.logits) + p._cont_bern_log_norm() + wick.log1p(-p.probs) -
            q._cont_bern_log_norm() - wick.log1p(-q.probs))


@register_kl(Gumbel, Gumbel)
def _gumbel(p, q):
    ratio, away = p.scale / q.scale, (q.loc - p.loc) / q.scale
    return (-ratio.log() - away + ratio * euler_constant + wick.exp(away + (1 + ratio).lgamma()) -
            (1 + euler_constant))


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p, q):
    return _normal(p.base_dist, q.base_dist)


@register_kl(Pareto, Pareto)
def _pareto(p, q):
    """Gil, "On Renyi divergence measures for continuous alphabet sources", 2011."""
    ratio = q.alpha / p.alpha
    result = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return result.masked_fill(p.scale < q.scale, math.inf)


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _multivariate_low_rank(p, q):
    return _to_low_rank(p, q, 2 * p._half_log_det(), _low_rank_trace(q, p._factor))


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _low_rank(p, q):
    return _to_low_rank(p, q, p._log_det(),
                        _low_rank_trace(q, p._factor) + _low_rank_trace(q, p._diag.sqrt().diag_embed()))


def _low_rank_trace(q, factor):
    """The trace of ``Q^-1 F F^T``, where Q is the covariance of q."""
    scaled = factor * q._diag.rsqrt().unsqueeze(-1)
    return scaled.pow(2).sum((-2, -1)) - (q._solved() @ factor).pow(2).sum((-2, -1))


def _to_low_rank(p, q, log_det, trace):
    _same_size(p, q)
    return 0.5 * (q._log_det() - log_det + trace + q._square(q.loc - p.loc) - p.event_shape[0])


@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _low_rank_multivariate(p, q):
    _same_size(p, q)
    factor = wick.cat([p.cov_factor, p.cov_diag.sqrt().diag_embed()], -1)
    trace = wick.linalg.solve_triangular(q._factor, factor, upper=False).pow(2).sum((-2, -1))
    return 0.5 * (2 * q._half_log_det() - p._log_det() + trace + q._square(q.loc - p.loc) - p.event_shape[0])


def _same_size(p, q):
    if p.event_shape != q.event_shape:
        raise ValueError("KL-divergence between two (Low Rank) Multivariate Normals with different event shapes "
                         "cannot be computed")
