"""Divergences between distributions of different families: the mean under p of ``log p(x) - log q(x)``, with the
moments of p put into the logarithm of q's density (Gil, Alajaji and Linder, "Renyi divergence measures for commonly
used univariate continuous distributions", 2013, has many)."""
import math

import wick

from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .continuous_bernoulli import ContinuousBernoulli
from .exponential import Exponential
from .gamma import Gamma
from .gumbel import Gumbel
from .kl import register_kl
from .laplace import Laplace
from .normal import Normal
from .pareto import Pareto
from .poisson import Poisson
from .uniform import Uniform
from .utils import euler_constant

_LOG_2_PI = math.log(2 * math.pi)

# p has values where q has none. The parameter has the batch's size.
_INFINITE = {
    (Beta, "concentration1"): (Pareto,),
    (ContinuousBernoulli, "probs"): (Pareto,),
    (Exponential, "rate"): (Beta, ContinuousBernoulli, Pareto, Uniform),
    (Gamma, "concentration"): (Beta, ContinuousBernoulli, Pareto, Uniform),
    (Gumbel, "loc"): (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    (Laplace, "loc"): (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    (Normal, "loc"): (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    (Pareto, "scale"): (Beta, ContinuousBernoulli, Uniform),
    (Poisson, "rate"): (Bernoulli, Binomial),
}


def _infinite(parameter):
    return lambda p, q: wick.full_like(getattr(p, parameter), math.inf)


for (_type, _parameter), _others in _INFINITE.items():
    for _other in _others:
        register_kl(_type, _other)(_infinite(_parameter))


def _to_exponential(negative_entropy, mean, q):
    """``E[-log q] = -log rate + rate E[x]``"""
    return negative_entropy - q.rate.log() + q.rate * mean


def _to_gamma(negative_entropy, mean, mean_log, q):
    """``E[-log q] = log Gamma(c) - c log rate - (c - 1) E[log x] + rate E[x]``"""
    return (negative_entropy + q.concentration.lgamma() - q.concentration * q.rate.log() -
            (q.concentration - 1) * mean_log + q.rate * mean)


def _to_normal(negative_entropy, mean, variance, q):
    """``E[-log q] = log(2 pi scale ** 2) / 2 + (variance + (mean - loc) ** 2) / (2 scale ** 2)``"""
    return (negative_entropy + 0.5 * _LOG_2_PI + q.scale.log() +
            (variance + (mean - q.loc).pow(2)) / (2 * q.scale.pow(2)))


def _to_gumbel(negative_entropy, mean, mean_exp, q):
    """``E[-log q] = log scale + (E[x] - loc) / scale + exp(loc / scale) E[exp(-x / scale)]``"""
    return negative_entropy + q.scale.log() + (mean - q.loc) / q.scale + wick.exp(q.loc / q.scale) * mean_exp


def _to_continuous_bernoulli(negative_entropy, mean, q):
    """``E[-log q] = -E[x] logits - log(1 - p) - log C``"""
    return negative_entropy - mean * q.logits - wick.log1p(-q.probs) - q._cont_bern_log_norm()


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p, q):
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Beta, ContinuousBernoulli)
def _beta_continuous_bernoulli(p, q):
    return _to_continuous_bernoulli(-p.entropy(), p.mean, q)


@register_kl(Beta, Exponential)
def _beta_exponential(p, q):
    return _to_exponential(-p.entropy(), p.mean, q)


@register_kl(Beta, Gamma)
def _beta_gamma(p, q):
    mean_log = p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    return _to_gamma(-p.entropy(), p.mean, mean_log, q)


@register_kl(Beta, Normal)
def _beta_normal(p, q):
    return _to_normal(-p.entropy(), p.mean, p.variance, q)


@register_kl(Beta, Uniform)
def _beta_uniform(p, q):
    result = -p.entropy() + (q.high - q.low).log()
    return result.masked_fill((q.low > 0) | (q.high < 1), math.inf)


@register_kl(ContinuousBernoulli, Exponential)
def _continuous_bernoulli_exponential(p, q):
    return _to_exponential(-p.entropy(), p.mean, q)


@register_kl(ContinuousBernoulli, Normal)
def _continuous_bernoulli_normal(p, q):
    return _to_normal(-p.entropy(), p.mean, p.variance, q)


@register_kl(ContinuousBernoulli, Uniform)
def _continuous_bernoulli_uniform(p, q):
    """Infinite, as in torch, where q ends within or begins at p's ends."""
    result = -p.entropy() + (q.high - q.low).log()
    return wick.where((q.low >= 0) | (q.high <= 1), math.inf, result)


@register_kl(Exponential, Gamma)
def _exponential_gamma(p, q):
    return _to_gamma(-p.entropy(), p.mean, -euler_constant - p.rate.log(), q)


@register_kl(Exponential, Gumbel)
def _exponential_gumbel(p, q):
    product = p.rate * q.scale
    return _to_gumbel(-p.entropy(), p.mean, product / (product + 1), q)


@register_kl(Exponential, Normal)
def _exponential_normal(p, q):
    return _to_normal(-p.entropy(), p.mean, p.variance, q)


@register_kl(Gamma, Exponential)
def _gamma_exponential(p, q):
    return _to_exponential(-p.entropy(), p.mean, q)


@register_kl(Gamma, Gumbel)
def _gamma_gumbel(p, q):
    mean_exp = (1 + (p.rate * q.scale).reciprocal()).pow(-p.concentration)
    return _to_gumbel(-p.entropy(), p.mean, mean_exp, q)


@register_kl(Gamma, Normal)
def _gamma_normal(p, q):
    return _to_normal(-p.entropy(), p.mean, p.variance, q)


@register_kl(Gumbel, Normal)
def _gumbel_normal(p, q):
    return _to_normal(-p.entropy(), p.mean, p.variance, q)


@register_kl(Laplace, Normal)
def _laplace_normal(p, q):
    return _to_normal(-p.entropy(), p.mean, p.variance, q)


@register_kl(Normal, Gumbel)
def _normal_gumbel(p, q):
    mean_exp = wick.exp(-p.loc / q.scale + 0.5 * (p.scale / q.scale).pow(2))
    return _to_gumbel(-p.entropy(), p.mean, mean_exp, q)


@register_kl(Normal, Laplace)
def _normal_laplace(p, q):
    """With the mean of ``|x - loc|``."""
    away = p.loc - q.loc
    scaled = away / p.scale
    mean_distance = (math.sqrt(2 / math.pi) * p.scale * wick.exp(-0.5 * scaled.pow(2)) +
                     away * wick.erf(math.sqrt(0.5) * scaled))
    return -p.entropy() + wick.log(2 * q.scale) + mean_distance / q.scale


def _pareto_to(result, p, least):
    """Where p's moments are infinite so is the divergence."""
    return result.masked_fill(p.alpha <= least, math.inf)


@register_kl(Pareto, Exponential)
def _pareto_exponential(p, q):
    return _pareto_to(_to_exponential(-p.entropy(), p.alpha * p.scale / (p.alpha - 1), q), p, 1)


@register_kl(Pareto, Gamma)
def _pareto_gamma(p, q):
    mean_log = p.scale.log() + p.alpha.reciprocal()
    return _pareto_to(_to_gamma(-p.entropy(), p.alpha * p.scale / (p.alpha - 1), mean_log, q), p, 1)


@register_kl(Pareto, Normal)
def _pareto_normal(p, q):
    part = p.scale / (p.alpha - 1)
    return _pareto_to(_to_normal(-p.entropy(), p.alpha * part, p.alpha * part.pow(2) / (p.alpha - 2), q), p, 2)


def _uniform_mean_log(low, high):
    """The mean of log x."""
    return (high * high.log() - low * low.log()) / (high - low) - 1


@register_kl(Uniform, Beta)
def _uniform_beta(p, q):
    a, b = q.concentration1, q.concentration0
    result = (-p.entropy() + a.lgamma() + b.lgamma() - (a + b).lgamma() -
              (a - 1) * _uniform_mean_log(p.low, p.high) - (b - 1) * _uniform_mean_log(1 - p.high, 1 - p.low))
    return result.masked_fill((p.high > 1) | (p.low < 0), math.inf)


@register_kl(Uniform, ContinuousBernoulli)
def _uniform_continuous_bernoulli(p, q):
    """Infinite, as in torch, where p reaches the ends of q."""
    result = _to_continuous_bernoulli(-p.entropy(), p.mean, q)
    return wick.where((p.high >= 1) | (p.low <= 0), math.inf, result)


@register_kl(Uniform, Exponential)
def _uniform_exponential(p, q):
    return _to_exponential(-p.entropy(), p.mean, q).masked_fill(p.low < 0, math.inf)


@register_kl(Uniform, Gamma)
def _uniform_gamma(p, q):
    result = _to_gamma(-p.entropy(), p.mean, _uniform_mean_log(p.low, p.high), q)
    return result.masked_fill(p.low < 0, math.inf)


@register_kl(Uniform, Gumbel)
def _uniform_gumbel(p, q):
    mean_exp = q.scale / (p.high - p.low) * (wick.exp(-p.low / q.scale) - wick.exp(-p.high / q.scale))
    return _to_gumbel(-p.entropy(), p.mean, mean_exp, q)


@register_kl(Uniform, Normal)
def _uniform_normal(p, q):
    return _to_normal(-p.entropy(), p.mean, p.variance, q)


@register_kl(Uniform, Pareto)
def _uniform_pareto(p, q):
    result = (-p.entropy() - (q.alpha * q.scale.pow(q.alpha)).log() +
              (q.alpha + 1) * _uniform_mean_log(p.low, p.high))
    return result.masked_fill(p.low < q.scale, math.inf)
