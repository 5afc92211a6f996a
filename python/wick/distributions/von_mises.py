"""VonMises."""
import math

import wick

from . import constraints
from .distribution import Distribution
from .utils import broadcast_all, lazy_property

# Abramowitz and Stegun 9.8.1 to 9.8.4: I_n(x) / x ** n in powers of (x / 3.75) ** 2 up to 3.75, and above that
# sqrt(x) * exp(-x) * I_n(x) in powers of 3.75 / x
_BESSEL = (
    ((1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813),
     (0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281, -0.02057706, 0.02635537, -0.01647633, 0.00392377)),
    ((0.5, 0.87890594, 0.51498869, 0.15084934, 0.02658733, 0.00301532, 0.00032411),
     (0.39894228, -0.03988024, -0.00362018, 0.00163801, -0.01031555, 0.02282967, -0.02895312, 0.01787654,
      -0.00420059)),
)


def _polynomial(x, coefficients):
    result = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        result = coefficient + x * result
    return result


def _log_bessel(x, order):
    """The logarithm of the modified Bessel function of the first kind."""
    small, large = _BESSEL[order]
    below = _polynomial((x / 3.75) ** 2, small)
    if order == 1:
        below = x.abs() * below
    above = x - 0.5 * x.log() + _polynomial(3.75 / x, large).log()
    return wick.where(x < 3.75, below.log(), above)


class VonMises(Distribution):
    """Angles of density ``exp(concentration * cos(x - loc))`` over a constant; mean and variance are those of
    circles."""
    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False

    def __init__(self, loc, concentration, validate_args=None):
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @lazy_property
    def _proposal(self):
        """The parameter of the wrapped Cauchy distribution that is drawn from."""
        tau = 1 + (1 + 4 * self.concentration ** 2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * self.concentration)
        return (1 + rho ** 2) / (2 * rho)

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc

    @lazy_property
    def variance(self):
        return 1 - (_log_bessel(self.concentration, 1) - _log_bessel(self.concentration, 0)).exp()

    def expand(self, batch_shape, _instance=None):
        return self._expanded(_instance, VonMises, batch_shape, {"loc": 0, "concentration": 0})

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return (self.concentration * wick.cos(value - self.loc) - math.log(2 * math.pi) -
                _log_bessel(self.concentration, 0))

    def sample(self, sample_shape=()):
        """Draw and reject (Best and Fisher, "Efficient simulation of the von Mises distribution", 1979)."""
        shape, r = self._extended_shape(sample_shape), self._proposal
        with wick.no_grad():
            angle = wick.zeros(shape, dtype=self.loc.dtype, device=self.loc.device)
            is_done = wick.zeros(shape, dtype=wick.bool, device=self.loc.device)
            while not is_done.all():
                first, second, third = wick.rand((3,) + tuple(shape), dtype=self.loc.dtype,
                                                 device=self.loc.device).unbind()
                z = wick.cos(math.pi * first)
                cosine = (1 + r * z) / (r + z)
                c = self.concentration * (r - cosine)
                is_taken = (c * (2 - c) - second > 0) | ((c / second).log() + 1 - c >= 0)
                angle = wick.where(is_taken, (third - 0.5).sign() * cosine.acos(), angle)
                is_done = is_done | is_taken
            return (angle + math.pi + self.loc) % (2 * math.pi) - math.pi
