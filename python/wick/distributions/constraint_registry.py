"""Transforms from all numbers into regions: ``biject_to`` has inverses, ``transform_to`` need not have."""
from . import constraints, transforms


class ConstraintRegistry:
    """What makes a transform for a constraint, by the constraint's class."""

    def __init__(self):
        self._registry = {}

    def register(self, constraint, factory=None):
        """Keep ``factory`` for a constraint or a class of constraints; without it, a decorator."""
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        cls = type(constraint) if isinstance(constraint, constraints.Constraint) else constraint
        if not isinstance(cls, type) or not issubclass(cls, constraints.Constraint):
            raise TypeError("Expected constraint to be either a Constraint subclass or instance, but got {}".format(
                constraint))
        self._registry[cls] = factory
        return factory

    def __call__(self, constraint):
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError("Cannot transform {} constraints".format(type(constraint).__name__))
        return factory(constraint)


biject_to, transform_to = ConstraintRegistry(), ConstraintRegistry()


def _of_both(*regions):
    """A decorator of what makes the transforms of both registries."""
    def decorate(factory):
        for region in regions:
            biject_to.register(region, factory)
            transform_to.register(region, factory)
        return factory
    return decorate


@_of_both(constraints.real)
def _real(constraint):
    return transforms.identity_transform


@_of_both(constraints.greater_than, constraints.greater_than_eq)
def _above(constraint):
    return transforms.ComposeTransform([transforms.ExpTransform(),
                                        transforms.AffineTransform(constraint.lower_bound, 1)])


@_of_both(constraints.less_than)
def _below(constraint):
    return transforms.ComposeTransform([transforms.ExpTransform(),
                                        transforms.AffineTransform(constraint.upper_bound, -1)])


@_of_both(constraints.interval, constraints.half_open_interval)
def _between(constraint):
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, (int, float)) and low == 0 and isinstance(high, (int, float)) and high == 1:
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform([transforms.SigmoidTransform(), transforms.AffineTransform(low, high - low)])


@_of_both(constraints.corr_cholesky)
def _corr_cholesky(constraint):
    return transforms.CorrCholeskyTransform()


biject_to.register(constraints.simplex, lambda constraint: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda constraint: transforms.SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda constraint: transforms.LowerCholeskyTransform())


def _of_parts(registry):
    """Regions that are made of regions."""
    registry.register(constraints.independent, lambda constraint: transforms.IndependentTransform(
        registry(constraint.base_constraint), constraint.reinterpreted_batch_ndims))
    registry.register(constraints.cat, lambda constraint: transforms.CatTransform(
        [registry(part) for part in constraint.cseq], constraint.dim, constraint.lengths))
    registry.register(constraints.stack, lambda constraint: transforms.StackTransform(
        [registry(part) for part in constraint.cseq], constraint.dim))


_of_parts(biject_to)
_of_parts(transform_to)
