"""Gradients of samples of Gamma and Dirichlet with respect to their concentrations.

A sample x of the distribution function F(x; a) moves with a so that F stays: ``dx/da = -(dF/da) / F'(x)`` (Figurnov,
Mohamed and Mnih, "Implicit reparameterization gradients", 2018). F is a power series whose terms are derived one by
one; for large concentrations of Gamma, where that takes many terms, its quantiles are expanded instead.
"""
import wick
from wick.autograd.function import Function, once_differentiable

_MOST_TERMS = 20000
_NEGLIGIBLE = 1e-10
_LARGE = 500.0  # concentrations from which the error of the expansion is below 1e-7


def _sum_terms(term, log_derivative, ratio, step):
    """The sum over n of ``term_n * log_derivative_n``, where ``ratio(n)`` and ``step(n)`` lead from n to n + 1."""
    total = term * log_derivative
    for n in range(_MOST_TERMS):
        factor = ratio(n)
        term, log_derivative = term * factor, log_derivative + step(n)
        added = term * log_derivative
        total = total + added
        # terms shrink ever faster once they do
        if bool(((factor < 0.999) & (term <= _NEGLIGIBLE * total.abs()) | (term == 0)).all()):
            break
    return total


def _gamma_by_series(a, x):
    """Of ``F = sum x ** (a + n) exp(-x) / Gamma(a + n + 1)`` (DLMF 8.7.1), over the density."""
    return _sum_terms(x / a, wick.digamma(a + 1) - x.log(),
                      lambda n: x / (a + n + 1), lambda n: 1 / (a + n + 1))


def _gamma_by_expansion(a, x):
    """Of ``x = a + u sqrt(a) + (u^2 - 1) / 3 + (u^3 - 7 u) / (36 sqrt(a)) - ...``, where u is the normal quantile
    (Cornish and Fisher, 1938; Abramowitz and Stegun 26.2.49)."""
    root = a.sqrt()

    def after_second(u):
        return (u ** 3 - 7 * u) / (36 * root) - (3 * u ** 4 + 7 * u ** 2 - 16) / (810 * a)
    u = (x - a) / root
    for _ in range(8):
        u = (x - a - (u * u - 1) / 3 - after_second(u)) / root
    return (1 + u / (2 * root) - (u ** 3 - 7 * u) / (72 * a * root) +
            (3 * u ** 4 + 7 * u ** 2 - 16) / (810 * a * a))


def gamma_gradient(concentration, sample):
    """dx/da of samples of Gamma(a, 1)."""
    a, x = concentration.double(), sample.double()
    is_large = a > _LARGE
    by_series = _gamma_by_series(a.clamp(max=_LARGE), wick.where(is_large, _LARGE, x).clamp(min=1e-300))
    if not bool(is_large.any()):
        return by_series.to(sample.dtype)
    return wick.where(is_large, _gamma_by_expansion(a.clamp(min=_LARGE), x), by_series).to(sample.dtype)


def _beta_series(p, q, x, first, step):
    """Of ``F = x^p (1 - x)^q / (p B(p, q)) sum (p + q)_n / (p + 1)_n x^n`` (DLMF 8.17.8), over the density, with the
    logarithm of a term's derivative from ``first`` on."""
    return _sum_terms(x * (1 - x) / p, first, lambda n: x * (p + q + n) / (p + 1 + n), step)


def beta_gradient(a, b, sample):
    """dx/da of samples of Beta(a, b), over 1 - x. Above the mean the series is that of ``F = 1 - F(1 - x; b, a)``."""
    a, b, x = a.double(), b.double(), sample.double().clamp(1e-300, 1 - 1e-16)
    is_upper = x > (a + 1) / (a + b + 2)
    of_both = wick.digamma(a + b)
    half = wick.full_like(x, 0.5)
    lower = -_beta_series(
        wick.where(is_upper, 1.0, a), wick.where(is_upper, 1.0, b), wick.where(is_upper, half, x),
        wick.where(is_upper, 0.0, x.log() - wick.digamma(a) + of_both - 1 / a),
        lambda n: wick.where(is_upper, 0.0, 1 / (a + b + n) - 1 / (a + 1 + n)))
    upper = _beta_series(
        wick.where(is_upper, b, 1.0), wick.where(is_upper, a, 1.0), wick.where(is_upper, 1 - x, half),
        wick.where(is_upper, x.log() - wick.digamma(a) + of_both, 0.0),
        lambda n: wick.where(is_upper, 1 / (a + b + n), 0.0))
    return (wick.where(is_upper, upper, lower) / (1 - x)).to(sample.dtype)


class _StandardGamma(Function):
    @staticmethod
    def forward(ctx, concentration):
        sample = wick._standard_gamma(concentration)
        ctx.save_for_backward(concentration, sample)
        return sample

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient):
        return gradient * gamma_gradient(*ctx.saved_tensors)


class _StandardDirichlet(Function):
    """One concentration more takes from all others in proportion: its element is Beta(a, total - a)."""

    @staticmethod
    def forward(ctx, concentration):
        sample = wick._sample_dirichlet(concentration)
        ctx.save_for_backward(concentration, sample)
        return sample

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient):
        concentration, sample = ctx.saved_tensors
        others = concentration.sum(-1, True) - concentration
        moved = beta_gradient(concentration, others, sample)
        return moved * (gradient - (sample * gradient).sum(-1, True))


def standard_gamma(concentration):
    """Samples of Gamma(concentration, 1)."""
    return _StandardGamma.apply(concentration)


def standard_dirichlet(concentration):
    """Samples of Dirichlet(concentration)."""
    return _StandardDirichlet.apply(concentration)
