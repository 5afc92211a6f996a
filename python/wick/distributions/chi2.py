"""Chi2."""
from . import constraints
from .gamma import Gamma


class Chi2(Gamma):
    """The sum of the squares of ``df`` standard normal numbers: Gamma(df / 2, 1 / 2)."""
    arg_constraints = {"df": constraints.positive}

    def __init__(self, df, validate_args=None):
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, Chi2.__new__(type(self)) if _instance is None else _instance)

    @property
    def df(self):
        return self.concentration * 2
