"""Probability distributions under the names of torch.distributions: samples, densities, entropies, divergences.

The same seed gives the same samples as PyTorch. Beta, Dirichlet and Gamma have no ``rsample``: ``has_rsample`` is
False.
"""
from . import constraints, transforms  # noqa: F401
from .bernoulli import Bernoulli
from .beta import Beta
from .categorical import Categorical
from .dirichlet import Dirichlet
from .distribution import Distribution
from .exponential import Exponential
from .gamma import Gamma
from .geometric import Geometric
from .independent import Independent
from .kl import kl_divergence, register_kl
from .laplace import Laplace
from .log_normal import LogNormal
from .multivariate_normal import MultivariateNormal
from .normal import Normal
from .one_hot_categorical import OneHotCategorical
from .poisson import Poisson
from .transformed_distribution import TransformedDistribution
from .transforms import (
    AffineTransform, ComposeTransform, ExpTransform, SigmoidTransform, SoftplusTransform, TanhTransform, Transform,
    identity_transform,
)
from .uniform import Uniform

__all__ = [
    "AffineTransform", "Bernoulli", "Beta", "Categorical", "ComposeTransform", "Dirichlet", "Distribution",
    "ExpTransform", "Exponential", "Gamma", "Geometric", "Independent", "Laplace", "LogNormal", "MultivariateNormal",
    "Normal", "OneHotCategorical", "Poisson", "SigmoidTransform", "SoftplusTransform", "TanhTransform", "Transform",
    "TransformedDistribution", "Uniform", "identity_transform", "kl_divergence", "register_kl",
]
