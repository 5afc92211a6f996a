"""ExponentialFamily."""
import wick

from .distribution import Distribution
from .utils import sum_rightmost


class ExponentialFamily(Distribution):
    """Densities ``exp(<t(x), theta> - F(theta) + k(x))``: ``_natural_params`` are theta, ``_log_normalizer`` is F and
    ``_mean_carrier_measure`` the mean of k.

    Entropy and divergence within a family follow from F and its gradient (Nielsen and Nock, "Entropies and
    cross-entropies of exponential families", 2010): the entropy is ``F - <theta, F'> - mean k``.
    """

    @property
    def _natural_params(self):
        raise NotImplementedError

    def _log_normalizer(self, *natural_params):
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self):
        raise NotImplementedError

    def _normalizer_and_gradients(self):
        """Theta, F(theta) and the gradient of F, all with a history."""
        natural = [parameter.detach().requires_grad_() for parameter in self._natural_params]
        normalizer = self._log_normalizer(*natural)
        return natural, normalizer, wick.autograd.grad(normalizer.sum(), natural, create_graph=True)

    def entropy(self):
        natural, result, gradients = self._normalizer_and_gradients()
        result = result - self._mean_carrier_measure
        for parameter, gradient in zip(natural, gradients):
            product = parameter * gradient
            result = result - sum_rightmost(product, product.dim() - len(self._batch_shape))
        return result


def bregman_divergence(p, q):
    """KL(p || q) of one family: ``F(q) - F(p) - <theta_q - theta_p, F'(p)>``."""
    if type(p) is not type(q):
        raise NotImplementedError("The cross KL-divergence between different exponential families cannot be computed "
                                  "using Bregman divergences")
    natural, normalizer, gradients = p._normalizer_and_gradients()
    result = q._log_normalizer(*q._natural_params) - normalizer
    batch_dims = max(len(p.batch_shape), len(q.batch_shape))
    for of_p, of_q, gradient in zip(natural, q._natural_params, gradients):
        product = (of_q - of_p) * gradient
        result = result - sum_rightmost(product, product.dim() - batch_dims)
    return result
